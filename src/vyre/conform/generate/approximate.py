"""Values of approximate opcodes, applied to arguments for which their error is bounded."""

from __future__ import annotations

from vyre import ir
from vyre.conform.generate.dice import Dice
from vyre.conform.generate.exprs import Exprs

_UNARY_RANGES: dict[ir.UnOp, tuple[float, float]] = {
    ir.UnOp.RSQRT: (0.25, 1000.0),
    ir.UnOp.EXP: (-8.0, 8.0),
    ir.UnOp.EXP2: (-12.0, 12.0),
    ir.UnOp.EXPM1: (-4.0, 4.0),
    ir.UnOp.LOG: (0.25, 1000.0),
    ir.UnOp.LOG2: (0.25, 1000.0),
    ir.UnOp.LOG10: (0.25, 1000.0),
    ir.UnOp.LOG1P: (-0.5, 1000.0),
    ir.UnOp.SIN: (-3.0, 3.0),
    ir.UnOp.COS: (-3.0, 3.0),
    ir.UnOp.TAN: (-1.25, 1.25),
    ir.UnOp.ASIN: (-1.0, 1.0),
    ir.UnOp.ACOS: (-1.0, 1.0),
    ir.UnOp.ATAN: (-100.0, 100.0),
    ir.UnOp.SINH: (-4.0, 4.0),
    ir.UnOp.COSH: (-4.0, 4.0),
    ir.UnOp.TANH: (-4.0, 4.0),
}
_BINARY_RANGES: dict[ir.BinOp, tuple[tuple[float, float], tuple[float, float]]] = {
    ir.BinOp.POW: ((0.25, 8.0), (-3.0, 3.0)),
    ir.BinOp.ATAN2: ((0.25, 100.0), (0.25, 100.0)),
}


def approximate_value(dice: Dice, exprs: Exprs, dtype: ir.DataType) -> ir.AnyExpr:
    """An approximate opcode on arguments within a harmless range, its result untouched."""

    def within(limits: tuple[float, float]) -> ir.AnyExpr:
        low, high = (ir.Expr.lit(limit, dtype) for limit in limits)
        return ir.Expr.min_(ir.Expr.max_(exprs.leaf(dtype), low), high)

    if dice.chance(2):
        op = dice.pick(tuple(_BINARY_RANGES))
        left, right = _BINARY_RANGES[op]
        return ir.Binary(op, within(left), within(right))
    op = dice.pick(tuple(_UNARY_RANGES))
    return ir.Unary(op, within(_UNARY_RANGES[op]))
