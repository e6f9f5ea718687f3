"""Host values as flat numpy arrays of the type that a buffer holds.

Accepted are numpy arrays, `bytes`, `bytearray`, `memoryview`, `mmap`, and whatever offers the
buffer protocol, `__array_interface__` or DLPack. Nothing is converted silently and nothing is
copied unless the value is not contiguous, or lies at an odd address.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from numbers import Number
from typing import Any, cast

import numpy as np

from vyre.diagnostics import ArgumentError
from vyre.diagnostics.codes import driver as codes
from vyre.ir import BufferDecl, DataType

HostArray = np.ndarray[Any, np.dtype[Any]]

NO_VIEW = (TypeError, ValueError, BufferError, RuntimeError)
"""What libraries raise that cannot show an array of theirs as memory of the host."""

_NUMPY = {
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
_OVERLAP_WORK = 100_000
"""How long to look for a common element of two views before one is taken for granted."""

_BYTE = np.dtype(np.uint8)
_BYTE_LIKE = frozenset({np.dtype(np.uint8), np.dtype(np.int8), np.dtype(np.bool_)})


def numpy_type(element: DataType) -> np.dtype[Any]:
    """The numpy type that holds one element, or one lane of it.

    `bf16` and the packed types are held as unsigned integers of their width.
    """
    if element.is_vector and element.element is not None:
        return numpy_type(element.element)
    return _NUMPY.get(element, _BYTE)


def as_host_array(value: object, decl: BufferDecl) -> HostArray:
    """`value` as a contiguous array of the buffer's type, sharing memory where possible."""
    array = (
        cast("HostArray", value) if isinstance(value, np.ndarray) else _from_protocols(value, decl)
    )
    expected = numpy_type(decl.element)
    if array.dtype != expected:
        array = _reinterpreted(array, expected, decl)
    return array if is_plain(array) else array.copy(order="C")


def is_plain(array: HostArray) -> bool:
    """Whether an array can be used as it is: without gaps, in row-major order, aligned."""
    return array.flags.c_contiguous and array.flags.aligned


Form = tuple[tuple[int, ...], np.dtype[Any], int]
"""What one array has in common with others that can be used in its place."""

_CONTIGUOUS_AND_ALIGNED = 0x101
_WRITABLE = 0x400
"""Bits of numpy's `flags.num`."""
_SAFE = 1 << 31
"""Fewer elements than any limit."""


def form_of(array: HostArray, *, written: bool) -> Form:
    """The form of an array that can be used as it is."""
    flags = _CONTIGUOUS_AND_ALIGNED | (_WRITABLE if written else 0)
    return array.shape, array.dtype, flags


def has_form(value: Any, form: Form) -> bool:
    """Whether a value is an array of a form; of subclasses nobody knows what they do."""
    shape, dtype, flags = form
    if type(value) is not np.ndarray or value.shape != shape or value.flags.num & flags != flags:
        return False
    return value.dtype is dtype or value.dtype == dtype


def has_form_but_for_lengths(value: Any, form: Form) -> bool:
    """Whether a value is an array of a form, of the same axes and of lengths that are safe."""
    shape, dtype, flags = form
    if type(value) is not np.ndarray or value.flags.num & flags != flags:
        return False
    return value.ndim == len(shape) and value.dtype == dtype and 0 < value.size < _SAFE


def host_view(value: object) -> HostArray:
    """Any array-like of the host as a numpy array on the same memory; raises one of `NO_VIEW`."""
    if isinstance(value, np.ndarray):
        return cast("HostArray", value)
    given = cast("Any", value)
    if hasattr(given, "__array_interface__"):
        return np.asarray(given)
    if hasattr(given, "__dlpack__"):
        return _from_dlpack(given)
    try:
        view = memoryview(given)
    except TypeError:
        if not hasattr(given, "__array__"):
            raise
        return np.asarray(given)
    return np.asarray(view)


def _from_dlpack(given: Any) -> HostArray:
    found: HostArray = np.from_dlpack(given)
    if not found.flags.writeable and hasattr(given, "__array__"):
        # Older exporters cannot say that their memory may be written; their own view can.
        own: HostArray = np.asarray(given)
        if own.flags.writeable and np.shares_memory(own, found):
            return own
    return found


