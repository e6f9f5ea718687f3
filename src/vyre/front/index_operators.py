"""Operators between indices: what the form of each result is, and how it is computed.

Sums, products and bits are right modulo 2**32, so these are computed in `u32`. Where the sign
matters (comparisons, `//`, `%`, `>>`, `min`, `max`, `abs`) and an operand may be negative, what is
subtracted moves to the other side (see `differences`); where that is not possible, it is computed
in `i32`.
"""

from __future__ import annotations

from vyre import ir
from vyre.front.context import Context
from vyre.front.differences import (
    both_sides,
    is_at_least,
    minus_number,
    moved_up,
    signed_bits,
    without_signs,
)
from vyre.front.floor_division import floor_quotient, floor_remainder
from vyre.front.index_values import (
    as_signed,
    converted,
    from_signed,
    index,
    joined,
    natural,
)
from vyre.front.values import Form, Scalar
from vyre.ir.opcodes import COMPARISONS

_MODULAR = frozenset((ir.BinOp.ADD, ir.BinOp.MUL, ir.BinOp.SHL, ir.BinOp.OR, ir.BinOp.XOR))


def of_two(ctx: Context, opcode: ir.BinOp, a: Scalar, b: Scalar) -> Scalar | None:
    """An opcode of two indices; None where it takes them as numbers of the type `u32`."""
    form = joined(a, b)
    assert form is not None
    if opcode in COMPARISONS:
        return Scalar(_compared(ctx, opcode, a, b), ir.DataType.BOOL)
    if opcode in _MODULAR:
        return index(ir.Binary(opcode, a.expr, b.expr), form)
    match opcode:
        case ir.BinOp.SUB:
            stays = isinstance(b.expr, ir.Lit) and is_at_least(ctx.facts, a.expr, b.expr)
            form = Form.NATURAL if stays and a.form is Form.NATURAL else Form.SIGNED
            return index(ir.Binary(opcode, a.expr, b.expr), form)
        case ir.BinOp.AND:
            is_natural = Form.NATURAL in (a.form, b.form)
            form = Form.NATURAL if is_natural else Form.SIGNED
            return index(ir.Binary(opcode, a.expr, b.expr), form)
        case ir.BinOp.SHR if form is Form.SIGNED:
            return from_signed(ir.Binary(opcode, *_signed(ctx, a, b)))
        case ir.BinOp.MIN | ir.BinOp.MAX if form is Form.SIGNED:
            return _extreme(ctx, opcode, a, b)
        case ir.BinOp.SHR | ir.BinOp.MIN | ir.BinOp.MAX | ir.BinOp.DIV | ir.BinOp.REM if (
            form is Form.NATURAL
        ):
            return natural(ir.Binary(opcode, a.expr, b.expr))
        case _:
            return None


def of_one(ctx: Context, opcode: ir.UnOp, value: Scalar) -> Scalar | None:
    """An opcode of an index; None where it takes it as a number of the type `u32`."""
    match opcode:
        case ir.UnOp.NEG | ir.UnOp.NOT:
            return index(ir.Unary(opcode, value.expr), Form.SIGNED)
        case ir.UnOp.ABS if value.form is Form.NATURAL:
            return value
        case ir.UnOp.ABS:
            return _absolute(ctx, value)
        case _:
            return None


def divided(ctx: Context, a: Scalar, b: Scalar) -> Scalar:
    """`a // b` of indices."""
    if joined(a, b) is Form.NATURAL:
        return natural(ir.Binary(ir.BinOp.DIV, a.expr, b.expr))
    step = _positive(b)
    moved = None if step is None else moved_up(ctx, (a.expr,), step)
    if moved is not None:
        [above], steps = moved
        return index(minus_number(ir.Binary(ir.BinOp.DIV, above, b.expr), steps), Form.SIGNED)
    one, other = _held(ctx, a, b)
    return from_signed(floor_quotient(ctx, one, other, above_zero=b.form is Form.NATURAL))


def remainder(ctx: Context, a: Scalar, b: Scalar) -> Scalar:
    """`a % b` of indices, with the sign of b."""
    if joined(a, b) is Form.NATURAL:
        return natural(ir.Binary(ir.BinOp.REM, a.expr, b.expr))
    step = _positive(b)
    moved = None if step is None else moved_up(ctx, (a.expr,), step)
    if moved is not None:
        return natural(ir.Binary(ir.BinOp.REM, moved[0][0], b.expr))
    one, other = _held(ctx, a, b)
    assert b.form is not None
    rest = floor_remainder(ctx, one, other, above_zero=b.form is Form.NATURAL)
    return from_signed(rest, b.form)


def _positive(value: Scalar) -> int | None:
    """The number that a literal divisor is, if it is positive."""
    is_one = isinstance(value.expr, ir.Lit) and value.form is Form.NATURAL and value.expr.bits > 0
    return value.expr.bits if is_one and isinstance(value.expr, ir.Lit) else None


