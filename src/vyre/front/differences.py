"""Differences of ids and lengths without their sign: what is subtracted moves to the other side.

Indices are computed modulo 2**32, where a difference that would be negative is a large number. What
is asked of a difference is therefore asked of what it is made of, which is never negative:
`i - 1 >= 0` is `i >= 1`, `i < n - 1` is `i + 1 < n`, `max(i - r, 0)` is `max(i, r) - r`, and
`(i - 1) // 2` is `(i + 1) // 2 - 1`. That is legal where nothing overflows: on each side stands one
index and a small number, which is added to ids, lengths and what is no greater than these.
"""

from __future__ import annotations

from vyre import ir
from vyre.front.context import Context
from vyre.front.extent_limit import NO_LIMIT
from vyre.front.facts import Facts
from vyre.ir.buffer import is_layout
from vyre.record import dataclass

MOST_ADDED = 1 << 16
"""The greatest number that is added to an id or a length. Launches with longer ones than 2**32
minus this number are refused where it is."""

_OF_NATURALS = frozenset(
    (
        *(ir.BinOp.ADD, ir.BinOp.MUL, ir.BinOp.DIV, ir.BinOp.REM, ir.BinOp.SHL, ir.BinOp.SHR),
        *(ir.BinOp.OR, ir.BinOp.XOR, ir.BinOp.MIN, ir.BinOp.MAX),
    )
)
"""Operators that give an index that is never negative for two of these."""


@dataclass(frozen=True, slots=True)
class Difference:
    """`plus - minus + offset`; both are never negative, and None stands for zero."""

    plus: ir.AnyExpr | None = None
    minus: ir.AnyExpr | None = None
    offset: int = 0

    @property
    def added(self) -> int:
        """The offset, if it is positive."""
        return max(self.offset, 0)

    @property
    def taken(self) -> int:
        """What the offset takes away."""
        return max(-self.offset, 0)


def difference(facts: Facts, expr: ir.AnyExpr) -> Difference | None:
    """An index as the difference of two that are never negative, if it is a simple one."""
    found = _terms(facts, expr)
    if found is None:
        return None
    plus, minus, offset = found
    if len(plus) > 1 or len(minus) > 1 or abs(offset) > MOST_ADDED:
        return None
    return Difference(plus[0] if plus else None, minus[0] if minus else None, offset)


_Terms = tuple[list[ir.AnyExpr], list[ir.AnyExpr], int]


def _terms(facts: Facts, expr: ir.AnyExpr) -> _Terms | None:
    match expr:
        case ir.Lit():
            return [], [], signed_bits(expr)
        case ir.Binary(ir.BinOp.ADD, left, right) if not _is_whole_sum(facts, left, right):
            return _joined(_terms(facts, left), _terms(facts, right))
        case ir.Binary(ir.BinOp.SUB, left, right):
            other = _terms(facts, right)
            if other is None:
                return None
            plus, minus, offset = other
            return _joined(_terms(facts, left), (minus, plus, -offset))
        case ir.Var(name) if isinstance(facts.definitions.get(name), ir.Binary) and facts.lasts(
            facts.definitions[name]
        ):
            inner = _terms(facts, facts.definitions[name])
            return inner if inner is not None or not is_natural(facts, expr) else ([expr], [], 0)
        case _:
            return ([expr], [], 0) if is_natural(facts, expr) else None


def _is_whole_sum(facts: Facts, left: ir.AnyExpr, right: ir.AnyExpr) -> bool:
    """Whether a sum, such as `row * width + column`, is better left as it is."""
    plain = not isinstance(left, ir.Lit) and not isinstance(right, ir.Lit)
    return plain and is_natural(facts, left) and is_natural(facts, right)


def _joined(one: _Terms | None, other: _Terms | None) -> _Terms | None:
    if one is None or other is None:
        return None
    plus, minus = [*one[0], *other[0]], [*one[1], *other[1]]
    for term in list(plus):
        if term in minus:
            plus.remove(term)
            minus.remove(term)
    return plus, minus, one[2] + other[2]


def signed_bits(literal: ir.Lit) -> int:
    """The number that an index stands for that is a literal."""
    return literal.bits - (1 << 32) if literal.bits >= 1 << 31 else literal.bits


def is_natural(facts: Facts, expr: ir.AnyExpr) -> bool:
    """Whether the expression of an index can be seen to be never negative."""
    match expr:
        case ir.Builtin() | ir.BufLen():
            return True
        case ir.Lit():
            return signed_bits(expr) >= 0
        case ir.Var(name) | ir.Cast(ir.Var(name)):
            return name in facts.natural
        case ir.Load(buffer):
            return is_layout(buffer)
        case ir.Binary(ir.BinOp.AND, left, right):
            return is_natural(facts, left) or is_natural(facts, right)
        case ir.Binary(ir.BinOp.SUB, left, ir.Lit() as number):
            return is_at_least(facts, left, number)
        case ir.Binary(op, left, right):
            return op in _OF_NATURALS and is_natural(facts, left) and is_natural(facts, right)
        case _:
            return False