def overlap(one: HostArray, two: HostArray) -> bool:
    """Whether two arrays have an element in common."""
    if not np.may_share_memory(one, two):
        return False
    if one.flags.c_contiguous and two.flags.c_contiguous:
        return True
    # numpy takes any number here; its types name two.
    work: Any = _OVERLAP_WORK
    try:
        return np.shares_memory(one, two, max_work=work)
    except np.exceptions.TooHardError:
        return True


def elements_overlap(array: HostArray) -> bool:
    """Whether two elements of one array lie in the same memory, as in a broadcast view."""
    reach = array.dtype.itemsize
    axes = zip(array.strides, array.shape, strict=True)
    for step, extent in sorted((abs(step), extent) for step, extent in axes if extent > 1):
        if step < reach:
            return True
        reach += step * (extent - 1)
    return False


def check_writable(name: str, array: HostArray, given: object) -> None:
    """Refuse to change an array in place that does not allow it."""
    if not array.flags.writeable:
        found = f"this {type(given).__name__}"
    elif not is_plain(array) and elements_overlap(array):
        found = "an array with elements that share memory"
    else:
        return
    raise ArgumentError(codes.READ_ONLY_ARRAY.at(name=name, found=found))


@lru_cache(maxsize=512)
def numbers(values: tuple[int, ...]) -> HostArray:
    """Shapes and strides as an array, the same one every time, so that like dispatches are seen."""
    made = np.array(values, np.uint32)
    made.flags.writeable = False
    return made


def element_count(array: HostArray, decl: BufferDecl) -> int:
    """How many elements of the buffer's type an array holds."""
    lanes = decl.element.lanes
    if array.size % lanes:
        found = f"{array.size} numbers, no multiple of {lanes} lanes"
        raise ArgumentError(
            codes.SHORT_BUFFER.at(name=decl.name, expected=decl.count or "whole", found=found)
        )
    return array.size // lanes


def zero_output(decl: BufferDecl, count: int, shape: Sequence[int] | None = None) -> HostArray:
    """A host array to read a buffer back into; zeros, which the system gives when it is touched."""
    lanes = decl.element.lanes
    flat = (count,) if lanes == 1 else (count, lanes)
    return np.zeros(flat if shape is None else tuple(shape), numpy_type(decl.element))


def _from_protocols(value: object, decl: BufferDecl) -> HostArray:
    if isinstance(value, (Number, np.bool_)) and decl.count in (0, 1):
        return _scalar(value, decl)
    given = cast("Any", value)
    try:
        return host_view(given)
    except NO_VIEW as problem:
        found = f"{type(given).__name__} ({problem})"
        raise ArgumentError(codes.NOT_AN_ARRAY.at(name=decl.name, found=found)) from problem


def _scalar(value: Any, decl: BufferDecl) -> HostArray:
    dtype = numpy_type(decl.element)
    try:
        array = np.array([value], dtype)
    except (OverflowError, ValueError, TypeError) as problem:
        raise _wrong_number(value, decl) from problem
    if dtype.kind in "ui" and array[0] != value:
        raise _wrong_number(value, decl)
    return array


def _wrong_number(value: Any, decl: BufferDecl) -> ArgumentError:
    fix = "pass a number"
    if decl.element.is_integer:
        low, high = decl.element.integer_range
        fix = f"pass a whole number from {low} to {high}, or declare a type that holds it"
    found: object = value.item() if hasattr(value, "item") else value
    return ArgumentError(
        codes.WRONG_NUMBER.at(name=decl.name, expected=decl.element, found=found, fix=fix)
    )


def _reinterpreted(array: HostArray, expected: np.dtype[Any], decl: BufferDecl) -> HostArray:
    # Raw bytes are whatever the buffer says they are; anything else must already be of its type.
    if array.dtype == _BYTE and array.ndim == 1 and array.flags.c_contiguous:
        if array.size % expected.itemsize == 0:
            return array.view(expected)
    elif (expected in _BYTE_LIKE and array.dtype in _BYTE_LIKE) or (
        decl.element is DataType.BF16 and array.dtype.itemsize == 2
    ):
        return array.view(expected)
    found = array.dtype.name
    if array.dtype.newbyteorder("=") == expected:
        found += " in the byte order of another machine"
    raise ArgumentError(codes.WRONG_DTYPE.at(name=decl.name, expected=expected.name, found=found))
