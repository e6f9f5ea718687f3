"""Literals: from Python values to bits and back, compared with a definition over fractions."""

from __future__ import annotations

import math
import random
import struct
from fractions import Fraction

import pytest

from vyre.diagnostics import BuildError
from vyre.ir import DataType, Expr, Lit, literal
from vyre.ir.types import INTEGER_TYPES, SCALAR_TYPES

LAYOUT = {
    DataType.F16: (5, 10),
    DataType.BF16: (8, 7),
    DataType.F32: (8, 23),
    DataType.F64: (11, 52),
}


def exact(bits: int, exponent_bits: int, fraction_bits: int) -> Fraction:
    """The value of a finite, positive float."""
    bias = (1 << (exponent_bits - 1)) - 1
    exponent = bits >> fraction_bits
    fraction = Fraction(bits & ((1 << fraction_bits) - 1), 1 << fraction_bits)
    if exponent == 0:
        return fraction * Fraction(2) ** (1 - bias)
    return (1 + fraction) * Fraction(2) ** (exponent - bias)


def nearest(value: float, exponent_bits: int, fraction_bits: int) -> int:
    """The bits of the float nearest to `value`, ties to even, found by looking for it."""
    sign = int(math.copysign(1, value) < 0) << (exponent_bits + fraction_bits)
    infinity = ((1 << exponent_bits) - 1) << fraction_bits
    if math.isinf(value):
        return sign | infinity
    wanted = abs(Fraction(value))
    low, high = 0, infinity
    while high - low > 1:
        middle = (low + high) // 2
        if exact(middle, exponent_bits, fraction_bits) <= wanted:
            low = middle
        else:
            high = middle
    below = exact(low, exponent_bits, fraction_bits)
    beyond = Fraction(2) ** (1 << (exponent_bits - 1))
    above = beyond if high == infinity else exact(high, exponent_bits, fraction_bits)
    if wanted >= beyond:
        return sign | infinity
    tie = wanted - below == above - wanted
    return sign | (low if wanted - below < above - wanted or (tie and low % 2 == 0) else high)


def hard_values(dtype: DataType, count: int) -> list[float]:
    """Values of all sizes, and values at and next to the middle between two floats."""
    dice = random.Random(str(dtype))
    exponent_bits, fraction_bits = LAYOUT[dtype]
    infinity = ((1 << exponent_bits) - 1) << fraction_bits
    found = [0.0, -0.0, math.inf, -math.inf, 1e308, -1e308, 5e-324]
    for _ in range(count):
        found.append(struct.unpack("<d", dice.randbytes(8))[0])
        found.append(struct.unpack("<f", dice.randbytes(4))[0])
        bits = dice.choice((dice.randrange(infinity - 1), dice.randrange(4), infinity - 2))
        middle = (
            exact(bits, exponent_bits, fraction_bits)
            + exact(bits + 1, exponent_bits, fraction_bits)
        ) / 2
        value = float(middle)
        found += [value, -value, math.nextafter(value, math.inf), math.nextafter(value, 0.0)]
        found.append(value * (1 + 2.0**-30))
    return [value for value in found if not math.isnan(value)]


@pytest.mark.parametrize("dtype", LAYOUT, ids=str)
def test_floats_are_rounded_once_to_nearest_even(dtype: DataType) -> None:
    for value in hard_values(dtype, 700):
        assert literal.encode_float(value, dtype) == nearest(value, *LAYOUT[dtype]), value


@pytest.mark.parametrize("dtype", [DataType.F16, DataType.BF16], ids=str)
def test_every_short_float_survives_the_round_trip(dtype: DataType) -> None:
    for bits in range(1 << 16):
        value = float(literal.decode(bits, dtype))
        if not math.isnan(value):
            assert literal.encode(value, dtype) == bits


@pytest.mark.parametrize("dtype", LAYOUT, ids=str)
def test_decoding_is_exact(dtype: DataType) -> None:
    exponent_bits, fraction_bits = LAYOUT[dtype]
    infinity = ((1 << exponent_bits) - 1) << fraction_bits
    dice = random.Random(1)
    for bits in [0, 1, infinity - 1, *(dice.randrange(infinity) for _ in range(200))]:
        assert Fraction(float(literal.decode(bits, dtype))) == exact(bits, *LAYOUT[dtype])
        sign = 1 << (exponent_bits + fraction_bits)
        assert literal.decode(bits | sign, dtype) == -float(literal.decode(bits, dtype))


@pytest.mark.parametrize("dtype", LAYOUT, ids=str)
def test_every_nan_becomes_the_quiet_one(dtype: DataType) -> None:
    exponent_bits, fraction_bits = LAYOUT[dtype]
    quiet = (((1 << exponent_bits) - 1) << 1 | 1) << (fraction_bits - 1)
    assert literal.encode(math.nan, dtype) == literal.encode(-math.nan, dtype) == quiet
    assert math.isnan(float(literal.decode(quiet, dtype)))


def test_too_large_a_float_is_an_infinity() -> None:
    for dtype in LAYOUT:
        assert Expr.lit(10**400, dtype).value == math.inf
        assert Expr.lit(-(10**400), dtype).value == -math.inf
    assert Expr.f16(65519.0).value == 65504.0
    assert Expr.f16(65520.0).value == math.inf


@pytest.mark.parametrize("dtype", INTEGER_TYPES, ids=str)
def test_integers_at_their_ends(dtype: DataType) -> None:
    low, high = dtype.integer_range
    width = dtype.bits or 0
    for value in (low, low + 1, 0, 1, high - 1, high):
        bits = literal.encode(value, dtype)
        assert bits == value % (1 << width)
        assert literal.decode(bits, dtype) == value
    for value in (low - 1, high + 1, 1 << 300, -(1 << 300)):
        with pytest.raises(BuildError) as caught:
            literal.encode(value, dtype)
        assert caught.value.code == "I001"


@pytest.mark.parametrize("dtype", SCALAR_TYPES, ids=str)
def test_values_of_another_python_type_are_refused(dtype: DataType) -> None:
    wrong: list[object] = ["1", None, 1j, b"1"]
    wrong += [1, 1.0] if dtype.is_bool else [True]
    wrong += [1.0] if dtype.is_integer else []
    for value in wrong:
        with pytest.raises(BuildError) as caught:
            literal.encode(value, dtype)
        assert caught.value.code == "I002"


def test_literals_are_equal_when_their_bits_are() -> None:
    assert Expr.f32(math.nan) == Expr.f32(math.nan)
    assert Expr.f32(0.0) != Expr.f32(-0.0)
    assert Expr.u32(1) != Expr.i32(1)
    assert Lit(DataType.F32, 0x7FC0_0001) != Expr.f32(math.nan)
    assert Expr.bool_(True).value is True
