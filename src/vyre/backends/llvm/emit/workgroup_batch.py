"""Workgroups whose loops through memory run side by side, round by round.

A workgroup that sums up its share of a buffer goes through one stretch of memory, and the machine
fetches ahead of it no faster than it fetches for one such walk. Several workgroups that take turns
walk through several stretches at once, and for each of them the machine fetches ahead: from memory
comes a fifth more. What is in the caches comes quickly anyhow: whether it may be is seen when the
code runs, and then one workgroup runs at a time.

    for each of the workgroups: what comes before the loop
    for every round: for each of the workgroups: the round
    for each of the workgroups: what comes after it
"""

from __future__ import annotations

from collections.abc import Callable

from vyre.backends.llvm.analysis.live_across_barriers import Crossing
from vyre.backends.llvm.analysis.parallel_regions import Together
from vyre.backends.llvm.emit.builder import literal, register_type
from vyre.backends.llvm.emit.context import Kernel, element_bytes
from vyre.backends.llvm.emit.expressions import Lanes
from vyre.backends.llvm.emit.loops import emit_poll
from vyre.backends.llvm.emit.memory.nontemporal import LARGE
from vyre.backends.llvm.emit.region import Window
from vyre.backends.llvm.emit.values import Slot, Value, uniform
from vyre.backends.llvm.emit.workgroup_state import (
    AroundLoop,
    Several,
    kept_bytes,
    workgroup_bytes,
)
from vyre.ir import Atomic, Lit, Load, Loop, Store
from vyre.ir.walk import expr_children, walk_expr, walk_stmts
from vyre.record import dataclass

ABREAST = 4
"""Workgroups side by side; more are no quicker."""
AT_ONCE = 512
"""Bytes that a workgroup reads at its turn: the machine looks no further than a few such turns."""
MANY_ROUNDS = 16
"""With fewer than this, workgroups that follow one another are one walk anyhow."""
MOST_BYTES = 4096
"""That each of them keeps between rounds: it should stay in the nearest cache."""
MOST_NODES = 48
"""Expressions in a round that waits for memory more than memory for it."""
MOST_STREAMS = 2
"""Buffers that a round reads: each is one more walk through memory for every workgroup."""


@dataclass(frozen=True, slots=True)
class Abreast:
    """How several workgroups run a loop side by side."""

    cut: AroundLoop
    streams: tuple[str, ...]
    """The buffers that it reads."""
    lanes: int
    """Lanes of a workgroup that take their turn together."""

    @property
    def statement(self) -> Loop:
        """The loop itself."""
        return self.cut.statements[0]

    @property
    def first(self) -> Lit:
        """The number of the first round."""
        found = self.statement.start
        assert isinstance(found, Lit)
        return found


