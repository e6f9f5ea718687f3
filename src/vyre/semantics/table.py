"""Which function is the meaning of which opcode.

`unary_function` and `binary_function` look it up once, for callers that apply it often; those
callers silence numpy's warnings themselves. `unary`, `binary` and the others are for single use.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from vyre.diagnostics import CheckError, Diagnostic
from vyre.ir import BinOp, DataType, UnOp
from vyre.ir.infer import binary_type, bitcast_type, cast_type, unary_type
from vyre.semantics import casts, floats, fused, integers, transcendentals
from vyre.semantics.representation import Array

OneOperand = Callable[[Array], Array]
TwoOperands = Callable[[Array, Array], Array]


_UNARY_ANY: dict[UnOp, OneOperand] = {UnOp.NOT: np.invert}
_UNARY_INTEGER: dict[UnOp, OneOperand] = {
    UnOp.NEG: np.negative,
    UnOp.ABS: integers.absolute,
    UnOp.POPCOUNT: integers.population_count,
    UnOp.CLZ: integers.leading_zeros,
    UnOp.CTZ: integers.trailing_zeros,
    UnOp.REVERSE_BITS: integers.reverse_bits,
    UnOp.BYTE_SWAP: integers.swap_bytes,
}
_UNARY_FLOAT: dict[UnOp, OneOperand] = {
    UnOp.NEG: floats.negate,
    UnOp.ABS: floats.absolute,
    UnOp.FLOOR: np.floor,
    UnOp.CEIL: np.ceil,
    UnOp.TRUNC: np.trunc,
    UnOp.ROUND: floats.round_away,
    UnOp.ROUND_EVEN: np.rint,
    UnOp.SQRT: np.sqrt,
    UnOp.IS_NAN: np.isnan,
    UnOp.IS_INF: np.isinf,
    UnOp.IS_FINITE: np.isfinite,
    **transcendentals.UNARY,
}
_BINARY_ANY: dict[BinOp, TwoOperands] = {
    BinOp.ADD: np.add,
    BinOp.SUB: np.subtract,
    BinOp.MUL: np.multiply,
    BinOp.AND: np.bitwise_and,
    BinOp.OR: np.bitwise_or,
    BinOp.XOR: np.bitwise_xor,
    BinOp.EQ: np.equal,
    BinOp.NE: np.not_equal,
    BinOp.LT: np.less,
    BinOp.LE: np.less_equal,
    BinOp.GT: np.greater,
    BinOp.GE: np.greater_equal,
}
_BINARY_INTEGER: dict[BinOp, TwoOperands] = {
    BinOp.DIV: integers.divide,
    BinOp.REM: integers.remainder,
    BinOp.SHL: integers.shift_left,
    BinOp.SHR: integers.shift_right,
    BinOp.ROTL: integers.rotate_left,
    BinOp.ROTR: integers.rotate_right,
    BinOp.MIN: np.minimum,
    BinOp.MAX: np.maximum,
    BinOp.ADD_SAT: integers.add_saturating,
    BinOp.SUB_SAT: integers.subtract_saturating,
    BinOp.MUL_HI: integers.multiply_high,
}
_BINARY_FLOAT: dict[BinOp, TwoOperands] = {
    BinOp.DIV: np.divide,
    BinOp.MIN: floats.lesser_number,
    BinOp.MAX: floats.greater_number,
    BinOp.MINIMUM: floats.minimum,
    BinOp.MAXIMUM: floats.maximum,
    BinOp.COPYSIGN: floats.copy_sign,
    **transcendentals.BINARY,
}


@cache
def unary_function(op: UnOp, dtype: DataType) -> OneOperand:
    """The meaning of an opcode of one operand of this type."""
    _sound(unary_type(op, dtype))
    by_kind = _UNARY_FLOAT if dtype.is_float else _UNARY_INTEGER
    return by_kind.get(op) or _UNARY_ANY[op]


@cache
def binary_function(op: BinOp, dtype: DataType) -> TwoOperands:
    """The meaning of an opcode of two operands of this type."""
    _sound(binary_type(op, dtype, dtype))
    by_kind = _BINARY_FLOAT if dtype.is_float else _BINARY_INTEGER
    return by_kind.get(op) or _BINARY_ANY[op]


def unary(op: UnOp, dtype: DataType, a: Array) -> Array:
    """An opcode of one operand, on every entry."""
    with np.errstate(all="ignore"):
        return unary_function(op, dtype)(a)


def binary(op: BinOp, dtype: DataType, a: Array, b: Array) -> Array:
    """An opcode of two operands, on every entry."""
    with np.errstate(all="ignore"):
        return binary_function(op, dtype)(a, b)


def fma(a: Array, b: Array, c: Array) -> Array:
    """a * b + c, rounded once, on every entry."""
    with np.errstate(all="ignore"):
        return fused.fma(a, b, c)


def select(cond: Array, if_true: Array, if_false: Array) -> Array:
    """One of two values, on every entry; whole vectors where the values are vectors."""
    if if_true.ndim > cond.ndim:
        cond = cond[..., np.newaxis]
    return np.where(cond, if_true, if_false)


def cast(a: Array, source: DataType, target: DataType) -> Array:
    """Conversion by value, on every entry."""
    _sound(cast_type(source, target))
    with np.errstate(all="ignore"):
        return casts.cast_function(source, target)(a)


def bitcast(a: Array, source: DataType, target: DataType) -> Array:
    """The same bits as another type, on every entry."""
    _sound(bitcast_type(source, target))
    return casts.bitcast_function(source, target)(a)


def _sound(answer: DataType | Diagnostic) -> None:
    if isinstance(answer, Diagnostic):
        raise CheckError(answer)
