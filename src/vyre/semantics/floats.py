"""Float opcodes that are exact or correctly rounded: IEEE-754, to nearest even.

Addition, subtraction, multiplication, division and square root are numpy's own, which are the
processor's. Half floats are computed in single precision and rounded once more, which gives the
correctly rounded result because a single has more than twice the digits of a half. Operations on
the sign work on the bits, so they mean something for NaN too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from vyre.semantics.representation import Array, unsigned


def _sign_bit(bits: Array) -> Any:
    return bits.dtype.type(1 << (bits.dtype.itemsize * 8 - 1))


def negate(a: Array) -> Array:
    """The value with the other sign."""
    bits = unsigned(a)
    return (bits ^ _sign_bit(bits)).view(a.dtype)


def absolute(a: Array) -> Array:
    """The value without its sign."""
    bits = unsigned(a)
    return (bits & np.invert(_sign_bit(bits))).view(a.dtype)


def copy_sign(a: Array, b: Array) -> Array:
    """The magnitude of the first with the sign of the second."""
    a_bits, b_bits = unsigned(a), unsigned(b)
    sign = _sign_bit(a_bits)
    return ((a_bits & np.invert(sign)) | (b_bits & sign)).view(a.dtype)


def lesser_number(a: Array, b: Array) -> Array:
    """The lesser; the other one if one is NaN; -0 is less than +0."""
    # Equal values differ at most in the sign of a zero, and then the or of the bits is -0. numpy's
    # fmin gives NaN for some signalling NaNs, depending on where they stand in the array.
    same = (unsigned(a) | unsigned(b)).view(a.dtype)
    return np.where(a == b, same, np.where(np.isnan(b) | (a < b), a, b))


def greater_number(a: Array, b: Array) -> Array:
    """The greater; the other one if one is NaN; +0 is greater than -0."""
    same = (unsigned(a) & unsigned(b)).view(a.dtype)
    return np.where(a == b, same, np.where(np.isnan(b) | (a > b), a, b))


def minimum(a: Array, b: Array) -> Array:
    """The lesser; NaN if one is NaN; -0 is less than +0."""
    same = (unsigned(a) | unsigned(b)).view(a.dtype)
    return np.where(a == b, same, np.where(np.isnan(a) | (a < b), a, b))


def maximum(a: Array, b: Array) -> Array:
    """The greater; NaN if one is NaN; +0 is greater than -0."""
    same = (unsigned(a) & unsigned(b)).view(a.dtype)
    return np.where(a == b, same, np.where(np.isnan(a) | (a > b), a, b))


def round_away(a: Array) -> Array:
    """The nearest integer, halves away from zero."""
    whole = np.trunc(a)
    # The difference is exact: both have the same exponent, or the whole part is zero.
    up = np.abs(a - whole) >= a.dtype.type(0.5)
    one = copy_sign(np.ones_like(a), a)
    return copy_sign(np.where(up, whole + one, whole), a)


def two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """The rounded sum and what rounding took away, exactly (Knuth)."""
    total = a + b
    back = total - a
    return total, (a - (total - back)) + (b - back)


def add_to_odd(a: Array, b: Array) -> Array:
    """The sum in double precision, rounded to odd.

    An inexact sum gets an odd last digit. Rounding it again to a format at least two digits
    shorter then gives what rounding the exact sum once would have given.
    """
    total, error = two_sum(a, b)
    bits = np.ascontiguousarray(total).view(np.int64)
    inexact = np.isfinite(total) & (error != 0) & ((bits & 1) == 0)
    step = np.where((error > 0) == (total > 0), np.int64(1), np.int64(-1))
    return np.where(inexact, bits + step, bits).view(np.float64)
