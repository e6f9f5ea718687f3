"""Work for a device, recorded and submitted together.

Launches and copies are only recorded. They are submitted when the host wants to read something,
before it writes something that recorded work uses, or when much has gathered. Dispatches that
follow one another share a compute pass; WebGPU orders their memory accesses.
"""

from __future__ import annotations

import threading
from typing import Any

MOST_RECORDED = 64
"""Dispatches that may wait before they are submitted: the device should not idle for long."""

LARGEST_KEPT = 16 << 20
"""Bytes of the largest buffer for reading back that is kept for the next time."""


class Recorder:
    """Records commands and submits them in order. Its owner holds the device's lock."""

    def __init__(self, device: Any, name: str) -> None:
        self.device = device
        self.name = name
        self.submissions = 0
        self._encoder: Any = None
        self._pass: Any = None
        self._pipeline: Any = None
        self._group: Any = None
        """What the open pass has set."""
        self._recorded = 0
        self._used: set[Any] = set()
        self._staging: dict[int, list[Any]] = {}

    def dispatch(
        self, pipeline: Any, group: Any, buffers: list[Any], grid: tuple[int, ...]
    ) -> None:
        """Record a launch."""
        if self._pass is None:
            self._pass = self._commands().begin_compute_pass()
        if pipeline is not self._pipeline:
            self._pass.set_pipeline(pipeline)
            self._pipeline = pipeline
        if group is not self._group:
            self._pass.set_bind_group(0, group)
            self._group = group
            self._used.update(buffers)
        self._pass.dispatch_workgroups(*grid)
        self._note()

    def timed_dispatch(
        self, pipeline: Any, group: Any, grid: tuple[int, ...], queries: Any, into: Any
    ) -> None:
        """Record a launch between two timestamps, which go to the buffer `into`."""
        self._end_pass()
        encoder = self._commands()
        writes = {
            "query_set": queries,
            "beginning_of_pass_write_index": 0,
            "end_of_pass_write_index": 1,
        }
        compute = encoder.begin_compute_pass(timestamp_writes=writes)
        compute.set_pipeline(pipeline)
        compute.set_bind_group(0, group)
        compute.dispatch_workgroups(*grid)
        compute.end()
        encoder.resolve_query_set(queries, 0, 2, into, 0)
        self._recorded += 1

    def copy(self, source: Any, start: int, target: Any, to: int, nbytes: int) -> None:
        """Record a copy between buffers."""
        self._end_pass()
        self._commands().copy_buffer_to_buffer(source, start, target, to, nbytes)
        self._note(source, target)

    def clear(self, buffer: Any) -> None:
        """Record filling a buffer with zeros."""
        self._end_pass()
        self._commands().clear_buffer(buffer)
        self._note(buffer)

    def write(self, buffer: Any, offset: int, data: memoryview) -> None:
        """Write host bytes, after the recorded work that uses the buffer."""
        if buffer in self._used:
            self.flush()
        self.device.queue.write_buffer(buffer, offset, data)

    def read(self, buffer: Any, offset: int, into: memoryview) -> None:
        """Submit everything, wait for it, and read a buffer."""
        size = len(into)
        staging = self._take_staging(size)
        self.copy(buffer, offset, staging, 0, size)
        self.flush()
        staging.map_sync("READ", 0, size)
        try:
            into[:] = staging.read_mapped(0, size, copy=False)
        finally:
            staging.unmap()
        self._give_staging(staging)

    def flush(self) -> None:
        """Submit what is recorded."""
        if self._encoder is None:
            return
        try:
            self._end_pass()
            self.device.queue.submit([self._encoder.finish()])
            self.submissions += 1
        finally:
            # After a failure the recording is of no more use.
            self._encoder = self._pass = self._pipeline = self._group = None
            self._recorded = 0
            self._used.clear()

    def wait(self, seconds: float | None = None) -> bool:
        """Submit everything and wait for it; False if it took longer than `seconds`."""
        marker = self._take_staging(4)
        self.clear(marker)
        self.flush()
        if seconds is None:
            marker.map_sync("READ", 0, 4)
        else:
            done = threading.Event()

            def wait_for_marker() -> None:
                marker.map_sync("READ", 0, 4)
                done.set()

            threading.Thread(target=wait_for_marker, daemon=True).start()
            if not done.wait(seconds):
                return False
        marker.unmap()
        self._give_staging(marker)
        return True

    def _commands(self) -> Any:
        if self._encoder is None:
            self._encoder = self.device.create_command_encoder()
        return self._encoder

    def _end_pass(self) -> None:
        if self._pass is not None:
            ended = self._pass
            self._pass = self._pipeline = self._group = None
            ended.end()

    def _note(self, *buffers: Any) -> None:
        if buffers:
            self._used.update(buffers)
        self._recorded += 1
        if self._recorded >= MOST_RECORDED:
            self.flush()

    def _give_staging(self, buffer: Any) -> None:
        if buffer.size > LARGEST_KEPT:
            buffer.destroy()
        else:
            self._staging.setdefault(buffer.size, []).append(buffer)

    def _take_staging(self, nbytes: int) -> Any:
        """A buffer that the host can map, of at least this size."""
        import wgpu

        size = 1 << max(8, (nbytes - 1).bit_length())
        waiting = self._staging.get(size)
        if waiting:
            return waiting.pop()
        usage = wgpu.BufferUsage.COPY_DST | wgpu.BufferUsage.MAP_READ
        return self.device.create_buffer(size=size, usage=usage)
