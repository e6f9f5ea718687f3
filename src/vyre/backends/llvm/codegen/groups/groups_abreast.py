"""Workgroups whose loops through memory run side by side, round by round.

A workgroup that sums up its share of a buffer goes through one stretch of memory, and the machine
fetches ahead of it no faster than it fetches for one such walk. Several workgroups that take turns
walk through several stretches at once, and for each of them the machine fetches ahead: from memory
comes a fifth more. What is in the caches comes quickly anyhow: whether it may be is seen when the
code runs, and then one workgroup runs at a time.

    for each of the workgroups: what comes before the loop
    for every round: for each of the workgroups: the round
    for each of the workgroups: what comes after it

Workgroups come in no order that a program could rely on, but one that waits for another must not
keep it from going on: so nothing before the end of the loop may wait, and what comes after runs in
the order of the workgroups. What lanes keep from round to round, and workgroup memory, is there
once for each; variables of the workgroup are never changed, so that they are computed again where
they are used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from vyre.backends.llvm.codegen.expressions.lanes import Lanes
from vyre.backends.llvm.codegen.groups.barriers import Once, Piece, Stretch, Together
from vyre.backends.llvm.codegen.groups.crossing import Crossing
from vyre.backends.llvm.codegen.groups.sharing import Sharing
from vyre.backends.llvm.codegen.kernel import Kernel, element_bytes
from vyre.backends.llvm.codegen.memory.streaming import LARGE
from vyre.backends.llvm.codegen.rows.rows import Window
from vyre.backends.llvm.codegen.statements.loops import emit_poll
from vyre.backends.llvm.codegen.value import Slot, Value, uniform
from vyre.backends.llvm.codegen.writer import literal, register_type
from vyre.ir import (
    Assign,
    Atomic,
    Block,
    Body,
    If,
    Let,
    Lit,
    Load,
    Loop,
    Region,
    Return,
    Store,
)
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
_PLAIN = (Let, Assign, If, Block, Region, Store)


@dataclass(frozen=True, slots=True)
class Abreast:
    """A workgroup's work, cut around the loop that several run side by side."""

    before: tuple[Piece, ...]
    loop: Together
    after: tuple[Piece, ...]
    shared: tuple[Once, ...]
    """Variables of the workgroup that are bound before the loop."""
    streams: tuple[str, ...]
    """The buffers that it reads."""
    lanes: int
    """Lanes of a workgroup that take their turn together."""

    @property
    def statement(self) -> Loop:
        """The loop itself."""
        found = self.loop.statement
        assert isinstance(found, Loop)
        return found

    @property
    def first(self) -> Lit:
        """The number of the first round."""
        found = self.statement.start
        assert isinstance(found, Lit)
        return found


def abreast_of(kernel: Kernel, sharing: Sharing, crossing: Crossing) -> Abreast | None:
    """How several workgroups run side by side, if they may and it pays."""
    work, program = sharing.work, kernel.program
    places = [n for n, piece in enumerate(work) if not isinstance(piece, (Once, Stretch))]
    if not places or not kernel.fills_lines or kernel.kept:
        return None
    piece = work[places[0]]
    if not isinstance(piece, Together) or not isinstance(piece.statement, Loop):
        return None
    if any(isinstance(s, Return) for s in walk_stmts(program.entry)):
        return None
    if any(d.is_local and d.name not in kernel.own_arrays for d in program.buffers):
        return None
    before = work[: places[0]]
    shared = tuple(p for p in before if isinstance(p, Once))
    streams = _streams(kernel, piece)
    if not streams or not _is_small(kernel, crossing):
        return None
    lanes = min(
        AT_ONCE // max(element_bytes(kernel.memories[n].decl) for n in streams), kernel.size[0]
    )
    found = Abreast(before, piece, work[places[0] + 1 :], shared, tuple(sorted(streams)), lanes)
    if not _is_fixed(work, sharing.assigned) or not _is_counted(kernel, found.statement):
        return None
    if any(not _is_free(p.body) for p in before if isinstance(p, Stretch)):
        return None
    return found


