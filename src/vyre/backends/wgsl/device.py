"""A WebGPU device: memory, the queue of recorded work, and what it can do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vyre.backends.wgsl.adapters import Found
from vyre.backends.wgsl.allocation import Allocation
from vyre.backends.wgsl.atomics import STORAGE_LOCKS
from vyre.backends.wgsl.failures import translated
from vyre.backends.wgsl.forks import (
    FORKED,
    FORKED_REMEDY,
    keep_for_ever,
    note_device,
    refuse_inherited,
)
from vyre.backends.wgsl.loop_limit_probe import measure_rounds
from vyre.backends.wgsl.recorder import Read, Recorder
from vyre.backends.wgsl.shader import GRAIN
from vyre.backends.wgsl.subgroup_width import measure_width
from vyre.diagnostics import BackendError, DeviceError
from vyre.diagnostics.codes import driver as driver_codes
from vyre.diagnostics.codes import webgpu as codes
from vyre.driver.backend import DeviceInfo, DeviceMemory
from vyre.locks import cached_property, make_lock

INT64_FEATURES = ("shader-int64", "shader-int64-atomic-all-ops")
USEFUL_FEATURES = ("subgroup", "timestamp-query", *INT64_FEATURES)
USEFUL_LIMITS = (
    "max-buffer-size",
    "max-compute-invocations-per-workgroup",
    "max-compute-workgroup-size-x",
    "max-compute-workgroup-size-y",
    "max-compute-workgroup-size-z",
    "max-compute-workgroup-storage-size",
    "max-compute-workgroups-per-dimension",
    "max-storage-buffer-binding-size",
    "max-storage-buffers-per-shader-stage",
    "max-uniform-buffer-binding-size",
)


class WgpuDevice:
    """A device, opened when it is first used. Its methods may be called from any thread."""

    def __init__(self, found: Found) -> None:
        self.adapter = found.adapter
        self.lock = make_lock()
        self._info = found.info
        self._opened: Any = None
        self._abandoned = False
        self.always_timed = False
        """Whether every launch is measured; benchmarks want that."""
        self._recorder: Recorder | None = None
        note_device(self)

    def disown(self) -> None:
        """In a forked process: let nothing use what belongs to the other one."""
        keep_for_ever(self._opened)
        self._recorder = None
        known = self._info
        self._info = DeviceInfo(
            *(known.id, known.backend, known.kind, known.name, known.aliases),
            available=False,
            reason=FORKED,
            remedy=FORKED_REMEDY,
        )

    def refuse(self) -> None:
        """Say why it cannot be used, if that is because it belongs to another process."""
        refuse_inherited(self._info.id)

    @property
    def info(self) -> DeviceInfo:
        """What it is."""
        return self._info

    @property
    def features(self) -> frozenset[str]:
        """Features of WebGPU that it was opened with, or will be."""
        return frozenset(f for f in USEFUL_FEATURES if f in self.adapter.features)

    def limit(self, name: str) -> int:
        """A limit of WebGPU."""
        return int(self.adapter.limits[name])

    @property
    def binding_limit(self) -> int:
        """Bytes of the largest range that can be bound."""
        return self.limit("max-storage-buffer-binding-size")

    @property
    def offset_alignment(self) -> int:
        """What the offset of a bound range must be a multiple of."""
        return max(
            self.limit("min-storage-buffer-offset-alignment"),
            self.limit("min-uniform-buffer-offset-alignment"),
        )

    @cached_property
    def subgroup_width(self) -> int:
        """Lanes of its subgroups; 0 when it has none that we can rely on."""
        if "subgroup" not in self.features:
            return 0
        with self.lock, translated(self._info.id, "measuring its subgroups"):
            return measure_width(self)

    @cached_property
    def loop_rounds(self) -> int | None:
        """After how many rounds it ends the loops of an invocation, as a driver of Mesa does."""
        if not self._info.name.startswith("llvmpipe"):
            return None
        with self.lock, translated(self._info.id, "counting rounds of a loop"):
            return measure_rounds(self)

    @cached_property
    def timestamp_period(self) -> float:
        """Nanoseconds of one tick of its clock."""
        from wgpu.backends import wgpu_native

        native: Any = wgpu_native.lib
        return float(native.wgpuQueueGetTimestampPeriod(self.handle.queue._internal))

    @cached_property
    def locks(self) -> Any:
        """Locks for 64-bit atomics; every launch leaves them open."""
        return Allocation(self, 4 * STORAGE_LOCKS).buffer

    def abandon(self) -> None:
        """Use it no more: a kernel on it does not end."""
        with self.lock:
            self._abandoned = True
            self._recorder = None

    @property
    def handle(self) -> Any:
        """The device of wgpu."""
        refuse_inherited(self._info.id)
        with self.lock:
            if self._abandoned:
                raise BackendError(
                    codes.DEVICE_LOST.at(device=self._info.id, doing="a kernel did not end")
                )
            if self._opened is None:
                self._open()
            return self._opened

    @property
    def recorder(self) -> Recorder:
        """Where work is recorded until it is submitted."""
        made = self._recorder
        if made is None:
            handle = self.handle
            with self.lock:
                made = self._recorder
                if made is None:
                    made = self._recorder = Recorder(handle, self._info.id)
        return made

    def _open(self) -> None:
        if self.adapter is None:
            raise DeviceError(
                driver_codes.DEVICE_UNAVAILABLE.at(
                    name=self._info.id, reason=self._info.reason, remedy=self._info.remedy
                )
            )
        limits = {name: self.limit(name) for name in USEFUL_LIMITS}
        with translated(self._info.id, "opening it"):
            self._opened = self.adapter.request_device_sync(
                required_features=sorted(self.features), required_limits=limits
            )

    def allocate(self, nbytes: int) -> Allocation:
        """New memory, filled with zeros."""
        limit = self.largest_allocation()
        if nbytes > limit:
            device = self._info.id
            raise BackendError(
                codes.BUFFER_TOO_LARGE.at(what="memory", found=nbytes, device=device, limit=limit)
            )
        return Allocation(self, nbytes)

    def largest_allocation(self) -> int:
        """Bytes of the largest buffer, a whole number of cells."""
        return self.limit("max-buffer-size") // GRAIN * GRAIN

    def adopt(self, array: memoryview) -> DeviceMemory | None:
        """Host memory is never device memory here."""
        return None

    def read_many(self, reads: Sequence[tuple[DeviceMemory, memoryview]]) -> None:
        """Read several pieces of its memory back with one wait."""
        wanted: list[Read] = []
        for memory, into in reads:
            if not isinstance(memory, Allocation) or memory.device is not self:
                raise BackendError(codes.NOT_OURS.at(device=self._info.id))
            if len(into):
                wanted.append(memory.wanted(into))
        nbytes = sum(len(read.into) for read in wanted)
        with self.lock, translated(self._info.id, "reading memory", nbytes):
            self.recorder.read(wanted)

    def synchronize(self) -> None:
        """Wait for all launched work."""
        with self.lock:
            self.recorder.wait()
