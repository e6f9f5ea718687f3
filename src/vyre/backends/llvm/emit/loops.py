"""Loops over sets of lanes: uniform where the bounds agree, else masked.

A masked loop runs until its last lane is finished.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from vyre import ir
from vyre.backends.llvm import heuristics
from vyre.backends.llvm.emit.all_active_prologue import (
    emit_all_hold,
    emit_end_of_full,
    has_all_active_prologue,
    leading_parts,
)
from vyre.backends.llvm.emit.arithmetic import reduce_any
from vyre.backends.llvm.emit.builder import constant, register_type
from vyre.backends.llvm.emit.loop_versioning import CounterAccesses, accesses_at_counter, emit_test
from vyre.backends.llvm.emit.safepoint import emit_poll
from vyre.backends.llvm.emit.values import LaneShape, Value, uniform
from vyre.backends.llvm.emit.vector_loop import emit_vector_loop
from vyre.backends.llvm.schedule.unroll_factors import jam_factor
from vyre.backends.llvm.techniques import Technique
from vyre.record import dataclass

if TYPE_CHECKING:
    from vyre.backends.llvm.emit.statements import Statements
    from vyre.rewrite.conditions import Conjunct


@dataclass(slots=True)
class LoopState:
    """A loop that is being emitted."""

    next: str
    done: str
    broke: str | None = None
    """Slot of the mask of lanes that left the loop."""
    continued: str | None = None
    outer_mask: str | None = None
    loose: frozenset[str] = frozenset()
    """Variables dead after the loop: lanes that have left need not preserve them."""
    live_mask: str | None = None


class Loops:
    """Emits loops for the statements of some lanes."""

    def __init__(self, statements: Statements) -> None:
        self.s = statements
        self.w = statements.w

    def loop(self, statement: ir.Loop) -> None:
        """Emit a counted loop, uniform where all lanes have the same bounds."""
        lanes = self.s.lanes
        start, stop = lanes.value(statement.start), lanes.value(statement.stop)
        if not start.is_uniform or not stop.is_uniform:
            if start.form is LaneShape.VARYING:
                self._counted_apart(statement, start, stop)
            else:
                self._counted_alike(statement, start, stop)
            return
        alone = len(self.s.views) == 1 and not self._is_tiny(statement)
        at_counter = accesses_at_counter(lanes, statement, start.dtype) if alone else None
        if at_counter is None:
            self._counted(statement, start, stop)
        else:
            self._counted_twice(statement, start, stop, at_counter)

    def _counted_twice(
        self, statement: ir.Loop, start: Value, stop: Value, at_counter: CounterAccesses
    ) -> None:
        """Emit two versions of a loop; one bounds check before it chooses.

        The first has no bounds checks at the induction variable, the second has them.
        """
        self.s.kernel.applies(Technique.VERSION_LOOPS)
        w, lanes = self.w, self.s.lanes
        inside, tested, done = (w.fresh(n) for n in ("loop.inside", "loop.tested", "loops"))
        w.branch(emit_test(lanes, statement, start, stop, at_counter), inside, tested, likely=True)
        w.block(inside)
        known = lanes.inside
        lanes.inside = known | at_counter.accesses
        lanes.from_first = at_counter.places(statement, start)
        self._counted(statement, start, stop)
        lanes.inside, lanes.from_first = known, {}
        w.jump(done)
        w.block(tested)
        self._counted(statement, start, stop)
        w.jump(done)
        w.block(done)

    def _counted(self, statement: ir.Loop, start: Value, stop: Value) -> None:
        """Emit a loop with a uniform stop and uniform or linear start."""
        w = self.w
        dtype = start.dtype
        scalar = register_type(dtype)
        order = "slt" if dtype.is_signed else "ult"
        slot = w.slot(scalar, statement.var)
        w.do(f"store {scalar} {start.text}, ptr {slot}")
        head, run, step, done = (w.fresh(n) for n in ("loop", "iteration", "next", "endloop"))
        state = self._enter(statement, step, done)
        bound, through = stop.text, done
        again = ""
        # At most the distance that the induction variable can advance, whatever its sign.
        strip = min(
            self.s.kernel.strips.get(statement.var, heuristics.SAFEPOINT_ITERATIONS),
            (1 << (dtype.bits or 32) - 1) - 1,
        )
        if strip:
            again, through = w.fresh("strip"), w.fresh("strip.done")
            bound = self._strip_start(again, slot, stop, strip)
        until = Value(dtype, LaneShape.UNIFORM, bound)
        if not emit_vector_loop(self.s, statement, slot, until):
            self._blocks(statement, slot, until)
        w.block(head)
        now = w.emit(f"load {scalar}, ptr {slot}", statement.var)
        more = w.emit(f"icmp {order} {scalar} {now}, {bound}")
        w.branch(more, run, through)
        w.block(run)
        for view in self.s.views:
            view.names[statement.var] = replace(start, text=now)
        self._iteration(state, statement)
        w.block(step)
        following = w.emit(f"add {scalar} {now}, 1")
        w.do(f"store {scalar} {following}, ptr {slot}")
        if state.live_mask is None and (self._is_tiny(statement) or self._is_uneven(statement)):
            w.jump_back(head)
        self._again(state, head, done)
        if again:
            w.block(through)
            w.do(f"store {scalar} {bound}, ptr {slot}")
            more = w.emit(f"icmp {order} {scalar} {bound}, {stop.text}")
            w.branch(more, again, done)
        w.block(done)
        self._exit(state, statement)

    def _is_uneven(self, statement: ir.Loop) -> bool:
        """True if the trip count varies from one lane to the next.

        Iterations that LLVM unrolls add branches, which the hardware mispredicts.
        """
        if self.s.lanes.width:
            return False
        return any(map(self.s.kernel.differs, (statement.start, statement.stop)))

    def _is_tiny(self, statement: ir.Loop) -> bool:
        """True if the trip count is small and varies: no preparation pays."""
        if self.s.lanes.width or isinstance(statement.stop, ir.Lit):
            return False
        return (
            self.s.kernel.max_trip_counts.get(statement.var, heuristics.MAX_TINY_TRIP_COUNT + 1)
            <= heuristics.MAX_TINY_TRIP_COUNT
        )

    def _strip_start(self, label: str, slot: str, stop: Value, strip: int) -> str:
        """Emit the start of a strip: a safepoint poll; returns the end of the strip."""
        w = self.w
        w.block(label)
        emit_poll(self.s.kernel)
        scalar = register_type(stop.dtype)
        now = w.emit(f"load {scalar}, ptr {slot}")
        # Most loops are short: one branch that is predicted right, and the end stays the stop.
        left = w.emit(f"sub {scalar} {stop.text}, {now}")
        one = w.emit(f"icmp ule {scalar} {left}, {strip}")
        short, long, begin = (w.fresh(n) for n in ("strip.only", "strip.first", "strip.begin"))
        w.branch(one, short, long, likely=True)
        w.block(long)
        arithmetic = self.s.kernel.arithmetic
        far = arithmetic.binary(ir.BinOp.ADD_SAT, stop.dtype, 0, now, str(strip))
        end = arithmetic.binary(ir.BinOp.MIN, stop.dtype, 0, far, stop.text)
        w.jump(begin)
        w.block(short)
        w.jump(begin)
        w.block(begin)
        return w.emit(f"phi {scalar} [ {end}, %{long} ], [ {stop.text}, %{short} ]")

    def _blocks(self, statement: ir.Loop, slot: str, stop: Value) -> None:
        """Emit unrolled-and-jammed iterations, where sets of lanes take turns.

        The remainder is left to the loop that follows.
        """
        factor = jam_factor(self.s, statement)
        if factor == 1:
            return
        self.s.kernel.applies(Technique.UNROLL_AND_JAM)
        w, s = self.w, self.s
        scalar = register_type(stop.dtype)
        order, wrap = ("sl", "nsw") if stop.dtype.is_signed else ("ul", "nuw")
        start = w.emit(f"load {scalar}, ptr {slot}")
        some = w.emit(f"icmp {order}t {scalar} {start}, {stop.text}")
        left = w.emit(f"sub {scalar} {stop.text}, {start}")
        last = w.emit(f"sub {scalar} {stop.text}, {factor}")
        enough = w.emit(f"icmp uge {scalar} {left}, {factor}")
        fits = w.emit(f"and i1 {some}, {enough}")
        block, done = w.fresh("block"), w.fresh("block.done")
        w.branch(fits, block, done)
        w.block(block)
        now = w.emit(f"load {scalar}, ptr {slot}", statement.var)
        counts = [now] + [w.emit(f"add {wrap} {scalar} {now}, {n}") for n in range(1, factor)]
        for view in s.views:
            for count in counts:
                view.names[statement.var] = uniform(stop.dtype, count)
                s.alone(view, statement.body)
        following = w.emit(f"add {wrap} {scalar} {now}, {factor}")
        w.do(f"store {scalar} {following}, ptr {slot}")
        again = w.emit(f"icmp {order}e {scalar} {following}, {last}")
        w.branch(again, block, done)
        w.block(done)

    def _counted_alike(self, statement: ir.Loop, start: Value, stop: Value) -> None:
        """Emit a masked loop with varying stops.

        The induction variable is uniform or linear. Inactive lanes keep counting; no fact holds for
        their induction variable.
        """
        w, lanes = self.w, self.s.lanes
        dtype = start.dtype
        scalar = register_type(dtype)
        limit = lanes.vector(stop)
        slot = w.slot(scalar, statement.var)
        first = start.text
        if has_all_active_prologue(self.s, statement):
            self.s.kernel.applies(Technique.ALL_ACTIVE_PROLOGUE)
            end = emit_end_of_full(lanes, start, limit)
            self._counted(statement, start, end)
            first = end.text
        w.do(f"store {scalar} {first}, ptr {slot}")
        head, run, step, done = (w.fresh(n) for n in ("loop", "iteration", "next", "endloop"))
        state = self._enter(statement, step, done, divergent=True)
        w.block(head)
        emit_poll(self.s.kernel)
        now = w.emit(f"load {scalar}, ptr {slot}", statement.var)
        # If the first lane leads, it passes the end of its type before others when inactive.
        counter = replace(start, text=now, exact=start.exact and start.stride >= 0)
        compared = lanes.arithmetic.compare(
            ir.BinOp.LT, dtype, lanes.width, lanes.vector(counter), limit
        )
        self._stay(state, Value(ir.DataType.BOOL, LaneShape.VARYING, compared), run, done)
        w.block(run)
        lanes.names[statement.var] = counter
        self._iteration(state, statement)
        w.block(step)
        following = w.emit(f"add {scalar} {now}, 1")
        w.do(f"store {scalar} {following}, ptr {slot}")
        self._again(state, head, done)
        w.block(done)
        self._exit(state, statement)

    def _counted_apart(self, statement: ir.Loop, start: Value, stop: Value) -> None:
        """Emit a masked loop with a varying induction variable.

        A lane becomes inactive when its own induction variable reaches its stop.
        """
        w, lanes = self.w, self.s.lanes
        dtype = start.dtype
        type_ = register_type(dtype, lanes.width)
        slot = w.slot(type_, statement.var)
        w.do(f"store {type_} {lanes.vector(start)}, ptr {slot}")
        limit = lanes.vector(stop)
        head, run, step, done = (w.fresh(n) for n in ("loop", "iteration", "next", "endloop"))
        state = self._enter(statement, step, done, divergent=True)
        w.block(head)
        emit_poll(self.s.kernel)
        now = w.emit(f"load {type_}, ptr {slot}", statement.var)
        order = "slt" if dtype.is_signed else "ult"
        more = w.emit(f"icmp {order} {type_} {now}, {limit}")
        self._stay(state, Value(ir.DataType.BOOL, LaneShape.VARYING, more), run, done)
        w.block(run)
        lanes.names[statement.var] = Value(dtype, LaneShape.VARYING, now)
        self._iteration(state, statement)
        w.block(step)
        following = w.emit(f"add {type_} {now}, {constant(register_type(dtype), 1, lanes.width)}")
        w.do(f"store {type_} {following}, ptr {slot}")
        self._again(state, head, done)
        w.block(done)
        self._exit(state, statement)

    def while_(self, statement: ir.While) -> None:
        """Emit a while loop, masked where its condition varies."""
        w, lanes = self.w, self.s.lanes
        divergent = bool(lanes.width) and self.s.shapes.is_varying(statement.cond)
        if divergent and has_all_active_prologue(self.s, statement):
            parts = leading_parts(self.s, statement)
            if parts is not None:
                self.s.kernel.applies(Technique.ALL_ACTIVE_PROLOGUE)
                self._while_full(statement, parts)
        head, run, done = (w.fresh(n) for n in ("while", "iteration", "endwhile"))
        state = self._enter(statement, head, done, divergent=divergent)
        w.block(head)
        emit_poll(self.s.kernel)
        if state.live_mask is not None:
            self._refresh(state)
        cond = lanes.value(statement.cond)
        if divergent:
            self._stay(state, cond, run, done)
        else:
            w.branch(cond.text, run, done)
        w.block(run)
        self._iteration(state, statement)
        self._again(state, head, done)
        w.block(done)
        self._exit(state, statement)

    def _while_full(self, statement: ir.While, parts: list[Conjunct]) -> None:
        """Emit the iterations in which all lanes are active."""
        w = self.w
        head, run, done = (w.fresh(n) for n in ("while.all", "iteration.all", "endwhile.all"))
        state = self._enter(statement, head, done)
        w.block(head)
        emit_poll(self.s.kernel)
        w.branch(emit_all_hold(self.s.lanes, parts), run, done)
        w.block(run)
        self._iteration(state, statement)
        self._again(state, head, done)
        w.block(done)
        self._exit(state, statement)

    # Masks of lanes that leave separately ---------------------------------------------------------

    def _enter(
        self, statement: ir.Loop | ir.While, next_: str, done: str, *, divergent: bool = False
    ) -> LoopState:
        """Set up a loop; masks are needed where lanes may leave it separately."""
        s = self.s
        state = LoopState(next_, done, outer_mask=s.lanes.mask)
        if s.lanes.width and (divergent or self._leaves_apart(statement)):
            s.kernel.divergent = True
            state.broke = s.mask_slot("broke")
            if s.flow.continues(statement):
                state.continued = s.mask_slot("continued")
            state.live_mask = "pending"
            state.loose = frozenset(
                name
                for name in s.shapes.assigned
                if name not in s.kept and not s.flow.is_read_after(name, statement)
            )
        s.loops.append(state)
        return state

    def _leaves_apart(self, statement: ir.Loop | ir.While) -> bool:
        s = self.s
        own = s.flow.breaks(statement) or s.flow.continues(statement)
        apart = s.lanes.mask is not None or s.shapes.leaves_divergently(statement.body)
        returns = s.returned is not None and s.flow.may_return(statement)
        return (own and apart) or returns

    def _stay(self, state: LoopState, cond: Value, run: str, done: str) -> None:
        """Emit the mask update: lanes whose condition fails leave; continue while any stays."""
        w, lanes = self.w, self.s.lanes
        assert state.broke is not None
        self._refresh(state)
        holds = lanes.as_mask(cond)
        live = self.s.and_mask(lanes.mask, holds)
        ones = constant(f"i{lanes.mask_bits}", -1, lanes.width)
        out = w.emit(f"xor {lanes.mask_type} {live}, {ones}")
        w.do(f"store {lanes.mask_type} {out}, ptr {state.broke}")
        lanes.mask = live
        state.live_mask = live
        some = reduce_any(w, lanes.mask_type, live)
        w.branch(some, run, done)

    def _refresh(self, state: LoopState) -> None:
        """Emit the mask of lanes that are still in the loop."""
        assert state.broke is not None
        gone = [state.broke] + ([self.s.returned] if self.s.returned else [])
        mask = self.s.without(state.outer_mask, gone)
        self.s.lanes.mask = mask
        state.live_mask = mask

    def _iteration(self, state: LoopState, statement: ir.Loop | ir.While) -> None:
        w, lanes = self.w, self.s.lanes
        if state.continued is not None:
            zero = constant(f"i{lanes.mask_bits}", 0, lanes.width)
            w.do(f"store {lanes.mask_type} {zero}, ptr {state.continued}")
        if state.live_mask == "pending":
            self._refresh(state)
        inside = lanes.mask
        self.s.body(statement.body)
        lanes.mask = inside

    def _again(self, state: LoopState, head: str, done: str) -> None:
        """Emit the back edge, taken while any lane is left."""
        w, lanes = self.w, self.s.lanes
        if state.live_mask is None or not w.open:
            w.jump(head)
            return
        self._refresh(state)
        assert lanes.mask is not None
        some = reduce_any(w, lanes.mask_type, lanes.mask)
        w.branch(some, head, done)

    def _exit(self, state: LoopState, statement: ir.Loop | ir.While) -> None:
        self.s.loops.pop()
        self.s.lanes.mask = state.outer_mask
        if self.s.lanes.width and self.s.flow.may_return(statement):
            self.s.rejoin(state.outer_mask, statement)
