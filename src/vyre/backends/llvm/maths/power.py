"""pow and rsqrt: x^y = 2^(y log2 |x|), then the sign and the special cases of C.

Double precision carries log2 and its product with y as unevaluated sums of two doubles, because an
error in the logarithm is multiplied by the size of the exponent.
"""

from __future__ import annotations

from math import inf, nan
from typing import Final

from vyre.backends.llvm.maths.exponential import nearest, scale
from vyre.backends.llvm.maths.logarithm import log2_single, split
from vyre.backends.llvm.maths.ssa import Value, clamp, horner, madd
from vyre.backends.llvm.maths.tables import EXP2, EXP2_SHORT, LOG_RATIO_TAIL, Table

_LOG2_E: Final = (1.4426950408889634, 2.0355273740931033e-17)
_TWO_THIRDS: Final = (0.6666666666666666, 3.700743415417188e-17)
_SPLITTER: Final = 134217729.0
_LARGEST_EXPONENT: Final = 2.0**66
"""Beyond it every power but that of 1 is 0 or infinite."""

Pair = tuple[Value, Value]


def rsqrt(x: Value) -> Value:
    """1 / sqrt(x)."""
    return 1.0 / x.sqrt()


def pow_(x: Value, y: Value) -> Value:
    """X to the y."""
    exponent = y.widen() if y.kind == "f32" else y
    # A finite exponent keeps the power of 1 at 1.
    bounded = clamp(exponent, -_LARGEST_EXPONENT, _LARGEST_EXPONENT)
    if x.kind == "f32":
        base = x.widen()
        product = log2_single(base.absolute()) * bounded
        power = _exp2(clamp(product, -1000.0, 1000.0), None, EXP2_SHORT)
        return _at_edges(base, exponent, power).narrow()
    high, low = _log2(x.absolute())
    product, lost = _product(high, bounded)
    rest = madd(low, bounded, lost)
    inside = product.absolute() < 1100.0
    power = _exp2(clamp(product, -1100.0, 1100.0), inside.select(rest, 0.0), EXP2["f64"])
    return _at_edges(x, y, power)


def _exp2(high: Value, low: Value | None, table: Table) -> Value:
    n, integer = nearest(high)
    r = high - n
    if low is not None:
        r = r + low
    return scale(madd(r, horner(r, table), 1.0), integer)


def _at_edges(x: Value, y: Value, power: Value) -> Value:
    """The power of |x| with its sign, and what C says about zeros, infinities and NaN."""
    magnitude, exponent = x.absolute(), y.absolute()
    grows = (magnitude > 1.0) ^ (y < 0.0)
    endless = magnitude.equals(0.0) | magnitude.equals(inf)
    power = endless.select(grows.select(x.code.const("f64", inf), 0.0), power)
    # Adding 2^52 rounds to an integer and shows its last bit.
    shifted = exponent + 2.0**52
    fractions = exponent < 2.0**52
    last = fractions.select(shifted.bits(), exponent.bits()) & 1
    integral = (shifted - 2.0**52).equals(exponent) | (exponent >= 2.0**52)
    odd = last.differs(0) & integral & (exponent < 2.0**53)
    power = (odd & (x.bits() < 0)).select(-power, power)
    undefined = (x < 0.0) & (x > -inf) & integral.equals(0)
    power = undefined.select(nan, power)
    power = (x.is_nan() | y.is_nan()).select(nan, power)
    return (y.equals(0.0) | x.equals(1.0)).select(1.0, power)


def _sum(a: Value, b: Value) -> Pair:
    """A + b rounded, and what the rounding lost, for |a| >= |b|."""
    total = a + b
    return total, b - (total - a)


def _product(a: Value, b: Value) -> Pair:
    """A b rounded, and what the rounding lost."""
    product = a * b
    if a.code.fma:
        return product, a.code.intrinsic("fma", a, b, -product)
    a_high, a_low = _halves(a)
    b_high, b_low = _halves(b)
    lost = a_high * b_high - product
    lost = (lost + a_high * b_low) + a_low * b_high
    return product, lost + a_low * b_low


def _halves(x: Value) -> Pair:
    """X as a sum of two numbers of 26 bits."""
    scaled = x * _SPLITTER
    high = scaled - (scaled - x)
    return high, x - high


def _times(a: Pair, b: Pair) -> Pair:
    product, lost = _product(a[0], b[0])
    return _sum(product, lost + (a[0] * b[1] + a[1] * b[0]))


def _log2(x: Value) -> Pair:
    """log2(x) for x > 0, good to about 65 bits."""
    f, e = split(x)
    s = _quotient(f)
    z, z_lost = _product(s[0], s[0])
    z_lost = z_lost + s[0] * s[1] * 2.0
    high, low = _sum(x.code.const("f64", _TWO_THIRDS[0]), z * horner(z, LOG_RATIO_TAIL))
    cubic = _times(_times((z, z_lost), (high, low + _TWO_THIRDS[1])), s)
    main, lost = _sum(s[0] * 2.0, cubic[0])
    natural = _sum(main, lost + (s[1] * 2.0 + cubic[1]))
    factor = (x.code.const("f64", _LOG2_E[0]), x.code.const("f64", _LOG2_E[1]))
    binary = _times(natural, factor)
    total = e + binary[0]
    back = total - e
    missing = (e - (total - back)) + (binary[0] - back)
    return _sum(total, missing + binary[1])


def _quotient(f: Value) -> Pair:
    """f / (2 + f) as a sum of two doubles."""
    two = f.code.const("f64", 2.0)
    d, d_lost = _sum(two, f)
    q = f / d
    p, p_lost = _product(q, d)
    rest = ((f - p) - p_lost) - q * d_lost
    return _sum(q, rest / d)
