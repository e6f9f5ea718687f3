"""Numbers of the host as one element of a buffer: those that its type holds, and no others.

Floats are rounded to the type, whole numbers are taken by value. A number of another kind is
refused even where its value would do: `3.0` and `True` are no whole numbers.
"""

from __future__ import annotations

import math
from typing import Any, Final, cast

import numpy as np

from vyre.diagnostics import ArgumentError
from vyre.diagnostics.codes import driver as codes
from vyre.ir import DataType
from vyre.ir.literal import encode_float
from vyre.runtime.host_types import numpy_type
from vyre.runtime.host_views import HostArray

_EXACT_BITS: Final = 53
_PACKED: Final = {
    DataType.F8E4M3: 448.0,
    DataType.F8E5M2: 57344.0,
    DataType.FP4: 6.0,
    DataType.NF4: 1.0,
}
"""The greatest value of each packed type of floats."""
_I4: Final = (-8, 7)
_WHOLE: Final = (DataType.I32, DataType.U32, DataType.I64, DataType.U64)


def number_kind(value: object) -> str:
    """`b` for a truth value, `i` for a whole number, `f` for a float, `c` for a complex number.

    Nothing else is a number here: neither text nor dates and times of numpy.
    """
    if isinstance(value, (bool, np.bool_)):
        return "b"
    if isinstance(value, (int, np.integer)):
        return "" if isinstance(value, np.timedelta64) else "i"
    if isinstance(value, (float, np.floating)):
        return "f"
    return "c" if isinstance(value, (complex, np.complexfloating)) else ""


def as_element(value: object, element: DataType, name: str) -> HostArray:
    """A number as an array of one element; `name` is the buffer that an error speaks of."""
    kind, number = number_kind(value), cast("Any", value)
    wanted = element.value_type
    if wanted.is_bool:
        if kind == "b":
            return np.array([number], np.bool_)
    elif wanted.is_integer:
        low, high = _I4 if element is DataType.I4 else wanted.integer_range
        if kind == "i" and low <= number <= high:
            return _whole(int(number), element)
    elif wanted.is_float and kind in ("i", "f"):
        made = _float(number, kind, element)
        if made is not None:
            return made
    raise _refused(number, kind, element, name)


def _whole(number: int, element: DataType) -> HostArray:
    if element is DataType.I4:
        return np.array([number & 0xF], np.uint8)
    return np.array([number], numpy_type(element))


_ROUNDED_BY_NUMPY = {DataType.F32: 3e38, DataType.F64: 1e308}
"""Up to which size numpy does what is done here for every type, in a fraction of the time."""


def _float(number: Any, kind: str, element: DataType) -> HostArray | None:
    """A float, rounded once; None where a finite number is too large for the type."""
    value = _of_whole(int(number), element) if kind == "i" else float(number)
    if abs(value) <= _ROUNDED_BY_NUMPY.get(element, -1.0):
        return np.array([value], numpy_type(element))
    is_finite = kind == "i" or bool(np.isfinite(number))
    if element in _PACKED:
        return None if is_finite and math.isinf(value) else _packed(value, element)
    bits = encode_float(value, element)
    if is_finite and encode_float(abs(value), element) == encode_float(math.inf, element):
        return None
    dtype = numpy_type(element)
    return np.array([bits], f"u{dtype.itemsize}").view(dtype)


def _of_whole(number: int, element: DataType) -> float:
    """A float that rounds to the type as the whole number itself does."""
    size = abs(number)
    lost = size.bit_length() - _EXACT_BITS
    try:
        if lost <= 0 or element is DataType.F64:
            return float(number)
        head = size >> lost
        if head << lost != size:
            head |= 1  # the last bit tells narrower types that there is more
        return math.copysign(math.ldexp(head, lost), number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _packed(value: float, element: DataType) -> HostArray | None:
    from vyre.semantics import encode

    with_nan = element in (DataType.F8E4M3, DataType.F8E5M2)
    with_inf = element is DataType.F8E5M2
    fits = abs(value) <= _PACKED[element]
    if not (fits or (with_nan and math.isnan(value)) or (with_inf and math.isinf(value))):
        return None
    return encode(element, np.array([value], np.float32)).astype(np.uint8)


def _refused(number: Any, kind: str, element: DataType, name: str) -> ArgumentError:
    # Floats of more than 64 bits have no item but themselves.
    found: Any = number.item() if hasattr(number, "item") else number
    fix = _fix(found, kind, element)
    return ArgumentError(
        codes.WRONG_NUMBER.at(name=name, expected=element, found=_short(found), fix=fix)
    )


def _fix(found: Any, kind: str, element: DataType) -> str:
    wanted = element.value_type
    if kind == "c":
        return "pass its two parts as two numbers: z.real and z.imag"
    if kind not in ("b", "i", "f"):
        return "pass a number"
    if wanted.is_bool:
        return f"pass bool({_short(found)})"
    if kind == "b":
        return f"pass int({found})"
    if wanted.is_float:
        return _fix_for_float(found, element)
    low, high = _I4 if element is DataType.I4 else wanted.integer_range
    between = f"pass a whole number from {low} to {high}"
    if kind == "f":
        if isinstance(found, float) and math.isfinite(found) and low <= found <= high:
            rounded = "int" if found.is_integer() else "round"
            return f"pass {rounded}({found!r}), or declare it as vy.f32"
        return f"{between}, or declare it as vy.f64"
    return f"{between}, or declare it as {_holding(found)}"


def _holding(number: int) -> str:
    """A type for a whole number that another type does not hold."""
    for dtype in _WHOLE:
        low, high = dtype.integer_range
        if low <= number <= high:
            return f"vy.{dtype}"
    return "vy.f64, which rounds it"


def _fix_for_float(found: Any, element: DataType) -> str:
    if element in _PACKED:
        return f"pass a number from -{_PACKED[element]:g} to {_PACKED[element]:g}"
    wider = ""
    if element is not DataType.F64 and math.isfinite(_or_infinite(found)):
        is_single = abs(_or_infinite(found)) < 2.0**128 * (1 - 2.0**-25)
        wide = "f32" if is_single and element is DataType.F16 else "f64"
        wider = f", or declare it as vy.{wide}"
    return f"pass a smaller number, or float('inf') if that is meant{wider}"


def _or_infinite(number: Any) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf


def _short(number: Any) -> str:
    if isinstance(number, int) and abs(number) >= 1 << 256:
        return "a whole number of more than 256 bits"
    # A float of more than 64 bits is a scalar of numpy's.
    return str(number) if hasattr(number, "dtype") else repr(number)


__all__ = ["as_element", "number_kind"]
