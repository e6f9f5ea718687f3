"""The values at which implementations differ from one another, by type."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from vyre.ir import DataType, literal
from vyre.semantics import Array, storage_dtype

_FRACTION = {DataType.F16: 10, DataType.BF16: 7, DataType.F32: 23, DataType.F64: 52}
_EXPONENT = {DataType.F16: 5, DataType.BF16: 8, DataType.F32: 8, DataType.F64: 11}


@cache
def edge_bits(dtype: DataType) -> tuple[int, ...]:
    """The bits of the edge values of a scalar type, each once."""
    if dtype.is_bool:
        return (0, 1)
    return _integers(dtype) if dtype.is_integer else _floats(dtype)


def edge_array(dtype: DataType) -> Array:
    """The edge values as memory holds them."""
    stored = storage_dtype(dtype)
    return np.array(edge_bits(dtype), np.dtype(f"u{stored.itemsize}")).view(stored)


def pairs(dtype: DataType) -> tuple[Array, Array]:
    """Every edge value with every other."""
    values = edge_array(dtype)
    return np.repeat(values, values.size), np.tile(values, values.size)


def _integers(dtype: DataType) -> tuple[int, ...]:
    """Zero, ones, extremes, and the neighbours of powers of two."""
    width = dtype.bits or 0
    top = 1 << (width - 1)
    small = [0, 1, 2, 3, 5, 7, 10, -1, -2, -3, -7]
    ends = [top, top - 1, top + 1, top >> 1]
    half = 1 << (width // 2)
    powers = [width - 1, width, width + 1, *(half - 1, half, half + 1)]
    patterns = [0x5555_5555_5555_5555, 0xAAAA_AAAA_AAAA_AAAA, 0x0123_4567_89AB_CDEF]
    mask = (1 << width) - 1
    return tuple(dict.fromkeys(value & mask for value in small + ends + powers + patterns))


def _floats(dtype: DataType) -> tuple[int, ...]:
    """Both zeros, subnormals, extremes, infinities, halves, where integers end, NaNs."""
    fraction = _FRACTION[dtype]
    infinity = ((1 << _EXPONENT[dtype]) - 1) << fraction
    magnitudes = [
        *(0, 1, (1 << fraction) - 1, 1 << fraction, (1 << fraction) + 1),
        *(infinity - 1, infinity),
    ]
    plain = [1.0, 0.5, 1.5, 2.0, 2.5, 3.0, math.pi, 1 / 3, 10.0, 100.25]
    plain += [2.0**7 - 1, 2.0**8, 2.0**15, 2.0**16 - 1, 2.0**fraction, 2.0 ** (fraction + 1) + 2]
    plain += [2.0**31, 2.0**32, 2.0**63, 2.0**64]
    magnitudes += [literal.encode_float(value, dtype) for value in plain]
    sign = 1 << (fraction + _EXPONENT[dtype])
    one = literal.encode_float(1.0, dtype)
    magnitudes += [one - 1, one + 1]
    quiet = infinity | 1 << (fraction - 1)
    nans = [quiet, quiet | sign | 1, infinity | 1]
    return tuple(dict.fromkeys([*(b | s for b in magnitudes for s in (0, sign)), *nans]))


def scalar_inputs(dtype: DataType) -> tuple[int, ...]:
    """A few edge values: for operands that all invocations share, and for literals."""
    bits = edge_bits(dtype)
    if dtype.is_bool:
        return bits
    if dtype.is_integer:
        width = dtype.bits or 0
        return (1, 3, (1 << width) - 1, 1 << (width - 1))
    return tuple(literal.encode_float(v, dtype) for v in (-0.0, 1.0, -2.5, math.inf))
