"""asin, acos, atan, atan2: in double lanes, with shorter polynomials for single precision."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Final

from vyre.backends.llvm.maths.ssa import Value, horner, madd
from vyre.backends.llvm.maths.tables import ASIN, ASIN_SHORT, ATAN, ATAN_SHORT, Table

# Rounded pi/2 and pi/4, and what rounding lost. Small multiples of the latter are exact.
_HALF_PI: Final = (1.5707963267948966, 6.123233995736766e-17)
_QUARTER_PI: Final = (0.7853981633974483, 3.061616997868383e-17)
_TAN_EIGHTH: Final = 0.41421356237309503
_TAN_THREE_EIGHTHS: Final = 2.414213562373095


def asin(x: Value) -> Value:
    """The angle between -pi/2 and pi/2 with this sine."""
    return _in_double(x, _asin, ASIN, ASIN_SHORT)


def acos(x: Value) -> Value:
    """The angle between 0 and pi with this cosine."""
    return _in_double(x, _acos, ASIN, ASIN_SHORT)


def atan(x: Value) -> Value:
    """The angle between -pi/2 and pi/2 with this tangent."""
    return _in_double(x, _atan, ATAN, ATAN_SHORT)


def _in_double(
    x: Value, function: Callable[[Value, Table], Value], full: Table, short: Table
) -> Value:
    if x.kind == "f32":
        return function(x.widen(), short).narrow()
    return function(x, full)


def _asin_parts(x: Value, table: Table) -> tuple[Value, Value, Value, Value]:
    """|x| > 1/2; the argument s, s^2, and the polynomial: asin(s) = s + s s^2 R(s^2)."""
    magnitude = x.absolute()
    outer = magnitude > 0.5
    z = outer.select((1.0 - magnitude) * 0.5, x * x)
    s = outer.select(z.sqrt(), magnitude)
    return outer, s, z, horner(z, table)


def _asin(x: Value, table: Table) -> Value:
    outer, s, z, r = _asin_parts(x, table)
    y = madd(s * z, r, s)
    folded = _HALF_PI[0] - (y * 2.0 - _HALF_PI[1])
    return outer.select(folded, y).with_sign_of(x)


def _acos(x: Value, table: Table) -> Value:
    outer, s, z, r = _asin_parts(x, table)
    y = madd(s * z, r, s)
    signed = y.with_sign_of(x)
    inner = _HALF_PI[0] - (signed - _HALF_PI[1])
    twice = y * 2.0
    left = 2.0 * _HALF_PI[0] - (twice - 2.0 * _HALF_PI[1])
    return outer.select((x < 0.0).select(left, twice), inner)


def _atan(x: Value, table: Table) -> Value:
    a = x.absolute()
    far, middle = a > _TAN_THREE_EIGHTHS, a > _TAN_EIGHTH
    numerator = far.select(-1.0, middle.select(a - 1.0, a))
    denominator = far.select(a, middle.select(a + 1.0, 1.0))
    high = far.select(_HALF_PI[0], middle.select(_QUARTER_PI[0], a * 0.0))
    low = far.select(_HALF_PI[1], middle.select(_QUARTER_PI[1], a * 0.0))
    t = numerator / denominator
    z = t * t
    return (high + (madd(t * z, horner(z, table), low) + t)).with_sign_of(x)


def atan2(y: Value, x: Value) -> Value:
    """The angle between -pi and pi of the point (x, y)."""
    if x.kind == "f32":
        return _atan2(y.widen(), x.widen(), ATAN_SHORT).narrow()
    # Sums of two large coordinates must not overflow, and quotients of tiny ones keep their bits.
    large = (x.absolute() > 2.0**1000) & (x.absolute() < inf)
    large = large | ((y.absolute() > 2.0**1000) & (y.absolute() < inf))
    factor = large.select(x.code.const("f64", 2.0**-60), 1.0)
    return _atan2(y * factor, x * factor, ATAN)


def _atan2(y: Value, x: Value, table: Table) -> Value:
    ax, ay = x.absolute(), y.absolute()
    steep = ay > ax
    small, big = steep.select(ax, ay), steep.select(ay, ax)
    # Both infinite counts as both one, both zero as an angle of zero.
    small = small.equals(inf).select(1.0, small)
    big = (steep.select(ax, ay)).equals(inf).select(1.0, big)
    big = big.equals(0.0).select(1.0, big)
    middle = small > big * _TAN_EIGHTH
    t = middle.select(small - big, small) / middle.select(small + big, big)
    z = t * t
    p = madd(t * z, horner(z, table), t)
    # The angle is a number of eighths of a turn plus or minus p.
    left = x.bits() < 0
    eighths = middle.select(x.code.const("f64", 1.0), 0.0)
    eighths = steep.select(2.0 - eighths, eighths)
    eighths = left.select(4.0 - eighths, eighths)
    signed = (steep ^ left).select(-p, p)
    angle = eighths * _QUARTER_PI[0] + (signed + eighths * _QUARTER_PI[1])
    known = (x.is_nan() | y.is_nan()).select(x + y, angle.absolute())
    return known.with_sign_of(y)