def _is_fixed(work: tuple[Piece, ...], assigned: frozenset[str]) -> bool:
    """Whether the variables of the workgroup keep their values."""
    for piece in work:
        if isinstance(piece, Once) and any(s.name in assigned for s in piece.body):
            return False
        if isinstance(piece, Together) and not all(_is_fixed(p, assigned) for p in piece.inner):
            return False
    return True


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


def _is_small(kernel: Kernel, crossing: Crossing) -> bool:
    """Whether what a workgroup keeps between rounds stays in the nearest cache."""
    kept = sum(d.size_bytes or 0 for d in kernel.program.buffers if d.is_workgroup)
    kept += sum(len(s.pointers) * _lane_bytes(kernel, s) for s in crossing.slots.values())
    return kept <= MOST_BYTES


def _lane_bytes(kernel: Kernel, slot: Slot) -> int:
    """Bytes of one component of a variable, of all lanes."""
    component = slot.dtype.element if slot.dtype.is_vector else slot.dtype
    return ((component or slot.dtype).size_bytes or 1) * kernel.invocations


def _is_free(body: Body) -> bool:
    """Whether work is such that no other workgroup can be waited for, or take notice."""
    for statement in walk_stmts(body):
        if not isinstance(statement, _PLAIN):
            return False
        for child in expr_children(statement):
            if any(isinstance(node, Atomic) for node in walk_expr(child)):
                return False
    return True


