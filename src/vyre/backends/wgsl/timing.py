"""How long kernels take, by the device's own clock.

Reading the clock back makes the host wait, so only some launches are measured: few are enough to
know which programs are worth optimising.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from vyre.backends.wgsl.recorder import Launch, Read
from vyre.driver.backend import LaunchRecord

if TYPE_CHECKING:
    from vyre.backends.wgsl.device import WgpuDevice

FIRST, SECOND, EVERY = 2, 16, 4096
"""Launches that are measured; the very first one still warms up."""


class Timing:
    """The kernel time of one executable."""

    def __init__(self, device: WgpuDevice) -> None:
        self.device = device
        self.record = LaunchRecord(None)
        """Nanoseconds of the launch that was measured last."""
        self._launches = 0
        self._able = "timestamp-query" in device.features
        self._queries: Any = None
        self._results: Any = None

    def is_due(self) -> bool:
        """Whether the launch about to be made shall be measured."""
        if not self._able:
            return False
        n = self._launches = self._launches + 1
        return n in (FIRST, SECOND) or n % EVERY == 0 or self.device.always_timed

    def measure(self, launch: Launch) -> int:
        """Launch, wait, and give the kernel's nanoseconds."""
        import wgpu

        if self._queries is None:
            handle = self.device.handle
            usage = wgpu.BufferUsage.QUERY_RESOLVE | wgpu.BufferUsage.COPY_SRC
            self._queries = handle.create_query_set(type="timestamp", count=2)
            self._results = handle.create_buffer(size=256, usage=usage)
        recorder = self.device.recorder
        recorder.timed_dispatch(launch, self._queries, self._results)
        data = bytearray(16)
        recorder.read([Read(self._results, 0, memoryview(data))])
        start, end = struct.unpack("<QQ", data)
        spent = max(0, int((end - start) * self.device.timestamp_period))
        self.record = LaunchRecord(spent)
        return spent
