"""Unifies the types of operands: literals adopt the other type, no implicit conversions."""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence

from vyre.diagnostics.codes import front as codes
from vyre.front import advice
from vyre.front.context import Context
from vyre.front.index_values import INTEGERS, differ, literal_index, meet, stored
from vyre.front.scalars import scalar_name
from vyre.front.values import Array, Constant, Form, Key, Scalar, Several, Value, describe
from vyre.ir import AnyExpr, DataType, Expr
from vyre.ir.literal import encode


def default_type(value: bool | int | float, *others: int) -> DataType:
    """The type of a literal that meets nothing typed, and of others in the same variable."""
    if isinstance(value, bool):
        return DataType.BOOL
    if isinstance(value, float):
        return DataType.F32
    every = (value, *others)
    return next((one for one in _WHOLE if all(_holds(one, each) for each in every)), DataType.I32)


def zero(dtype: DataType) -> AnyExpr:
    """Zero, or false."""
    return Expr.lit(False if dtype.is_bool else 0, dtype)


_WHOLE = (DataType.I32, DataType.U32, DataType.I64, DataType.U64)


def _holds(dtype: DataType, value: int) -> bool:
    low, high = dtype.integer_range
    return low <= value <= high


def literal(
    ctx: Context,
    node: ast.AST,
    constant: Constant,
    dtype: DataType,
    reason: str | None = None,
    *,
    alone: bool = False,
) -> Scalar:
    """A constant as a value of a type, if it can be one; `reason` is code that wants the type.

    One that is `alone` meets no other operand: it is declared, stored, passed or converted.
    """
    value = constant.value
    if isinstance(value, str):
        raise not_a_number(ctx, node, constant)
    if not dtype.is_scalar:
        fix = "take one of its words, such as v[0]"
        raise ctx.error(node, codes.OPERAND, op="a number next to it", found=dtype, fix=fix)
    if isinstance(value, bool) != dtype.is_bool:
        raise ctx.error(node, codes.LITERAL, value=value, dtype=dtype, why=_why_bool(dtype))
    if isinstance(value, float) and dtype.is_integer:
        floats = "vy.f64" if dtype.bits == 64 else "vy.f32"
        instead = f"convert the other operand to a float: {floats}(...)"
        if alone:
            instead = f"use a type of floats here: {floats}"
        why = f"write a whole number, or {instead}"
        raise ctx.error(node, codes.LITERAL, value=value, dtype=dtype, why=why)
    if dtype.is_integer and isinstance(value, int) and not _holds(dtype, value):
        why = _why_alone(value, dtype) if alone else _why_operand(value, dtype, reason)
        raise ctx.error(node, codes.LITERAL, value=value, dtype=dtype, why=why)
    if dtype.is_float and is_lost(value, dtype):
        why = f"{dtype} would make it infinite: write vy.math.inf, or convert to a wider type"
        raise ctx.error(node, codes.LITERAL, value=value, dtype=dtype, why=why)
    return Scalar(Expr.lit(value, dtype), dtype)


def is_lost(value: float, dtype: DataType) -> bool:
    """Whether a finite number is too large for a type of floats."""
    if isinstance(value, float) and not math.isfinite(value):
        return False
    return encode(abs(value), dtype) == encode(math.inf, dtype)


def _why_alone(value: int, dtype: DataType) -> str:
    low, high = dtype.integer_range
    fits = next((scalar_name(one) for one in _WHOLE if _holds(one, value)), None)
    other = "" if fits is None else f", or use a type here that holds this one: {fits}"
    return f"{dtype} holds {low} to {high}: write a number that it holds{other}"


def _why_operand(value: int, dtype: DataType, reason: str | None) -> str:
    """What to make of the operand that gives a literal its type; nothing that loses its values."""
    low, high = dtype.integer_range
    if value >= 0 or low:
        instead = "convert the other operand{} to a wider type"
    elif dtype is DataType.U64:
        instead = (
            "no integer type holds both; convert the other operand{} if it stays below 2**63: "
            "vy.i64(...)"
        )
    else:
        signed = "vy.i32" if high < 1 << 31 else "vy.i64"
        instead = "convert the other operand{} to a signed type that holds it: " + f"{signed}(...)"
    if reason is not None:
        return f"it is {dtype} because of {reason}: {instead.format(' there')}"
    return f"{dtype} holds {low} to {high}: {instead.format('')}"


