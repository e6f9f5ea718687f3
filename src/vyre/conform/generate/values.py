"""Edge values: the numbers at which implementations differ from one another."""

from __future__ import annotations

import numpy as np

from vyre.conform.generate.dice import Dice
from vyre.ir import DataType, Lit, TypeKind, literal
from vyre.semantics import Array, storage_dtype

_LAYOUT = {
    DataType.F16: (5, 10),
    DataType.BF16: (8, 7),
    DataType.F32: (8, 23),
    DataType.F64: (11, 52),
}
"""Exponent and fraction bits of the floats."""
TAME_LIMIT = 4096
"""The greatest magnitude of tame floats; they are multiples of a quarter."""


def lit(dice: Dice, dtype: DataType, *, tame: bool) -> Lit:
    """A literal of a scalar type, an edge value more often than not."""
    return Lit(dtype, scalar_bits(dice, dtype, tame=tame))


def scalar_bits(dice: Dice, dtype: DataType, *, tame: bool) -> int:
    """The bits of a value of a scalar type."""
    if dtype.is_bool:
        return dice.below(2)
    if not dtype.is_float:
        return _integer_bits(dice, dtype.bits or 0)
    if tame:
        return literal.encode_float(_tame_float(dice), dtype)
    return _float_bits(dice, dtype)


def _integer_bits(dice: Dice, width: int) -> int:
    top = 1 << (width - 1)
    choice = dice.below(10)
    if choice < 3:
        value = dice.below(9)
    elif choice < 5:
        value = (1 << dice.below(width)) + dice.between(-1, 1)
    elif choice < 7:
        value = dice.pick((-1, -2, top, top - 1, top + 1, -dice.below(9)))
    elif choice < 8:
        value = dice.pick((0x5555_5555_5555_5555, 0xAAAA_AAAA_AAAA_AAAA, 0x0123_4567_89AB_CDEF))
    else:
        value = dice.bits(width)
    return value & ((1 << width) - 1)


def _tame_float(dice: Dice) -> float:
    return dice.between(-64, 64) / 4 if dice.chance(8) else float(dice.between(-2048, 2048))


def _float_bits(dice: Dice, dtype: DataType) -> int:
    exponent_bits, fraction_bits = _LAYOUT[dtype]
    infinity = ((1 << exponent_bits) - 1) << fraction_bits
    sign = dice.below(2) << (exponent_bits + fraction_bits)
    choice = dice.below(10)
    if choice < 4:
        # Around halves and integers, where rounding decides.
        return literal.encode_float(dice.between(-20, 20) / 4, dtype)
    if choice < 6:
        special = (
            *(0, 1, (1 << fraction_bits) - 1, 1 << fraction_bits),
            *(infinity - 1, infinity, infinity | 1 << (fraction_bits - 1)),
        )
        return sign | dice.pick(special)
    if choice < 8:
        # Around powers of two: where integers stop being exact, and where conversions saturate.
        power = 2.0 ** dice.pick((7, 8, 10, 11, 15, 16, 23, 24, 31, 32, 52, 53, 63, 64))
        near = literal.encode_float(power, dtype)
        return sign | min(near + dice.between(-1, 1), infinity)
    bits = dice.bits(exponent_bits + fraction_bits)
    # A random NaN becomes the quiet one: payloads mean nothing.
    return sign | (bits if bits < infinity else infinity | 1 << (fraction_bits - 1))


def array(dice: Dice, element: DataType, count: int, *, tame: bool) -> Array:
    """The contents of a buffer, as the numpy array that the host hands over."""
    kind = storage_dtype(element)
    lanes = element.lanes
    scalar = element.element if element.is_vector and element.element is not None else element
    size = count * lanes
    if scalar.kind in (TypeKind.BYTES, TypeKind.PACKED) or scalar.is_bool:
        known = [_storage_byte(dice, scalar) for _ in range(min(size, _KNOWN))]
    else:
        known = [scalar_bits(dice, scalar, tame=tame) for _ in range(min(size, _KNOWN))]
    unsigned = _spread(dice, np.array(known, np.dtype(f"u{kind.itemsize}")), size).view(kind)
    return unsigned if lanes == 1 else unsigned.reshape(count, lanes)


_KNOWN = 24
"""How many values of an array are drawn one by one; longer arrays repeat them in random order."""


def _spread(dice: Dice, known: Array, size: int) -> Array:
    if size <= known.size:
        return known
    # The raw stream of this generator is the same in every version of numpy.
    chosen = np.random.PCG64(dice.bits(64)).random_raw(size - known.size) % known.size
    return np.concatenate([known, known[chosen]])


def _storage_byte(dice: Dice, dtype: DataType) -> int:
    if dtype.is_bool:
        # Any byte but zero is true.
        return dice.pick((0, 0, 1, 1, 2, 0x80, 0xFF))
    return dice.bits(8)
