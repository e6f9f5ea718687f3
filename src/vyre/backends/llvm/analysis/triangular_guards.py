"""Triangular guards: fewer active lanes in every iteration.

Matrix elimination has them: in `for k in … { if lid.x > k { … } barrier }` the first active lane
advances by one per iteration. If vectors began at that lane, they would end inside a short row and
leave a remainder of scalar lanes. Masked vectors that begin with the row cover all of it.
"""

from __future__ import annotations

from vyre import ir
from vyre.backends.llvm import heuristics
from vyre.ir.walk import variables_of, walk_stmts
from vyre.rewrite.conditions import Conjunct


def is_triangular_guard(part: Conjunct, program: ir.Program) -> bool:
    """True if a guard (linear side left) has a loop-dependent lower bound."""
    if (
        part.op not in (ir.BinOp.GT, ir.BinOp.GE)
        or program.workgroup_size[0] > heuristics.MAX_TRIANGULAR_ROW_LANES
    ):
        return False
    names = variables_of(part.right)
    if not names:
        return False
    return any(isinstance(s, ir.Loop) and s.var in names for s in walk_stmts(program.entry))


__all__ = ["is_triangular_guard"]
