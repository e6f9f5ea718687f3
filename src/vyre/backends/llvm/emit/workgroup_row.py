"""Coalesces workgroups with grid-stride loops into one long row per iteration.

In `for k in gid.x..n step s`, with `s` for all lanes of the grid, an iteration of one workgroup is
a short piece of memory, and the next one lies far behind it: the hardware prefetcher does not
follow, and the per-row prologue is paid for few lanes. Neighbouring workgroups access neighbouring
pieces: where no value of an iteration distinguishes them, several of them are one row.

    for each of the workgroups: the code before the loop
    for every iteration: all lanes of all of them
    for each of the workgroups: the code after the loop
"""

from __future__ import annotations

from collections.abc import Callable

from vyre import ir
from vyre.backends.llvm import heuristics
from vyre.backends.llvm.analysis.live_across_barriers import LiveAcrossBarriers
from vyre.backends.llvm.analysis.parallel_regions import Once, ParallelRegion, Piece
from vyre.backends.llvm.emit.context import Kernel
from vyre.backends.llvm.emit.workgroup_state import (
    AroundLoop,
    WorkgroupStates,
    kept_bytes,
    workgroup_bytes,
)
from vyre.ir.walk import expr_children, walk_expr, walk_stmts

_WITHIN_GRID = frozenset({ir.BuiltinKind.LOCAL_ID, ir.BuiltinKind.WORKGROUP_ID})


def groups_in_one_row(kernel: Kernel, cut: AroundLoop, crossing: LiveAcrossBarriers) -> int:
    """How many workgroups may run the loop as one row; 0 if they may not."""
    if not _is_same_for_groups(kernel, cut, crossing):
        return 0
    kept, memory = kept_bytes(kernel, crossing), workgroup_bytes(kernel)
    most = min(
        heuristics.MAX_WORKGROUPS_PER_ROW,
        heuristics.MAX_ROW_VARIABLE_BYTES // max(kept, 1),
        heuristics.MAX_ROW_WORKGROUP_BYTES // max(memory, 1),
    )
    return most if most > 1 else 0


def _is_same_for_groups(kernel: Kernel, cut: AroundLoop, crossing: LiveAcrossBarriers) -> bool:
    """True if no value in the loop distinguishes workgroups along x.

    The trip count may be computed from the first lane of all.
    """
    for piece in (*cut.shared, *(inner for loop in cut.loops for inner in loop.inner[0])):
        if not all(_is_common(kernel, expr) for expr in _expressions(kernel, crossing, piece)):
            return False
    for loop in cut.statements:
        if not all(_is_common(kernel, bound) for bound in (loop.start, loop.stop)):
            return False
        for statement in walk_stmts(loop.body):
            if isinstance(statement, ir.Store) and not kernel.memories[statement.buffer].shared:
                return False
    return True


def _expressions(kernel: Kernel, crossing: LiveAcrossBarriers, piece: Piece) -> list[ir.AnyExpr]:
    """The expressions that a piece of work evaluates or needs recomputed."""
    assert isinstance(piece, (Once, ParallelRegion))
    expressions = [
        child
        for statement in walk_stmts(piece.body)
        if getattr(statement, "name", None) not in kernel.first_lane_trip_counts
        for child in expr_children(statement)
    ]
    if isinstance(piece, ParallelRegion):
        expressions += crossing.needed(piece).values()
    return expressions


def _is_common(kernel: Kernel, expr: ir.AnyExpr) -> bool:
    for node in walk_expr(expr):
        if isinstance(node, ir.Builtin) and not node.axis and node.kind in _WITHIN_GRID:
            return False
        if isinstance(node, (ir.Load, ir.Atomic)) and not kernel.memories[node.buffer].shared:
            return False
    return True


def emit_one_row(
    kernel: Kernel,
    several: WorkgroupStates,
    cut: AroundLoop,
    group: str,
    decode: Callable[[str], object],
    count: str,
) -> None:
    """Emit `count` workgroups that are consecutive along x from number `group` on.

    `decode` sets the kernel's ids to those of the workgroup with a number.
    """
    w, size = kernel.w, kernel.row

    def before(number: str) -> None:
        decode(w.emit(f"add i64 {group}, {number}"))
        several.begin(cut, number)

    several.each(count, before)
    several.enter(cut, "0")
    lanes = w.emit(f"mul i64 {count}, {size}")
    kernel.row = w.emit(f"trunc i64 {lanes} to i32", "one.row")
    several.pieces(cut.loops, None)
    kernel.row = size
    several.each(count, lambda number: several.finish(cut, number))
