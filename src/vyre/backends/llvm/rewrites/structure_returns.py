"""Early returns as structured conditionals; conjuncts of conditions.

    if c { a; return }  b    ->    if c { a } else { b }

Legal when the return ends its branch and the conditional has no `else`. Profitable always: lanes
need no mask of returned invocations, and the guard of `b` becomes visible to later rewrites.
Returns elsewhere, as in loops, are left as they are.
"""

from __future__ import annotations

from collections.abc import Callable

from vyre import ir
from vyre.ir.walk import rebuilt
from vyre.record import dataclass

_NEGATED = {
    ir.BinOp.LT: ir.BinOp.GE,
    ir.BinOp.GE: ir.BinOp.LT,
    ir.BinOp.GT: ir.BinOp.LE,
    ir.BinOp.LE: ir.BinOp.GT,
    ir.BinOp.EQ: ir.BinOp.NE,
    ir.BinOp.NE: ir.BinOp.EQ,
}
_SURE = frozenset({ir.BinOp.EQ, ir.BinOp.NE})
"""Comparisons that negate exactly for all types; the others are all false for a NaN."""
_MIRRORED = {
    ir.BinOp.LT: ir.BinOp.GT,
    ir.BinOp.GT: ir.BinOp.LT,
    ir.BinOp.LE: ir.BinOp.GE,
    ir.BinOp.GE: ir.BinOp.LE,
    ir.BinOp.EQ: ir.BinOp.EQ,
    ir.BinOp.NE: ir.BinOp.NE,
}


@dataclass(frozen=True, slots=True)
class Conjunct:
    """One conjunct of a condition: a comparison, or any other condition."""

    op: ir.BinOp | None
    """None for a condition that is no comparison, which `left` then is."""
    left: ir.AnyExpr
    right: ir.AnyExpr

    def mirrored(self) -> Conjunct:
        """Swap the sides of a comparison."""
        return self if self.op is None else Conjunct(_MIRRORED[self.op], self.right, self.left)

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
        if cond.op in _NEGATED and not negated:
            return [Conjunct(cond.op, cond.left, cond.right)]
        if cond.op in _SURE or (cond.op in _NEGATED and is_integer(cond.left)):
            return [Conjunct(_NEGATED[cond.op], cond.left, cond.right)]
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


def with_structured_returns(body: ir.Body) -> ir.Body:
    """Replace returns at the end of a branch by an `else` branch."""
    for position, statement in enumerate(body):
        rest = body[position + 1 :]
        if isinstance(statement, ir.Return):
            return body[:position]
        if isinstance(statement, (ir.Block, ir.Region)) and not rest:
            inner = with_structured_returns(statement.body)
            if inner is not statement.body:
                body = (*body[:position], rebuilt(statement, {"body": inner}), *rest)
        elif isinstance(statement, ir.If) and _returns(statement.then) and not statement.otherwise:
            then = with_structured_returns(statement.then[:-1])
            guarded = rebuilt(statement, {"then": then, "otherwise": with_structured_returns(rest)})
            return (*body[:position], guarded)
    return body


def _returns(body: ir.Body) -> bool:
    return bool(body) and isinstance(body[-1], ir.Return)
