"""The meaning of a pipeline: its stages, called one after another on fresh zeroed scratch.

`Pipeline.apart` runs this on any device. Everything else that runs pipelines agrees with it, bit
for bit.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from vyre.diagnostics import DeadlineError, Span, VyreError
from vyre.diagnostics.codes import execution as codes
from vyre.driver.backend import Device
from vyre.front.parameters import ArrayParameter, Mode
from vyre.ir import DataType
from vyre.pipelines import tree
from vyre.pipelines.actions import Launch, Size
from vyre.pipelines.counts import CountedScratch, first_elements, trimmed, writes_count
from vyre.pipelines.loops import Repeats
from vyre.pipelines.stages import Site, without_room
from vyre.runtime.device_array import DeviceArray
from vyre.runtime.host_types import numpy_type
from vyre.runtime.kernel import Kernel
from vyre.runtime.run import check_deadline

Host = np.ndarray[Any, np.dtype[Any]]


class OneByOne:
    """Runs each stage when the walker comes to it."""

    repeats: Repeats | None = None
    """Iterations are walked one after the other."""

    def __init__(self, device: Device, clock: Clock) -> None:
        self._device = device
        self._id = device.info.id
        self.clock = clock
        self.kept: dict[str, DeviceArray] = {}

    def scratch(self, name: str, dtype: DataType, shape: tuple[int, ...]) -> DeviceArray:
        """A new array of zeros on the device."""
        try:
            return DeviceArray(self._device, shape, numpy_type(dtype))
        except VyreError as error:
            raise without_room(error, [name]) from error.__cause__

    def counted_scratch(
        self, made: tree.Scratch, dtype: DataType, size: Size, count: DeviceArray
    ) -> CountedScratch:
        """Room for as many elements as there may be."""
        array = self.scratch(made.name, dtype, (size.most,))
        return CountedScratch(made.name, array, count, size.most, made.span, size.start)

    def launch(
        self,
        kernel: Kernel[...],
        given: Mapping[str, Any],
        grid: Launch,
        elements: Launch,
        site: Site,
    ) -> None:
        """Call the kernel."""
        given = {name: self._counted(kernel, name, given) for name in kernel.source.parameters}
        self.call(kernel, list(given.values()), grid, elements)

    def _counted(self, kernel: Kernel[...], name: str, given: Mapping[str, Any]) -> Any:
        """An argument; counted scratch is as long as its count, which the host reads."""
        value, parameters = given[name], kernel.source.parameters
        if not isinstance(value, CountedScratch):
            return value
        parameter = parameters[name]
        if isinstance(parameter, ArrayParameter) and parameter.mode is Mode.OUT:
            self.clear(value.array)
        if writes_count(value, parameters, given):
            return value.array
        return first_elements(self._device, value.array, self._count(value))

    def _count(self, scratch: CountedScratch) -> int:
        self.clock.left()
        held = scratch.count
        held = held.numpy() if isinstance(held, DeviceArray) else held
        return scratch.checked(int(held.reshape(-1)[0]))

    def returned(self, array: Any) -> DeviceArray:
        """What a pipeline returns: counted scratch is trimmed to its count."""
        if not isinstance(array, CountedScratch):
            return array
        return trimmed(self._device, array.array, self._count(array))

    def call(
        self, kernel: Kernel[...], values: Sequence[object], grid: Launch, elements: Launch
    ) -> None:
        """Call a kernel with its arguments by position."""
        left = self.clock.left()
        named: dict[str, Any] = {}
        if kernel.source.keyword_only:
            values, named = (), dict(zip(kernel.source.parameters, values, strict=True))
        try:
            kernel(*values, **named, device=self._id, grid=grid, elements=elements, deadline=left)
        except DeadlineError as error:
            raise self.clock.restated(error) from error.__cause__

    def copy(self, source: Host | DeviceArray, target: Host | DeviceArray) -> None:
        """Copy by way of the host, unless both arrays are on the device."""
        if isinstance(target, DeviceArray):
            if isinstance(source, DeviceArray):
                target.hold().memory.copy_from(source.hold().memory, source.nbytes)
            else:
                target.write(source)
        else:
            target[...] = source.numpy() if isinstance(source, DeviceArray) else source

    def clear(self, array: Host | DeviceArray) -> None:
        """Fill an array with zeros."""
        if isinstance(array, DeviceArray):
            array.hold().memory.zero()
        else:
            array[...] = 0

    def check_time(self) -> None:
        """Raise an error if the deadline has passed."""
        self.clock.left()

    def is_set(self, flag: Host | DeviceArray) -> bool:
        """Read a flag on the host."""
        self.clock.left()
        held = flag.numpy() if isinstance(flag, DeviceArray) else flag
        return bool(held.reshape(-1)[:1].any())

    def choose(self, flag: object, span: Span) -> None:
        """The host looks at the flag."""

    def keep(self, name: str, array: Host | DeviceArray) -> None:
        """Note an array that stays readable."""
        self.kept[name] = cast("DeviceArray", array)


class Sanitized(OneByOne):
    """Runs each stage on the reference, with its sanitizer."""

    def __init__(self, device: Device, clock: Clock, *, sanitize: bool) -> None:
        super().__init__(device, clock)
        self._sanitize = sanitize

    def call(
        self, kernel: Kernel[...], values: Sequence[object], grid: Launch, elements: Launch
    ) -> None:
        """Call a kernel on the reference; defects are errors."""
        named: dict[str, Any] = dict(zip(kernel.source.parameters, values, strict=True))
        left, sanitize = self.clock.left(), self._sanitize
        named |= {"grid": grid, "elements": elements, "deadline": left}
        try:
            kernel.reference(**named, sanitize=sanitize)
        except DeadlineError as error:
            raise self.clock.restated(error) from error.__cause__


class Clock:
    """One deadline for all launches of a call."""

    __slots__ = ("_deadline", "_end")

    def __init__(self, deadline: float | None) -> None:
        if deadline is not None:
            check_deadline(deadline)
        self._deadline = deadline
        self._end = None if deadline is None else time.monotonic() + deadline

    def left(self) -> float | None:
        """Seconds until the deadline; an error when it has passed."""
        if self._end is None:
            return None
        seconds = self._end - time.monotonic()
        if seconds <= 0:
            raise DeadlineError(codes.DEADLINE.at(seconds=self._deadline))
        return seconds

    def restated(self, error: DeadlineError) -> DeadlineError:
        """The error of a launch that had the rest of the time, with the time of the call."""
        first, *rest = error.diagnostics
        own = codes.DEADLINE.at(seconds=self._deadline)
        return DeadlineError((replace(first, message=own.message), *rest))
