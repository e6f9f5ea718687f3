"""Operations on literals, computed."""

from __future__ import annotations

from vyre.ir import AnyExpr, Binary, Bitcast, Cast, Fma, Lit, Select, Unary
from vyre.ir.walk import map_exprs


def fold(expr: AnyExpr) -> Lit | None:
    """The literal that an operation on literals gives; None for anything else."""
    from vyre import semantics  # most small kernels have nothing to fold, and it is dear to import

    match expr:
        case Unary(op, Lit() as operand):
            return semantics.fold_unary(op, operand)
        case Binary(op, Lit() as left, Lit() as right):
            return semantics.fold_binary(op, left, right)
        case Cast(Lit() as value, dtype):
            return semantics.fold_cast(value, dtype)
        case Bitcast(Lit() as value, dtype):
            return semantics.fold_bitcast(value, dtype)
        case Select(Lit() as cond, Lit() as if_true, Lit() as if_false):
            return semantics.fold_select(cond, if_true, if_false)
        case Fma(Lit() as a, Lit() as b, Lit() as c):
            return semantics.fold_fma(a, b, c)
        case _:
            return None


def value_of(expr: AnyExpr) -> Lit | None:
    """The literal that an expression over literals comes to."""
    if isinstance(expr, Lit):
        return expr
    return fold(map_exprs(expr, _folded))


def _folded(expr: AnyExpr) -> AnyExpr:
    value = value_of(expr)
    return expr if value is None else value
