"""exp, exp2, expm1: x = n ln 2 + r, a polynomial in r, times 2 to the n.

The nearest integer comes from adding 1.5 times 2 to the mantissa's width, which needs no rounding
instruction and leaves n in the low bits. Multiplying by a power of two in two steps keeps overflow
and subnormal results right.
"""

from __future__ import annotations

from typing import Final

from vyre.backends.llvm.maths.ssa import Kind, Value, clamp, horner, madd
from vyre.backends.llvm.maths.tables import EXP, EXP2, EXPM1, Table
from vyre.record import dataclass

_LOG2_E: Final = 1.4426950408889634


@dataclass(frozen=True, slots=True)
class Format:
    """What the exponential functions know about a float format."""

    rounder: float
    """Adding it rounds to an integer and leaves that integer in the low bits."""
    rounder_bits: int
    mantissa: int
    bias: int
    ln2_high: float
    """Leading bits of ln 2, few enough for exact products with an exponent."""
    ln2_low: float
    exp_range: tuple[float, float]
    """Outside, exp is 0 or infinite for certain."""
    exp2_range: tuple[float, float]
    expm1_low: float
    """Below, expm1 is -1."""


FORMATS: Final[dict[Kind, Format]] = {
    "f32": Format(
        rounder=12582912.0,
        rounder_bits=0x4B400000,
        mantissa=23,
        bias=127,
        ln2_high=0.693145751953125,
        ln2_low=1.42860682030941723212e-6,
        exp_range=(-104.0, 89.0),
        exp2_range=(-151.0, 129.0),
        expm1_low=-18.0,
    ),
    "f64": Format(
        rounder=6755399441055744.0,
        rounder_bits=0x4338000000000000,
        mantissa=52,
        bias=1023,
        ln2_high=6.93147180369123816490e-01,
        ln2_low=1.90821492927058770002e-10,
        exp_range=(-746.0, 710.0),
        exp2_range=(-1076.0, 1025.0),
        expm1_low=-40.0,
    ),
}


def power_of_two(n: Value) -> Value:
    """2 to the n for an integer n in the range of normal exponents."""
    form = FORMATS["f32" if n.kind == "i32" else "f64"]
    return ((n + form.bias) << form.mantissa).bits()


def scale(x: Value, n: Value) -> Value:
    """X times 2 to the n, also where 2^n itself overflows or is subnormal."""
    half = n.sar(1)
    return x * power_of_two(half) * power_of_two(n - half)


def nearest(x: Value) -> tuple[Value, Value]:
    """The nearest integer as a float and as an integer, for |x| below 2^22 (f32) or 2^51 (f64)."""
    rounder = FORMATS[x.kind].rounder
    shifted = x + rounder
    bits = shifted.bits()
    return shifted - rounder, bits - FORMATS[x.kind].rounder_bits


def reduce_ln2(x: Value) -> tuple[Value, Value]:
    """R and n with x = n ln 2 + r and |r| <= ln(2)/2; n is an integer."""
    form = FORMATS[x.kind]
    n, integer = nearest(x * _LOG2_E)
    r = madd(n, -form.ln2_high, x)
    return madd(n, -form.ln2_low, r), integer


def exp(x: Value) -> Value:
    """e^x."""
    bounded = clamp(x, *FORMATS[x.kind].exp_range)
    r, n = reduce_ln2(bounded)
    y = madd(r * r, horner(r, EXP[x.kind]), r) + 1.0
    return scale(y, n)


def exp2(x: Value) -> Value:
    """2^x."""
    bounded = clamp(x, *FORMATS[x.kind].exp2_range)
    n, integer = nearest(bounded)
    r = bounded - n
    return scale(madd(r, horner(r, EXP2[x.kind]), 1.0), integer)


def expm1(x: Value) -> Value:
    """e^x - 1, exact to the last bits near 0 too."""
    form = FORMATS[x.kind]
    mantissa, n = expm1_parts(clamp(x, form.expm1_low, form.exp_range[1]), EXPM1[x.kind])
    return x.equals(0.0).select(x, scale(mantissa, n))


def expm1_parts(x: Value, table: Table) -> tuple[Value, Value]:
    """M and n with e^x - 1 = m 2^n; x must be within the range of exp."""
    r, n = reduce_ln2(x)
    p = madd(r * r, horner(r, table), r)
    # 1 - 2^-n is exact where it matters.
    inverse = (n > 64).select(0.0, power_of_two(-n))
    return (1.0 - inverse) + p, n
