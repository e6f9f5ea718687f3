"""Statements over a set of lanes: branches where uniform, masks where varying.

With one lane at a time everything is a branch. With several, a varying condition becomes a mask,
both arms run under it, and a loop runs until no lane is active in it. Lanes that have left (by
return, break or continue) are recorded in masks of their own.

Several sets of lanes may run in lock-step, statement by statement. They then share all control
flow, so there are no masks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import assert_never

from vyre import ir
from vyre.backends.llvm import heuristics
from vyre.backends.llvm.analysis.divergence import ALONG_ITERATIONS, Divergence
from vyre.backends.llvm.analysis.last_uses import Flow
from vyre.backends.llvm.analysis.while_recurrences import rising_variables
from vyre.backends.llvm.emit.arithmetic import reduce_any
from vyre.backends.llvm.emit.builder import constant
from vyre.backends.llvm.emit.context import Kernel
from vyre.backends.llvm.emit.expressions import LaneContext
from vyre.backends.llvm.emit.loops import Loops, LoopState
from vyre.backends.llvm.emit.memory.interleaved import store_group
from vyre.backends.llvm.emit.memory.store import is_maskable
from vyre.backends.llvm.emit.traps_and_prints import emit_print, emit_trap
from vyre.backends.llvm.emit.values import LaneShape, Memory, Slot, Value
from vyre.ir.walk import walk_expr


class Statements:
    """Emits statements for sets of lanes that run in lock-step."""

    def __init__(
        self,
        kernel: Kernel,
        views: Sequence[LaneContext],
        shapes: Divergence,
        end: str,
        apart: Divergence | None = None,
        kept: frozenset[str] = frozenset(),
    ) -> None:
        self.kernel = kernel
        self.w = kernel.w
        self.views = tuple(views)
        self.lanes = views[0]
        self.shapes = shapes
        self.apart = apart
        """Divergence between the sets of lanes, if there are several."""
        self.end = end
        """Label of the block where a finished lane (or all lanes) continues."""
        self.kept = kept
        """Variables that other parallel regions read."""
        self.on_return: Callable[[], None] | None = None
        """Emits code before a lane ends, if lanes are scalar."""
        self.outer_signal: str | None = None
        """Slot in which lanes record that they leave the workgroup's loop."""
        self.loops: list[LoopState] = []
        self.returned: str | None = None
        self.flow = Flow()
        self.rising: frozenset[str] = frozenset()
        """Variables incremented by the same amount in all lanes."""
        self._declared_under: dict[str, str | None] = {}

    @property
    def _loops(self) -> Loops:
        return Loops(self)  # held here, it would form a reference cycle

    def run(self, body: ir.Body) -> None:
        """Emit the statements of a whole parallel region."""
        self.flow = Flow.of(body)
        if self.lanes.width:
            self.rising = rising_variables(body, self.shapes, self.kept)
        self.body(body)

    def over_iterations(
        self, wide: LaneContext, loop: ir.Loop, results: frozenset[str]
    ) -> Statements:
        """Statements whose lanes are iterations of a loop; its results vary among them."""
        varying = results | {loop.var}
        shapes = Divergence(self.kernel.program, loop.body, ALONG_ITERATIONS, varying)
        statements = Statements(self.kernel, (wide,), shapes, self.end, kept=self.kept)
        statements.flow = Flow.of(loop.body)
        statements.loops = list(self.loops)
        return statements

    def alone(self, view: LaneContext, body: ir.Body) -> None:
        """Emit statements for one of the sets of lanes."""
        views = self.views
        self.views, self.lanes = (view,), view
        self.body(body)
        self.views, self.lanes = views, views[0]

    def body(self, body: ir.Body) -> None:
        """Emit statements in order."""
        position = 0
        while position < len(body) and self.w.open:
            taken = 0
            self.w.breathe()
            if self.lanes.width and isinstance(body[position], ir.Store):
                taken = store_group(self, body, position)
            if not taken:
                self.statement(body[position])
            position += taken or 1

    def statement(self, statement: ir.AnyStmt) -> None:  # noqa: C901
        """Emit one statement."""
        match statement:
            case ir.Let(name, value):
                self.let(name, value)
            case ir.Assign(name, value):
                self.assign(name, value)
            case ir.Store():
                for view in self.views:
                    self.store(view, statement)
            case ir.Eval(ir.Atomic() as value):
                for view in self.views:
                    view.atomics.do(value)
            case ir.Eval(value):
                for view in self.views:
                    view.value(value)
            case ir.If():
                self.if_(statement)
            case ir.Loop():
                self._loops.loop(statement)
            case ir.While():
                self._loops.while_(statement)
            case ir.Break() | ir.Continue() | ir.Return():
                self.leave(statement)
            case ir.Block(body) | ir.Region(_, _, body):
                self.body(body)
            case ir.Trap(tag):
                emit_trap(self.kernel, self.lanes, tag)
            case ir.Print(label, values):
                for view in self.views:
                    emit_print(self.kernel, view, label, values)
            case ir.Resume() | ir.IndirectDispatch() | ir.Barrier() | ir.AsyncWait():
                pass
            case ir.AsyncLoad() | ir.AsyncStore():
                raise AssertionError("copies are emitted for the whole workgroup")
            case (
                ir.AllReduce() | ir.AllGather() | ir.ReduceScatter() | ir.Broadcast() | ir.Opaque()
            ):
                raise AssertionError("the driver never hands these to a backend")
            case _:
                assert_never(statement)

    # Variables -----------------------------------------------------------------------------------

    def let(self, name: str, value: ir.AnyExpr) -> None:
        """Bind a variable: to a slot if it changes or lives across a barrier, else to the value."""
        first, *others = self.views
        self._bind(first, name, first.value(value))
        for view in others:
            if self._is_shared(name):
                view.names[name] = first.names[name]
            else:
                self._bind(view, name, view.value(value))
        self._declared_under[name] = self.lanes.mask

    def _is_shared(self, name: str) -> bool:
        """True if a variable is the same in all sets of lanes."""
        return self.apart is not None and name not in self.apart.varying

    def _bind(self, view: LaneContext, name: str, value: Value) -> None:
        slot = view.names.get(name)
        if isinstance(slot, Slot) and (slot.per_lane or slot.shared):
            view.write(slot, value, blend=False)
        elif name in self.shapes.assigned:
            form = LaneShape.VARYING if name in self.shapes.varying else LaneShape.UNIFORM
            slot = view.new_rising_slot(name, value) if name in self.rising else None
            slot = slot or view.new_slot(name, value.dtype, form)
            view.write(slot, value, blend=False)
        else:
            view.names[name] = value

    def assign(self, name: str, value: ir.AnyExpr) -> None:
        """Emit an assignment to a variable in the active lanes."""
        same = self._declared_under.get(name, "elsewhere") == self.lanes.mask
        loose = any(name in loop.loose and loop.live_mask == self.lanes.mask for loop in self.loops)
        views = self.views[:1] if self._is_shared(name) else self.views
        values = [view.value(value) for view in views]
        for view, new in zip(views, values, strict=True):
            slot = view.names[name]
            assert isinstance(slot, Slot)
            view.write(slot, new, blend=not (same or loose))

    def store(self, view: LaneContext, statement: ir.Store) -> None:
        """Emit the store of an element."""
        at = view.index(statement)
        stored = view.value(statement.value)
        proven = view.proven(statement)
        view.memory.store(self.written(view, statement.buffer), at, stored, proven=proven)

    def written(self, view: LaneContext, buffer: str) -> Memory:
        """A buffer to be written: with non-temporal stores only where they fill cache lines."""
        memory = view.buffer(buffer)
        if memory.cached and (self.loops or not self.kernel.fills_lines):
            # Only consecutive lanes along whole rows fill one cache line after another.
            return replace(memory, cached="")
        return memory

    # Branches ------------------------------------------------------------------------------------

    def if_(self, statement: ir.If) -> None:
        """Emit one of two bodies, or both under masks."""
        cond = self.lanes.value(statement.cond)
        if cond.is_uniform:
            self._branch(cond.text, statement)
        else:
            self._masked_if(cond, statement)

    def _branch(self, cond: str, statement: ir.If) -> None:
        w = self.w
        before = self.lanes.mask
        yes, no, done = (w.fresh(n) for n in ("then", "else", "endif"))
        w.branch(cond, yes, no if statement.otherwise else done)
        w.block(yes)
        self.body(statement.then)
        w.jump(done)
        if statement.otherwise:
            self.lanes.mask = before
            w.block(no)
            self.body(statement.otherwise)
            w.jump(done)
        w.block(done)
        self.rejoin(before, statement)

    def _masked_if(self, cond: Value, statement: ir.If) -> None:
        w, lanes = self.w, self.lanes
        before = lanes.mask
        chosen = lanes.as_mask(cond)
        yes = self.and_mask(before, chosen)
        self._under(yes, statement.then)
        if statement.otherwise:
            ones = constant(f"i{lanes.mask_bits}", -1, lanes.width)
            flipped = w.emit(f"xor {lanes.mask_type} {chosen}, {ones}")
            self._under(self.and_mask(before, flipped), statement.otherwise)
        self.rejoin(before, statement)

    def _under(self, mask: str, body: ir.Body) -> None:
        w, lanes = self.w, self.lanes
        if not body:
            return
        if self._is_one_store(body):
            # Whether any lane is active is hard to predict; a store with an empty mask is cheaper.
            lanes.mask = mask
            self.body(body)
            return
        some = reduce_any(w, lanes.mask_type, mask)
        run, skip = w.fresh("some"), w.fresh("none")
        w.branch(some, run, skip)
        w.block(run)
        lanes.mask = mask
        self.body(body)
        w.jump(skip)
        w.block(skip)

    def _is_one_store(self, body: ir.Body) -> bool:
        """True if a body is one cheap store with a masked instruction."""
        if len(body) != 1 or not isinstance(body[0], ir.Store):
            return False
        store = body[0]
        host, element = self.kernel.host, self.kernel.memories[store.buffer].decl.element
        if not host.has_mask_registers or not is_maskable(element, host):
            return False
        nodes = [*walk_expr(store.index), *walk_expr(store.value)]
        return len(nodes) <= heuristics.MAX_PREDICATED_STORE_NODES and not any(
            isinstance(n, (ir.Load, ir.Atomic)) for n in nodes
        )

    def and_mask(self, mask: str | None, other: str) -> str:
        """Emit the intersection of two masks; None is all lanes."""
        if mask is None:
            return other
        return self.w.emit(f"and {self.lanes.mask_type} {mask}, {other}")

    def rejoin(self, before: str | None, statement: ir.AnyStmt) -> None:
        """Emit the mask after a statement: as before, minus the lanes that left inside."""
        self.lanes.mask = before
        if not self.lanes.width or not self.flow.may_leave(statement):
            return
        returns = self.flow.may_return(statement)
        gone = [self.returned] if self.returned and returns else []
        if self.loops:
            gone += [s for s in (self.loops[-1].broke, self.loops[-1].continued) if s]
        self.lanes.mask = self.without(before, gone)

    def without(self, mask: str | None, gone: Sequence[str]) -> str | None:
        """Emit a mask minus the lanes recorded in some slots."""
        lanes = self.lanes
        ones = constant(f"i{lanes.mask_bits}", -1, lanes.width)
        for slot in gone:
            left = self.w.emit(f"load {lanes.mask_type}, ptr {slot}")
            here = self.w.emit(f"xor {lanes.mask_type} {left}, {ones}")
            mask = self.and_mask(mask, here)
        return mask

    # Leaving -------------------------------------------------------------------------------------

    def leave(self, statement: ir.Break | ir.Continue | ir.Return) -> None:
        """Emit a return, break or continue of the active lanes."""
        if (self.lanes.width and self.lanes.mask is not None) or self._must_mark(statement):
            self._mark(statement)
            return
        if isinstance(statement, ir.Return):
            if self.on_return is not None:
                self.on_return()
            self.w.jump(self.end)
        elif self.loops:
            loop = self.loops[-1]
            self.w.jump(loop.done if isinstance(statement, ir.Break) else loop.next)
        else:
            signal = 1 if isinstance(statement, ir.Break) else 2
            self.w.do(f"store i8 {signal}, ptr {self.outer_signal}")
            self.w.jump(self.end)

    def _must_mark(self, statement: ir.Break | ir.Continue | ir.Return) -> bool:
        # All active lanes leave, but inactive ones may remain outside: then they are recorded too.
        return bool(self.lanes.width) and self._slot_for(statement) is not None

    def _slot_for(self, statement: ir.Break | ir.Continue | ir.Return) -> str | None:
        if isinstance(statement, ir.Return):
            return self.returned
        loop = self.loops[-1]
        return loop.broke if isinstance(statement, ir.Break) else loop.continued

    def _mark(self, statement: ir.Break | ir.Continue | ir.Return) -> None:
        lanes, w = self.lanes, self.w
        slot = self._slot_for(statement)
        assert slot is not None
        all_lanes = constant(f"i{lanes.mask_bits}", -1, lanes.width)
        mask = all_lanes if lanes.mask is None else lanes.mask
        old = w.emit(f"load {lanes.mask_type}, ptr {slot}")
        new = w.emit(f"or {lanes.mask_type} {old}, {mask}")
        w.do(f"store {lanes.mask_type} {new}, ptr {slot}")
        # No lane is active in the rest of this body.
        lanes.mask = constant(f"i{lanes.mask_bits}", 0, lanes.width)

    def mask_slot(self, name: str) -> str:
        """Emit a slot for a mask, initially empty."""
        slot = self.w.slot(self.lanes.mask_type, name)
        zero = constant(f"i{self.lanes.mask_bits}", 0, self.lanes.width)
        self.w.do(f"store {self.lanes.mask_type} {zero}, ptr {slot}")
        return slot
