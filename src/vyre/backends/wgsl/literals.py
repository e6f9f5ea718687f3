"""Literals in WGSL. Infinities, NaN and subnormals are made from bits: WGSL cannot write them."""

from __future__ import annotations

import math
import struct

from vyre.backends.wgsl.types import is_wide
from vyre.ir import DataType, Lit

_SMALLEST_NORMAL = 2.0**-126
_GREATEST = (2.0 - 2.0**-23) * 2.0**127


def literal(lit: Lit) -> tuple[str, bool]:
    """The text, and whether it is a WGSL constant expression."""
    dtype, value = lit.dtype, lit.value
    if dtype.is_bool:
        return ("true" if value else "false"), True
    if is_wide(dtype):
        low, high = lit.bits & 0xFFFF_FFFF, lit.bits >> 32
        return f"vec2<u32>({unsigned(low)}, {unsigned(high)})", True
    if dtype.is_integer:
        return (signed(int(value)) if dtype.is_signed else unsigned(int(value))), True
    return floating(float(value), dtype)


def unsigned(value: int) -> str:
    """A u32; large ones are mostly masks and patterns, which read better in hexadecimal."""
    return f"{value:#x}u" if value >= 0x1_0000 else f"{value}u"


def signed(value: int) -> str:
    """An i32."""
    if value == -(1 << 31):
        # The digits alone are out of range.
        return "i32(-2147483648)"
    return f"{value}i" if value >= 0 else f"({value}i)"


def floating(value: float, dtype: DataType) -> tuple[str, bool]:
    """An f32 with exactly this value; values of f16 and bf16 are values of f32 too."""
    if math.isfinite(value) and (value == 0.0 or abs(value) >= _SMALLEST_NORMAL):
        text = f"{_shortest(value)}f"
        return (f"({text})" if text.startswith("-") else text), True
    if math.isnan(value):
        return "f32_bits(0x7fc00000u)", False
    return f"f32_bits({unsigned(struct.unpack('<I', struct.pack('<f', value))[0])})", False


def _shortest(value: float) -> str:
    """The fewest digits that give this f32 back, also when they are read as f64 first."""
    for digits in range(1, 10):
        text = f"{value:.{digits}g}"
        # Fewer digits of the greatest numbers may stand for something beyond them.
        if abs(float(text)) <= _GREATEST and _single(float(text)) == value:
            return repr(float(text))
    return repr(value)


def _single(value: float) -> float:
    return struct.unpack("<f", struct.pack("<f", value))[0]
