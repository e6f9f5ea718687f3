"""The memory of one call: the array of each buffer, and what arguments held when it began."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from vyre.driver.backend import DeviceKind
from vyre.driver.routing import Route
from vyre.ir import DataType
from vyre.pipelines.apart import Host, OneByOne
from vyre.pipelines.count_checks import written_by
from vyre.pipelines.execute import Memory, first_words, new_array
from vyre.pipelines.steps import Buffer, Copied, Step
from vyre.runtime.device_array import DeviceArray


class CallMemory:
    """Which array each buffer of a call has; scratch gets one when it is first used."""

    def __init__(self, route: Route, simple: OneByOne, *, saves: bool) -> None:
        self._device = route.device
        self._simple = simple
        self.is_shared = route.device.info.kind in (DeviceKind.CPU, DeviceKind.REFERENCE)
        """True if the host looks at the memory of the device in place: that is no host read."""
        self._arrays: dict[int, Host | DeviceArray] = {}
        self.saves = saves
        """True if the call may have to begin again: arguments are saved before they change."""
        self._saved: dict[int, tuple[Buffer, Buffer]] = {}

    def take(
        self, name: str, array: Host | DeviceArray, dtype: DataType, *, is_output: bool
    ) -> Buffer:
        """An argument as a buffer."""
        is_plain = isinstance(array, DeviceArray) or array.flags.c_contiguous
        buffer = Buffer(name, dtype, tuple(array.shape), False, is_plain, False, is_output)
        self._arrays[id(buffer)] = array
        return buffer

    def find(self, buffer: Buffer) -> Host | DeviceArray | None:
        """The array of a buffer; None for scratch that was never used."""
        return self._arrays.get(id(buffer))

    def of(self, buffer: Buffer) -> Host | DeviceArray:
        """The array of a buffer, made of zeros for scratch that was never used."""
        found = self._arrays.get(id(buffer))
        if found is None:
            found = self._arrays[id(buffer)] = new_array(self._device, buffer, zeroed=True)
        return found

    def words(self, buffers: Sequence[Buffer]) -> list[int]:
        """The first word of each of some buffers, with one wait; 0 for what was never used."""
        arrays = [self._arrays.get(id(each)) for each in buffers]
        return first_words(self._device, arrays, is_shared=self.is_shared)

    def take_over(self, own: Iterable[int], buffers: Sequence[Buffer], memory: Memory) -> None:
        """Note the memory of scratch that a window has made and that lives on."""
        for number in own:
            array = memory[number]
            if array is not None:
                self._arrays[id(buffers[number])] = array

    @property
    def saved(self) -> list[Buffer]:
        """The copies of arguments that `restore` reads."""
        return [copy for _, copy in self._saved.values()]

    def save(self, step: Step) -> list[Copied]:
        """The copies to make of arguments that a step is the first to change."""
        copies: list[Copied] = []
        for buffer in written_by(step) if self.saves else ():
            if buffer.is_scratch or id(buffer) in self._saved or buffer.is_output:
                continue
            copy = Buffer(buffer.name, buffer.dtype, buffer.shape, True)
            self._saved[id(buffer)] = (buffer, copy)
            copies.append(Copied(buffer, copy))
        return copies

    def restore(self) -> None:
        """Give changed arguments back what they held when the call began."""
        for argument, copy in self._saved.values():
            array = self.find(copy)
            if array is not None:
                self._simple.copy(array, self.of(argument))