def abreast_of(kernel: Kernel, cut: AroundLoop, crossing: Crossing) -> Abreast | None:
    """How several workgroups run side by side, if it pays."""
    cut = cut.at_first()
    streams = _streams(kernel, cut.loops[0])
    # What a workgroup keeps between rounds should stay in the nearest cache.
    if not streams or workgroup_bytes(kernel) + kept_bytes(kernel, crossing) > MOST_BYTES:
        return None
    if not kernel.fills_lines or not _is_counted(kernel, cut.statements[0]):
        return None
    widest = max(element_bytes(kernel.memories[n].decl) for n in streams)
    return Abreast(cut, tuple(sorted(streams)), min(AT_ONCE // widest, kernel.size[0]))


def _is_counted(kernel: Kernel, loop: Loop) -> bool:
    """Whether rounds begin with the same number, are many, and end with one that stays as it is."""
    if not isinstance(loop.start, Lit):
        return False
    if isinstance(loop.stop, Lit) and int(loop.stop.value) < MANY_ROUNDS:
        return False
    for node in walk_expr(loop.stop):
        if isinstance(node, Atomic):
            return False
        if isinstance(node, Load) and not kernel.memories[node.buffer].constant:
            return False
    return True


def _streams(kernel: Kernel, loop: Together) -> set[str]:
    """Buffers that a round reads with little to do beside that; none otherwise."""
    nodes = 0
    read: set[str] = set()
    memory = kernel.memories
    for piece in loop.inner[0]:
        assert not isinstance(piece, Together)
        for statement in walk_stmts(piece.body):
            if isinstance(statement, Store) and memory[statement.buffer].shared:
                return set()
            for child in expr_children(statement):
                for node in walk_expr(child):
                    nodes += 1
                    if isinstance(node, Load) and memory[node.buffer].shared:
                        read.add(node.buffer)
    return read if len(read) <= MOST_STREAMS and nodes <= MOST_NODES else set()


class Emission:
    """Emits the work of several workgroups."""

    def __init__(self, kernel: Kernel, several: Several, bound: dict[str, Value | Slot]) -> None:
        """`bound` are the variables of the workgroup that the kernel is told of."""
        self._kernel = kernel
        self._several = several
        self._bound = bound

    def emit(
        self,
        plan: Abreast,
        group: str,
        decode: Callable[[str], object],
        first_lane: Callable[[], Lanes],
    ) -> str:
        """Workgroups from one number on, `ABREAST` or as many as there are; gives how many.

        `decode` tells the kernel the ids of the workgroup with a number.
        """
        w, start, several = self._kernel.w, plan.first, self._several
        dtype, scalar = start.dtype, register_type(start.dtype)
        large = self._is_large(plan)
        most = w.emit(f"select i1 {large}, i64 {ABREAST}, i64 1")
        count = w.intrinsic("umin", "i64", w.emit(f"sub i64 %last, {group}"), most)
        stops, stop = w.slot(f"[{ABREAST} x {scalar}]", "stops"), w.slot(scalar, "stop")
        w.do(f"store {scalar} {literal(dtype, start.bits)}, ptr {stop}")
        greater = "smax" if dtype.is_signed else "umax"

        def before(number: str) -> None:
            decode(w.emit(f"add i64 {group}, {number}"))
            several.begin(plan.cut, number)
            own = first_lane().value(plan.statement.stop).text
            w.do(f"store {scalar} {own}, ptr {several.place(stops, scalar, number)}")
            most = w.intrinsic(greater, scalar, own, w.emit(f"load {scalar}, ptr {stop}"))
            w.do(f"store {scalar} {most}, ptr {stop}")

        several.each(count, before)
        abreast, single, done = (w.fresh(n) for n in ("abreast", "single", "abreast.end"))
        w.branch(large, abreast, single)
        w.block(abreast)
        self._rounds(plan, count, stop, stops)
        w.jump(done)
        w.block(single)
        several.enter(plan.cut, "0")
        several.pieces(plan.cut.loops, None)
        w.block(done)
        several.each(count, lambda number: several.finish(plan.cut, number))
        return count

    def _is_large(self, plan: Abreast) -> str:
        """Whether something that rounds read does not stay in the caches, an i1."""
        w, large = self._kernel.w, "false"
        for name in plan.streams:
            memory = self._kernel.memories[name]
            least = LARGE // element_bytes(memory.decl)
            there = w.emit(f"icmp uge i64 {memory.count}, {least}")
            large = w.emit(f"or i1 {large}, {there}")
        return large

    def _rounds(self, plan: Abreast, count: str, stop: str, stops: str) -> None:
        """The loop, each round of which every workgroup does that has as many."""
        w, loop, several = self._kernel.w, plan.statement, self._several
        dtype = plan.first.dtype
        scalar, order = register_type(dtype), "slt" if dtype.is_signed else "ult"
        slot = w.slot(scalar, loop.var)
        w.do(f"store {scalar} {literal(dtype, plan.first.bits)}, ptr {slot}")
        most = w.emit(f"load {scalar}, ptr {stop}")
        head, run, done = (w.fresh(n) for n in ("abreast.loop", "abreast.round", "abreast.done"))
        w.block(head)
        emit_poll(self._kernel)
        now = w.emit(f"load {scalar}, ptr {slot}", loop.var)
        w.branch(w.emit(f"icmp {order} {scalar} {now}, {most}"), run, done)
        w.block(run)

        def some(lane: str) -> None:
            end = w.emit(f"add nuw i32 {lane}, {plan.lanes}")
            several.each(count, lambda number: one(number, (lane, end)))

        def one(number: str, window: Window) -> None:
            own = w.emit(f"load {scalar}, ptr {several.place(stops, scalar, number)}")
            goes, rests = w.fresh("goes"), w.fresh("rests")
            w.branch(w.emit(f"icmp {order} {scalar} {now}, {own}"), goes, rests)
            w.block(goes)
            several.enter(plan.cut, number)
            self._bound[loop.var] = uniform(dtype, now)
            several.pieces(plan.cut.loops[0].inner[0], window)
            del self._bound[loop.var]
            w.block(rests)

        several.count("i32", str(self._kernel.size[0]), plan.lanes, some)
        following = w.emit(f"add {scalar} {now}, 1")
        w.do(f"store {scalar} {following}, ptr {slot}")
        w.jump(head)
        w.block(done)