def _streams(kernel: Kernel, loop: Together) -> set[str]:
    """Buffers that a round reads with little to do beside that; none otherwise."""
    nodes = 0
    read: set[str] = set()
    memory = kernel.memories
    for piece in loop.inner[0]:
        if isinstance(piece, Together) or not _is_free(piece.body):
            return set()
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

    def __init__(
        self,
        kernel: Kernel,
        crossing: Crossing,
        bound: dict[str, Value | Slot],
        first_lane: Callable[[], Lanes],
        pieces: Callable[[tuple[Piece, ...], Window | None], None],
    ) -> None:
        """`pieces` emits work of the workgroup that the kernel is told of, of some of its lanes.

        `bound` are its variables.
        """
        self._kernel = kernel
        self._crossing = crossing
        self._bound = bound
        self._first_lane = first_lane
        self._pieces = pieces
        self._ids = kernel.w.slot(f"[{3 * ABREAST} x i32]", "ids")
        self._slots = {
            name: [kernel.take_scratch(ABREAST * _lane_bytes(kernel, slot)) for _ in slot.pointers]
            for name, slot in crossing.slots.items()
        }
        self._memories = {
            decl.name: kernel.take_scratch(ABREAST * (decl.size_bytes or 0))
            for decl in kernel.program.buffers
            if decl.is_workgroup
        }

    def emit(self, plan: Abreast, group: str, decode: Callable[[str], object]) -> str:
        """Workgroups from one number on, `ABREAST` or as many as there are; gives how many.

        `decode` tells the kernel the ids of the workgroup with a number.
        """
        w, start = self._kernel.w, plan.first
        dtype, scalar = start.dtype, register_type(start.dtype)
        large = self._is_large(plan)
        most = w.emit(f"select i1 {large}, i64 {ABREAST}, i64 1")
        count = w.intrinsic("umin", "i64", w.emit(f"sub i64 %last, {group}"), most)
        stops, stop = w.slot(f"[{ABREAST} x {scalar}]", "stops"), w.slot(scalar, "stop")
        w.do(f"store {scalar} {literal(dtype, start.bits)}, ptr {stop}")
        greater = "smax" if dtype.is_signed else "umax"

        def before(number: str) -> None:
            decode(w.emit(f"add i64 {group}, {number}"))
            self._note(number)
            self._move(number)
            self._clear()
            self._pieces(plan.before, None)
            own = self._first_lane().value(plan.statement.stop).text
            w.do(f"store {scalar} {own}, ptr {self._place(stops, scalar, number)}")
            most = w.intrinsic(greater, scalar, own, w.emit(f"load {scalar}, ptr {stop}"))
            w.do(f"store {scalar} {most}, ptr {stop}")

        def after(number: str) -> None:
            self._enter(plan, number)
            self._pieces(plan.after, None)

        self._each(count, before)
        several, single, done = (w.fresh(n) for n in ("abreast", "single", "abreast.end"))
        w.branch(large, several, single)
        w.block(several)
        self._rounds(plan, count, stop, stops)
        w.jump(done)
        w.block(single)
        self._enter(plan, "0")
        self._pieces((plan.loop,), None)
        w.block(done)
        self._each(count, after)
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
        w, loop = self._kernel.w, plan.statement
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
            self._each(count, lambda number: one(number, (lane, end)))

        def one(number: str, window: Window) -> None:
            own = w.emit(f"load {scalar}, ptr {self._place(stops, scalar, number)}")
            goes, rests = w.fresh("goes"), w.fresh("rests")
            w.branch(w.emit(f"icmp {order} {scalar} {now}, {own}"), goes, rests)
            w.block(goes)
            self._enter(plan, number)
            self._bound[loop.var] = uniform(dtype, now)
            self._pieces(plan.loop.inner[0], window)
            del self._bound[loop.var]
            w.block(rests)

        self._count("i32", str(self._kernel.size[0]), plan.lanes, some)
        following = w.emit(f"add {scalar} {now}, 1")
        w.do(f"store {scalar} {following}, ptr {slot}")
        w.jump(head)
        w.block(done)

    def _each(self, count: str, emit: Callable[[str], None]) -> None:
        """Something for each of the workgroups, of which there is at least one."""
        self._count("i64", count, 1, emit)

    def _count(self, scalar: str, stop: str, step: int, emit: Callable[[str], None]) -> None:
        w = self._kernel.w
        slot = w.slot(scalar, "number")
        w.do(f"store {scalar} 0, ptr {slot}")
        head, done = w.fresh("each"), w.fresh("each.done")
        w.block(head)
        number = w.emit(f"load {scalar}, ptr {slot}", "number")
        emit(number)
        following = w.emit(f"add nuw {scalar} {number}, {step}")
        w.do(f"store {scalar} {following}, ptr {slot}")
        w.repeat(w.emit(f"icmp ult {scalar} {following}, {stop}"), head, done)
        w.block(done)

    def _place(self, array: str, scalar: str, number: str) -> str:
        return self._kernel.w.emit(f"getelementptr {scalar}, ptr {array}, i64 {number}")

    def _note(self, number: str) -> None:
        """Keep the ids of the workgroup that the kernel was told of."""
        w = self._kernel.w
        ids = w.emit(f"getelementptr [3 x i32], ptr {self._ids}, i64 {number}")
        for axis, own in enumerate(self._kernel.group):
            w.do(f"store i32 {own}, ptr {self._place(ids, 'i32', str(axis))}")

    def _enter(self, plan: Abreast, number: str) -> None:
        """Tell the kernel of a workgroup that has begun, and compute its variables again."""
        w = self._kernel.w
        ids = w.emit(f"getelementptr [3 x i32], ptr {self._ids}, i64 {number}")
        x, y, z = (w.emit(f"load i32, ptr {self._place(ids, 'i32', str(n))}") for n in range(3))
        self._kernel.set_group((x, y, z))
        self._move(number)
        self._pieces(plan.shared, None)

    def _move(self, number: str) -> None:
        """Go to the memory of the workgroup with a number."""
        kernel, w = self._kernel, self._kernel.w
        self._bound.clear()
        for name, slot in self._crossing.slots.items():
            row = f"[{_lane_bytes(kernel, slot)} x i8]"
            own = tuple(self._place(base, row, number) for base in self._slots[name])
            self._crossing.slots[name] = replace(slot, pointers=own)
        for name, base in self._memories.items():
            memory = kernel.memories[name]
            own = w.emit(f"getelementptr [{memory.decl.size_bytes} x i8], ptr {base}, i64 {number}")
            kernel.memories[name] = replace(memory, pointer=own, safe_pointer=own)

    def _clear(self) -> None:
        """Workgroup memory begins as zeros."""
        w = self._kernel.w
        for name in self._memories:
            memory = self._kernel.memories[name]
            nbytes = str(memory.decl.size_bytes)
            arguments = (("ptr", memory.pointer), ("i8", "0"), ("i64", nbytes), ("i1", "false"))
            w.call("llvm.memset.p0.i64", "void", *arguments)
