"""Integer and logical opcodes: two's complement, wrapping, nothing undefined.

Every function takes arrays of one integer type (or of bool, where the opcode allows it) and gives
a new array; the width and the signedness are those of the arrays.
"""

from __future__ import annotations

import numpy as np

from vyre.semantics.representation import Array, unsigned, width

_REVERSED_BYTE = np.array([int(f"{n:08b}"[::-1], 2) for n in range(256)], dtype=np.uint8)


def _is_signed(array: Array) -> bool:
    return array.dtype.kind == "i"


def _magnitude(array: Array) -> Array:
    """The absolute value as unsigned bits: right for the least value too."""
    return unsigned(np.abs(array)) if _is_signed(array) else array


def absolute(a: Array) -> Array:
    """The magnitude; of the least value, itself."""
    return np.abs(a) if _is_signed(a) else a


def divide(a: Array, b: Array) -> Array:
    """The quotient toward zero; all ones (-1 if signed) where the divisor is zero."""
    zero = b == 0
    safe = np.where(zero, b.dtype.type(1), b) if zero.any() else b
    quotient = np.floor_divide(_magnitude(a), _magnitude(safe))
    if _is_signed(a):
        quotient = quotient.view(a.dtype)
        quotient = np.where((a < 0) != (safe < 0), np.negative(quotient), quotient)
    if safe is b:
        return quotient
    return np.where(zero, np.invert(a.dtype.type(0)), quotient)


def remainder(a: Array, b: Array) -> Array:
    """What division leaves, with the dividend's sign; zero where the divisor is zero."""
    zero = b == 0
    safe = np.where(zero, b.dtype.type(1), b) if zero.any() else b
    rest = np.remainder(_magnitude(a), _magnitude(safe))
    if _is_signed(a):
        rest = rest.view(a.dtype)
        rest = np.where(a < 0, np.negative(rest), rest)
    # Where the divisor was zero it is one now, and what division by one leaves is zero.
    return rest


def _amount(a: Array, b: Array) -> Array:
    bits = unsigned(b)
    return bits & bits.dtype.type(width(a) - 1)


def shift_left(a: Array, b: Array) -> Array:
    """Bits moved up, by the amount modulo the width."""
    return (unsigned(a) << _amount(a, b)).view(a.dtype)


def shift_right(a: Array, b: Array) -> Array:
    """Bits moved down, by the amount modulo the width; the sign comes in from above."""
    return np.right_shift(a, _amount(a, b).view(a.dtype))


def rotate_left(a: Array, b: Array) -> Array:
    """Bits moved up, those that fall out come in from below."""
    bits, amount = unsigned(a), _amount(a, b)
    back = np.negative(amount) & amount.dtype.type(width(a) - 1)
    return ((bits << amount) | (bits >> back)).view(a.dtype)


def rotate_right(a: Array, b: Array) -> Array:
    """Bits moved down, those that fall out come in from above."""
    bits, amount = unsigned(a), _amount(a, b)
    back = np.negative(amount) & amount.dtype.type(width(a) - 1)
    return ((bits >> amount) | (bits << back)).view(a.dtype)


def _ends(a: Array) -> Array:
    """The end of the type on the side of the sign of `a`: where a saturated result stands."""
    least = unsigned(np.zeros(1, a.dtype)) + (1 << (width(a) - 1))
    return np.where(a < 0, least, np.invert(least)).view(a.dtype)


def add_saturating(a: Array, b: Array) -> Array:
    """The sum, or the end of the type that it would pass."""
    total = a + b
    if _is_signed(a):
        return np.where(((a ^ total) & (b ^ total)) < 0, _ends(a), total)
    return np.where(total < a, np.invert(a.dtype.type(0)), total)


def subtract_saturating(a: Array, b: Array) -> Array:
    """The difference, or the end of the type that it would pass."""
    difference = a - b
    if _is_signed(a):
        return np.where(((a ^ b) & (a ^ difference)) < 0, _ends(a), difference)
    return np.where(a < b, a.dtype.type(0), difference)


def multiply_high(a: Array, b: Array) -> Array:
    """The upper half of the product in twice the width."""
    bits = width(a)
    if bits < 64:
        wide = np.int64 if _is_signed(a) else np.uint64
        product = a.astype(wide) * b.astype(wide)
        return (product >> wide(bits)).astype(a.dtype)
    high = _multiply_high_u64(unsigned(a), unsigned(b))
    if _is_signed(a):
        # The product of the unsigned readings is too large by 2**64 times the other operand
        # for each negative one.
        zero = np.uint64(0)
        high = high - np.where(a < 0, unsigned(b), zero) - np.where(b < 0, unsigned(a), zero)
    return high.view(a.dtype)


def _multiply_high_u64(a: Array, b: Array) -> Array:
    low, half = np.uint64(0xFFFF_FFFF), np.uint64(32)
    a_low, a_high, b_low, b_high = a & low, a >> half, b & low, b >> half
    middle = a_high * b_low + ((a_low * b_low) >> half)
    other = a_low * b_high + (middle & low)
    return a_high * b_high + (middle >> half) + (other >> half)


def population_count(a: Array) -> Array:
    """How many bits are one."""
    return np.bitwise_count(unsigned(a)).astype(a.dtype)


def leading_zeros(a: Array) -> Array:
    """How many zero bits stand above the highest one; the width for zero."""
    bits = unsigned(a)
    distance = 1
    while distance < width(a):
        bits = bits | (bits >> bits.dtype.type(distance))
        distance *= 2
    return np.bitwise_count(np.invert(bits)).astype(a.dtype)


def trailing_zeros(a: Array) -> Array:
    """How many zero bits stand below the lowest one; the width for zero."""
    bits = unsigned(a)
    below = np.invert(bits) & (bits - bits.dtype.type(1))
    return np.bitwise_count(below).astype(a.dtype)


def reverse_bits(a: Array) -> Array:
    """The bits in the opposite order."""
    swapped = np.ascontiguousarray(a).byteswap()
    return _REVERSED_BYTE[swapped.view(np.uint8)].view(a.dtype)


def swap_bytes(a: Array) -> Array:
    """The bytes in the opposite order."""
    return a.byteswap()
