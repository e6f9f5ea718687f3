"""Values of approximate opcodes, applied to arguments for which their error is bounded."""

from __future__ import annotations

from vyre.conform.generate.dice import Dice
from vyre.conform.generate.exprs import Exprs
from vyre.ir import AnyExpr, Binary, BinOp, DataType, Expr, Unary, UnOp

_UNARY_RANGES: dict[UnOp, tuple[float, float]] = {
    UnOp.RSQRT: (0.25, 1000.0),
    UnOp.EXP: (-8.0, 8.0),
    UnOp.EXP2: (-12.0, 12.0),
    UnOp.EXPM1: (-4.0, 4.0),
    UnOp.LOG: (0.25, 1000.0),
    UnOp.LOG2: (0.25, 1000.0),
    UnOp.LOG10: (0.25, 1000.0),
    UnOp.LOG1P: (-0.5, 1000.0),
    UnOp.SIN: (-3.0, 3.0),
    UnOp.COS: (-3.0, 3.0),
    UnOp.TAN: (-1.25, 1.25),
    UnOp.ASIN: (-1.0, 1.0),
    UnOp.ACOS: (-1.0, 1.0),
    UnOp.ATAN: (-100.0, 100.0),
    UnOp.SINH: (-4.0, 4.0),
    UnOp.COSH: (-4.0, 4.0),
    UnOp.TANH: (-4.0, 4.0),
}
_BINARY_RANGES: dict[BinOp, tuple[tuple[float, float], tuple[float, float]]] = {
    BinOp.POW: ((0.25, 8.0), (-3.0, 3.0)),
    BinOp.ATAN2: ((0.25, 100.0), (0.25, 100.0)),
}


def approximate_value(dice: Dice, exprs: Exprs, dtype: DataType) -> AnyExpr:
    """An approximate opcode on arguments within a harmless range, its result untouched."""

    def within(limits: tuple[float, float]) -> AnyExpr:
        low, high = (Expr.lit(limit, dtype) for limit in limits)
        return Expr.min_(Expr.max_(exprs.leaf(dtype), low), high)

    if dice.chance(2):
        op = dice.pick(tuple(_BINARY_RANGES))
        left, right = _BINARY_RANGES[op]
        return Binary(op, within(left), within(right))
    op = dice.pick(tuple(_UNARY_RANGES))
    return Unary(op, within(_UNARY_RANGES[op]))
