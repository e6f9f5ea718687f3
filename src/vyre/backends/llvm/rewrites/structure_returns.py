"""Conditions as lists of comparisons, and early returns as conditions."""

from __future__ import annotations

from collections.abc import Callable

from vyre.ir import AnyExpr, Binary, BinOp, Block, Body, If, Region, Return, Unary, UnOp
from vyre.ir.walk import rebuilt
from vyre.record import dataclass

_NEGATED = {
    BinOp.LT: BinOp.GE,
    BinOp.GE: BinOp.LT,
    BinOp.GT: BinOp.LE,
    BinOp.LE: BinOp.GT,
    BinOp.EQ: BinOp.NE,
    BinOp.NE: BinOp.EQ,
}
_SURE = frozenset({BinOp.EQ, BinOp.NE})
"""Negated the same way whatever is compared; the others are all false where there is a NaN."""
_MIRRORED = {
    BinOp.LT: BinOp.GT,
    BinOp.GT: BinOp.LT,
    BinOp.LE: BinOp.GE,
    BinOp.GE: BinOp.LE,
    BinOp.EQ: BinOp.EQ,
    BinOp.NE: BinOp.NE,
}


@dataclass(frozen=True, slots=True)
class Part:
    """A comparison, or any other condition."""

    op: BinOp | None
    """None for a condition that is no comparison: `left` is it."""
    left: AnyExpr
    right: AnyExpr

    def mirrored(self) -> Part:
        """The same with its sides exchanged."""
        return self if self.op is None else Part(_MIRRORED[self.op], self.right, self.left)

    def condition(self) -> AnyExpr:
        """The comparison as an expression."""
        return self.left if self.op is None else Binary(self.op, self.left, self.right)


def parts_of(cond: AnyExpr, *, negated: bool, is_integer: Callable[[AnyExpr], bool]) -> list[Part]:
    """Comparisons that all hold exactly where a condition (or its negation) holds."""
    if isinstance(cond, Unary) and cond.op is UnOp.NOT:
        return parts_of(cond.operand, negated=not negated, is_integer=is_integer)
    if isinstance(cond, Binary):
        if cond.op is (BinOp.OR if negated else BinOp.AND):
            left = parts_of(cond.left, negated=negated, is_integer=is_integer)
            return left + parts_of(cond.right, negated=negated, is_integer=is_integer)
        if cond.op in _NEGATED and not negated:
            return [Part(cond.op, cond.left, cond.right)]
        if cond.op in _SURE or (cond.op in _NEGATED and is_integer(cond.left)):
            return [Part(_NEGATED[cond.op], cond.left, cond.right)]
    whole: AnyExpr = Unary(UnOp.NOT, cond) if negated else cond
    return [Part(None, whole, whole)]


def conjunction(parts: list[Part]) -> AnyExpr:
    """One condition that holds where all of some do."""
    joined = parts[0].condition()
    for part in parts[1:]:
        joined = Binary(BinOp.AND, joined, part.condition())
    return joined


def both(one: AnyExpr | None, other: AnyExpr) -> AnyExpr:
    """One condition that holds where another and, if there is one, a further one do."""
    return other if one is None else Binary(BinOp.AND, one, other)


def with_guards(body: Body) -> Body:
    """The body with returns at the end of a branch turned into the other branch."""
    for position, statement in enumerate(body):
        rest = body[position + 1 :]
        if isinstance(statement, Return):
            return body[:position]
        if isinstance(statement, (Block, Region)) and not rest:
            inner = with_guards(statement.body)
            if inner is not statement.body:
                body = (*body[:position], rebuilt(statement, {"body": inner}), *rest)
        elif isinstance(statement, If) and _returns(statement.then) and not statement.otherwise:
            then = with_guards(statement.then[:-1])
            guarded = rebuilt(statement, {"then": then, "otherwise": with_guards(rest)})
            return (*body[:position], guarded)
    return body


def _returns(body: Body) -> bool:
    return bool(body) and isinstance(body[-1], Return)
