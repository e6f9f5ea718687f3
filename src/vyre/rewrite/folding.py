"""Operations on literals, computed."""

from __future__ import annotations

from vyre import ir
from vyre.ir.walk import map_exprs


def fold(expr: ir.AnyExpr) -> ir.Lit | None:
    """The literal that an operation on literals gives; None for anything else."""
    from vyre import semantics  # most small kernels have nothing to fold, and it is dear to import

    match expr:
        case ir.Unary(op, ir.Lit() as operand):
            return semantics.fold_unary(op, operand)
        case ir.Binary(op, ir.Lit() as left, ir.Lit() as right):
            return semantics.fold_binary(op, left, right)
        case ir.Cast(ir.Lit() as value, dtype):
            return semantics.fold_cast(value, dtype)
        case ir.Bitcast(ir.Lit() as value, dtype):
            return semantics.fold_bitcast(value, dtype)
        case ir.Select(ir.Lit() as cond, ir.Lit() as if_true, ir.Lit() as if_false):
            return semantics.fold_select(cond, if_true, if_false)
        case ir.Fma(ir.Lit() as a, ir.Lit() as b, ir.Lit() as c):
            return semantics.fold_fma(a, b, c)
        case _:
            return None


def value_of(expr: ir.AnyExpr) -> ir.Lit | None:
    """The literal that an expression over literals comes to."""
    if isinstance(expr, ir.Lit):
        return expr
    return fold(map_exprs(expr, _folded))


def _folded(expr: ir.AnyExpr) -> ir.AnyExpr:
    value = value_of(expr)
    return expr if value is None else value
