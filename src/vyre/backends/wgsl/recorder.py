"""Work for a device, recorded and submitted together.

Launches and copies are only recorded. They are submitted when the host wants to read something,
before it writes something that recorded work uses, or when much has gathered. Dispatches that
follow one another share a compute pass; WebGPU orders their memory accesses.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from vyre.backends.wgsl.failures import translated

FIRST, MOST = 64, 512
"""Dispatches that wait before they are submitted. Few at first: the device should not idle. As long
as the host waits for nothing, the device has enough to do, and each batch is twice the last."""

LARGEST_KEPT = 16 << 20
"""Bytes of the largest buffer for reading back that is kept for the next time, and that are read
back together: beside copying more than that, one more wait is nothing."""

LOSING_TAKES = 0.05
"""Seconds: a device that ends a wait sooner was not given up by its driver. If it was lost in
another way, the next work says so, as reading a result does."""


class Launch(NamedTuple):
    """One dispatch."""

    pipeline: Any
    group: Any
    buffers: list[Any]
    grid: tuple[int, int, int]


class Read(NamedTuple):
    """Bytes of a buffer that the host wants; offset and size may be odd."""

    buffer: Any
    offset: int
    into: memoryview

    @property
    def words(self) -> tuple[int, int]:
        """The whole words around it: where they begin, and how many bytes they are."""
        start = self.offset - self.offset % 4
        return start, -(-(self.offset + len(self.into)) // 4) * 4 - start


class Recorder:
    """Records commands and submits them in order. Its owner holds the device's lock."""

    def __init__(self, device: Any, name: str) -> None:
        from wgpu.backends.wgpu_native import ffi, lib

        self.device = device
        self.name = name
        self.submissions = 0
        self.waits = 0
        """How often the host waited for the device."""
        self._batch = FIRST
        self._encoder: Any = None
        self._launches: list[Launch] = []
        """Dispatches that come after what the encoder holds."""
        self._latest: Launch | None = None
        self._recorded = 0
        """Copies and measured dispatches that the encoder holds."""
        self._has_writes = False
        """Whether the queue holds writes: it begins them with the next submission."""
        self._used: set[Any] = set()
        self._staging: dict[int, list[Any]] = {}
        # wgpu's own methods ask after each call whether it failed. What a pass records only ever
        # fails when the pass ends, and there is no public way to wait for a device.
        native: Any = lib
        self._native_pipeline = native.wgpuComputePassEncoderSetPipeline
        self._native_group = native.wgpuComputePassEncoderSetBindGroup
        self._native_dispatch = native.wgpuComputePassEncoderDispatchWorkgroups
        self._native_poll = native.wgpuDevicePoll
        self._null: Any = ffi.NULL

    def dispatch(self, launch: Launch) -> None:
        """Record a launch."""
        launches = self._launches
        launches.append(launch)
        if launch is not self._latest:
            self._used.update(launch.buffers)
            self._latest = launch
        if len(launches) >= self._batch:
            self.flush()
            self._batch = min(2 * self._batch, MOST)

    def timed_dispatch(self, launch: Launch, queries: Any, into: Any) -> None:
        """Record a launch between two timestamps, which go to the buffer `into`."""
        encoder = self._commands()
        writes = {
            "query_set": queries,
            "beginning_of_pass_write_index": 0,
            "end_of_pass_write_index": 1,
        }
        compute = encoder.begin_compute_pass(timestamp_writes=writes)
        compute.set_pipeline(launch.pipeline)
        compute.set_bind_group(0, launch.group)
        compute.dispatch_workgroups(*launch.grid)
        compute.end()
        encoder.resolve_query_set(queries, 0, 2, into, 0)
        self._note(*launch.buffers)

    def copy(self, source: Any, start: int, target: Any, to: int, nbytes: int) -> None:
        """Record a copy between buffers."""
        self._commands().copy_buffer_to_buffer(source, start, target, to, nbytes)
        self._note(source, target)

    def clear(self, buffer: Any) -> None:
        """Record filling a buffer with zeros."""
        self._commands().clear_buffer(buffer)
        self._note(buffer)

    def write(self, buffer: Any, offset: int, data: memoryview) -> None:
        """Write host bytes, after the recorded work that uses the buffer."""
        if buffer in self._used:
            self.flush()
        self.device.queue.write_buffer(buffer, offset, data)
        self._has_writes = True

    def read(self, reads: Sequence[Read]) -> None:
        """Submit everything, and read buffers back with as few waits as possible."""
        self._batch = FIRST
        for batch in _batches(reads):
            self._read_batch(batch)

    def _read_batch(self, batch: list[Read]) -> None:
        total = sum(read.words[1] for read in batch)
        staging = self._take_staging(total)
        at = 0
        for read in batch:
            start, size = read.words
            self.copy(read.buffer, start, staging, at, size)
            at += size
        self.flush()
        self.waits += 1
        staging.map_sync("READ", 0, total)
        try:
            mapped = staging.read_mapped(0, total, copy=False)
            at = 0
            for read in batch:
                start, size = read.words
                first = at + read.offset - start
                read.into[:] = mapped[first : first + len(read.into)]
                at += size
        finally:
            staging.unmap()
        self._give_staging(staging)

    def flush(self) -> None:
        """Submit what is recorded."""
        if self._encoder is None and not self._launches and not self._has_writes:
            return
        try:
            with translated(self.name, "submitting work"):
                self.device.queue.submit([self._commands().finish()])
            self.submissions += 1
        finally:
            # After a failure the recording is of no more use.
            self._encoder = self._latest = None
            self._launches.clear()
            self._recorded = 0
            self._has_writes = False
            self._used.clear()

    def wait(self, seconds: float | None = None) -> bool:
        """Submit everything and wait for it; False if it took longer than `seconds`."""
        self._batch = FIRST
        self.flush()
        self.waits += 1
        started = time.monotonic()
        if seconds is None:
            self._native_wait()
        else:
            done = threading.Event()

            def wait_aside() -> None:
                self._native_wait()
                done.set()

            threading.Thread(target=wait_aside, daemon=True).start()
            if not done.wait(seconds):
                return False
        if time.monotonic() - started > LOSING_TAKES:
            with translated(self.name, "waiting for it"):
                # A lost device ends the wait like one that is done; but it encodes nothing more.
                self.device.create_command_encoder().finish()
        return True

    def _native_wait(self) -> None:
        self._native_poll(self.device._internal, True, self._null)

    def _commands(self) -> Any:
        """The encoder, with everything in it that was recorded up to now."""
        if self._encoder is None:
            self._encoder = self.device.create_command_encoder()
        if self._launches:
            self._encode_launches()
        return self._encoder

    def _encode_launches(self) -> None:
        compute = self._encoder.begin_compute_pass()
        native, dispatch = compute._internal, self._native_dispatch
        pipeline = group = before = None
        for launch in self._launches:
            if launch is not before:
                if launch.pipeline is not pipeline:
                    pipeline = launch.pipeline
                    self._native_pipeline(native, pipeline._internal)
                if launch.group is not group:
                    group = launch.group
                    self._native_group(native, 0, group._internal, 0, self._null)
                before = launch
            x, y, z = launch.grid
            dispatch(native, x, y, z)
        compute.end()
        self._launches.clear()
        self._latest = None

    def _note(self, *buffers: Any) -> None:
        self._used.update(buffers)
        self._recorded += 1
        if self._recorded >= FIRST:
            self.flush()

    def _give_staging(self, buffer: Any) -> None:
        if buffer.size > LARGEST_KEPT:
            buffer.destroy()
        else:
            self._staging.setdefault(buffer.size, []).append(buffer)

    def _take_staging(self, nbytes: int) -> Any:
        """A buffer that the host can map, of at least this size."""
        import wgpu

        # Rounded up so that it serves others; a large one is used once and takes what it needs.
        size = nbytes if nbytes > LARGEST_KEPT else 1 << max(8, (nbytes - 1).bit_length())
        waiting = self._staging.get(size)
        if waiting:
            return waiting.pop()
        usage = wgpu.BufferUsage.COPY_DST | wgpu.BufferUsage.MAP_READ
        return self.device.create_buffer(size=size, usage=usage)


def _batches(reads: Sequence[Read]) -> Iterator[list[Read]]:
    """What is read back together, in order."""
    batch: list[Read] = []
    total = 0
    for read in reads:
        size = read.words[1]
        if batch and total + size > LARGEST_KEPT:
            yield batch
            batch, total = [], 0
        batch.append(read)
        total += size
    if batch:
        yield batch
