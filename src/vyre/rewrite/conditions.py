"""Conditions as conjuncts: splitting, negating and joining.

    not (i >= n or skip)    ->    i < n, not skip

A comparison of floats negates exactly only for `==` and `!=`: with a NaN, the others are all false.
"""

from __future__ import annotations

from collections.abc import Callable

from vyre import ir
from vyre.ir.opcodes import MIRRORED, NEGATED
from vyre.record import dataclass

_EXACT = frozenset({ir.BinOp.EQ, ir.BinOp.NE})
"""Comparisons that negate exactly for all types."""


@dataclass(frozen=True, slots=True)
class Conjunct:
    """One conjunct of a condition: a comparison, or any other condition."""

    op: ir.BinOp | None
    """None for a condition that is no comparison, which `left` then is."""
    left: ir.AnyExpr
    right: ir.AnyExpr

    def mirrored(self) -> Conjunct:
        """Swap the sides of a comparison."""
        return self if self.op is None else Conjunct(MIRRORED[self.op], self.right, self.left)

    def condition(self) -> ir.AnyExpr:
        """The conjunct as an expression."""
        return self.left if self.op is None else ir.Binary(self.op, self.left, self.right)


def conjuncts_of(
    cond: ir.AnyExpr, *, negated: bool, is_integer: Callable[[ir.AnyExpr], bool]
) -> list[Conjunct]:
    """Split a condition, or its negation, into its conjuncts."""
    if isinstance(cond, ir.Unary) and cond.op is ir.UnOp.NOT:
        return conjuncts_of(cond.operand, negated=not negated, is_integer=is_integer)
    if isinstance(cond, ir.Binary):
        if cond.op is (ir.BinOp.OR if negated else ir.BinOp.AND):
            left = conjuncts_of(cond.left, negated=negated, is_integer=is_integer)
            return left + conjuncts_of(cond.right, negated=negated, is_integer=is_integer)
        if cond.op in NEGATED and not negated:
            return [Conjunct(cond.op, cond.left, cond.right)]
        if cond.op in _EXACT or (cond.op in NEGATED and is_integer(cond.left)):
            return [Conjunct(NEGATED[cond.op], cond.left, cond.right)]
    whole: ir.AnyExpr = ir.Unary(ir.UnOp.NOT, cond) if negated else cond
    return [Conjunct(None, whole, whole)]


def conjunction(parts: list[Conjunct]) -> ir.AnyExpr:
    """Conjunction of conjuncts."""
    joined = parts[0].condition()
    for part in parts[1:]:
        joined = ir.Binary(ir.BinOp.AND, joined, part.condition())
    return joined


def both(left: ir.AnyExpr | None, right: ir.AnyExpr) -> ir.AnyExpr:
    """Conjunction of two conditions, of which the first may be absent."""
    return right if left is None else ir.Binary(ir.BinOp.AND, left, right)


__all__ = ["Conjunct", "both", "conjunction", "conjuncts_of"]
