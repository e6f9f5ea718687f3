"""`//` and `%` as Python has them: rounded down, and with the sign of the divisor."""

from __future__ import annotations

from vyre import ir
from vyre.front.context import Context
from vyre.front.values import Scalar


def floor_quotient(ctx: Context, a: Scalar, b: Scalar, *, above_zero: bool = False) -> ir.AnyExpr:
    """`a // b` of signed integers; `above_zero` says that b is never negative."""
    a, b = ctx.hold(a), ctx.hold(b)
    quotient = ir.Binary(ir.BinOp.DIV, a.expr, b.expr)
    lower = ir.Binary(ir.BinOp.SUB, quotient, ir.Expr.lit(1, a.dtype))
    return ir.Select(_rounds_down(a, b, above_zero), lower, quotient)


def floor_remainder(ctx: Context, a: Scalar, b: Scalar, *, above_zero: bool = False) -> ir.AnyExpr:
    """`a % b` of signed integers."""
    a, b = ctx.hold(a), ctx.hold(b)
    rest = ir.Binary(ir.BinOp.REM, a.expr, b.expr)
    moved = ir.Binary(ir.BinOp.ADD, rest, b.expr)
    return ir.Select(_rounds_down(a, b, above_zero), moved, rest)


def _rounds_down(a: Scalar, b: Scalar, above_zero: bool) -> ir.AnyExpr:
    """Whether truncation and rounding down differ: there is a rest, and the signs differ."""
    zero = ir.Expr.lit(0, a.dtype)
    rest = ir.Binary(ir.BinOp.REM, a.expr, b.expr)
    if above_zero:
        return ir.Binary(ir.BinOp.LT, rest, zero)
    differ = ir.Binary(ir.BinOp.LT, ir.Binary(ir.BinOp.XOR, a.expr, b.expr), zero)
    return ir.Binary(ir.BinOp.AND, ir.Binary(ir.BinOp.NE, rest, zero), differ)
