"""Bitwise logic of integers and truth values, shifts (amounts are masked) and bit counts."""

from __future__ import annotations

from vyre.ir.types import INTEGER_TYPES, SIGNED_TYPES, UNSIGNED_TYPES, DataType
from vyre.rewrite.pattern import (
    ALL_ONES,
    TOP_BIT,
    WIDTH,
    byte_swap,
    c,
    clz,
    ctz,
    d,
    popcount,
    reverse_bits,
    rotl,
    rotr,
    x,
    y,
)
from vyre.rewrite.rule import Rule

_INTS, _UNSIGNED, _SIGNED = INTEGER_TYPES, UNSIGNED_TYPES, SIGNED_TYPES
_BITS = (*INTEGER_TYPES, DataType.BOOL)
_BYTES = (DataType.U8, DataType.I8)

_BOTH = (c & TOP_BIT) + (d & TOP_BIT)
"""Two shifts together, each amount masked by itself."""

RULES = (
    # Logic, also of truth values
    Rule("not_not", ~~x, x, _BITS),
    Rule("and_zero", x & 0, 0, _BITS),
    Rule("and_ones", x & ALL_ONES, x, _BITS),
    Rule("and_self", x & x, x, _BITS),
    Rule("and_complement", x & ~x, 0, _BITS),
    Rule("or_zero", x | 0, x, _BITS),
    Rule("or_ones", x | ALL_ONES, ALL_ONES, _BITS),
    Rule("or_self", x | x, x, _BITS),
    Rule("or_complement", x | ~x, ALL_ONES, _BITS),
    Rule("xor_zero", x ^ 0, x, _BITS),
    Rule("xor_ones", x ^ ALL_ONES, ~x, _BITS),
    Rule("xor_self", x ^ x, 0, _BITS),
    Rule("xor_complement", x ^ ~x, ALL_ONES, _BITS),
    Rule("and_absorbs_or", x & (x | y), x, _BITS),
    Rule("or_absorbs_and", x | (x & y), x, _BITS),
    Rule("and_again", x & (x & y), x & y, _BITS),
    Rule("or_again", x | (x | y), x | y, _BITS),
    Rule("xor_again", (x ^ y) ^ y, x, _BITS),
    Rule("and_of_nots", ~x & ~y, ~(x | y), _BITS),
    Rule("or_of_nots", ~x | ~y, ~(x & y), _BITS),
    Rule("xor_of_nots", ~x ^ ~y, x ^ y, _BITS),
    Rule("not_xor_const", ~(x ^ c), x ^ ~c, _BITS),
    Rule("not_left_xor_const", ~x ^ c, x ^ ~c, _BITS),
    Rule("or_not_and", x | (~x & y), x | y, _BITS),
    Rule("and_not_or", x & (~x | y), x & y, _BITS),
    Rule("or_split_and", (x & y) | (x & ~y), x, _BITS),
    Rule("and_split_or", (x | y) & (x | ~y), x, _BITS),
    Rule("and_xor_or", (x & y) ^ (x | y), x ^ y, _BITS),
    Rule("and_or_xor", (x & y) | (x ^ y), x | y, _BITS),
    Rule("xor_or_self", x | (x ^ y), x | y, _BITS),
    Rule("and_xor_self", x ^ (x & y), x & ~y, _BITS),
    Rule("and_and_const", (x & c) & d, x & (c & d), _INTS),
    Rule("or_or_const", (x | c) | d, x | (c | d), _INTS),
    Rule("xor_xor_const", (x ^ c) ^ d, x ^ (c ^ d), _BITS),
    Rule("or_and_covered", (x | c) & d, d, _INTS, when=(c & d).eq(d)),
    Rule("or_and_disjoint", (x | c) & d, x & d, _INTS, when=(c & d).eq(0)),
    Rule("and_or_covered", (x & c) | d, x | d, _INTS, when=(c | d).eq(ALL_ONES)),
    # Logic and arithmetic together
    Rule("and_plus_or", (x & y) + (x | y), x + y, _INTS),
    Rule("and_plus_xor", (x & y) + (x ^ y), x | y, _INTS),
    Rule("or_minus_and", (x | y) - (x & y), x ^ y, _INTS),
    Rule("or_minus_xor", (x | y) - (x ^ y), x & y, _INTS),
    Rule("minus_and", x - (x & y), x & ~y, _INTS),
    Rule("minus_and_const", x - (x & c), x & ~c, _INTS),
    # Shifts and rotations
    Rule("shl_zero", x << 0, x, _INTS),
    Rule("shr_zero", x >> 0, x, _INTS),
    Rule("zero_shl", 0 << x, 0, _INTS),
    Rule("zero_shr", 0 >> x, 0, _INTS),
    Rule("shl_amount", x << c, x << (c & TOP_BIT), _INTS),
    Rule("shr_amount", x >> c, x >> (c & TOP_BIT), _INTS),
    Rule("rotl_amount", rotl(x, c), rotl(x, c & TOP_BIT), _INTS),
    Rule("rotr_to_rotl", rotr(x, c), rotl(x, -c & TOP_BIT), _INTS),
    Rule("shl_shl", (x << c) << d, x << _BOTH, _INTS, when=_BOTH < WIDTH),
    Rule("shl_shl_out", (x << c) << d, 0, _INTS, when=_BOTH >= WIDTH),
    Rule("shr_shr", (x >> c) >> d, x >> _BOTH, _INTS, when=_BOTH < WIDTH),
    Rule("shr_shr_out", (x >> c) >> d, 0, _UNSIGNED, when=_BOTH >= WIDTH),
    Rule("shr_shr_sign", (x >> c) >> d, x >> TOP_BIT, _SIGNED, when=_BOTH >= WIDTH),
    Rule("shl_shr_mask", (x << c) >> c, x & (ALL_ONES >> c), _UNSIGNED),
    Rule("shr_shl_mask", (x >> c) << c, x & (ALL_ONES << c), _INTS),
    Rule(
        "shr_mask_covered",
        (x >> c) & d,
        x >> c,
        _UNSIGNED,
        when=(d & (ALL_ONES >> c)).eq(ALL_ONES >> c),
    ),
    Rule(
        "shl_mask_covered",
        (x << c) & d,
        x << c,
        _INTS,
        when=(d & (ALL_ONES << c)).eq(ALL_ONES << c),
    ),
    Rule("shl_mask_disjoint", (x << c) & d, 0, _INTS, when=(d & (ALL_ONES << c)).eq(0)),
    Rule("rotl_zero", rotl(x, 0), x, _INTS),
    Rule("rotr_zero", rotr(x, 0), x, _INTS),
    Rule("rotl_rotl", rotl(rotl(x, c), d), rotl(x, c + d), _INTS),
    Rule("rotl_rotr", rotl(rotr(x, y), y), x, _INTS),
    Rule("rotr_rotl", rotr(rotl(x, y), y), x, _INTS),
    Rule("shifts_to_rotl", (x << c) | (x >> d), rotl(x, c), _UNSIGNED, when=_BOTH.eq(WIDTH)),
    # Counting and reordering
    Rule("reverse_reverse", reverse_bits(reverse_bits(x)), x, _INTS),
    Rule("swap_swap", byte_swap(byte_swap(x)), x, _INTS),
    Rule("swap_byte", byte_swap(x), x, _BYTES),
    Rule("popcount_reversed", popcount(reverse_bits(x)), popcount(x), _INTS),
    Rule("popcount_swapped", popcount(byte_swap(x)), popcount(x), _INTS),
    Rule("clz_reversed", clz(reverse_bits(x)), ctz(x), _INTS),
    Rule("ctz_reversed", ctz(reverse_bits(x)), clz(x), _INTS),
    Rule("ctz_neg", ctz(-x), ctz(x), _INTS),
)
