"""Counts of the iterations for which a condition holds.

    for k in 0..n: count = count + u32(text[i + k] == 10)

The flags of a vector of iterations are counted as the bits of one integer.
"""

from __future__ import annotations

from vyre import ir
from vyre.record import dataclass


@dataclass(frozen=True, slots=True)
class Count:
    """A conditional sum of a constant, per iteration."""

    flag: ir.AnyExpr
    holds: bool
    """True if it adds where the flag is set, else where clear."""
    by: ir.Lit | None
    """The constant; None for one."""


def count_of(statement: ir.Assign, env: ir.TypeEnv) -> Count | None:
    """Match a conditional count in a vectorisable loop."""
    own = ir.Var(statement.name)
    match statement.value:
        case ir.Select(flag, ir.Binary(ir.BinOp.ADD, left, right), other) if other == own:
            holds = True
        case ir.Select(flag, other, ir.Binary(ir.BinOp.ADD, left, right)) if other == own:
            holds = False
        case ir.Binary(ir.BinOp.ADD, left, right):
            added = right if left == own else left
            if isinstance(added, ir.Cast) and ir.type_of(added.value, env).is_bool:
                return Count(added.value, holds=True, by=None)
            return None
        case _:
            return None
    added = right if left == own else left
    return Count(flag, holds, added) if isinstance(added, ir.Lit) else None


__all__ = ["Count", "count_of"]