def is_at_least(facts: Facts, expr: ir.AnyExpr, number: ir.Lit) -> bool:
    """Whether nothing below zero is left of an index if a literal is subtracted: `n + 64 - 1`."""
    return is_natural(facts, expr) and _least(facts, expr) >= signed_bits(number) >= 0


def _least(facts: Facts, expr: ir.AnyExpr) -> int:
    """What an index that is never negative is at least, by what it is made of."""
    match expr:
        case ir.Lit(_, bits):
            return bits
        case ir.Builtin(ir.BuiltinKind.NUM_WORKGROUPS | ir.BuiltinKind.SUBGROUP_SIZE):
            return 1
        case ir.Var(name) if name in facts.definitions:
            return _least(facts, facts.definitions[name])
        case ir.Binary(ir.BinOp.ADD, left, right):
            return _least(facts, left) + _least(facts, right)
        case ir.Binary(ir.BinOp.SUB, left, ir.Lit(_, bits)):
            return _least(facts, left) - bits
        case ir.Binary(ir.BinOp.MUL, left, right):
            return _least(facts, left) * _least(facts, right)
        case ir.Binary(ir.BinOp.MAX, left, right):
            return max(_least(facts, left), _least(facts, right))
        case _:
            return 0


def _is_bounded(facts: Facts, expr: ir.AnyExpr) -> bool:
    """Whether an index is no greater than some id or length of the launch."""
    match expr:
        case ir.Builtin() | ir.BufLen() | ir.Load():
            return True
        case ir.Var(name) | ir.Cast(ir.Var(name)):
            if name in facts.counters:
                return True
            meaning = facts.definitions.get(name)
            return meaning is not None and _is_bounded(facts, meaning)
        case ir.Binary(ir.BinOp.DIV | ir.BinOp.SHR, left, _):
            return _is_bounded(facts, left)
        case ir.Binary(ir.BinOp.REM | ir.BinOp.MIN | ir.BinOp.AND, left, right):
            return _is_bounded(facts, left) or _is_bounded(facts, right)
        case _:
            return False


def is_bounded(facts: Facts, expr: ir.AnyExpr) -> bool:
    """Whether an index that is never negative is no greater than an id, a length or a number."""
    return isinstance(expr, ir.Lit) or _is_bounded(facts, expr)


def _can_add(facts: Facts, term: ir.AnyExpr | None, number: int) -> bool:
    if number > MOST_ADDED:
        return False
    return term is None or number == 0 or _is_bounded(facts, term)


def _sum(ctx: Context, term: ir.AnyExpr | None, number: int) -> ir.AnyExpr:
    """A term and a number that may be added to it."""
    if term is None:
        return ir.Expr.u32(number)
    if number == 0:
        return term
    ctx.limit_extents(NO_LIMIT - MOST_ADDED)
    return ir.Binary(ir.BinOp.ADD, term, ir.Expr.u32(number))


def without_signs(
    ctx: Context, a: ir.AnyExpr, b: ir.AnyExpr
) -> tuple[ir.AnyExpr, ir.AnyExpr] | None:
    """Two expressions that compare as two indices do, of which none is ever negative."""
    left, right = difference(ctx.facts, a), difference(ctx.facts, b)
    if left is None or right is None:
        return None
    ones = [term for term in (left.plus, right.minus) if term is not None]
    others = [term for term in (right.plus, left.minus) if term is not None]
    if len(ones) > 1 or len(others) > 1:
        return None
    one, other = ones[0] if ones else None, others[0] if others else None
    offset = left.offset - right.offset
    more, less = max(offset, 0), max(-offset, 0)
    if not _can_add(ctx.facts, one, more) or not _can_add(ctx.facts, other, less):
        return None
    return _sum(ctx, one, more), _sum(ctx, other, less)


def both_sides(ctx: Context, expr: ir.AnyExpr) -> tuple[ir.AnyExpr, ir.AnyExpr] | None:
    """What is added and what is subtracted in an index, neither of which is ever negative."""
    found = difference(ctx.facts, expr)
    if found is None:
        return None
    facts = ctx.facts
    if not _can_add(facts, found.plus, found.added) or not _can_add(
        facts, found.minus, found.taken
    ):
        return None
    return _sum(ctx, found.plus, found.added), _sum(ctx, found.minus, found.taken)


def moved_up(
    ctx: Context, exprs: tuple[ir.AnyExpr, ...], step: int = 1
) -> tuple[list[ir.AnyExpr], int] | None:
    """Indices after as many steps up as none of them is negative any more, and how many."""
    found = [difference(ctx.facts, expr) for expr in exprs]
    known = [one for one in found if one is not None and one.minus is None]
    if len(known) < len(exprs):
        return None
    steps = max(-(-one.taken // step) for one in known)
    added = steps * step
    if not all(_can_add(ctx.facts, one.plus, one.offset + added) for one in known):
        return None
    return [_sum(ctx, one.plus, one.offset + added) for one in known], steps


def minus_number(expr: ir.AnyExpr, number: int) -> ir.AnyExpr:
    """An index with a number subtracted."""
    return ir.Binary(ir.BinOp.SUB, expr, ir.Expr.u32(number)) if number else expr
