"""This machine's CPU as a device: its memory is the host's."""

from __future__ import annotations

import ctypes
import platform
from dataclasses import field

import numpy as np

from vyre.diagnostics import OutOfMemoryError
from vyre.diagnostics.codes import driver as codes
from vyre.driver.backend import DeviceInfo, DeviceKind, DeviceMemory
from vyre.driver.host_memory import is_private
from vyre.driver.sequence import PreparedSequence, Sequence
from vyre.record import dataclass
from vyre.signals import is_from_handler

ALIGNMENT = 64


class HostMemory:
    """Bytes of this process: allocated here, or an array of the caller's used in place."""

    __slots__ = ("_owner", "_view", "address", "is_private", "nbytes")

    def __init__(
        self, view: memoryview, address: int, owner: object, *, is_private: bool = True
    ) -> None:
        self.is_private = is_private
        """True if it must be mapped at one address only; a file may be mapped twice."""
        self._view: memoryview | None = view
        self.address = address
        self.nbytes = view.nbytes
        self._owner = owner

    def _bytes(self) -> memoryview:
        if self._view is None:
            raise ValueError("this memory has been released")
        return self._view

    def write(self, data: memoryview, offset: int = 0) -> None:
        """Copy host bytes into it."""
        self._bytes()[offset : offset + data.nbytes] = data.cast("B") if data.ndim != 1 else data

    def read(self, into: memoryview, offset: int = 0) -> None:
        """Copy it to host bytes."""
        into[:] = self._bytes()[offset : offset + into.nbytes]

    def zero(self) -> None:
        """Fill it with zeros."""
        ctypes.memset(self.address, 0, self.nbytes)

    def copy_from(self, source: DeviceMemory, nbytes: int) -> None:
        """Copy from other memory of this device."""
        other = source.host_view()
        assert other is not None
        self._bytes()[:nbytes] = other[:nbytes]

    def host_view(self) -> memoryview | None:
        """Its bytes in place."""
        return self._view

    def release(self) -> None:
        """Drop the reference to it."""
        self._view = None
        self._owner = None


def _cpu_name() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError as problem:
        if is_from_handler(problem):
            raise
        pass
    return platform.processor() or platform.machine()


@dataclass(slots=True)
class CpuDevice:
    """The CPU."""

    info: DeviceInfo = field(
        default_factory=lambda: DeviceInfo(
            id="cpu", backend="cpu", kind=DeviceKind.CPU, name=_cpu_name()
        )
    )

    def allocate(self, nbytes: int) -> HostMemory:
        """New memory, filled with zeros."""
        try:
            raw = np.zeros(nbytes + ALIGNMENT, np.uint8)
        except MemoryError as problem:
            if is_from_handler(problem):
                raise
            raise OutOfMemoryError(
                codes.OUT_OF_MEMORY.at(device="cpu", nbytes=nbytes, in_use="unknown")
            ) from problem
        start = int(raw.ctypes.data)
        skip = -start % ALIGNMENT
        view = raw[skip : skip + nbytes].data
        return HostMemory(view, start + skip, raw)

    def adopt(self, array: memoryview) -> HostMemory | None:
        """The caller's bytes in place."""
        flat = np.frombuffer(array, np.uint8)
        address = int(flat.__array_interface__["data"][0])
        return HostMemory(array, address, array, is_private=is_private(array))

    def prepare_sequence(self, sequence: Sequence) -> PreparedSequence | None:
        """The sequence as one job of the thread pool."""
        from vyre.backends.llvm.sequence import native_sequence  # most programs have none

        return native_sequence(sequence)

    def synchronize(self) -> None:
        """Launches wait for their end, so there is nothing to wait for."""
