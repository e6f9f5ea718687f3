"""Device memory that is given back and used again, with counters of what is in use."""

from __future__ import annotations

import threading
from collections import OrderedDict

from vyre.config import config
from vyre.diagnostics import BackendError
from vyre.diagnostics.codes import webgpu as codes
from vyre.driver.backend import BoundedMemory, Device, DeviceMemory
from vyre.record import dataclass

_SURELY_FITS = 1 << 26
"""Bytes that no device refuses for the size alone."""


@dataclass(slots=True)
class PoolCounters:
    """What a pool has done, in bytes and in numbers."""

    in_use: int = 0
    peak: int = 0
    idle: int = 0
    allocations: int = 0
    reuses: int = 0


class MemoryPool:
    """The memory of one device. Idle pieces are kept up to a cap, the oldest go first."""

    def __init__(self, device: Device, cap: int | None = None) -> None:
        self.device = device
        self.cap = config().pool_bytes if cap is None else cap
        self.counters = PoolCounters()
        self._idle: OrderedDict[int, list[DeviceMemory]] = OrderedDict()
        self._lock = threading.RLock()

    def take(self, nbytes: int, *, zeroed: bool = True, name: str | None = None) -> DeviceMemory:
        """Memory of at least `nbytes`; zeroed unless the caller is going to fill it.

        `name` is the buffer that it is for, if an error has to say so.
        """
        size = size_class(nbytes)
        if size > _SURELY_FITS:
            size = self._fitting(nbytes, size, name)
        with self._lock:
            waiting = self._idle.get(size)
            memory = waiting.pop() if waiting else None
            if memory is not None:
                self.counters.idle -= size
                self.counters.reuses += 1
            self._count(size)
        if memory is None:
            return self._allocate(size, nbytes)
        if zeroed:
            memory.zero()
        return memory

    def give(self, memory: DeviceMemory) -> None:
        """Take memory back for later use."""
        size = memory.nbytes
        with self._lock:
            self.counters.in_use -= size
            if size > self.cap:
                memory.release()
                return
            self._idle.setdefault(size, []).append(memory)
            self._idle.move_to_end(size)
            self.counters.idle += size
            while self.counters.idle > self.cap:
                self._drop_oldest()

    def drop_idle(self) -> None:
        """Give all idle memory back to the device."""
        with self._lock:
            while self._idle:
                self._drop_oldest()

    def reset_peak(self) -> None:
        """Measure the peak anew from what is in use now."""
        with self._lock:
            self.counters.peak = self.counters.in_use

    def _fitting(self, nbytes: int, size: int, name: str | None) -> int:
        """The rounded size, unless only what is asked for fits."""
        if not isinstance(self.device, BoundedMemory):
            return size
        most = self.device.largest_allocation()
        if nbytes > most:
            what = "an array" if name is None else f"the buffer {name!r}"
            device = self.device.info.id
            raise BackendError(
                codes.BUFFER_TOO_LARGE.at(what=what, found=nbytes, device=device, limit=most)
            )
        return min(size, most)

    def _count(self, size: int) -> None:
        self.counters.in_use += size
        self.counters.peak = max(self.counters.peak, self.counters.in_use)

    def _allocate(self, size: int, nbytes: int) -> DeviceMemory:
        try:
            memory = self.device.allocate(size)
        except MemoryError:
            with self._lock:
                self.counters.in_use -= size
                was_idle = self.counters.idle
            if not was_idle and nbytes == size:
                raise
            self.drop_idle()
            # No more than is needed: that may be what made it too much.
            memory = self.device.allocate(nbytes)
            with self._lock:
                self._count(nbytes)
        self.counters.allocations += 1
        return memory

    def _drop_oldest(self) -> None:
        size, waiting = next(iter(self._idle.items()))
        if waiting:
            waiting.pop().release()
            self.counters.idle -= size
        if not waiting:
            del self._idle[size]


def size_class(nbytes: int) -> int:
    """Sizes are rounded up a little, so that pieces of nearly the same size serve each other."""
    if nbytes <= 256:
        return 256
    step = 1 << max((nbytes - 1).bit_length() - 3, 8)
    return -(-nbytes // step) * step


_pools: dict[str, MemoryPool] = {}
_pools_lock = threading.Lock()


def pool_of(device: Device) -> MemoryPool:
    """The pool of a device."""
    key = device.info.id
    pool = _pools.get(key)
    if pool is None or pool.device is not device:
        with _pools_lock:
            pool = _pools[key] = MemoryPool(device)
    return pool