def _held(ctx: Context, a: Scalar, b: Scalar) -> tuple[Scalar, Scalar]:
    one, other = _signed(ctx, a, b)
    return Scalar(one, ir.DataType.I32), Scalar(other, ir.DataType.I32)


def _signed(ctx: Context, a: Scalar, b: Scalar) -> tuple[ir.AnyExpr, ir.AnyExpr]:
    return as_signed(ctx, a.expr), as_signed(ctx, b.expr)


def _compared(ctx: Context, opcode: ir.BinOp, a: Scalar, b: Scalar) -> ir.AnyExpr:
    if joined(a, b) is Form.NATURAL:
        return ir.Binary(opcode, a.expr, b.expr)
    pair = without_signs(ctx, a.expr, b.expr) or _signed(ctx, a, b)
    return ir.Binary(opcode, *pair)


def _extreme(ctx: Context, opcode: ir.BinOp, a: Scalar, b: Scalar) -> Scalar:
    is_natural = opcode is ir.BinOp.MAX and Form.NATURAL in (a.form, b.form)
    form = Form.NATURAL if is_natural else Form.SIGNED
    for one, other in ((a, b), (b, a)):
        if opcode is ir.BinOp.MAX and other.expr == ir.Expr.u32(0):
            return natural(at_least_zero(ctx, one.expr))
    moved = moved_up(ctx, (a.expr, b.expr))
    if moved is not None:
        [one, other], steps = moved
        return index(minus_number(ir.Binary(opcode, one, other), steps), form)
    return from_signed(ir.Binary(opcode, *_signed(ctx, a, b)), form)


def _absolute(ctx: Context, value: Scalar) -> Scalar:
    sides = both_sides(ctx, value.expr)
    if sides is None:
        return from_signed(ir.Unary(ir.UnOp.ABS, as_signed(ctx, value.expr)), Form.NATURAL)
    high, low = ir.Binary(ir.BinOp.MAX, *sides), ir.Binary(ir.BinOp.MIN, *sides)
    return natural(ir.Binary(ir.BinOp.SUB, high, low))


def at_least_zero(ctx: Context, expr: ir.AnyExpr) -> ir.AnyExpr:
    """The expression of an index, or zero where it is negative."""
    if isinstance(expr, ir.Lit):
        return ir.Expr.u32(max(signed_bits(expr), 0))
    sides = both_sides(ctx, expr)
    if sides is None:
        held = ir.Binary(ir.BinOp.MAX, as_signed(ctx, expr), ir.Expr.i32(0))
        return from_signed(held).expr
    plus, minus = sides
    if minus == ir.Expr.u32(0):
        return plus
    return ir.Binary(ir.BinOp.SUB, ir.Binary(ir.BinOp.MAX, plus, minus), minus)


def compared_with_number(ctx: Context, opcode: ir.BinOp, a: Scalar, b: Scalar) -> Scalar:
    """A comparison of an index with a number of an integer type, exact whatever its sign."""
    is_left = b.form is None
    value, other = (a, b) if is_left else (b, a)
    ctx.pin(other.soft, other.dtype)
    if value.form is Form.NATURAL or other.dtype.is_signed:
        made = converted(ctx, value, other.dtype).expr
        return Scalar(_in_order(opcode, made, other.expr, is_left), ir.DataType.BOOL)
    # What is negative is less than zero, and so is zero less than, or equal to, all numbers here.
    pair = without_signs(ctx, value.expr, ir.Expr.u32(0))
    if pair is None:
        value = ctx.hold(value)
        pair = as_signed(ctx, value.expr), ir.Expr.i32(0)
    made = converted(ctx, natural(at_least_zero(ctx, value.expr)), other.dtype).expr
    same = _in_order(opcode, made, other.expr, is_left)
    if opcode in ((ir.BinOp.GT, ir.BinOp.LE) if is_left else (ir.BinOp.LT, ir.BinOp.GE)):
        return Scalar(same, ir.DataType.BOOL)
    if opcode in (
        ir.BinOp.NE,
        *((ir.BinOp.LT, ir.BinOp.LE) if is_left else (ir.BinOp.GT, ir.BinOp.GE)),
    ):
        held = ir.Binary(ir.BinOp.OR, ir.Binary(ir.BinOp.LT, *pair), same)
    else:
        held = ir.Binary(ir.BinOp.AND, ir.Binary(ir.BinOp.GE, *pair), same)
    return Scalar(held, ir.DataType.BOOL)


def _in_order(opcode: ir.BinOp, index: ir.AnyExpr, number: ir.AnyExpr, is_left: bool) -> ir.AnyExpr:
    return ir.Binary(opcode, index, number) if is_left else ir.Binary(opcode, number, index)
