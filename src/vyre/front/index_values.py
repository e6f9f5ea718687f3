"""Index values: ids and lengths, integers that take the type of the integer they meet.

An index is computed in `u32`, modulo 2**32, and its form tells how it is read: one that is never
negative as 0 to 2**32 - 1, one that something was subtracted from as -2**31 to 2**31 - 1. Next to
an integer of another type it becomes one of that type. What would lose its sign there is refused.
"""

from __future__ import annotations

import ast

from vyre import ir
from vyre.diagnostics.codes import front as codes
from vyre.front import advice
from vyre.front.context import Context
from vyre.front.differences import signed_bits
from vyre.front.extent_limit import HALF
from vyre.front.scalars import scalar_name
from vyre.front.values import Form, Scalar

INTEGERS = frozenset({ir.DataType.I32, ir.DataType.I64, ir.DataType.U32, ir.DataType.U64})
"""The types that an index can take."""


def natural(expr: ir.AnyExpr) -> Scalar:
    """An index that is never negative, such as an id or a length."""
    return Scalar(expr, ir.DataType.U32, form=Form.NATURAL)


def index(expr: ir.AnyExpr, form: Form) -> Scalar:
    """An index, as an expression of the type `u32`."""
    return Scalar(expr, ir.DataType.U32, form=form)


def joined(*values: Scalar) -> Form | None:
    """The form of what may be any of some values of one type; None for those that are no index."""
    forms = {value.form for value in values}
    return Form.SIGNED if Form.SIGNED in forms else values[0].form


def literal_index(number: int) -> Scalar | None:
    """A literal next to an index; None if it is not one that an index can be."""
    if not -HALF <= number < HALF:
        return None
    return index(ir.Expr.u32(number % (1 << 32)), Form.SIGNED if number < 0 else Form.NATURAL)


def as_signed(ctx: Context, expr: ir.AnyExpr) -> ir.AnyExpr:
    """The expression of an index read with its sign, as `i32`."""
    found = as_i32(expr)
    if isinstance(found, ir.Cast) and found.value is expr:
        ctx.limit_extents(HALF)
    return found


def as_i32(expr: ir.AnyExpr) -> ir.AnyExpr:
    """The expression of an index in `i32`: the same bits."""
    match expr:
        case ir.Lit():
            return ir.Expr.i32(signed_bits(expr))
        case ir.Cast(value, ir.DataType.U32):
            # An index that is converted to u32 was computed in i32.
            return value
        case _:
            return ir.Cast(expr, ir.DataType.I32)


def from_signed(expr: ir.AnyExpr, form: Form = Form.SIGNED) -> Scalar:
    """An index that was computed in `i32`."""
    return index(ir.Cast(expr, ir.DataType.U32), form)


def converted(ctx: Context, value: Scalar, dtype: ir.DataType) -> Scalar:
    """An index as a value of a type, with its sign; to `u32` and `u64` modulo their range."""
    expr = value.expr
    if isinstance(expr, ir.Lit) and dtype.is_integer:
        low, high = dtype.integer_range
        number = signed_bits(expr)
        return Scalar(ir.Expr.lit((number - low) % (high - low + 1) + low, dtype), dtype)
    if dtype is ir.DataType.I32:
        return Scalar(as_signed(ctx, expr), dtype)
    keeps_bits = dtype.is_bool or (dtype.is_integer and (dtype.bits or 0) <= 32)
    if value.form is Form.SIGNED and not keeps_bits:
        expr = as_signed(ctx, expr)
        if dtype is ir.DataType.U64:
            expr = ir.Cast(expr, ir.DataType.I64)
    return Scalar(expr if dtype is ir.DataType.U32 else ir.Cast(expr, dtype), dtype)


def stored(ctx: Context, node: ast.AST, value: Scalar, dtype: ir.DataType) -> Scalar:
    """An index where a value of an integer type is wanted."""
    if value.form is Form.SIGNED and not dtype.is_signed:
        raise may_be_negative(ctx, node, node, dtype)
    return converted(ctx, value, dtype)


def as_bits(ctx: Context, node: ast.AST, value: Scalar) -> Scalar:
    """An operand of a function of bits, which takes an index as `u32`; others are as they are."""
    return value if value.form is None else stored(ctx, node, value, ir.DataType.U32)


def may_be_negative(
    ctx: Context, node: ast.AST, operand: ast.AST, dtype: ir.DataType, other: ast.AST | None = None
) -> Exception:
    """The error for a signed index where a number of an unsigned type is wanted."""
    text = ast.unparse(operand)
    kept = f"{scalar_name(dtype)}({text})"
    fix = f"convert it where it is never negative: {kept}"
    if other is not None:
        wide = "vy.i32" if dtype is ir.DataType.U32 else "vy.i64"
        below, whole = f"2**{(dtype.bits or 32) - 1}", f"{wide}({ast.unparse(other)})"
        fix = f"write {whole} if that is below {below}; or {kept} if that is never negative"
    return ctx.error(node, codes.MAY_BE_NEGATIVE, text=text, dtype=dtype, fix=fix)


def meet(
    ctx: Context, node: ast.AST, op: str, a: Scalar, b: Scalar, sides: tuple[ast.AST, ast.AST]
) -> tuple[Scalar, Scalar] | None:
    """An index and an integer of a type, as two of that type; None if it takes no index."""
    value, other, own, others = (
        (a, b, sides[0], sides[1]) if b.form is None else (b, a, sides[1], sides[0])
    )
    if other.dtype not in INTEGERS:
        return None
    keeps = op in _MODULAR or (op == ">>" and value is b)
    if value.form is Form.SIGNED and not other.dtype.is_signed and not keeps:
        raise may_be_negative(ctx, node, own, other.dtype, others)
    made = converted(ctx, value, other.dtype)
    ctx.pin(other.soft, other.dtype)
    plain = Scalar(other.expr, other.dtype)
    return (made, plain) if value is a else (plain, made)


_MODULAR = frozenset(("+", "-", "*", "&", "|", "^", "<<"))
"""Operators that are right modulo 2**32, whatever the sign of an operand."""


def differ(
    ctx: Context, node: ast.AST, op: str, a: Scalar, b: Scalar, sides: tuple[ast.AST, ast.AST]
) -> Exception:
    """The error for operands whose types do not meet."""
    left, right = (ir.DataType.I32 if one.form is Form.SIGNED else one.dtype for one in (a, b))
    fix = advice.for_types(op, left, right, sides)
    return ctx.error(node, codes.TYPES_DIFFER, op=op, left=a.shown, right=b.shown, fix=fix)
