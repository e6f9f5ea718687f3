"""Memory to values and back: the types that are stored otherwise than they are computed with.

`decode` turns what memory holds into values, `encode` turns values into what memory holds; both
are the identity for the ordinary numbers. One element takes one byte; the four-bit types use its
lower half, ignore the upper half on a load and write zeros there.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from vyre.ir import DataType
from vyre.semantics.representation import Array, unsigned

Conversion = Callable[[Array], Array]

NF4_VALUES: tuple[float, ...] = (
    *(-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453),
    *(-0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0),
    *(0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224),
    *(0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0),
)
"""NormalFloat4 (QLoRA): quantiles of a normal distribution, exact in single precision."""


def _single_not_above(value: float) -> np.float32:
    near = np.float32(value)
    return near if float(near) <= value else np.nextafter(near, np.float32(-np.inf))


NF4_BOUNDARIES: tuple[float, ...] = tuple(
    float(_single_not_above((low + high) / 2)) for low, high in pairwise(NF4_VALUES)
)
"""A value's code is how many of these singles it is greater than: the nearest entry, the lower
one of two that are equally near. NaN is greater than none of them; it is stored as code 7, zero."""

NF4_ZERO = 7


def _small_float(code: int, exponent_bits: int, mantissa_bits: int) -> float:
    bias = (1 << (exponent_bits - 1)) - 1
    mantissa = code & ((1 << mantissa_bits) - 1)
    exponent = (code >> mantissa_bits) & ((1 << exponent_bits) - 1)
    if exponent == 0:
        return mantissa * 2.0 ** (1 - bias - mantissa_bits)
    return (mantissa + (1 << mantissa_bits)) * 2.0 ** (exponent - bias - mantissa_bits)


def _small_float_table(exponent_bits: int, mantissa_bits: int, finite: int) -> Array:
    """The values of all codes; from `finite` on, codes of one sign stand for something else."""
    half = [_small_float(code, exponent_bits, mantissa_bits) for code in range(finite)]
    return np.array(half, dtype=np.float32)


_E4M3 = _small_float_table(4, 3, 0x7F)
_E5M2 = _small_float_table(5, 2, 0x7C)
_E2M1 = _small_float_table(2, 1, 8)


def _with_signs(half: Array, rest: list[float]) -> Array:
    whole = np.concatenate([half, np.array(rest, dtype=np.float32)])
    return np.concatenate([whole, np.negative(whole)])


_DECODED: dict[DataType, Array] = {
    DataType.F8E4M3: _with_signs(_E4M3, [np.nan]),
    DataType.F8E5M2: _with_signs(_E5M2, [np.inf, np.nan, np.nan, np.nan]),
    DataType.FP4: _with_signs(_E2M1, []),
    DataType.NF4: np.array(NF4_VALUES, dtype=np.float32),
}


def _nearest_code(size: Array, table: Array) -> Array:
    """The code of the nearest value, of two equally near ones the even code; at most the last."""
    upper = np.searchsorted(table, size).clip(1, len(table) - 1)
    # Doubles hold the distances between a single and its neighbours in the table exactly.
    wide = size.astype(np.float64)
    below, above = wide - table[upper - 1], table[upper].astype(np.float64) - wide
    to_lower = (below < above) | ((below == above) & (upper % 2 == 1))
    return np.where(to_lower, upper - 1, upper).astype(np.uint8)


def _sign(values: Array, bit: int) -> Array:
    return np.where(np.signbit(values), np.uint8(bit), np.uint8(0))


def _encode_e4m3(values: Array) -> Array:
    nan = np.isnan(values)
    code = _nearest_code(np.where(nan, np.float32(0), np.abs(values)), _E4M3)
    return np.where(nan, np.uint8(0x7F), code) | _sign(values, 0x80)


def _encode_e5m2(values: Array) -> Array:
    nan = np.isnan(values)
    size = np.where(nan, np.float32(0), np.abs(values))
    code = _nearest_code(size, _E5M2)
    # Half way from the greatest value to what the next one would be goes to infinity.
    code = np.where(size >= np.float32(61440), np.uint8(0x7C), code)
    return np.where(nan, np.uint8(0x7E), code) | _sign(values, 0x80)


def _encode_fp4(values: Array) -> Array:
    nan = np.isnan(values)
    size = np.where(nan, np.float32(0), np.abs(values))
    code = _nearest_code(size, _E2M1) | _sign(values, 0x8)
    return np.where(nan, np.uint8(0), code)


def _encode_nf4(values: Array) -> Array:
    boundaries = np.array(NF4_BOUNDARIES, dtype=np.float32)
    code = np.searchsorted(boundaries, values, side="left").astype(np.uint8)
    return np.where(np.isnan(values), np.uint8(NF4_ZERO), code)


def _encode_i4(values: Array) -> Array:
    return (values.clip(-8, 7) & 0xF).astype(np.uint8)


def _decode_i4(stored: Array) -> Array:
    nibble = (stored & np.uint8(0xF)).astype(np.int32)
    return np.where(nibble >= 8, nibble - np.int32(16), nibble)


def _decode_bf16(stored: Array) -> Array:
    return (stored.astype(np.uint32) << np.uint32(16)).view(np.float32)


def _encode_bf16(values: Array) -> Array:
    # Values are bf16 already: nothing is rounded, and the bits of a NaN are kept.
    return (unsigned(values) >> np.uint32(16)).astype(np.uint16)


def _from_table(element: DataType, mask: int) -> Conversion:
    table = _DECODED[element]
    return lambda stored: table[stored & np.uint8(mask)]


_DECODE: dict[DataType, Conversion] = {
    DataType.BOOL: lambda stored: stored != 0,
    DataType.BF16: _decode_bf16,
    DataType.I4: _decode_i4,
    DataType.F8E4M3: _from_table(DataType.F8E4M3, 0xFF),
    DataType.F8E5M2: _from_table(DataType.F8E5M2, 0xFF),
    DataType.FP4: _from_table(DataType.FP4, 0x0F),
    DataType.NF4: _from_table(DataType.NF4, 0x0F),
}
_ENCODE: dict[DataType, Conversion] = {
    DataType.BOOL: lambda values: values.astype(np.uint8),
    DataType.BF16: _encode_bf16,
    DataType.I4: _encode_i4,
    DataType.F8E4M3: _encode_e4m3,
    DataType.F8E5M2: _encode_e5m2,
    DataType.FP4: _encode_fp4,
    DataType.NF4: _encode_nf4,
}


def decode_function(element: DataType) -> Conversion | None:
    """What turns memory into values, or None where memory holds the values themselves."""
    return _DECODE.get(_scalar(element))


def encode_function(element: DataType) -> Conversion | None:
    """What turns values into memory, or None where memory holds the values themselves."""
    return _ENCODE.get(_scalar(element))


def decode(element: DataType, stored: Array) -> Array:
    """The values that memory holds."""
    function = decode_function(element)
    return stored if function is None else function(stored)


def encode(element: DataType, values: Array) -> Array:
    """What memory holds after values are stored."""
    function = encode_function(element)
    return values if function is None else function(values)


def _scalar(element: DataType) -> DataType:
    return element.element if element.is_vector and element.element is not None else element
