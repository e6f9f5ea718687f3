"""How far a result may be from the exact one, in units in the last place.

The bounds hold for every backend; a target that cannot keep one refuses the opcode or computes it
another way. Opcodes that are not in the table are exact: bound zero.
"""

from __future__ import annotations

import numpy as np

from vyre.ir import BinOp, DataType, UnOp
from vyre.semantics.representation import Array

_LONG: dict[UnOp | BinOp, int] = {
    UnOp.RSQRT: 2,
    UnOp.EXP: 3,
    UnOp.EXP2: 3,
    UnOp.EXPM1: 3,
    UnOp.LOG: 3,
    UnOp.LOG2: 3,
    UnOp.LOG10: 3,
    UnOp.LOG1P: 3,
    UnOp.SIN: 4,
    UnOp.COS: 4,
    UnOp.TAN: 5,
    UnOp.ASIN: 4,
    UnOp.ACOS: 4,
    UnOp.ATAN: 4,
    UnOp.SINH: 4,
    UnOp.COSH: 4,
    UnOp.TANH: 5,
    BinOp.POW: 16,
    BinOp.ATAN2: 6,
}
_HALF = 1
"""Functions of half floats are computed in single precision, which leaves the rounding."""

BOUNDS: dict[tuple[UnOp | BinOp, DataType], int] = {
    (op, dtype): _HALF if dtype is DataType.F16 else bound
    for op, bound in _LONG.items()
    for dtype in (DataType.F16, DataType.F32, DataType.F64)
}
"""The greatest error of each approximate opcode at each precision."""

_MANTISSA = {DataType.F16: 10, DataType.BF16: 7, DataType.F32: 23, DataType.F64: 52}
_LEAST_EXPONENT = {DataType.F16: -14, DataType.BF16: -126, DataType.F32: -126, DataType.F64: -1022}


def bound(op: UnOp | BinOp, dtype: DataType) -> int:
    """How many units in the last place a result may be off; zero means not at all."""
    return BOUNDS.get((op, dtype), 0)


def spacing(dtype: DataType, values: Array) -> Array:
    """The distance from finite values to their neighbours away from zero."""
    # frexp gives fractions from one half, so the leading digit stands one place lower.
    exponent = np.frexp(np.abs(values))[1] - 1
    exponent = np.where(values == 0, _LEAST_EXPONENT[dtype], exponent)
    return np.ldexp(1.0, np.maximum(exponent, _LEAST_EXPONENT[dtype]) - _MANTISSA[dtype])


def error(dtype: DataType, expected: Array, actual: Array) -> Array:
    """How far values are apart, in units in the last place of the larger one.

    Two NaNs are equal, and a NaN is infinitely far from every number. An infinity counts as the
    value that would follow the greatest number, so overflow by rounding is a small error.
    """
    greatest = _greatest(dtype)
    with np.errstate(all="ignore"):
        e = expected.astype(np.float64).clip(-greatest, greatest)
        a = actual.astype(np.float64).clip(-greatest, greatest)
        # Exact where it matters: numbers within a factor of two have an exact difference.
        distance = np.abs(e - a) / np.maximum(spacing(dtype, e), spacing(dtype, a))
        distance += np.isinf(expected) != np.isinf(actual)
    same = (expected == actual) | (np.isnan(expected) & np.isnan(actual))
    one_nan = np.isnan(expected) != np.isnan(actual)
    return np.where(same, 0.0, np.where(one_nan, np.inf, distance))


def _greatest(dtype: DataType) -> float:
    digits, exponent = _MANTISSA[dtype] + 1, 1 - _LEAST_EXPONENT[dtype]
    return (2.0 - 2.0 ** (1 - digits)) * 2.0**exponent


def is_subnormal(dtype: DataType, values: Array) -> Array:
    """Whether values are not zero and below the least normal number."""
    with np.errstate(invalid="ignore"):
        size = np.abs(values.astype(np.float64))
    return (size > 0) & (size < 2.0 ** _LEAST_EXPONENT[dtype])
