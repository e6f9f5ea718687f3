"""State of several workgroups in flight: their ids, and memory for each.

Loop-carried variables of lanes, and workgroup memory, exist once for each of them;
workgroup-uniform variables never change before the end of the loop, so that they are recomputed
where they are used. A program cannot rely on any order of workgroups, but one that waits for
another must not block it: so nothing before the end of the loop may wait, and the code after it
runs in the order of the workgroups.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from vyre import ir
from vyre.backends.llvm.analysis.live_across_barriers import LiveAcrossBarriers
from vyre.backends.llvm.analysis.parallel_regions import Once, ParallelRegion, Piece, Together
from vyre.backends.llvm.analysis.workgroup_uniform import WorkgroupUniform
from vyre.backends.llvm.emit.context import Kernel
from vyre.backends.llvm.emit.region import Window
from vyre.backends.llvm.emit.values import Slot, Value
from vyre.ir.walk import expr_children, walk_expr, walk_stmts
from vyre.record import dataclass

_PLAIN = (ir.Let, ir.Assign, ir.If, ir.Block, ir.Region, ir.Store)


@dataclass(frozen=True, slots=True)
class AroundLoop:
    """A workgroup's work, split around its first loop and those directly after."""

    before: tuple[Piece, ...]
    loops: tuple[Together, ...]
    after: tuple[Piece, ...]

    @property
    def statements(self) -> list[ir.Loop]:
        """The loop statements."""
        return [loop.statement for loop in self.loops if isinstance(loop.statement, ir.Loop)]

    def at_first(self) -> AroundLoop:
        """The same work, with all loops but the first moved to `after`."""
        return AroundLoop(self.before, self.loops[:1], (*self.loops[1:], *self.after))

    @property
    def shared(self) -> tuple[Once, ...]:
        """Workgroup-uniform variables that are bound before the loop."""
        return tuple(piece for piece in self.before if isinstance(piece, Once))


def cut_around_loop(kernel: Kernel, sharing: WorkgroupUniform) -> AroundLoop | None:
    """Split work that may overlap with that of other workgroups; None if it may not.

    There must be a loop in it.
    """
    work, program = sharing.work, kernel.program
    places = [n for n, piece in enumerate(work) if not isinstance(piece, (Once, ParallelRegion))]
    if not places or kernel.size[1] * kernel.size[2] > 1 or kernel.kept:
        return None
    end = first = places[0]
    loops: list[Together] = []
    while end < len(work) and isinstance(piece := work[end], Together) and _is_free_loop(piece):
        loops.append(piece)
        end += 1
    if not loops:
        return None
    if any(isinstance(s, ir.Return) for s in walk_stmts(program.entry)):
        return None
    if any(d.is_local and d.name not in kernel.own_arrays for d in program.buffers):
        return None
    before = work[:first]
    if any(not _is_free(p.body) for p in before if isinstance(p, ParallelRegion)):
        return None
    if not _is_fixed(work[:end], sharing.assigned) or _loads_changing(kernel, work[:end]):
        return None
    return AroundLoop(before, tuple(loops), work[end:])


def _is_free_loop(piece: Together) -> bool:
    if not isinstance(piece.statement, ir.Loop):
        return False
    return all(not isinstance(p, Together) and _is_free(p.body) for p in piece.inner[0])


def _is_fixed(work: tuple[Piece, ...], assigned: frozenset[str]) -> bool:
    """True if the workgroup-uniform variables are never assigned again."""
    for piece in work:
        if isinstance(piece, Once) and any(s.name in assigned for s in piece.body):
            return False
        if isinstance(piece, Together) and not all(_is_fixed(p, assigned) for p in piece.inner):
            return False
    return True


def _loads_changing(kernel: Kernel, work: tuple[Piece, ...]) -> bool:
    """True if a workgroup-uniform variable is loaded from memory that the program writes."""
    changing = {decl.name for decl in kernel.program.buffers if decl.is_writable}
    return any(
        isinstance(node, ir.Load) and node.buffer in changing
        for piece in work
        if isinstance(piece, Once)
        for statement in piece.body
        for node in walk_expr(statement.value)
    )


def _is_free(body: ir.Body) -> bool:
    """True if the work neither waits for other workgroups nor affects them."""
    for statement in walk_stmts(body):
        if not isinstance(statement, _PLAIN):
            return False
        for child in expr_children(statement):
            if any(isinstance(node, ir.Atomic) for node in walk_expr(child)):
                return False
    return True