def _why_bool(dtype: DataType) -> str:
    if dtype.is_bool:
        return "write True or False, or a comparison"
    return f"write 0 or 1, or {scalar_name(dtype)}(condition)"


def not_a_number(ctx: Context, node: ast.AST, value: Value) -> Exception:
    """The error for a value that nothing can be computed with."""
    fix = "compute with numbers; of an array or a tuple take an element, such as x[i]"
    return ctx.error(node, codes.NOT_A_NUMBER, what=describe(value), fix=fix)


def as_scalar(ctx: Context, node: ast.AST, value: Value) -> Scalar:
    """A value on its own: a constant gets the type of literals."""
    match value:
        case Scalar():
            return value
        case Constant(found) if not isinstance(found, str):
            return literal(ctx, node, value, default_type(found))
        case _:
            raise not_a_number(ctx, node, value)


def as_type(ctx: Context, node: ast.AST, value: Value, dtype: DataType, what: str) -> Scalar:
    """A value where one of this type is wanted."""
    if isinstance(value, Constant):
        return literal(ctx, node, value, dtype, alone=True)
    scalar = as_scalar(ctx, node, value)
    if scalar.form is not None and dtype in INTEGERS:
        return stored(ctx, node, scalar, dtype)
    if scalar.dtype is dtype:
        ctx.pin(scalar.soft, dtype)
        return Scalar(scalar.expr, dtype)
    if scalar.soft and can_become(scalar.dtype, dtype):
        raise ctx.learn(scalar.soft, dtype, node)
    raise ctx.error(
        node,
        codes.WANTED_TYPE,
        what=what,
        expected=dtype,
        found=scalar.named,
        cast=advice.cast(node, dtype, scalar.dtype),
    )


def as_bool(ctx: Context, node: ast.AST, value: Value, what: str) -> Scalar:
    """A value where a truth value is wanted."""
    if isinstance(value, Constant) and isinstance(value.value, bool):
        return literal(ctx, node, value, DataType.BOOL)
    if isinstance(value, Scalar) and value.dtype.is_bool:
        return value
    found = value.named if isinstance(value, Scalar) else describe(value)
    raise ctx.error(node, codes.NOT_BOOL, what=what, found=found, fix=_fix_truth(node, value))


def _fix_truth(node: ast.AST, value: Value) -> str:
    match value:
        case Scalar():
            return f"compare: {advice.operand(node)} != 0"
        case Constant(found) if isinstance(node, ast.Constant):
            return f"write {bool(found)}"
        case Constant(found):
            nothing = "0" if not isinstance(found, str) else "''"
            return f"compare: {advice.operand(node)} != {nothing}"
        case Array():
            return f"compare its length, len({ast.unparse(node)}) != 0, or one of its elements"
        case Several(items) if isinstance(node, ast.Tuple):
            return f"write {bool(items)}, or compare one of its elements"
        case Several():
            return f"compare its length, len({ast.unparse(node)}) != 0, or one of its elements"
        case _:
            return "write a comparison"


def agree(
    ctx: Context, node: ast.AST, op: str, left: Value, right: Value, sides: tuple[ast.AST, ast.AST]
) -> tuple[Scalar, Scalar]:
    """Two operands as values of one type, or as two indices."""
    a, b = settled(ctx, node, op, left, right, sides)
    if a.form is None and b.form is None:
        return a, b
    if a.form is not None and b.form is not None:
        return a, b
    met = meet(ctx, node, op, a, b, sides)
    if met is None:
        raise differ(ctx, node, op, a, b, sides)
    return met


