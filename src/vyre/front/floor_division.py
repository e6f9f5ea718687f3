"""`//` and `%` as Python has them: rounded down, and with the sign of the divisor."""

from __future__ import annotations

from vyre.front.context import Context
from vyre.front.values import Scalar
from vyre.ir import AnyExpr, Binary, BinOp, Expr, Select


def floor_quotient(ctx: Context, a: Scalar, b: Scalar, *, above_zero: bool = False) -> AnyExpr:
    """`a // b` of signed integers; `above_zero` says that b is never negative."""
    a, b = ctx.hold(a), ctx.hold(b)
    quotient = Binary(BinOp.DIV, a.expr, b.expr)
    lower = Binary(BinOp.SUB, quotient, Expr.lit(1, a.dtype))
    return Select(_rounds_down(a, b, above_zero), lower, quotient)


def floor_remainder(ctx: Context, a: Scalar, b: Scalar, *, above_zero: bool = False) -> AnyExpr:
    """`a % b` of signed integers."""
    a, b = ctx.hold(a), ctx.hold(b)
    rest = Binary(BinOp.REM, a.expr, b.expr)
    moved = Binary(BinOp.ADD, rest, b.expr)
    return Select(_rounds_down(a, b, above_zero), moved, rest)


def _rounds_down(a: Scalar, b: Scalar, above_zero: bool) -> AnyExpr:
    """Whether truncation and rounding down differ: there is a rest, and the signs differ."""
    zero = Expr.lit(0, a.dtype)
    rest = Binary(BinOp.REM, a.expr, b.expr)
    if above_zero:
        return Binary(BinOp.LT, rest, zero)
    differ = Binary(BinOp.LT, Binary(BinOp.XOR, a.expr, b.expr), zero)
    return Binary(BinOp.AND, Binary(BinOp.NE, rest, zero), differ)
