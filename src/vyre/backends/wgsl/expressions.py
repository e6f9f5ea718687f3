"""Expressions of a program as WGSL.

WGSL text is pure here: whatever has an effect (an atomic, an exchange between lanes) is written as
a statement of its own first, together with the loads that must come before it, so that operands
are evaluated left to right whatever the WGSL compiler does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from vyre import ir
from vyre.analysis import Ranges
from vyre.backends.wgsl import casts, operators, subgroups
from vyre.backends.wgsl.access import read_scalar
from vyre.backends.wgsl.agreed_loads import NO_LOADS, emit_agreed
from vyre.backends.wgsl.atomics import BUILT_IN
from vyre.backends.wgsl.context import Context, spell
from vyre.backends.wgsl.driver_visible_floats import KnownContents
from vyre.backends.wgsl.literals import literal
from vyre.backends.wgsl.memory import Buffer, Cells, Space, length
from vyre.backends.wgsl.operators import as_u32
from vyre.backends.wgsl.types import held, is_array, is_wide, zero
from vyre.backends.wgsl.value import Seen, Value
from vyre.emit import Level, Writer
from vyre.ir.walk import expr_children
from vyre.semantics.atomics import is_atomic_load

_BUILTINS = {
    ir.BuiltinKind.GLOBAL_ID: "gid",
    ir.BuiltinKind.LOCAL_ID: "lid",
    ir.BuiltinKind.WORKGROUP_ID: "wid",
    ir.BuiltinKind.NUM_WORKGROUPS: "grid",
}
_RESULTS: dict[type, str] = {
    ir.Atomic: "old",
    ir.Ballot: "ballot",
    ir.Shuffle: "shuffled",
    ir.SubgroupReduce: "joined",
}
"""Expressions with an effect, and what their results are called."""
_EFFECTFUL = tuple(_RESULTS)


class Expressions:
    """Turns expressions into values; statements that they need go to `out`."""

    def __init__(self, ctx: Context, buffers: dict[str, Buffer], out: Writer) -> None:
        self.ctx = ctx
        self.buffers = buffers
        self.out = out
        self.variables: dict[str, Value] = {}
        self.ranges = Ranges.of(ctx.program)
        self.contents = KnownContents()
        self.position = 0
        """The number of the statement that is being written, as analyses count them."""
        self.agreed = NO_LOADS
        """The loads of the statement that the workgroup must agree on."""
        self._effects: dict[ir.AnyExpr, bool] = {}
        self._loads: dict[ir.AnyExpr, bool] = {}

    def value(self, expr: ir.AnyExpr) -> Value:  # noqa: C901
        """The value of an expression."""
        ctx = self.ctx
        match expr:
            case ir.Lit(dtype):
                text, constant = literal(expr)
                if text.startswith("f32_bits"):
                    ctx.functions.add("f32_bits")
                number = expr.bits if dtype.is_integer else None
                harmless = dtype.is_float and constant and expr.value != 0
                return Value(
                    text,
                    dtype,
                    constant=constant,
                    number=number,
                    seen=Seen.ALL,
                    harmless=harmless,
                )
            case ir.Var(name):
                return self.variables[name]
            case ir.Load():
                return self._load(expr)
            case ir.BufLen(buffer):
                known = self.buffers[buffer].decl.count or None
                text = length(ctx, self.buffers[buffer])
                return Value(text, ir.DataType.U32, constant=known is not None, number=known)
            case ir.Builtin(kind, axis):
                return self._builtin(kind, axis)
            case ir.Unary(op, operand):
                return operators.unary(ctx, op, self.value(operand))
            case ir.Binary(op, left, right):
                return operators.binary(ctx, op, *self.operands((left, right)))
            case ir.Fma(a, b, c):
                return operators.fma(ctx, *self.operands((a, b, c)))
            case ir.Select(cond, if_true, if_false):
                return self._select(*self.operands((cond, if_true, if_false)))
            case ir.Cast(operand, dtype):
                return casts.cast(ctx, self.value(operand), dtype)
            case ir.Bitcast(operand, dtype):
                return casts.bitcast(ctx, self.value(operand), dtype)
            case ir.MakeVec(dtype, lanes):
                parts = self.operands(lanes)
                text = f"{held(dtype)}({', '.join(part.text for part in parts)})"
                constant = all(part.constant for part in parts)
                return Value(text, dtype, constant=constant, seen=Seen.ALL)
            case ir.Lane(operand, index):
                return self._lane(self.value(operand), index)
            case ir.Atomic() | ir.Ballot() | ir.Shuffle() | ir.SubgroupReduce():
                return self.spilled(self.once(expr), _RESULTS[type(expr)])
        assert_never(expr)

    def once(self, expr: ir.AnyExpr) -> Value:
        """The value of an expression that is about to be named, so that it is evaluated once."""
        ctx = self.ctx
        match expr:
            case ir.Atomic():
                return self._atomic(expr)
            case ir.Ballot(cond):
                return subgroups.ballot(ctx, self.value(cond))
            case ir.Shuffle(operand, lane):
                value, source = self.operands((operand, lane))
                return subgroups.shuffle(ctx, self.named(value), self.index(source))
            case ir.SubgroupReduce(op, operand):
                return subgroups.reduce(ctx, op, self.named(self.value(operand)))
            case _:
                return self.value(expr)

    def operands(self, exprs: Sequence[ir.AnyExpr]) -> list[Value]:
        """The values of operands, evaluated in order."""
        last = max((k for k, e in enumerate(exprs) if self.has_effect(e)), default=0)
        values: list[Value] = []
        for k, expr in enumerate(exprs):
            value = self.value(expr)
            if k < last and self._has_load(expr):
                value = self.spilled(value, "before")
            values.append(value)
        return values

    def spilled(self, value: Value, wish: str) -> Value:
        """The value under a name of its own, computed at this point."""
        name = self.ctx.names.fresh(wish)
        value = self.named(value)
        self.out.line(f"let {name} = {value.text};")
        return value.named(name)

    def named(self, value: Value) -> Value:
        """A value that gets a name: what a driver sees is hidden here, once for all its uses."""
        return self.ctx.hidden(value, Seen.ALL) if value.dtype.is_float else value

    def effect(self, expr: ir.AnyExpr) -> None:
        """Evaluate an expression for its effect only."""
        if isinstance(expr, ir.Atomic):
            self.out.line(f"{self._atomic(expr, unused=True).text};")
        elif self.has_effect(expr):
            self.value(expr)

    def index(self, value: Value) -> str:
        """An index of any integer type as u32; one that is out of range stays out of range."""
        if is_wide(value.dtype):
            return self.ctx.call("u64_index", value.text)
        return as_u32(value).text

    def has_effect(self, expr: ir.AnyExpr) -> bool:
        """Whether evaluating it does something that others can see."""
        known = self._effects.get(expr)
        if known is None:
            known = isinstance(expr, _EFFECTFUL) or any(map(self.has_effect, expr_children(expr)))
            self._effects[expr] = known
        return known

    def _has_load(self, expr: ir.AnyExpr) -> bool:
        known = self._loads.get(expr)
        if known is None:
            known = isinstance(expr, ir.Load) or any(map(self._has_load, expr_children(expr)))
            self._loads[expr] = known
        return known

    def _load(self, load: ir.Load) -> Value:
        buffer = self.buffers[load.buffer]
        is_false = buffer.space is Space.PRIVATE and not buffer.written and buffer.scalar.is_bool
        if is_false and not self.has_effect(load.index):
            # SwiftShader crashes on a branch that depends on such an array: nothing is read from
            # it, not even the index, which could bind what is then not used.
            return Value(zero(buffer.decl.value_type), buffer.decl.value_type, constant=True)
        index = self.index(self.value(load.index))
        is_cell = buffer.lanes == 1 or buffer.is_native_vector
        function = "load"
        if is_cell and self.ranges.is_in_bounds(load, self.position):
            function = "cell"
        if function == "cell" and buffer.is_simple:
            buffer.used = True
            text = read_scalar(self.ctx, buffer, index)
        else:
            text = buffer.call(function, index)
        may_be_outside = function == "load" and buffer.decl.count > 0
        seen = self.contents.seen(buffer, may_be_outside=may_be_outside)
        found = Value(text, buffer.decl.value_type, seen=seen, opaque=not seen)
        if load not in self.agreed:
            return found
        is_cell = function == "cell" and buffer.is_simple
        return found.named(emit_agreed(self.ctx, self.out, found, buffer, is_cell=is_cell))

    def _builtin(self, kind: ir.BuiltinKind, axis: int) -> Value:
        if kind is ir.BuiltinKind.SUBGROUP_SIZE:
            return subgroups.size(self.ctx)
        if kind is ir.BuiltinKind.SUBGROUP_LANE:
            return subgroups.lane(self.ctx)
        name = _BUILTINS[kind]
        self.ctx.builtins.add(name)
        # Of an axis of length one a driver knows everything, and of a grid that was folded.
        lone = kind is ir.BuiltinKind.LOCAL_ID and self.ctx.program.workgroup_size[axis] == 1
        opaque = not lone and kind is not ir.BuiltinKind.NUM_WORKGROUPS
        return Value(f"{name}.{'xyz'[axis]}", ir.DataType.U32, opaque=opaque)

    def _select(self, cond: Value, if_true: Value, if_false: Value) -> Value:
        if not is_array(if_true.dtype):
            text = f"select({if_false.text}, {if_true.text}, {cond.text})"
            seen = if_true.seen | if_false.seen
            constant = cond.constant and if_true.constant and if_false.constant
            chosen = Value(text, if_true.dtype, constant=constant, seen=seen)
            return self.ctx.runtime(chosen)
        name = self.ctx.names.fresh("chosen")
        self.out.line(f"var {name} = {if_false.text};")
        with self.out.block(f"if ({cond.text})"):
            self.out.line(f"{name} = {if_true.text};")
        return spell(name, if_true.dtype)

    def _lane(self, vector: Value, index: int) -> Value:
        element = vector.dtype.element or vector.dtype
        base = vector.at(Level.PRIMARY)
        place = f"[{index}]" if is_array(vector.dtype) else f".{'xyzw'[index]}"
        # Operators look at constants as literals, which this is not.
        lane = Value(f"{base}{place}", element, constant=vector.constant, seen=vector.seen)
        return self.ctx.runtime(lane)

    def _atomic(self, expr: ir.Atomic, *, unused: bool = False) -> Value:
        buffer = self.buffers[expr.buffer]
        operands = [expr.index, expr.value]
        if expr.expected is not None:
            operands.append(expr.expected)
        index, *values = self.operands(operands)
        if buffer.scalar.is_float:
            values = [self.ctx.hidden(value, Seen.ALL) for value in values]
        place = self.index(index)
        relaxed = expr.ordering is ir.MemoryOrdering.RELAXED
        if relaxed and buffer.cells is not Cells.PAIRS:
            # Plain accesses of a buffer that has atomics are atomic loads and stores themselves.
            if is_atomic_load(expr):
                return spell(buffer.call("load", place), buffer.scalar)
            if unused and expr.op is ir.AtomicOp.EXCHANGE:
                return spell(buffer.call("store", place, values[0].text), buffer.scalar)
        built_in = BUILT_IN.get(expr.op)
        plain = buffer.is_simple and buffer.scalar.is_integer and built_in is not None
        if plain and self.ranges.is_in_bounds(expr, self.position):
            buffer.used = True
            return spell(f"{built_in}(&{buffer.name}[{place}], {values[0].text})", buffer.scalar)
        name = expr.op.row.spelling
        arguments = [place, *(value.text for value in values)]
        return spell(buffer.call(name, *arguments, op=expr.op), buffer.scalar)
