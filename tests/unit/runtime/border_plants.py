"""Typical mistakes at the border of the host, each planted by itself.

The test of the table must find every one of them: `test_planted_border.py` sees to that.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np

from vyre.runtime import argument_signature, arguments, conversions, host_arrays, kernel_arguments
from vyre.runtime import host_numbers as numbers
from vyre.runtime.argument_signature import Number
from vyre.runtime.clearing import clear


@dataclass(frozen=True)
class Plant:
    """One bug, how to plant it, and the test of the table that must find it."""

    name: str
    planted: Callable[[], AbstractContextManager[Any]]
    found_by: str


def _reinterpreted() -> AbstractContextManager[Any]:
    """Bytes of any array are read as what the buffer holds, as once they were."""
    return patch.object(
        host_arrays, "is_raw", lambda value: getattr(value, "dtype", None) == np.uint8
    )


def _same_width_is_same_type() -> AbstractContextManager[Any]:
    def held(element: Any, dtype: Any) -> bool:
        return dtype.itemsize == host_arrays.numpy_type(element).itemsize and dtype.kind in "biuf"

    return patch.object(host_arrays, "is_held_by", held)


def _writes_to_a_copy() -> AbstractContextManager[Any]:
    return patch.object(host_arrays, "is_copy", lambda value, view: False)


def _masks_ignored() -> AbstractContextManager[Any]:
    return patch("vyre.runtime.host_views._plain_class", lambda array: array.view(np.ndarray))


def _no_copy_back() -> AbstractContextManager[Any]:
    def finish(binding: Any, pool: Any) -> None:
        arguments.read_back(pool.device, binding.pending)
        arguments.give_back(binding, pool)

    return patch("vyre.runtime.run.finish", finish)


def _cleared_too_early() -> AbstractContextManager[Any]:
    right = kernel_arguments._add_array

    def add(made: Any, name: str, parameter: Any, value: Any) -> None:
        if parameter.mode.value == "Out" and type(value) is np.ndarray and value.flags.writeable:
            clear(value, ((),))
        right(made, name, parameter, value)

    return patch.object(kernel_arguments, "_add_array", add)


def _never_cleared() -> AbstractContextManager[Any]:
    return patch.object(arguments.Binder, "clear", lambda self: None)


def _wrapped_numbers() -> AbstractContextManager[Any]:
    def wrapped(value: Any, element: Any, name: str) -> Any:
        if numbers.number_kind(value) in ("b", "i", "f") and not element.value_type.is_float:
            with np.errstate(all="ignore"):
                return np.array([value]).astype(host_arrays.numpy_type(element))
        return right(value, element, name)

    right = kernel_arguments.as_element
    return patch.object(kernel_arguments, "as_element", wrapped)


def _infinite_numbers() -> AbstractContextManager[Any]:
    return patch.object(numbers, "encode_float", lambda value, dtype: _encoded(value, dtype))


def _encoded(value: float, dtype: Any) -> int:
    """The bits, with an infinity of its own for those who ask what that is."""
    from vyre.ir.literal import encode_float

    return -1 if value == float("inf") else encode_float(value, dtype)


def _codes_in_calls_like_one_before() -> AbstractContextManager[Any]:
    def of_number(program: Any, name: str) -> Any:
        return host_arrays.numpy_type(program.buffer(name).element)

    return patch.object(argument_signature, "_type_of_number", of_number)


def _numbers_of_the_call_before() -> AbstractContextManager[Any]:
    return patch.object(Number, "take", lambda self, value: True)


def _converted_anyhow() -> AbstractContextManager[Any]:
    def anyhow(host: Any, dtype: Any) -> Any:
        with np.errstate(all="ignore"):
            return host.astype(dtype)

    return patch.object(conversions, "_converted", anyhow)


ARRAYS, KINDS = "test_arrays_of_every_type", "test_values_of_every_kind"
NUMBERS, CONTENTS = "test_numbers_of_every_kind", "test_contents_of_device_arrays"

PLANTS = (
    Plant("arrays of bytes are read as other types", _reinterpreted, ARRAYS),
    Plant("types of one width are one type", _same_width_is_same_type, ARRAYS),
    Plant("what is written to a copy is lost", _writes_to_a_copy, KINDS),
    Plant("what is masked is seen", _masks_ignored, KINDS),
    Plant("a copy that stands in is not copied back", _no_copy_back, KINDS),
    Plant("outputs are cleared before all is checked", _cleared_too_early, ARRAYS),
    Plant("outputs are not cleared", _never_cleared, ARRAYS),
    Plant("numbers wrap", _wrapped_numbers, NUMBERS),
    Plant("large numbers become infinite", _infinite_numbers, NUMBERS),
    Plant("numbers become codes", _codes_in_calls_like_one_before, NUMBERS),
    Plant("numbers are those of the call before", _numbers_of_the_call_before, NUMBERS),
    Plant("contents are converted anyhow", _converted_anyhow, CONTENTS),
)
