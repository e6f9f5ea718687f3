"""Work for a device, recorded and submitted together.

Launches and copies are only recorded. They are submitted when the host wants to read something,
before it writes something that recorded work uses, or when much has gathered. Dispatches that
follow one another share a compute pass; WebGPU orders their memory accesses.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import compress, starmap
from operator import attrgetter, eq
from typing import Any, NamedTuple

from vyre.backends.wgsl.failures import translated
from vyre.diagnostics import VyreError

FIRST, MOST = 64, 512
"""Dispatches that wait before they are submitted. Few at first: the device should not idle. As long
as the host waits for nothing, the device has enough to do, and each batch is twice the last."""

LARGEST_KEPT = 16 << 20
"""Bytes of the largest buffer for reading back that is kept for the next time, and that are read
back together: beside copying more than that, one more wait is nothing."""

SHORTEST_PAUSE, LONGEST_PAUSE = 0.0002, 0.002
"""Seconds between two looks whether the device is done. Signals are heard in between."""

LOSING_TAKES = 0.05
"""Seconds: a device that ends a wait sooner was not given up by its driver. If it was lost in
another way, the next work says so, as reading a result does."""

_NONE = ((None, 0),)
_generation = attrgetter("generation")


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


class Copy(NamedTuple):
    """Bytes from one buffer to another."""

    source: Any
    start: int
    target: Any
    to: int
    nbytes: int


class Clear(NamedTuple):
    """Zeros for a buffer."""

    buffer: Any


class Timed(NamedTuple):
    """A dispatch between two timestamps, which go to the buffer `into`."""

    launch: Launch
    queries: Any
    into: Any


class Recorder:
    """Records commands and submits them in order. Its owner holds the device's lock.

    A signal handler may raise anywhere in here, or launch something itself. What is recorded stays
    so until it is submitted, and is submitted once: work of earlier calls, and of the one that was
    interrupted, is neither lost nor done twice.
    """

    def __init__(self, device: Any, name: str) -> None:
        from wgpu.backends.wgpu_native import ffi, lib
        from wgpu.backends.wgpu_native._api import libf

        self.device = device
        self.name = name
        self.submissions = 0
        self.waits = 0
        """How often the host waited for the device."""
        self._batch = FIRST
        self._work: list[Launch | Copy | Clear | Timed] = []
        self._latest: Launch | None = None
        self._recorded = 0
        """Copies and measured dispatches among the work."""
        self._has_writes = False
        """Whether the queue holds writes: it begins them with the next submission."""
        self._used: set[Any] = set()
        self._staging: dict[int, list[Any]] = {}
        self._unread: dict[int, tuple[Any, Any]] = {}
        """Buffers that are being mapped, and what tells the end of that, by the id of the latter.
        A handler that launches looks through them, while the call that it interrupted waits."""
        # wgpu's own methods ask after each call whether it failed. What a pass records only ever
        # fails when the pass ends, and there is no public way to wait for a device.
        native: Any = lib
        self._native_pipeline = native.wgpuComputePassEncoderSetPipeline
        self._native_group = native.wgpuComputePassEncoderSetBindGroup
        self._native_dispatch = native.wgpuComputePassEncoderDispatchWorkgroups
        self._native_poll = native.wgpuDevicePoll
        self._ffi: Any = ffi
        self._submitted: list[tuple[None, int]] = []
        """How much of the work has been submitted, until it is forgotten."""
        self.generation = 0
        """How often submitted work was forgotten: what was encoded before is out of date."""
        submit: Any = native.wgpuQueueSubmit

        def submit_and_note(queue: Any, commands: Any, generation: int, length: int) -> None:
            # No handler runs inside of `extend`: this is noted as soon as it is done, and nothing
            # is submitted that a handler has submitted since it was encoded.
            is_new = map(eq, map(_generation, [self]), [generation])
            todo = compress([(queue, 1, commands)], is_new)
            self._submitted.extend(zip(starmap(submit, todo), [length]))  # noqa: B905  or none

        safe: Any = libf
        self._native_submit = safe._make_proxy_func("wgpuQueueSubmit", submit_and_note)

    def dispatch(self, launch: Launch) -> None:
        """Record a launch."""
        self._work.append(launch)
        if launch is not self._latest:
            self._used.update(launch.buffers)
            self._latest = launch
        if len(self._work) >= self._batch:
            self.flush()
            self._batch = min(2 * self._batch, MOST)

    def timed_dispatch(self, launch: Launch, queries: Any, into: Any) -> None:
        """Record a launch between two timestamps, which go to the buffer `into`."""
        self._record(Timed(launch, queries, into), *launch.buffers)

    def copy(self, source: Any, start: int, target: Any, to: int, nbytes: int) -> None:
        """Record a copy between buffers."""
        self._record(Copy(source, start, target, to, nbytes), source, target)

    def clear(self, buffer: Any) -> None:
        """Record filling a buffer with zeros."""
        self._record(Clear(buffer), buffer)

    def write(self, buffer: Any, offset: int, data: memoryview) -> None:
        """Write host bytes, after the recorded work that uses the buffer."""
        if buffer in self._used:
            self.flush()
        self._has_writes = True
        self.device.queue.write_buffer(buffer, offset, data)

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
        self._map(staging, total)
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

    def _map(self, staging: Any, nbytes: int) -> None:
        """Wait until the host can read a buffer, while signals are heard."""
        # What it reads has just been submitted. Else wgpu would submit something itself, and that
        # may wait for the device, deaf to signals.
        promise = staging.map_async("READ_NOSYNC", 0, nbytes)
        # The driver calls back even if a signal handler raises, and must find everything there.
        self._unread[id(promise)] = (staging, promise)
        promise.sync_wait()
        self._unread.pop(id(promise), None)

    def _is_still_mapping(self) -> bool:
        """True if a buffer is to be mapped and its mapping is no longer awaited."""
        for key, (_, promise) in list(self._unread.items()):
            if promise._state != "pending":
                self._unread.pop(key, None)
        return bool(self._unread)

    def flush(self) -> None:
        """Submit what is recorded."""
        self._forget_submitted()
        # Once, unless a handler records more meanwhile.
        while self._work or self._has_writes:
            if self._is_still_mapping():
                # A signal handler ended the wait for it, or interrupts it now. A thread of wgpu
                # waits for the device, and submitting would wait for that thread, deaf to signals.
                self._until_done(None)
            self._submit()

    def _submit(self) -> None:
        generation, work = self.generation, self._work[:]
        try:
            with translated(self.name, "submitting work"):
                finished = self._encoded(work)
                commands = self._ffi.new("WGPUCommandBuffer[]", [finished._internal])
                queue = self.device.queue._internal
                self._native_submit(queue, commands, generation, len(work))
        except VyreError:
            # After a failure the recording is of no more use.
            self._submitted.append((None, len(self._work)))
            raise
        finally:
            self._forget_submitted()

    def _forget_submitted(self) -> None:
        if not self._submitted:
            return
        self.submissions += 1
        self._latest = None
        self._recorded = 0
        self._has_writes = False
        # One statement without a call, so no handler runs inside of it. One may have been here
        # since, and have forgotten the same.
        self._work[: (self._submitted or _NONE)[0][1]], self._submitted[:], self.generation = (
            *((), ()),
            self.generation + 1,
        )
        self._used.clear() if not self._work else None

    def wait(self, seconds: float | None = None) -> bool:
        """Submit everything and wait for it; False if it took longer than `seconds`."""
        self._batch = FIRST
        self.flush()
        self.waits += 1
        started = time.monotonic()
        if not self._until_done(seconds):
            return False
        if time.monotonic() - started > LOSING_TAKES:
            with translated(self.name, "waiting for it"):
                # A lost device ends the wait like one that is done; but it encodes nothing more.
                self.device.create_command_encoder().finish()
        return True

    def _until_done(self, seconds: float | None) -> bool:
        """Wait for what was submitted; False if it took longer than `seconds`."""
        started = time.monotonic()
        pause = SHORTEST_PAUSE
        while not self._is_done():
            spent = time.monotonic() - started
            if seconds is not None and spent >= seconds:
                return False
            if spent > SHORTEST_PAUSE:
                time.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)
        return True

    def _is_done(self) -> bool:
        # Declared as 32 bits wide, but the library sets the lowest eight.
        return bool(self._native_poll(self.device._internal, False, self._ffi.NULL) & 0xFF)

    def _encoded(self, work: list[Launch | Copy | Clear | Timed]) -> Any:
        """Recorded work as commands."""
        encoder = self.device.create_command_encoder()
        launches: list[Launch] = []
        for one in work:
            if isinstance(one, Launch):
                launches.append(one)
                continue
            self._encode_launches(encoder, launches)
            launches.clear()
            match one:
                case Copy():
                    encoder.copy_buffer_to_buffer(*one)
                case Clear(buffer):
                    encoder.clear_buffer(buffer)
                case Timed():
                    _encode_timed(encoder, one)
        self._encode_launches(encoder, launches)
        return encoder.finish()

    def _encode_launches(self, encoder: Any, launches: list[Launch]) -> None:
        if not launches:
            return
        compute = encoder.begin_compute_pass()
        native, dispatch = compute._internal, self._native_dispatch
        pipeline = group = before = None
        for launch in launches:
            if launch is not before:
                if launch.pipeline is not pipeline:
                    pipeline = launch.pipeline
                    self._native_pipeline(native, pipeline._internal)
                if launch.group is not group:
                    group = launch.group
                    self._native_group(native, 0, group._internal, 0, self._ffi.NULL)
                before = launch
            x, y, z = launch.grid
            dispatch(native, x, y, z)
        compute.end()

    def _record(self, one: Copy | Clear | Timed, *buffers: Any) -> None:
        self._work.append(one)
        self._latest = None
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
        found = waiting.pop() if waiting else None
        if found is not None:
            return found
        usage = wgpu.BufferUsage.COPY_DST | wgpu.BufferUsage.MAP_READ
        return self.device.create_buffer(size=size, usage=usage)


def _encode_timed(encoder: Any, timed: Timed) -> None:
    launch, queries, into = timed
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
