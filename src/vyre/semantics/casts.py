"""Conversions by value and by bits. Every conversion rounds at most once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from vyre.ir import DataType
from vyre.semantics.representation import Array, unsigned, value_dtype

Conversion = Callable[[Array], Array]


@cache
def cast_function(source: DataType, target: DataType) -> Conversion:
    """What converts values of one scalar type to another."""
    if source is target:
        return _same
    if target.is_bool:
        return _to_bool
    if target.is_integer and source.is_float:
        return _saturating(target)
    if target is DataType.BF16:
        return _to_bf16_from(source)
    dtype = value_dtype(target)
    # Integers wrap, floats round to nearest even: both are what numpy does. An integer beyond
    # single precision is beyond half precision too, so going through single changes nothing.
    return lambda a: a.astype(dtype)


@cache
def bitcast_function(source: DataType, target: DataType) -> Conversion:
    """What reads the bits of one type as another of the same width."""
    dtype = value_dtype(target)
    if source is target:
        return _same
    if target is DataType.BF16:
        return lambda a: (unsigned(a).astype(np.uint32) << np.uint32(16)).view(np.float32)
    if source is DataType.BF16:
        return lambda a: (unsigned(a) >> np.uint32(16)).astype(np.uint16).view(dtype)
    return lambda a: a.view(dtype)


def _same(a: Array) -> Array:
    return a


def _to_bool(a: Array) -> Array:
    return a != 0


def _saturating(target: DataType) -> Conversion:
    """Toward zero, held at the type's ends; NaN gives zero."""
    low, high = target.integer_range
    dtype = value_dtype(target)
    # `high` may not be a double: the first double above the range is always a power of two.
    above = float(high + 1)
    least, greatest = np.array([low], dtype), np.array([high], dtype)
    zero = np.zeros(1, dtype)

    def convert(a: Array) -> Array:
        wide = np.trunc(a.astype(np.float64))
        inside = (wide >= float(low)) & (wide < above)
        result = np.where(inside, wide, 0.0).astype(dtype)
        if inside.all():
            return result
        ends = np.where(wide > 0, greatest, np.where(wide < 0, least, zero))
        return np.where(inside, result, ends)

    return convert


def _to_bf16_from(source: DataType) -> Conversion:
    if source is DataType.F64:
        return lambda a: round_to_bf16(to_odd_single(a))
    if source.is_integer and source.bits == 64:
        return lambda a: round_to_bf16(to_odd_single(_sticky_double(a)))
    if source.is_integer and source.bits == 32:
        return lambda a: round_to_bf16(to_odd_single(a.astype(np.float64)))
    return lambda a: round_to_bf16(a.astype(np.float32))


def round_to_bf16(a: Array) -> Array:
    """Singles rounded to nearest even among the values that bf16 has."""
    bits = unsigned(a)
    odd = (bits >> np.uint32(16)) & np.uint32(1)
    rounded = (bits + np.uint32(0x7FFF) + odd) & np.uint32(0xFFFF_0000)
    quiet = (bits & np.uint32(0xFFFF_0000)) | np.uint32(0x0040_0000)
    return np.where(np.isnan(a), quiet, rounded).view(np.float32)


def to_odd_single(a: Array) -> Array:
    """Doubles rounded to odd in single precision, ready to be rounded again."""
    single = a.astype(np.float32)
    bits = unsigned(single).view(np.int32)
    back = single.astype(np.float64)
    inexact = (back != a) & ~np.isnan(a) & ((bits & 1) == 0)
    # One step toward the exact value, in the order of magnitudes that the bits have.
    step = np.where(np.abs(back) > np.abs(a), np.int32(-1), np.int32(1))
    return np.where(inexact, bits + step, bits).view(np.float32)


def _sticky_double(a: Array) -> Array:
    """64-bit integers as doubles whose last digit remembers that lower ones were cut off."""
    size = unsigned(np.abs(a)) if a.dtype.kind == "i" else a
    low = np.uint64(0x7FF)
    cut = (size & ~low) | np.where((size & low) != 0, np.uint64(0x800), np.uint64(0))
    exact = np.where(size >> np.uint64(53) != 0, cut, size).astype(np.float64)
    return np.where(a < 0, -exact, exact)
