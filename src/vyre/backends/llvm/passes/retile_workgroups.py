"""Workgroup re-tiling (thread coarsening) for programs that cannot observe their workgroups.

    workgroups (4, 16, 1)  ->  (1, 4, 1): one lane along x, coalesced into whole rows of the grid

Where invocations never meet, a launch is one large grid of invocations, and it is cut as suits the
machine: lanes go along whole rows, and four rows together where rows load the same elements. Where
the last rows are fewer than four, some before them run once more.
"""

from __future__ import annotations

from vyre import ir
from vyre.analysis.node_kinds import NodeKinds
from vyre.backends.llvm import heuristics
from vyre.backends.llvm.analysis.divergence import Divergence
from vyre.backends.llvm.analysis.idempotence import is_idempotent
from vyre.backends.llvm.pass_context import CpuContext, CpuPass, Tiling
from vyre.backends.llvm.passes.interchange_axes import may_reorder_invocations
from vyre.ir.walk import walk_all_exprs, walk_stmts
from vyre.opt.metadata import CostModelFamily, PassPhase
from vyre.opt.pass_ import vyre_pass


@vyre_pass(name="retile_workgroups", phase=PassPhase.LOWERING, family=CostModelFamily.MEMORY)
class RetileWorkgroups(CpuPass):
    """Tiles the grid into rows of lanes in place of workgroups.

    Legal when invocations may be reordered and repeated, and use no memory or id of a workgroup.
    Profitable when rows of lanes share what a loop loads, or became short by interchanged axes.
    """

    def rewrite(self, program: ir.Program, context: CpuContext) -> ir.Program:
        """The program with the workgroups that the machine runs."""
        facts = context.facts
        facts.tiling = tiling_of(program, interchanged=facts.interchanged_axis > 0)
        return program if facts.tiling is None else with_tiling(program, facts.tiling)


def tiling_of(program: ir.Program, *, interchanged: bool) -> Tiling | None:
    """How to cut the grid anew; None where it is best left as it is."""
    size, ids = program.workgroup_size, NodeKinds.of(program).builtins
    if set(ids) != {ir.BuiltinKind.GLOBAL_ID} or not ids[ir.BuiltinKind.GLOBAL_ID] >= {0, 1}:
        return None
    on_chip = {decl.name for decl in program.buffers if decl.is_on_chip}
    stored = {s.buffer for s in walk_stmts(program.entry) if isinstance(s, ir.Store)}
    if on_chip & stored or not may_reorder_invocations(program):
        return None
    if on_chip and any(
        isinstance(node, (ir.Load, ir.BufLen)) and node.buffer in on_chip
        for node in walk_all_exprs(program.entry)
    ):
        return None
    if not is_idempotent(program, program.entry, frozenset()):
        return None
    short = interchanged and size[0] < heuristics.MIN_TILE_ROW_LANES
    if (short or size[1] % heuristics.JAMMED_ROWS) and _rows_share(program):
        return Tiling(size, heuristics.JAMMED_ROWS)
    return Tiling(size, 1) if short else None


def with_tiling(program: ir.Program, tiling: Tiling) -> ir.Program:
    """The program with these workgroups, without its unused on-chip memory."""
    kept = [decl for decl in program.buffers if not decl.is_on_chip]
    return program.with_rewritten_buffers(kept).with_workgroup_size((1, tiling.rows, 1))


def _rows_share(program: ir.Program) -> bool:
    """True if a loop's load is uniform along y and varies along x."""
    along_x, along_y = (
        Divergence(program, program.entry, (axis,), in_step=True) for axis in (0, 1)
    )
    return any(
        along_x.is_varying(node.index) and not along_y.is_varying(node.index)
        for loop in walk_stmts(program.entry)
        if isinstance(loop, (ir.Loop, ir.While))
        for node in walk_all_exprs(loop.body)
        if isinstance(node, ir.Load)
    )


__all__ = ["RetileWorkgroups", "tiling_of"]
