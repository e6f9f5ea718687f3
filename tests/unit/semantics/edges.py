"""Values at which arithmetic goes wrong, for every type, as bits."""

from __future__ import annotations

import random
from fractions import Fraction

from tests.unit.semantics.exact import FORMATS, fraction, rounded
from vyre.ir import DataType


def integer_edges(dtype: DataType) -> list[int]:
    """Bits of integers near the ends, near powers of two, near the width, and some at random."""
    bits = dtype.bits or 0
    mask = (1 << bits) - 1
    source = random.Random(dtype.spelling)
    values = {0, 1, 2, 3, 7, bits - 1, bits, bits + 1, mask, mask - 1, mask // 3, mask // 3 * 2}
    values |= {1 << (bits - 1), (1 << (bits - 1)) - 1, (1 << (bits - 1)) + 1}
    values |= {1 << (bits // 2), (1 << (bits // 2)) - 1, -bits & mask}
    values |= {source.getrandbits(bits) for _ in range(12)}
    return sorted(value & mask for value in values)


def float_edges(dtype: DataType) -> list[int]:
    """Bits of floats of all magnitudes: zeros, subnormals, halves, limits, infinities, NaN."""
    form = FORMATS[dtype]
    source = random.Random(dtype.spelling)
    one = form.bias << (form.digits - 1)
    step = 1 << (form.digits - 1)
    smallest_normal = step
    sizes = {0, 1, 2, smallest_normal - 1, smallest_normal, smallest_normal + 1}
    sizes |= {one - 1, one, one + 1, one - step, one - step - 1, one - step + 1}
    sizes |= {one + step // 2, one + step + step // 4, one + step + step // 2, one + 2 * step}
    sizes |= {one + (form.digits + d) * step + s for d in (-3, -2, -1, 0) for s in (0, 1, 3)}
    sizes |= {form.infinity - 1, form.infinity - 2, form.infinity - step, form.infinity, form.nan}
    sizes |= {source.getrandbits(form.width - 1) for _ in range(16)}
    sizes |= {source.randrange(one - 8 * step, one + 8 * step) for _ in range(12)}
    return sorted(sizes | {bits | form.sign_bit for bits in sizes})


def edges(dtype: DataType) -> list[int]:
    """Bits worth trying for any scalar type."""
    if dtype.is_bool:
        return [0, 1]
    return float_edges(dtype) if dtype.is_float else integer_edges(dtype)


def between(source: DataType, target: DataType) -> list[int]:
    """Bits of values half way between two floats of the target, and the neighbours of those."""
    form, into = FORMATS.get(source), FORMATS[target]
    found: set[int] = set()
    for bits in float_edges(target):
        if bits & into.sign_bit or bits + 1 >= into.infinity:
            continue
        middle = (fraction(into, bits) + fraction(into, bits + 1)) / 2
        if form is not None:
            near = rounded(form, middle)
            found |= {b for b in (near - 1, near, near + 1) if 0 <= b < form.infinity}
        else:
            found |= _integers_like(source, middle)
    return sorted(found)


def _integers_like(source: DataType, middle: Fraction) -> set[int]:
    """The same digits as an integer of many digits, and its neighbours."""
    width = source.bits or 0
    numerator = middle.numerator
    top = width - (2 if source.is_signed else 1)
    shifts = [s for s in range(top - 3, top + 1) if s >= numerator.bit_length() - 1]
    values = {numerator << (s - numerator.bit_length() + 1) for s in shifts}
    near = {value + d for value in values for d in (-1, 0, 1)}
    if source.is_signed:
        near |= {-value for value in near}
    low, high = source.integer_range
    return {value & ((1 << width) - 1) for value in near if low <= value <= high}