def settled(
    ctx: Context, node: ast.AST, op: str, left: Value, right: Value, sides: tuple[ast.AST, ast.AST]
) -> tuple[Scalar, Scalar]:
    """Two operands as values of one type; where one is an index, the other may have a type."""
    if isinstance(left, Constant) and isinstance(right, Scalar):
        made, right = _with_constant(ctx, sides[0], left, right)
        return made, right
    if isinstance(right, Constant) and isinstance(left, Scalar):
        made, left = _with_constant(ctx, sides[1], right, left)
        return left, made
    if isinstance(left, Constant) and isinstance(right, Constant):
        return literals(ctx, node, (left, right), sides)
    a, b = as_scalar(ctx, sides[0], left), as_scalar(ctx, sides[1], right)
    if a.form is not None or b.form is not None:
        for one in (a, b):
            if one.soft and one.dtype is DataType.I32:
                raise ctx.learn(one.soft, Form.NATURAL, node)
        return a, b
    if a.dtype is b.dtype:
        if a.soft and b.soft:
            soft = a.soft | b.soft
            return Scalar(a.expr, a.dtype, soft), Scalar(b.expr, b.dtype, soft)
        ctx.pin(a.soft | b.soft, a.dtype)
        return Scalar(a.expr, a.dtype), Scalar(b.expr, b.dtype)
    if a.soft and can_become(a.dtype, b.dtype):
        raise ctx.learn(a.soft, b.dtype, node)
    if b.soft and can_become(b.dtype, a.dtype):
        raise ctx.learn(b.soft, a.dtype, node)
    raise differ(ctx, node, op, a, b, sides)


LITERALS = "literals of"
"""Marks the keys of constants that stand in an expression, which only that expression uses."""


def literals(
    ctx: Context,
    node: ast.AST,
    pair: tuple[Constant, Constant],
    sides: tuple[ast.AST, ast.AST],
    position: int = 0,
) -> tuple[Scalar, Scalar]:
    """Two constants that the kernel computes with; together they take a type by context."""
    first, second = same_literals(ctx, node, pair, sides, position)
    return first, second


def _width(value: bool | int | float | str) -> tuple[bool, int]:
    """Orders constants by the type that holds them and what is less wide."""
    if not isinstance(value, int) or isinstance(value, bool):
        return isinstance(value, float), -1
    return False, _WHOLE.index(default_type(value))


def same_literals(
    ctx: Context,
    node: ast.AST,
    constants: Sequence[Constant],
    sides: Sequence[ast.AST] | None = None,
    position: int = 0,
) -> list[Scalar]:
    """Constants that the kernel computes with, or of which it chooses one: all of one type.

    `position` tells those at one node apart.
    """
    pairs = list(zip(sides or [node] * len(constants), constants, strict=True))
    # 1 if c else 0.5 is a float.
    widest = max((constant.value for constant in constants), key=_width)
    if isinstance(widest, (str, bool)):
        return [as_scalar(ctx, side, constant) for side, constant in pairs]
    places = ("lineno", "col_offset", "end_lineno", "end_col_offset")
    key = (*ctx.frame.path, LITERALS, position, *(getattr(node, place, 0) for place in places))
    learned = ctx.learned.get(key)
    if isinstance(learned, Form):
        return [index_of(ctx, side, constant) for side, constant in pairs]
    dtype = default_type(widest) if learned is None else learned
    soft = frozenset({key}) if learned is None else frozenset[Key]()
    found = [literal(ctx, side, constant, dtype) for side, constant in pairs]
    return [Scalar(one.expr, dtype, soft) for one in found]


def index_of(ctx: Context, node: ast.AST, constant: Constant, reason: str | None = None) -> Scalar:
    """A constant as an index; one of 2**31 and more is a number of the type `u32`."""
    number = constant.value
    if isinstance(number, int) and not isinstance(number, bool):
        found = literal_index(number)
        if found is not None:
            return found
    return literal(ctx, node, constant, DataType.U32, reason)


def _with_constant(
    ctx: Context, node: ast.AST, constant: Constant, other: Scalar
) -> tuple[Scalar, Scalar]:
    if other.form is not None:
        return index_of(ctx, node, constant), other
    wants_float = isinstance(constant.value, float) and other.dtype.is_integer
    if other.soft and wants_float:
        raise ctx.learn(other.soft, DataType.F32, node)
    made = literal(ctx, node, constant, other.dtype)
    return Scalar(made.expr, made.dtype, other.soft), other


def can_become(assumed: DataType, dtype: DataType) -> bool:
    """Whether a variable that a literal of the assumed type began can have another type."""
    if assumed.is_bool or dtype.is_bool or not dtype.is_scalar:
        return False
    return assumed.is_integer or dtype.is_float