def lane_bytes(kernel: Kernel, slot: Slot) -> int:
    """Bytes of one component of a variable, of all lanes."""
    component = slot.dtype.element if slot.dtype.is_vector else slot.dtype
    return ((component or slot.dtype).size_bytes or 1) * kernel.invocations


def kept_bytes(kernel: Kernel, crossing: LiveAcrossBarriers) -> int:
    """Bytes of the variables that a workgroup's lanes keep across barriers."""
    return sum(len(s.pointers) * lane_bytes(kernel, s) for s in crossing.slots.values())


def workgroup_bytes(kernel: Kernel) -> int:
    """Bytes of workgroup memory."""
    return sum(d.size_bytes or 0 for d in kernel.program.buffers if d.is_workgroup)


class WorkgroupStates:
    """The state of up to `most` workgroups, by their numbers."""

    def __init__(
        self,
        kernel: Kernel,
        crossing: LiveAcrossBarriers,
        bound: dict[str, Value | Slot],
        pieces: Callable[[tuple[Piece, ...], Window | None], None],
        most: int,
    ) -> None:
        """Allocate the state; `pieces` emits work of the current workgroup for a range of lanes.

        `bound` are the workgroup's variables.
        """
        self._kernel = kernel
        self._crossing = crossing
        self._bound = bound
        self.pieces = pieces
        self._ids = kernel.w.slot(f"[{3 * most} x i32]", "ids")
        self._slots = {
            name: [kernel.take_scratch(most * lane_bytes(kernel, slot)) for _ in slot.pointers]
            for name, slot in crossing.slots.items()
        }
        self._memories = {
            decl.name: kernel.take_scratch(most * (decl.size_bytes or 0))
            for decl in kernel.program.buffers
            if decl.is_workgroup
        }

    def begin(self, cut: AroundLoop, number: str) -> None:
        """Emit the code before the loop, for the kernel's current workgroup."""
        self._note(number)
        self._move(number)
        self._clear()
        self.pieces(cut.before, None)

    def enter(self, cut: AroundLoop, number: str) -> None:
        """Make a started workgroup current, and recompute its variables."""
        w = self._kernel.w
        ids = w.emit(f"getelementptr [3 x i32], ptr {self._ids}, i64 {number}")
        x, y, z = (w.emit(f"load i32, ptr {self.place(ids, 'i32', str(n))}") for n in range(3))
        self._kernel.set_group((x, y, z))
        self._move(number)
        self.pieces(cut.shared, None)

    def finish(self, cut: AroundLoop, number: str) -> None:
        """Emit the code after the loop."""
        self.enter(cut, number)
        self.pieces(cut.after, None)

    def each(self, count: str, emit: Callable[[str], None]) -> None:
        """Emit code for each of the workgroups; there is at least one."""
        self.count("i64", count, 1, emit)

    def count(self, scalar: str, stop: str, step: int, emit: Callable[[str], None]) -> None:
        """Emit a loop that counts from zero; the first iteration always runs."""
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

    def place(self, array: str, scalar: str, number: str) -> str:
        """Emit the address of an array's element."""
        return self._kernel.w.emit(f"getelementptr {scalar}, ptr {array}, i64 {number}")

    def _note(self, number: str) -> None:
        """Emit stores of the current workgroup's ids."""
        w = self._kernel.w
        ids = w.emit(f"getelementptr [3 x i32], ptr {self._ids}, i64 {number}")
        for axis, own in enumerate(self._kernel.group):
            w.do(f"store i32 {own}, ptr {self.place(ids, 'i32', str(axis))}")

    def _move(self, number: str) -> None:
        """Switch to the memory of the workgroup with a number."""
        kernel, w = self._kernel, self._kernel.w
        self._bound.clear()
        for name, slot in self._crossing.slots.items():
            row = f"[{lane_bytes(kernel, slot)} x i8]"
            own = tuple(self.place(base, row, number) for base in self._slots[name])
            self._crossing.slots[name] = replace(slot, pointers=own)
        for name, base in self._memories.items():
            memory = kernel.memories[name]
            own = w.emit(f"getelementptr [{memory.decl.size_bytes} x i8], ptr {base}, i64 {number}")
            kernel.memories[name] = replace(memory, pointer=own, safe_pointer=own)

    def _clear(self) -> None:
        """Emit the zero-initialisation of workgroup memory."""
        w = self._kernel.w
        for name in self._memories:
            memory = self._kernel.memories[name]
            nbytes = str(memory.decl.size_bytes)
            arguments = (("ptr", memory.pointer), ("i8", "0"), ("i64", nbytes), ("i1", "false"))
            w.call("llvm.memset.p0.i64", "void", *arguments)
