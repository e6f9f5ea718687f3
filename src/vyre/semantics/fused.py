"""a * b + c, rounded once, at every precision.

Half and single: the product is exact in double precision, the sum is rounded to odd, and rounding
that to the short format is the only rounding that counts. Double: product and sum are taken apart
into exact pieces (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008); where
pieces could overflow or vanish, exact rational arithmetic does it one value at a time.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from vyre.semantics.floats import add_to_odd, two_sum
from vyre.semantics.representation import Array

_SPLITTER = 134_217_729.0  # 2**27 + 1, for cutting a double into two halves
_SMALL, _LARGE = 2.0**-400, 2.0**400


def fma(a: Array, b: Array, c: Array) -> Array:
    """a * b + c, rounded once."""
    if a.dtype == np.float64:
        return _fma_double(a, b, c)
    wide = np.float64
    return add_to_odd(a.astype(wide) * b.astype(wide), c.astype(wide)).astype(a.dtype)


def _fma_double(a: Array, b: Array, c: Array) -> Array:
    a, b, c = np.broadcast_arrays(a, b, c)
    product = a * b
    # With a zero, an infinity or a NaN among the factors the product is exact as it is.
    plain = ~(np.isfinite(a) & np.isfinite(b)) | (a == 0) | (b == 0)
    only_c = ~plain & ~np.isfinite(c)
    result = np.where(only_c, c, np.where(plain, product + c, _fma_pieces(a, b, c, product)))
    unsafe = ~(_is_moderate(a) & _is_moderate(b) & (_is_moderate(c) | (c == 0)))
    for at in np.flatnonzero(unsafe & ~plain & ~only_c):
        result[at] = exact_fma(float(a[at]), float(b[at]), float(c[at]))
    return result


def _is_moderate(a: Array) -> Array:
    size = np.abs(a)
    return (size >= _SMALL) & (size <= _LARGE)


def _split(a: Array) -> tuple[Array, Array]:
    scaled = a * _SPLITTER
    high = scaled - (scaled - a)
    return high, a - high


def _fma_pieces(a: Array, b: Array, c: Array, product: Array) -> Array:
    a_high, a_low = _split(a)
    b_high, b_low = _split(b)
    rest = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    low_sum, low_error = two_sum(c, rest)
    high_sum, high_error = two_sum(product, low_sum)
    return high_sum + add_to_odd(low_error, high_error)


def exact_fma(a: float, b: float, c: float) -> float:
    """a * b + c of finite numbers, a and b not zero, through exact fractions."""
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    try:
        return exact.numerator / exact.denominator
    except OverflowError:
        return float("inf") if exact > 0 else float("-inf")
