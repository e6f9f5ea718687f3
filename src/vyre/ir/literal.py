"""Literal values as bits: literals are exact, and equal only when they are the same.

A literal holds the bits of its value, so NaN equals NaN, 0.0 differs from -0.0, and nothing is
rounded twice. These functions go between Python values and bits.
"""

from __future__ import annotations

import math
import struct

from vyre.diagnostics import BuildError
from vyre.diagnostics.codes import build as codes
from vyre.ir.types import DataType

_FORMATS = {DataType.F16: ("<e", "<H"), DataType.F32: ("<f", "<I"), DataType.F64: ("<d", "<Q")}
_QUIET_NAN = {
    DataType.F16: 0x7E00,
    DataType.BF16: 0x7FC0,
    DataType.F32: 0x7FC0_0000,
    DataType.F64: 0x7FF8_0000_0000_0000,
}
_INFINITY = {DataType.F16: 0x7C00, DataType.F32: 0x7F80_0000, DataType.F64: 0x7FF0_0000_0000_0000}


def encode(value: object, dtype: DataType) -> int:
    """The bits of `value` in `dtype`; a float that is too large becomes an infinity."""
    if dtype.is_bool:
        if isinstance(value, bool):
            return int(value)
    elif dtype.is_integer:
        if isinstance(value, int) and not isinstance(value, bool):
            return _encode_integer(value, dtype)
    elif dtype.is_float and isinstance(value, (int, float)) and not isinstance(value, bool):
        return encode_float(_as_float(value), dtype)
    expected = "bool" if dtype.is_bool else "int" if dtype.is_integer else "float"
    raise BuildError(codes.LITERAL_TYPE.at(dtype=dtype, value=_short(value), expected=expected))


def decode(bits: int, dtype: DataType) -> int | float | bool:
    """The Python value that `bits` stand for in `dtype`."""
    if dtype.is_bool:
        return bits != 0
    if dtype.is_integer:
        width = dtype.bits or 0
        return bits - (1 << width) if dtype.is_signed and bits >> (width - 1) else bits
    if dtype is DataType.BF16:
        return decode(bits << 16, DataType.F32)
    as_float, as_int = _FORMATS[dtype]
    return struct.unpack(as_float, struct.pack(as_int, bits))[0]


def encode_float(value: float, dtype: DataType) -> int:
    """The bits of `value`, rounded to nearest even; every NaN becomes the quiet one."""
    if math.isnan(value):
        return _QUIET_NAN[dtype]
    if dtype is DataType.BF16:
        return _to_bf16(value)
    as_float, as_int = _FORMATS[dtype]
    try:
        packed = struct.pack(as_float, value)
    except OverflowError:
        sign = 1 << ((dtype.bits or 0) - 1) if value < 0 else 0
        return _INFINITY[dtype] | sign
    return struct.unpack(as_int, packed)[0]


def _to_bf16(value: float) -> int:
    sign = 0x8000 if math.copysign(1.0, value) < 0 else 0
    if value == 0 or math.isinf(value):
        return sign | (0x7F80 if value else 0)
    # In units of the last place the value is exact in f64, and `round` rounds it once, to even.
    exponent = max(math.frexp(value)[1] - 1, -126)
    units = round(math.ldexp(abs(value), 7 - exponent))
    return sign | min(((exponent + 126) << 7) + units, 0x7F80)


def _encode_integer(value: int, dtype: DataType) -> int:
    low, high = dtype.integer_range
    if not low <= value <= high:
        raise BuildError(
            codes.LITERAL_RANGE.at(value=_short(value), dtype=dtype, low=low, high=high)
        )
    return value & ((1 << (dtype.bits or 0)) - 1)


def _as_float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _short(value: object) -> str:
    text = repr(value) if not isinstance(value, int) or abs(value) < 1 << 256 else "a huge integer"
    return text if len(text) <= 60 else text[:57] + "..."
