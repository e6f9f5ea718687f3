"""Host values as numpy arrays of the type that a buffer holds.

Accepted are numpy arrays, `bytes`, `bytearray`, `memoryview`, `mmap`, and whatever offers the
buffer protocol, `__array_interface__` or DLPack. Nothing is converted silently and nothing is
copied unless the value is not contiguous, or lies at an odd address.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from vyre.diagnostics import ArgumentError
from vyre.diagnostics.codes import driver as codes
from vyre.driver.host_memory import owner_of, share_a_file
from vyre.driver.lengths import TOO_LONG
from vyre.ir import BufferDecl, DataType
from vyre.runtime.host_numbers import as_element, number_kind
from vyre.runtime.host_types import holds_bits, is_held_by, numpy_type, wrong_type
from vyre.runtime.host_views import NO_VIEW, HostArray, host_view, in_numpy, is_copy, is_raw
from vyre.signals import is_from_handler

_OVERLAP_WORK = 100_000
"""How long to look for a common element of two views before one is taken for granted."""


def as_host_array(value: object, decl: BufferDecl) -> HostArray:
    """`value` as a contiguous array of the buffer's type, sharing memory where possible."""
    array = typed_array(value, decl)
    return array if is_plain(array) else array.copy(order="C")


def typed_array(value: object, decl: BufferDecl, *, written: bool = False) -> HostArray:
    """`value` as an array of the buffer's type; of its own memory, if that is to be written."""
    if not written and decl.count in (0, 1) and decl.element.lanes == 1 and number_kind(value):
        return as_element(value, decl.element, decl.name)
    try:
        return typed_view(value, decl.element, decl.name, written=written, in_kernel=False)
    except ArgumentError:
        raise
    except NO_VIEW as problem:
        if is_from_handler(problem):
            raise
        found = f"{type(value).__name__} ({problem})"
        instead = instead_of(value, decl.name, decl.element, written=written)
        raise ArgumentError(
            codes.NOT_AN_ARRAY.at(name=decl.name, found=found, instead=instead)
        ) from problem


def typed_view(
    value: object, element: DataType, name: str, *, written: bool, in_kernel: bool = True
) -> HostArray:
    """Memory of the host as elements of a type; raises one of `NO_VIEW` where there is none."""
    array = host_view(value)
    expected = numpy_type(element)
    if array.dtype != expected:
        if is_raw(value):
            array = _of_bytes(array, element, name)
        elif is_held_by(element, array.dtype):
            array = array.view(expected)
        else:
            raise wrong_type(
                name,
                element,
                array.dtype,
                written=written,
                in_kernel=in_kernel,
                given=in_numpy(value, name),
            )
    if written:
        check_writable(name, array, value)
    return array


def _of_bytes(array: HostArray, element: DataType, name: str) -> HostArray:
    """Bytes without a type of their own are whatever the buffer says they are."""
    expected = numpy_type(element)
    if array.ndim != 1 or not array.flags.c_contiguous:
        raise TypeError("its bytes do not lie one after the other")
    if array.size % expected.itemsize:
        size = f"{expected.itemsize} bytes"
        raise ArgumentError(
            codes.UNEVEN_ARRAY.at(name=name, size=size, found=f"{array.size} bytes")
        )
    return array.view(expected)


def instead_of(value: object, name: str, element: DataType, *, written: bool) -> str:
    """What to pass instead of a value that is no array; a copy is kept where it is written."""
    kept = " and read the result from it" * written
    if isinstance(value, np.ma.MaskedArray):
        return f"its numbers, with 0 for those that are masked{kept}: {name}.filled(0)"
    if isinstance(value, memoryview):
        return f"a copy without gaps{kept}: bytearray({name})"
    if hasattr(value, "__cuda_array_interface__"):
        return f"a copy on the host{kept}, as {name}.get() or {name}.cpu() gives it"
    if isinstance(value, (list, tuple)) and not holds_bits(element):
        return f"an array of it{kept}: np.array({name}, {numpy_type(element).name!r})"
    return "a numpy array, a vyre array, bytes, or anything with the buffer protocol or DLPack"


def is_plain(array: HostArray) -> bool:
    """Whether an array can be used as it is: without gaps, in row-major order, aligned."""
    return array.flags.c_contiguous and array.flags.aligned


Form = tuple[tuple[int, ...], np.dtype[Any], int]
"""What one array has in common with others that can be used in its place."""

CONTIGUOUS = 0x1
ALIGNED = 0x100
_CONTIGUOUS_AND_ALIGNED = CONTIGUOUS | ALIGNED
_OWN_DATA = 0x4
WRITABLE = 0x400
"""Bits of numpy's `flags.num`."""
SAFE_LENGTH = 1 << 31
"""Fewer elements than any limit."""


