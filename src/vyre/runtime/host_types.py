"""Which numpy type holds the elements of a buffer, and what to do about an array of another one.

An array is used as what it says it is, or refused: its bytes are never read as something else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from vyre.diagnostics import ArgumentError
from vyre.diagnostics.codes import driver as codes
from vyre.front.scalars import scalar_name
from vyre.ir import DataType, Program

_NUMPY: Final = {
    DataType.BOOL: np.dtype(np.bool_),
    DataType.U8: np.dtype(np.uint8),
    DataType.I8: np.dtype(np.int8),
    DataType.U16: np.dtype(np.uint16),
    DataType.I16: np.dtype(np.int16),
    DataType.U32: np.dtype(np.uint32),
    DataType.I32: np.dtype(np.int32),
    DataType.U64: np.dtype(np.uint64),
    DataType.I64: np.dtype(np.int64),
    DataType.F16: np.dtype(np.float16),
    DataType.BF16: np.dtype(np.uint16),
    DataType.F32: np.dtype(np.float32),
    DataType.F64: np.dtype(np.float64),
}
_BYTE: Final = np.dtype(np.uint8)
_OF_ML_DTYPES: Final = {
    "bfloat16": DataType.BF16,
    "float8_e4m3fn": DataType.F8E4M3,
    "float8_e5m2": DataType.F8E5M2,
    "float4_e2m1fn": DataType.FP4,
    "int4": DataType.I4,
}
"""Types that the package ml_dtypes adds to numpy and that hold the very bits of one of ours."""


def numpy_type(element: DataType) -> np.dtype[Any]:
    """The numpy type that holds one element, or one lane of it.

    `bf16` and the packed types are held as unsigned integers of their width.
    """
    if element.is_vector and element.element is not None:
        return numpy_type(element.element)
    return _NUMPY.get(element, _BYTE)


def type_of_numpy(dtype: np.dtype[Any]) -> DataType | None:
    """The type whose elements an array of a numpy type holds, if there is one."""
    found = _BY_NUMPY.get(dtype)
    return _OF_ML_DTYPES.get(dtype.name) if found is None else found


_BY_NUMPY: Final = {
    dtype: element for element, dtype in _NUMPY.items() if element is not DataType.BF16
}


def is_held_by(element: DataType, dtype: np.dtype[Any]) -> bool:
    """Whether arrays of a numpy type hold elements of a type, as they are in memory."""
    return dtype == numpy_type(element) or _OF_ML_DTYPES.get(dtype.name) is _lane(element)


def _lane(element: DataType) -> DataType:
    return element.element if element.is_vector and element.element is not None else element


def as_host_arrays(
    program: Program, memory: Mapping[str, np.ndarray[Any, Any]]
) -> dict[str, np.ndarray[Any, Any]]:
    """What buffers hold, as arrays that a caller could have given: truth values are not bytes."""
    found = dict(memory)
    for decl in program.buffers:
        held = found.get(decl.name)
        if _lane(decl.element).is_bool and isinstance(held, np.ndarray) and held.dtype == _BYTE:
            found[decl.name] = held.view(np.bool_)
    return found


def holds_bits(element: DataType) -> bool:
    """Whether numpy has no numbers of a type: its arrays hold the bits of them."""
    lane = _lane(element)
    return lane is DataType.BF16 or lane not in _NUMPY


def wrong_type(
    name: str,
    element: DataType,
    found: np.dtype[Any],
    *,
    written: bool,
    in_kernel: bool = True,
    device: str | None = None,
    given: str | None = None,
) -> ArgumentError:
    """An array whose type is not the buffer's; `device` is where it lives, if not on the host.

    `given` is how it is written as an array of numpy, if it is none.
    `in_kernel` says that the type is declared in Python: a program declares `f32`, not `vy.f32`.
    """
    expected = numpy_type(element)
    shown = str(found) if found.names is None else "a structure"
    if found.newbyteorder("=") == expected:
        shown = f"{found.name} in the byte order of another machine"
    held = expected.name
    if holds_bits(element):
        held += f", which holds the bits of {_lane(element)}"
    fix = _fix(given or name, element, found, _declared(found, in_kernel), written)
    if device is not None:
        fix = _fix_on_device(name, element, found, written, device)
    return ArgumentError(codes.WRONG_DTYPE.at(name=name, expected=held, found=shown, fix=fix))


def no_type_of_ours(name: str, found: np.dtype[Any]) -> ArgumentError:
    """An array for a generic parameter whose type no parameter can have."""
    shown, fix = str(found), "pass an array of bool, or of integers or floats"
    if found.names is not None:
        shown, fix = "a structure", f"pass one of its fields: {name}[{found.names[0]!r}]"
    elif found.kind == "c":
        fix = f"pass its two parts, each as an array: {name}.real and {name}.imag"
    expected = "bool, integers or floats"
    return ArgumentError(codes.WRONG_DTYPE.at(name=name, expected=expected, found=shown, fix=fix))


def _fix(name: str, element: DataType, found: np.dtype[Any], declared: str, written: bool) -> str:
    """What to write: a view where that is the same numbers, else a copy that is kept."""
    if found.names is not None:
        return f"pass one of its fields: {name}[{found.names[0]!r}]"
    if found.kind == "c":
        return f"pass its two parts, each as an array: {name}.real and {name}.imag"
    if found.kind == "b" and _lane(element) is DataType.U8:
        return f"{declared}pass the same memory as numbers: {name}.view('uint8')"
    if not _can_be_copied(element, found):
        return f"{declared}pass {_described(element)}"
    copy = f"{_copied(name, element, found)}{_if_it_holds(element, found)}"
    if written:
        return f"{declared}pass a copy and read the result from it: {copy}"
    return f"{declared}pass {copy}"


def _fix_on_device(
    name: str, element: DataType, found: np.dtype[Any], written: bool, device: str
) -> str:
    if not _can_be_copied(element, found):
        return f"pass {_described(element)}"
    copy = f"vy.array({_copied(f'{name}.numpy()', element, found)}, device={device!r})"
    copy += _if_it_holds(element, found)
    return f"pass a copy and read the result from it: {copy}" if written else f"pass {copy}"


def _declared(found: np.dtype[Any], in_kernel: bool) -> str:
    """The advice to declare the type of what was given, if there is such a type."""
    own = type_of_numpy(found)
    if own is None or (in_kernel and own not in _NUMPY):
        return ""
    return f"declare it as {scalar_name(own) if in_kernel else own}, or "


def _can_be_copied(element: DataType, found: np.dtype[Any]) -> bool:
    """Whether numpy converts numbers of one type to another."""
    return found.kind in "biuf" and (not holds_bits(element) or _lane(element) is DataType.BF16)


def _described(element: DataType) -> str:
    bits = f"the bits of {_lane(element)} in " * holds_bits(element)
    return f"{bits}an array of the type {numpy_type(element).name}"


def _copied(array: str, element: DataType, found: np.dtype[Any]) -> str:
    """An array as one of another type, in code."""
    expected = numpy_type(element)
    if holds_bits(element):
        # A bf16 is the upper half of an f32.
        return f"({array}.astype('float32').view('uint32') >> 16).astype('uint16')"
    if expected.kind == "b":
        return f"{array} != 0"
    if found.kind == "f" and expected.kind in "iu":
        return f"np.rint({array}).astype({expected.name!r})"
    return f"{array}.astype({expected.name!r})"


def _if_it_holds(element: DataType, found: np.dtype[Any]) -> str:
    expected = numpy_type(element)
    if expected.kind not in "iu" or holds_bits(element) or np.can_cast(found, expected, "safe"):
        return ""
    return f", if {expected.name} holds all its numbers"


__all__ = [
    "as_host_arrays",
    "holds_bits",
    "is_held_by",
    "numpy_type",
    "type_of_numpy",
    "wrong_type",
]
