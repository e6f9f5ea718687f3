"""How values and memory look as numpy arrays.

A value of a scalar type is an array with one entry per invocation, or a single entry when all
invocations hold the same:

| type | array of values | array of memory |
| --- | --- | --- |
| bool | `bool_` | `uint8`, any non-zero byte is true |
| u8 ... i64 | the integer of that width | the same |
| f16, f32, f64 | `float16`, `float32`, `float64` | the same |
| bf16 | `float32` that holds only values bf16 has | `uint16`, the upper half of the f32 |
| bytes | `uint8` | `uint8` |
| f8e4m3, f8e5m2, fp4, nf4 | `float32` | `uint8` |
| i4 | `int32` | `uint8` |

A vector has one more axis, for its lanes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vyre.ir import DataType, TypeKind

Array = NDArray[Any]
"""An array of any type; the type of the values decides which."""

_NATURAL: dict[DataType, np.dtype[Any]] = {
    DataType.U8: np.dtype(np.uint8),
    DataType.I8: np.dtype(np.int8),
    DataType.U16: np.dtype(np.uint16),
    DataType.I16: np.dtype(np.int16),
    DataType.U32: np.dtype(np.uint32),
    DataType.I32: np.dtype(np.int32),
    DataType.U64: np.dtype(np.uint64),
    DataType.I64: np.dtype(np.int64),
    DataType.F16: np.dtype(np.float16),
    DataType.F32: np.dtype(np.float32),
    DataType.F64: np.dtype(np.float64),
}
_UNSIGNED = {bits: np.dtype(f"u{bits // 8}") for bits in (8, 16, 32, 64)}
_QUIET_NAN = {
    DataType.F16: 0x7E00,
    DataType.BF16: 0x7FC0,
    DataType.F32: 0x7FC0_0000,
    DataType.F64: 0x7FF8_0000_0000_0000,
}


def value_dtype(dtype: DataType) -> np.dtype[Any]:
    """The numpy type of the values of a type; of one lane, for a vector."""
    if dtype.is_vector and dtype.element is not None:
        dtype = dtype.element
    if dtype.is_bool:
        return np.dtype(np.bool_)
    if dtype is DataType.BF16:
        return np.dtype(np.float32)
    return _NATURAL[dtype.value_type]


def storage_dtype(element: DataType) -> np.dtype[Any]:
    """The numpy type of memory that holds elements; of one lane, for a vector."""
    if element.is_vector and element.element is not None:
        element = element.element
    if element.kind in (TypeKind.BOOL, TypeKind.BYTES, TypeKind.PACKED):
        return np.dtype(np.uint8)
    if element is DataType.BF16:
        return np.dtype(np.uint16)
    return _NATURAL[element]


def unsigned(array: Array) -> Array:
    """The same bits as unsigned integers of the same width."""
    return array.view(_UNSIGNED[array.dtype.itemsize * 8])


def width(array: Array) -> int:
    """How many bits one entry has."""
    return array.dtype.itemsize * 8


def from_bits(dtype: DataType, bits: Array) -> Array:
    """Values from the bits that a literal of the type holds."""
    if dtype.is_bool:
        return bits != 0
    if dtype is DataType.BF16:
        return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)
    kind = _NATURAL[dtype]
    return bits.astype(_UNSIGNED[kind.itemsize * 8]).view(kind)


def to_bits(dtype: DataType, values: Array) -> Array:
    """The bits of values, as unsigned integers; every NaN gives the same quiet one."""
    values = np.ascontiguousarray(values)
    if dtype.is_bool:
        return values.astype(np.uint8)
    bits = unsigned(values)
    if dtype is DataType.BF16:
        bits = (bits >> np.uint32(16)).astype(np.uint16)
    if dtype.is_float:
        bits = np.where(np.isnan(values), bits.dtype.type(_QUIET_NAN[dtype]), bits)
    return bits


def literal(dtype: DataType, bits: int) -> Array:
    """One value, from its bits."""
    return from_bits(dtype, np.array([bits], dtype=np.uint64))
