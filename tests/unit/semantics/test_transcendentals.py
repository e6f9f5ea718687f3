"""Approximate functions against arbitrary precision: the reference is nearly correctly rounded."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

from tests.unit.semantics import exact
from tests.unit.semantics.edges import edges
from vyre import semantics
from vyre.ir import BinOp, DataType, UnOp
from vyre.ir.types import ARITHMETIC_FLOATS
from vyre.semantics import ulp

TRUTH: dict[UnOp | BinOp, Callable[..., Any]] = {
    UnOp.RSQRT: lambda x: 1 / mpmath.sqrt(x),
    UnOp.EXP: mpmath.exp,
    UnOp.EXP2: lambda x: mpmath.power(2, x),
    UnOp.EXPM1: mpmath.expm1,
    UnOp.LOG: mpmath.log,
    UnOp.LOG2: lambda x: mpmath.log(x, 2),
    UnOp.LOG10: lambda x: mpmath.log(x, 10),
    UnOp.LOG1P: mpmath.log1p,
    UnOp.SIN: mpmath.sin,
    UnOp.COS: mpmath.cos,
    UnOp.TAN: mpmath.tan,
    UnOp.ASIN: mpmath.asin,
    UnOp.ACOS: mpmath.acos,
    UnOp.ATAN: mpmath.atan,
    UnOp.SINH: mpmath.sinh,
    UnOp.COSH: mpmath.cosh,
    UnOp.TANH: mpmath.tanh,
    BinOp.POW: mpmath.power,
    BinOp.ATAN2: mpmath.atan2,
}
OPCODES = [op for table in (UnOp, BinOp) for op in table if op.row.approximate]
NEARLY_ROUNDED = {DataType.F16: 0.501, DataType.F32: 0.501, DataType.F64: 0.52}
"""How far the reference may be from the truth, in units in the last place."""


def ordinary(dtype: DataType) -> list[int]:
    """Edge values that are finite and not zero: the special ones have a test of their own."""
    form = exact.FORMATS[dtype]
    finite = (bits for bits in edges(dtype) if bits & (form.sign_bit - 1) < form.infinity)
    return [bits for bits in finite if not exact.is_zero(form, bits)]


def truth(op: UnOp | BinOp, arguments: list[Any]) -> Any:
    """The real result, or None where there is none (a NaN is right there)."""
    if op is BinOp.POW and arguments[0] < 0 and arguments[1] != mpmath.floor(arguments[1]):
        return None
    result = TRUTH[op](*arguments)
    if isinstance(result, mpmath.mpc):
        return None if result.imag else result.real
    return result


def units_off(dtype: DataType, found: float, real: Any) -> float:
    """The distance to the real result; to an infinity, from where rounding would give one."""
    form = exact.FORMATS[dtype]
    greatest = mpmath.mpf(2) ** (form.bias + 1)
    if not np.isfinite(found):
        overflowed = abs(real) >= greatest * (1 - mpmath.mpf(2) ** -(form.digits + 1))
        return 0.0 if overflowed and (real > 0) == (found > 0) else float("inf")
    exponent = mpmath.floor(mpmath.log(abs(real), 2)) if real else 1 - form.bias
    unit = mpmath.mpf(2) ** (max(exponent, 1 - form.bias) - form.digits + 1)
    return float(abs(mpmath.mpf(found) - real) / unit)


@pytest.mark.parametrize("dtype", ARITHMETIC_FLOATS, ids=str)
@pytest.mark.parametrize("op", OPCODES, ids=lambda op: op.name.lower())
def test_function(op: UnOp | BinOp, dtype: DataType) -> None:
    bits = ordinary(dtype)
    if isinstance(op, UnOp):
        operands = [(a,) for a in bits]
    else:
        operands = list(itertools.product(bits[::4], bits[1::5]))
    arrays = [
        semantics.from_bits(dtype, np.array(column, np.uint64))
        for column in zip(*operands, strict=True)
    ]
    if isinstance(op, UnOp):
        found = semantics.unary(op, dtype, arrays[0])
    else:
        found = semantics.binary(op, dtype, *arrays)
    worst = (0.0, ())
    with mpmath.workprec(2400 if dtype is DataType.F64 else 600):
        for result, *given in zip(found.tolist(), *(a.tolist() for a in arrays), strict=True):
            real = truth(op, [mpmath.mpf(value) for value in given])
            if real is None:
                assert np.isnan(result), given
                continue
            off = units_off(dtype, result, real)
            worst = max(worst, (off, tuple(given)))
    assert worst[0] <= NEARLY_ROUNDED[dtype], worst


INF, NAN = float("inf"), float("nan")
SPECIAL: list[tuple[UnOp | BinOp, tuple[float, ...], float]] = [
    (UnOp.RSQRT, (0.0,), INF),
    (UnOp.RSQRT, (-0.0,), -INF),
    (UnOp.RSQRT, (INF,), 0.0),
    (UnOp.RSQRT, (-1.0,), NAN),
    (UnOp.EXP, (-INF,), 0.0),
    (UnOp.EXP, (INF,), INF),
    (UnOp.EXP2, (-0.0,), 1.0),
    (UnOp.EXPM1, (-0.0,), -0.0),
    (UnOp.EXPM1, (-INF,), -1.0),
    (UnOp.LOG, (0.0,), -INF),
    (UnOp.LOG, (-0.0,), -INF),
    (UnOp.LOG, (-1.0,), NAN),
    (UnOp.LOG, (1.0,), 0.0),
    (UnOp.LOG2, (8.0,), 3.0),
    (UnOp.LOG10, (1000.0,), 3.0),
    (UnOp.LOG1P, (-1.0,), -INF),
    (UnOp.LOG1P, (-0.0,), -0.0),
    (UnOp.SIN, (-0.0,), -0.0),
    (UnOp.SIN, (INF,), NAN),
    (UnOp.COS, (-INF,), NAN),
    (UnOp.TAN, (-0.0,), -0.0),
    (UnOp.ASIN, (2.0,), NAN),
    (UnOp.ACOS, (1.0,), 0.0),
    (UnOp.ATAN, (-0.0,), -0.0),
    (UnOp.SINH, (-INF,), -INF),
    (UnOp.COSH, (-INF,), INF),
    (UnOp.TANH, (-INF,), -1.0),
    (UnOp.TANH, (-0.0,), -0.0),
    (BinOp.POW, (NAN, 0.0), 1.0),
    (BinOp.POW, (1.0, NAN), 1.0),
    (BinOp.POW, (-1.0, INF), 1.0),
    (BinOp.POW, (-0.0, -3.0), -INF),
    (BinOp.POW, (-0.0, 3.0), -0.0),
    (BinOp.POW, (-8.0, 3.0), -512.0),
    (BinOp.POW, (-8.0, 0.5), NAN),
    (BinOp.POW, (2.0, -INF), 0.0),
    (BinOp.ATAN2, (0.0, 1.0), 0.0),
    (BinOp.ATAN2, (-0.0, 1.0), -0.0),
    (BinOp.ATAN2, (0.0, 0.0), 0.0),
    (BinOp.ATAN2, (NAN, 1.0), NAN),
]


@pytest.mark.parametrize("dtype", ARITHMETIC_FLOATS, ids=str)
@pytest.mark.parametrize(("op", "given", "expected"), SPECIAL, ids=str)
def test_special_values(
    op: UnOp | BinOp, given: tuple[float, ...], expected: float, dtype: DataType
) -> None:
    arrays = [np.array([value], semantics.value_dtype(dtype)) for value in given]
    if isinstance(op, UnOp):
        found = semantics.unary(op, dtype, *arrays)
    else:
        found = semantics.binary(op, dtype, *arrays)
    wanted = np.array([expected], found.dtype)
    assert semantics.to_bits(dtype, found) == semantics.to_bits(dtype, wanted)


@pytest.mark.parametrize("op", OPCODES, ids=lambda op: op.name.lower())
def test_every_approximate_opcode_has_a_bound(op: UnOp | BinOp) -> None:
    assert all(ulp.bound(op, dtype) >= 1 for dtype in ARITHMETIC_FLOATS)


def test_exact_opcodes_have_no_bound() -> None:
    rest = [op for table in (UnOp, BinOp) for op in table if not op.row.approximate]
    assert all(ulp.bound(op, dtype) == 0 for op in rest for dtype in ARITHMETIC_FLOATS)
