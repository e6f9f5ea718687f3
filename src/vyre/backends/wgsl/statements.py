"""Statements of a program as WGSL."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import assert_never

from vyre import ir
from vyre.backends.wgsl import operators
from vyre.backends.wgsl.access import write_scalar
from vyre.backends.wgsl.agreed_loads import NO_LOADS, AgreedLoads
from vyre.backends.wgsl.barriers import Barriers
from vyre.backends.wgsl.expressions import Expressions
from vyre.backends.wgsl.loop_end_checks import EndedLoops
from vyre.backends.wgsl.traps import Traps
from vyre.backends.wgsl.types import is_wide
from vyre.backends.wgsl.value import Value
from vyre.emit import Level
from vyre.ir.walk import assigned_names

_ENDS = (ir.Return, ir.Break, ir.Continue, ir.Trap)


class Statements:
    """Writes statements; expressions in them are turned into text by `exprs`."""

    def __init__(self, exprs: Expressions, barriers: Barriers, traps: Traps) -> None:
        self.exprs = exprs
        self.out = exprs.out
        self.ctx = exprs.ctx
        self.barriers = barriers
        self.traps = traps
        self.loops = EndedLoops(exprs.ctx, traps)
        self.agreed_loads = AgreedLoads(self.ctx.program)
        entry = self.ctx.program.entry
        self.count = 0
        """Statements written so far."""
        self.assigned = assigned_names(entry)

    def program(self) -> None:
        """All of it."""
        self._root(self.ctx.program.entry)

    def _root(self, body: ir.Body) -> None:
        """Statements; the region that only holds the last of them together needs no mention."""
        match body:
            case (*before, ir.Region(generator, None, inner)) if (
                generator == ir.ROOT_GENERATOR and not any(isinstance(s, _ENDS) for s in before)
            ):
                self.body(before)
                self.count += 1
                self._root(inner)
            case _:
                self.body(body)

    def body(self, body: Sequence[ir.AnyStmt]) -> None:
        """Statements one after another, up to the first that leaves."""
        for statement in body:
            self.statement(statement)
            if isinstance(statement, _ENDS):
                return

    def statement(self, statement: ir.AnyStmt) -> None:  # noqa: C901
        """One statement."""
        self.exprs.position = self.count
        self.count += 1
        self.exprs.agreed = NO_LOADS
        if isinstance(statement, (ir.Let, ir.Assign)):
            self.exprs.agreed = self.agreed_loads.of(statement.value, self.exprs.position)
        match statement:
            case ir.Let(name, value):
                self._let(name, self.exprs.once(value))
            case ir.Assign(name, value):
                found = self.exprs.named(self.exprs.value(value))
                self.out.line(f"{self.exprs.variables[name].text} = {found.text};")
            case ir.Store():
                self._store(statement)
            case ir.Eval(value):
                self.exprs.effect(value)
            case ir.If():
                self._if(statement)
            case ir.Loop(var, start, stop, body):
                self._loop(var, start, stop, body)
            case ir.While(cond, body):
                self._while(cond, body)
            case ir.Break():
                self.loops.leave(self.out)
            case ir.Continue():
                self.out.line("continue;")
            case ir.Return():
                self.out.line("return;")
            case ir.Barrier() | ir.AsyncWait():
                self.barriers.write(self.out)
                if not self.barriers.alone:
                    self.exprs.contents.barrier()
            case ir.Block(body):
                with self.out.block(""):
                    self.body(body)
            case ir.Region():
                self._region(statement)
            case ir.Trap(tag):
                self.traps.write(tag, self.out)
            case ir.AsyncLoad() | ir.AsyncStore():
                self._copy(statement)
            case ir.AllReduce() | ir.AllGather() | ir.ReduceScatter() | ir.Broadcast():
                raise AssertionError("the driver splits programs at collectives")
            case ir.Resume() | ir.IndirectDispatch() | ir.Print() | ir.Opaque():
                raise AssertionError("legalise leaves none of these")
            case _:
                assert_never(statement)

    def _store(self, store: ir.Store) -> None:
        place, stored = self.exprs.operands((store.index, store.value))
        buffer, index = self.exprs.buffers[store.buffer], self.exprs.index(place)
        self.exprs.contents.store(store.buffer)
        is_cell = buffer.lanes == 1 or buffer.is_native_vector
        function = "store"
        if is_cell and self.exprs.ranges.is_in_bounds(store, self.exprs.position):
            if buffer.is_simple:
                buffer.used = True
                write_scalar(self.ctx, buffer, index, stored.text, self.out)
                return
            function = "set_cell"
        self.out.line(f"{buffer.call(function, index, stored.text)};")

    def _let(self, name: str, value: Value, *, mutable: bool = False) -> None:
        word = self.ctx.names.of("variable", name)
        keyword = "var" if mutable or name in self.assigned else "let"
        value = self.exprs.named(value)
        self.out.line(f"{keyword} {word} = {value.text};")
        self.exprs.variables[name] = value.named(word)

    def _if(self, statement: ir.If) -> None:
        cond = self.exprs.value(statement.cond)
        self.out.open(f"if {condition(cond)}")
        self._arm(statement.then)
        self._otherwise(statement.otherwise)

    def _otherwise(self, otherwise: ir.Body) -> None:
        """The else part; `else if` where nothing has to be computed before the condition."""
        match otherwise:
            case ():
                self.out.close()
            case (ir.If(cond) as inner,) if not self.exprs.has_effect(cond):
                self.exprs.position = self.count
                self.count += 1
                self.out.depth -= 1
                self.out.open(f"}} else if {condition(self.exprs.value(cond))}")
                self._arm(inner.then)
                self._otherwise(inner.otherwise)
            case _:
                self.out.depth -= 1
                self.out.open("} else")
                self._arm(otherwise)
                self.out.close()

    def _arm(self, body: ir.Body) -> None:
        with self.exprs.contents.branch():
            self.body(body)

    def _loop(self, var: str, start: ir.AnyExpr, stop: ir.AnyExpr, body: ir.Body) -> None:
        first, last = self.exprs.operands((start, stop))
        is_fixed = isinstance(stop, ir.Var) and stop.name not in self.assigned
        if not is_fixed and not isinstance(stop, ir.Lit):
            last = self.exprs.spilled(last, f"{var}_stop")
        word = self.ctx.names.of("variable", var)
        counter = Value(word, first.dtype)
        self.exprs.variables[var] = counter
        test = operators.binary(self.ctx, ir.BinOp.LT, counter, last)
        step = self._step(counter)
        with self.loops.loop(self.out), self.traps.loop(body), self.exprs.contents.loop(body):
            # A watched loop has its condition inside, where it can say that it was the end.
            head = "" if self.loops.watched else condition(test)[1:-1]
            with self.out.block(f"for (var {word} = {first.text}; {head}; {step})"):
                if self.loops.watched:
                    self._leave_unless(test)
                self.body(body)
        self.traps.after_loop(body, self.out)

    def _step(self, counter: Value) -> str:
        """The statement that counts on; never beyond the stop, so a narrow counter cannot wrap."""
        if not is_wide(counter.dtype):
            return f"{counter.text}++"
        return f"{counter.text} = {self.ctx.call('u64_add', counter.text, 'vec2<u32>(1u, 0u)')}"

    def _while(self, cond: ir.AnyExpr, body: ir.Body) -> None:
        known = self.exprs.contents
        with self.loops.loop(self.out), known.loop(body), self.out.block("loop"):
            self._leave_unless(self.exprs.value(cond))
            with self.traps.loop(body):
                self.body(body)
        self.traps.after_loop(body, self.out)

    def _leave_unless(self, found: Value) -> None:
        with self.out.block(f"if (!{condition(found)})"):
            self.loops.leave(self.out)

    def _copy(self, statement: ir.AsyncLoad | ir.AsyncStore) -> None:
        """The workgroup copies together, each invocation every `size`-th element."""
        starts = (statement.destination_start, statement.source_start, statement.count)
        destination, source, count = self.exprs.operands(starts)
        self.ctx.builtins.add("local_index")
        self.exprs.contents.store(statement.destination)
        step = f"{prod(self.ctx.program.workgroup_size)}u"
        with self.out.block(""):
            to = self.exprs.spilled(destination, "to_start")
            start = self.exprs.spilled(source, "from_start")
            # Nothing beyond is in bounds anywhere, and the counter must not wrap around.
            self.out.line(f"let copied = min({self._count(count)}, 0x80000000u);")
            head = f"for (var k = local_index; k < copied; k += {step})"
            with self.out.block(head):
                load = self.exprs.buffers[statement.source].call("load", self._moved(start))
                store = self.exprs.buffers[statement.destination].call
                self.out.line(f"{store('store', self._moved(to), load)};")

    def _count(self, count: Value) -> str:
        if is_wide(count.dtype):
            positive = self.exprs.value(ir.Expr.lit(0, count.dtype))
            if count.dtype.is_signed:
                count = operators.binary(self.ctx, ir.BinOp.MAX, count, positive)
            return self.ctx.call("u64_index", count.text)
        return f"bitcast<u32>(max({count.text}, 0i))" if count.dtype.is_signed else count.text

    def _moved(self, start: Value) -> str:
        """The index k elements after a start, out of bounds where it does not fit."""
        if is_wide(start.dtype):
            moved = self.ctx.call("u64_add", start.text, "vec2<u32>(k, 0u)")
            return self.ctx.call("u64_index", moved)
        if start.dtype.is_signed:
            return f"bitcast<u32>({start.text}) + k"
        return self.ctx.call("u32_add_sat", start.text, "k")

    def _region(self, region: ir.Region) -> None:
        source = f" from {region.source_region}" if region.source_region else ""
        self.out.line(f"// {region.generator}{source}")
        with self.out.block(""):
            self.body(region.body)


def condition(value: Value) -> str:
    """A value in one pair of parentheses."""
    text = value.text
    if text.startswith("(") and value.level is Level.PRIMARY and _closes_at_end(text):
        return text
    return f"({text})"


def _closes_at_end(text: str) -> bool:
    depth = 0
    for place, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return place == len(text) - 1
    return False