def form_of(array: HostArray, *, written: bool) -> Form:
    """The form of an array that can be used as it is.

    Where one that is written has memory of its own, others of its form have too.
    """
    flags = _CONTIGUOUS_AND_ALIGNED
    if written:
        flags |= WRITABLE | (array.flags.num & _OWN_DATA)
    return array.shape, array.dtype, flags


def may_be_mapped(form: Form) -> bool:
    """Whether arrays of the form of one that is written may lie in a file that is mapped twice."""
    return bool(form[2] & WRITABLE and not form[2] & _OWN_DATA)


def are_apart(written: HostArray, others: Iterable[Any]) -> bool:
    """Whether an array that is written shares no file with others under other addresses."""
    base = written.base
    if base is None or (type(base) is np.ndarray and base.base is None):
        return True  # the memory of an array: most are, and the walk costs more
    if not isinstance(owner_of(written), mmap.mmap):
        return True
    arrays = [other for other in others if type(other) is np.ndarray and other is not written]
    return not any(share_a_file(written, other) for other in arrays)


def has_form(value: Any, form: Form) -> bool:
    """True if a value is an array of a form; subclasses may behave differently."""
    shape, dtype, flags = form
    if type(value) is not np.ndarray or value.shape != shape or value.flags.num & flags != flags:
        return False
    return value.dtype is dtype or value.dtype == dtype


def has_form_but_for_lengths(value: Any, form: Form) -> bool:
    """True if a value is an array of a form, whatever its shape."""
    _, dtype, flags = form
    if type(value) is not np.ndarray or value.flags.num & flags != flags:
        return False
    return value.dtype is dtype or value.dtype == dtype


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
    return steps_overlap(array.shape, array.strides, array.dtype.itemsize)


def steps_overlap(shape: Sequence[int], strides: Sequence[int], size: int) -> bool:
    """The same for elements of a size, by the steps along axes."""
    reach = size
    axes = zip(strides, shape, strict=True)
    for step, extent in sorted((abs(step), extent) for step, extent in axes if extent > 1):
        if step < reach:
            return True
        reach += step * (extent - 1)
    return False


def check_writable(name: str, array: HostArray, given: object) -> None:
    """Refuse to change an array in place that does not allow it, or that is a copy."""
    if is_copy(given, array):
        raise ArgumentError(codes.COPIED_ARRAY.at(name=name, found=type(given).__name__))
    shown = in_numpy(given, name)
    is_foreign = shown.startswith("np.from_dlpack")
    copy = f"bytearray({name})" if is_raw(given) else f"np.array({shown if is_foreign else name})"
    if not array.flags.writeable:
        found = f"this {type(given).__name__}"
    elif not is_plain(array) and elements_overlap(array):
        found = "an array with elements that share memory"
    else:
        return
    raise ArgumentError(codes.READ_ONLY_ARRAY.at(name=name, found=found, copy=copy))


def check_length(name: str, shape: Sequence[int], lanes: int) -> None:
    """Refuse arrays whose number of elements, or whose axes, exceed 32 bits."""
    longest = max(shape, default=0)
    if prod(shape) // lanes >= TOO_LONG:
        found = str(prod(shape) // lanes)
    elif len(shape) > 1 and longest >= TOO_LONG:
        found = f"an axis of {longest}"
    else:
        return
    raise ArgumentError(codes.LONG_ARRAY.at(name=name, found=found))


@lru_cache(maxsize=512)
def numbers(values: tuple[int, ...]) -> HostArray:
    """Shapes and strides as an array, the same one every time, so that like dispatches are seen."""
    made = np.array(values, np.uint32)
    made.flags.writeable = False
    return made


def element_count(array: HostArray, decl: BufferDecl) -> int:
    """How many elements of the buffer's type an array holds."""
    return whole_elements(array.size, decl)


def whole_elements(numbers: int, decl: BufferDecl) -> int:
    """How many elements of the buffer's type hold this number of scalars."""
    lanes = decl.element.lanes
    if numbers % lanes:
        size, found = f"{lanes} numbers", f"{numbers} numbers"
        raise ArgumentError(codes.UNEVEN_ARRAY.at(name=decl.name, size=size, found=found))
    return numbers // lanes


def zero_output(decl: BufferDecl, count: int, shape: Sequence[int] | None = None) -> HostArray:
    """A host array to read a buffer back into; zeros, which the system gives when it is touched."""
    lanes = decl.element.lanes
    flat = (count,) if lanes == 1 else (count, lanes)
    return np.zeros(flat if shape is None else tuple(shape), numpy_type(decl.element))
