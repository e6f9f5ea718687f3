"""Operators between indices: what the form of each result is, and how it is computed.

Sums, products and bits are right modulo 2**32, so these are computed in `u32`. Where the sign
matters (comparisons, `//`, `%`, `>>`, `min`, `max`, `abs`) and an operand may be negative, what is
subtracted moves to the other side (see `differences`); where that is not possible, it is computed
in `i32`.
"""

from __future__ import annotations

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
from vyre.ir import AnyExpr, Binary, BinOp, DataType, Expr, Lit, Unary, UnOp
from vyre.ir.opcodes import COMPARISONS

_MODULAR = frozenset((BinOp.ADD, BinOp.MUL, BinOp.SHL, BinOp.OR, BinOp.XOR))


def of_two(ctx: Context, opcode: BinOp, a: Scalar, b: Scalar) -> Scalar | None:
    """An opcode of two indices; None where it takes them as numbers of the type `u32`."""
    form = joined(a, b)
    assert form is not None
    if opcode in COMPARISONS:
        return Scalar(_compared(ctx, opcode, a, b), DataType.BOOL)
    if opcode in _MODULAR:
        return index(Binary(opcode, a.expr, b.expr), form)
    match opcode:
        case BinOp.SUB:
            stays = isinstance(b.expr, Lit) and is_at_least(ctx.facts, a.expr, b.expr)
            form = Form.NATURAL if stays and a.form is Form.NATURAL else Form.SIGNED
            return index(Binary(opcode, a.expr, b.expr), form)
        case BinOp.AND:
            is_natural = Form.NATURAL in (a.form, b.form)
            form = Form.NATURAL if is_natural else Form.SIGNED
            return index(Binary(opcode, a.expr, b.expr), form)
        case BinOp.SHR if form is Form.SIGNED:
            return from_signed(Binary(opcode, *_signed(ctx, a, b)))
        case BinOp.MIN | BinOp.MAX if form is Form.SIGNED:
            return _extreme(ctx, opcode, a, b)
        case BinOp.SHR | BinOp.MIN | BinOp.MAX | BinOp.DIV | BinOp.REM if form is Form.NATURAL:
            return natural(Binary(opcode, a.expr, b.expr))
        case _:
            return None


def of_one(ctx: Context, opcode: UnOp, value: Scalar) -> Scalar | None:
    """An opcode of an index; None where it takes it as a number of the type `u32`."""
    match opcode:
        case UnOp.NEG | UnOp.NOT:
            return index(Unary(opcode, value.expr), Form.SIGNED)
        case UnOp.ABS if value.form is Form.NATURAL:
            return value
        case UnOp.ABS:
            return _absolute(ctx, value)
        case _:
            return None


def divided(ctx: Context, a: Scalar, b: Scalar) -> Scalar:
    """`a // b` of indices."""
    if joined(a, b) is Form.NATURAL:
        return natural(Binary(BinOp.DIV, a.expr, b.expr))
    step = _positive(b)
    moved = None if step is None else moved_up(ctx, (a.expr,), step)
    if moved is not None:
        [above], steps = moved
        return index(minus_number(Binary(BinOp.DIV, above, b.expr), steps), Form.SIGNED)
    one, other = _held(ctx, a, b)
    return from_signed(floor_quotient(ctx, one, other, above_zero=b.form is Form.NATURAL))


def remainder(ctx: Context, a: Scalar, b: Scalar) -> Scalar:
    """`a % b` of indices, with the sign of b."""
    if joined(a, b) is Form.NATURAL:
        return natural(Binary(BinOp.REM, a.expr, b.expr))
    step = _positive(b)
    moved = None if step is None else moved_up(ctx, (a.expr,), step)
    if moved is not None:
        return natural(Binary(BinOp.REM, moved[0][0], b.expr))
    one, other = _held(ctx, a, b)
    assert b.form is not None
    rest = floor_remainder(ctx, one, other, above_zero=b.form is Form.NATURAL)
    return from_signed(rest, b.form)


def _positive(value: Scalar) -> int | None:
    """The number that a literal divisor is, if it is positive."""
    is_one = isinstance(value.expr, Lit) and value.form is Form.NATURAL and value.expr.bits > 0
    return value.expr.bits if is_one and isinstance(value.expr, Lit) else None


