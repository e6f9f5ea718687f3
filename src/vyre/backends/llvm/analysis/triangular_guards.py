"""Guards that let in fewer lanes from round to round, as eliminations in a matrix do.

In `for k in … { if lid.x > k { … } barrier }` the first lane that takes part moves on by one in
each round. Were lanes counted from there, vectors would end in the midst of a short row and leave
the rest of it to lanes one by one. Vectors that begin with the row, with a mask, take all of it.
"""

from __future__ import annotations

from vyre import ir
from vyre.backends.llvm.rewrites.structure_returns import Conjunct
from vyre.ir.walk import walk_expr, walk_stmts

MOST_LANES = 128
"""Lanes of a row that is short."""


def is_triangular_guard(part: Conjunct, program: ir.Program) -> bool:
    """Whether a guard, with what rises on its left, lets in lanes after one that moves on."""
    if part.op not in (ir.BinOp.GT, ir.BinOp.GE) or program.workgroup_size[0] > MOST_LANES:
        return False
    names = {node.name for node in walk_expr(part.right) if isinstance(node, ir.Var)}
    if not names:
        return False
    return any(isinstance(s, ir.Loop) and s.var in names for s in walk_stmts(program.entry))


__all__ = ["is_triangular_guard"]
