"""Literals as text and back, exactly: the shortest number that reads back to the same bits."""

from __future__ import annotations

import re
from functools import lru_cache

from vyre.diagnostics import BuildError
from vyre.ir import literal
from vyre.ir.expr import Lit
from vyre.ir.types import SCALAR_TYPES, DataType

SUFFIXES = {str(dtype): dtype for dtype in SCALAR_TYPES if not dtype.is_bool}
_DIGITS = {DataType.F16: 5, DataType.BF16: 4, DataType.F32: 9, DataType.F64: 17}
_HEX = re.compile(r"0[xX]([0-9a-fA-F]+)([ui][0-9]+)?", re.ASCII)
_DECIMAL = re.compile(r"([0-9]+)((?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)([A-Za-z_]\w*)?", re.ASCII)
MAX_DIGITS = 80
"""No number of any type needs more digits before its point; more are refused unread."""


@lru_cache(maxsize=4096)
def literal_text(dtype: DataType, bits: int) -> str:
    """A literal with its type, such as `1u32`, `-0.5f32`, `true`, `inf_f32`."""
    if dtype not in _TYPES or not 0 <= bits < 1 << (dtype.bits or 0):
        return f"bits({bits:#x}, {dtype})"
    if dtype.is_bool:
        return ("false", "true")[bits] if bits < 2 else f"bits({bits:#x}, bool)"
    if dtype.is_float:
        return _float_text(dtype, bits)
    return f"{literal.decode(bits, dtype)}{dtype}"


_TYPES = frozenset(SCALAR_TYPES)


def _float_text(dtype: DataType, bits: int) -> str:
    sign_bit = 1 << ((dtype.bits or 0) - 1)
    sign = "-" if bits & sign_bit else ""
    value = float(literal.decode(bits & ~sign_bit, dtype))
    if value != value:
        quiet = bits & ~sign_bit == literal.encode_float(value, dtype)
        return f"{sign}nan_{dtype}" if quiet else f"bits({bits:#x}, {dtype})"
    if value == float("inf"):
        return f"{sign}inf_{dtype}"
    for digits in range(1, _DIGITS[dtype]):
        short = f"{value:.{digits}g}"
        if literal.encode_float(float(short), dtype) == bits & ~sign_bit:
            break
    else:
        short = repr(value)
    return f"{sign}{short}{'' if '.' in short or 'e' in short else '.0'}{dtype}"


_FORM = "write digits and a type, such as 1u32, 0xffu8 or 1.5f32"


def read_number(text: str, negative: bool) -> Lit | str | None:
    """The literal that a number token stands for; None without a type, or what is wrong with it."""
    if found := _HEX.fullmatch(text):
        digits, base, fraction, suffix = found[1], 16, "", found[2] or "u32"
    elif found := _DECIMAL.fullmatch(text):
        digits, base, fraction, suffix = found[1], 10, found[2], found[3]
        if suffix is None:
            if fraction:
                return None
            suffix = "u32"
    else:
        return _FORM
    dtype = SUFFIXES.get(suffix)
    if dtype is None:
        return _FORM
    if dtype.is_float:
        value = float(digits + fraction)
        return Lit(dtype, literal.encode_float(-value if negative else value, dtype))
    if fraction:
        return f"{dtype} holds integers: leave out the fraction or choose f32"
    if len(digits) > MAX_DIGITS:
        return "use a smaller number"
    try:
        return Lit(dtype, literal.encode((-1 if negative else 1) * int(digits, base), dtype))
    except BuildError as error:
        return error.fix
