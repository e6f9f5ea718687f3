"""Counted scratch: an array with room for a number of elements, and the array that counts them.

In a stage that writes the count, its length is the upper limit. In every other stage it is the
count, as it is on the device when that stage begins.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vyre.diagnostics import Location, PlanError, Span
from vyre.diagnostics.codes import pipeline as codes
from vyre.driver.backend import Device
from vyre.front.parameters import Parameter
from vyre.pipelines.stages import is_written
from vyre.record import dataclass
from vyre.runtime.device_array import DeviceArray


@dataclass(eq=False, slots=True)
class CountedScratch:
    """Scratch whose length is on the device."""

    name: str
    array: Any
    """Room for its elements, as the receiver of the stages has arrays."""
    count: Any
    """One `u32`."""
    most: int
    """The upper limit of its length."""
    span: Span
    start: int | None = None
    """How many elements there is room for at first, as it was written."""

    def checked(self, found: int) -> int:
        """A count that was read; an error if it is above the limit."""
        if found <= self.most:
            return found
        raise PlanError(
            codes.COUNT_ABOVE.at(
                Location(span=self.span), (), name=self.name, found=found, most=self.most
            )
        )


def plain(array: Any) -> Any:
    """The array of counted scratch; any other array as it is."""
    return array.array if isinstance(array, CountedScratch) else array


def writes_count(
    scratch: CountedScratch, parameters: Mapping[str, Parameter], given: Mapping[str, Any]
) -> bool:
    """True if a stage writes the count of scratch that it has."""
    return any(
        value is scratch.count and is_written(parameters[name]) for name, value in given.items()
    )


def first_elements(device: Device, array: DeviceArray, count: int) -> DeviceArray:
    """The first elements of an array, in the same memory."""
    return DeviceArray(device, (count,), array.dtype, array.hold())


def trimmed(device: Device, array: DeviceArray, count: int) -> DeviceArray:
    """The first elements of an array, in memory of their own if most of it were unused."""
    if 2 * count >= array.size:
        return first_elements(device, array, count)
    made = DeviceArray(device, (count,), array.dtype)
    if count:
        made.hold().memory.copy_from(array.hold().memory, made.nbytes)
    return made