def _held(ctx: Context, a: Scalar, b: Scalar) -> tuple[Scalar, Scalar]:
    one, other = _signed(ctx, a, b)
    return Scalar(one, DataType.I32), Scalar(other, DataType.I32)


def _signed(ctx: Context, a: Scalar, b: Scalar) -> tuple[AnyExpr, AnyExpr]:
    return as_signed(ctx, a.expr), as_signed(ctx, b.expr)


def _compared(ctx: Context, opcode: BinOp, a: Scalar, b: Scalar) -> AnyExpr:
    if joined(a, b) is Form.NATURAL:
        return Binary(opcode, a.expr, b.expr)
    pair = without_signs(ctx, a.expr, b.expr) or _signed(ctx, a, b)
    return Binary(opcode, *pair)


def _extreme(ctx: Context, opcode: BinOp, a: Scalar, b: Scalar) -> Scalar:
    is_natural = opcode is BinOp.MAX and Form.NATURAL in (a.form, b.form)
    form = Form.NATURAL if is_natural else Form.SIGNED
    for one, other in ((a, b), (b, a)):
        if opcode is BinOp.MAX and other.expr == Expr.u32(0):
            return natural(at_least_zero(ctx, one.expr))
    moved = moved_up(ctx, (a.expr, b.expr))
    if moved is not None:
        [one, other], steps = moved
        return index(minus_number(Binary(opcode, one, other), steps), form)
    return from_signed(Binary(opcode, *_signed(ctx, a, b)), form)


def _absolute(ctx: Context, value: Scalar) -> Scalar:
    sides = both_sides(ctx, value.expr)
    if sides is None:
        return from_signed(Unary(UnOp.ABS, as_signed(ctx, value.expr)), Form.NATURAL)
    high, low = Binary(BinOp.MAX, *sides), Binary(BinOp.MIN, *sides)
    return natural(Binary(BinOp.SUB, high, low))


def at_least_zero(ctx: Context, expr: AnyExpr) -> AnyExpr:
    """The expression of an index, or zero where it is negative."""
    if isinstance(expr, Lit):
        return Expr.u32(max(signed_bits(expr), 0))
    sides = both_sides(ctx, expr)
    if sides is None:
        held = Binary(BinOp.MAX, as_signed(ctx, expr), Expr.i32(0))
        return from_signed(held).expr
    plus, minus = sides
    if minus == Expr.u32(0):
        return plus
    return Binary(BinOp.SUB, Binary(BinOp.MAX, plus, minus), minus)


def compared_with_number(ctx: Context, opcode: BinOp, a: Scalar, b: Scalar) -> Scalar:
    """A comparison of an index with a number of an integer type, exact whatever its sign."""
    is_left = b.form is None
    value, other = (a, b) if is_left else (b, a)
    ctx.pin(other.soft, other.dtype)
    if value.form is Form.NATURAL or other.dtype.is_signed:
        made = converted(ctx, value, other.dtype).expr
        return Scalar(_in_order(opcode, made, other.expr, is_left), DataType.BOOL)
    # What is negative is less than zero, and so is zero less than, or equal to, all numbers here.
    pair = without_signs(ctx, value.expr, Expr.u32(0))
    if pair is None:
        value = ctx.hold(value)
        pair = as_signed(ctx, value.expr), Expr.i32(0)
    made = converted(ctx, natural(at_least_zero(ctx, value.expr)), other.dtype).expr
    same = _in_order(opcode, made, other.expr, is_left)
    if opcode in ((BinOp.GT, BinOp.LE) if is_left else (BinOp.LT, BinOp.GE)):
        return Scalar(same, DataType.BOOL)
    if opcode in (BinOp.NE, *((BinOp.LT, BinOp.LE) if is_left else (BinOp.GT, BinOp.GE))):
        held = Binary(BinOp.OR, Binary(BinOp.LT, *pair), same)
    else:
        held = Binary(BinOp.AND, Binary(BinOp.GE, *pair), same)
    return Scalar(held, DataType.BOOL)


def _in_order(opcode: BinOp, index: AnyExpr, number: AnyExpr, is_left: bool) -> AnyExpr:
    return Binary(opcode, index, number) if is_left else Binary(opcode, number, index)
