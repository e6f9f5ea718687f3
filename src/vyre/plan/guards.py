"""Which invocations a condition admits.

A comparison of forms holds for the invocations on one side of a number; `narrowed` gives a range
outside of which it does not hold, so that what stands behind an `if` needs to be looked at for that
range only.
"""

from __future__ import annotations

from vyre import ir
from vyre.plan.linear_forms import Environment, Evaluator, Form, Span, does_not_wrap, number

_ORDERS = frozenset({ir.BinOp.LT, ir.BinOp.LE, ir.BinOp.GT, ir.BinOp.GE, ir.BinOp.EQ, ir.BinOp.NE})
_NEGATED = {
    ir.BinOp.LT: ir.BinOp.GE,
    ir.BinOp.GE: ir.BinOp.LT,
    ir.BinOp.LE: ir.BinOp.GT,
    ir.BinOp.GT: ir.BinOp.LE,
    ir.BinOp.EQ: ir.BinOp.NE,
    ir.BinOp.NE: ir.BinOp.EQ,
}


def is_comparison(op: ir.BinOp) -> bool:
    """True for an order, equality or inequality."""
    return op in _ORDERS


def narrowed(
    evaluator: Evaluator, condition: ir.AnyExpr, env: Environment, span: Span, *, holds: bool
) -> Span:
    """The invocations for which a condition may hold, or may fail."""
    match condition:
        case ir.Unary(ir.UnOp.NOT, inner):
            return narrowed(evaluator, inner, env, span, holds=not holds)
        case ir.Binary(ir.BinOp.AND, left, right) if holds:
            first = narrowed(evaluator, left, env, span, holds=True)
            return first if first.is_empty else narrowed(evaluator, right, env, first, holds=True)
        case ir.Binary(ir.BinOp.OR, left, right) if not holds:
            first = narrowed(evaluator, left, env, span, holds=False)
            return first if first.is_empty else narrowed(evaluator, right, env, first, holds=False)
        case ir.Binary(op, left, right) if op in _ORDERS:
            one = evaluator.form(left, env, span)
            two = evaluator.form(right, env, span)
            if one is None or two is None:
                return span
            if not (does_not_wrap(one, span) and does_not_wrap(two, span)):
                return span
            return span.meet(_side(op if holds else _NEGATED[op], one.plus(two.times(-1)), span))
        case _:
            return span


def _side(op: ir.BinOp, rest: Form, span: Span) -> Span:
    """Where a form may compare with zero as wanted."""
    match op:
        case ir.BinOp.LT:
            return _below(rest, span)
        case ir.BinOp.LE:
            return _below(rest.plus(number(-1)), span)
        case ir.BinOp.GT:
            return _below(rest.times(-1), span)
        case ir.BinOp.GE:
            return _below(rest.times(-1).plus(number(-1)), span)
        case ir.BinOp.EQ:
            upper = _below(rest.plus(number(-1)), span)
            return upper.meet(_below(rest.times(-1).plus(number(-1)), span))
        case _:
            return span


def _below(rest: Form, span: Span) -> Span:
    """Where a·v + low < 0, which any value below zero of the form needs."""
    if rest.a > 0:
        return Span(span.first, (-1 - rest.low) // rest.a)
    if rest.a < 0:
        return Span(-((-1 - rest.low) // -rest.a), span.last)
    return span if rest.low < 0 else Span(1, 0)
