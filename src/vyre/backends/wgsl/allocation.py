"""Memory of a WebGPU device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.backends.wgsl.failures import translated
from vyre.backends.wgsl.forks import is_inherited
from vyre.backends.wgsl.recorder import Read
from vyre.backends.wgsl.shader import GRAIN
from vyre.diagnostics import BackendError
from vyre.diagnostics.codes import webgpu as codes
from vyre.driver.backend import DeviceMemory

if TYPE_CHECKING:
    from vyre.backends.wgsl.device import WgpuDevice


class Allocation:
    """One buffer of WebGPU. Sizes and offsets may be odd: whole words are moved underneath."""

    def __init__(self, device: WgpuDevice, nbytes: int) -> None:
        import wgpu

        self.device = device
        self._nbytes = nbytes
        self.capacity = max(GRAIN, -(-nbytes // GRAIN) * GRAIN)
        usage = wgpu.BufferUsage
        with device.lock, translated(device.info.id, "allocating memory", nbytes):
            # WebGPU itself fills new buffers with zeros.
            self.buffer: Any = device.handle.create_buffer(
                size=self.capacity,
                usage=usage.STORAGE | usage.UNIFORM | usage.COPY_SRC | usage.COPY_DST,
            )

    @property
    def nbytes(self) -> int:
        """The size that was asked for."""
        return self._nbytes

    def write(self, data: memoryview, offset: int = 0) -> None:
        """Copy host bytes into it."""
        data = data.cast("B") if data.format != "B" or data.ndim != 1 else data
        self._check(offset, len(data))
        if not len(data):
            return
        with self.device.lock, translated(self.device.info.id, "writing memory", len(data)):
            head = offset % 4
            tail = -(offset + len(data)) % 4
            if head or (tail and offset + len(data) != self._nbytes):
                # A part of a word: what is around it stays.
                around = bytearray(head + len(data) + tail)
                self.device.recorder.read([Read(self.buffer, offset - head, memoryview(around))])
                around[head : head + len(data)] = data
                data = memoryview(around)
            elif tail:
                data = memoryview(bytes(data) + bytes(tail))
            self.device.recorder.write(self.buffer, offset - head, data)

    def read(self, into: memoryview, offset: int = 0) -> None:
        """Copy it to host bytes; waits for the work that writes it."""
        if len(into):
            with self.device.lock, translated(self.device.info.id, "reading memory", len(into)):
                self.device.recorder.read([self.wanted(into, offset)])

    def wanted(self, into: memoryview, offset: int = 0) -> Read:
        """What is to be read of it, for reading it together with others."""
        into = into.cast("B") if into.format != "B" or into.ndim != 1 else into
        self._check(offset, len(into))
        return Read(self.buffer, offset, into)

    def zero(self) -> None:
        """Fill it with zeros."""
        with self.device.lock, translated(self.device.info.id, "clearing memory"):
            self.device.recorder.clear(self.buffer)

    def copy_from(self, source: DeviceMemory, nbytes: int) -> None:
        """Copy from other memory of the same device."""
        if not isinstance(source, Allocation) or source.device is not self.device:
            raise BackendError(codes.NOT_OURS.at(device=self.device.info.id))
        self._check(0, nbytes)
        whole = nbytes - nbytes % 4
        with self.device.lock, translated(self.device.info.id, "copying memory"):
            if whole:
                self.device.recorder.copy(source.buffer, 0, self.buffer, 0, whole)
            if whole != nbytes:
                rest = bytearray(nbytes - whole)
                source.read(memoryview(rest), whole)
                self.write(memoryview(rest), whole)

    def host_view(self) -> memoryview | None:
        """The host cannot reach it."""
        return None

    def release(self) -> None:
        """Give it back; work that uses it is finished first."""
        if is_inherited():
            return  # it belongs to the process that this one was forked from
        with self.device.lock, translated(self.device.info.id, "releasing memory"):
            self.device.recorder.flush()
            self.buffer.destroy()

    def _check(self, offset: int, nbytes: int) -> None:
        if offset < 0 or offset + nbytes > self.capacity:
            raise ValueError(f"{nbytes} bytes at {offset} are outside of {self._nbytes} bytes")
