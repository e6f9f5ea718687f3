"""Device memory that is given back and used again, with counters of what is in use."""

from __future__ import annotations

import os
import weakref
from collections import OrderedDict, deque
from collections.abc import Iterator
from contextlib import contextmanager

from vyre.config import config
from vyre.diagnostics import BackendError
from vyre.diagnostics.codes import webgpu as codes
from vyre.driver.backend import BoundedMemory, Device, DeviceMemory
from vyre.locks import is_held_here, make_lock
from vyre.record import dataclass
from vyre.signals import is_from_handler

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


class Held:
    """Memory of a pool that is in use. It goes back when nothing refers to this any more.

    An array has one, and whatever works on its memory refers to it meanwhile: a launch that is
    under way when the array is freed keeps the memory until it ends.
    """

    __slots__ = ("__weakref__", "memory")

    def __init__(self, pool: MemoryPool, memory: DeviceMemory) -> None:
        self.memory = memory
        weakref.finalize(self, pool.give, memory)


class MemoryPool:
    """The memory of one device. Idle pieces are kept up to a cap, the oldest go first.

    What is given back first waits in a queue, because the garbage collector gives back too, at any
    moment, also while this very thread works on the pool or on the device.
    """

    def __init__(self, device: Device, cap: int | None = None) -> None:
        self.device = device
        self.cap = config().pool_bytes if cap is None else cap
        self.counters = PoolCounters()
        self._idle: OrderedDict[int, list[DeviceMemory]] = OrderedDict()
        self._returned: deque[DeviceMemory] = deque()
        self._lock = make_lock()
        """A signal handler may come back to the pool while its thread works on it."""
        self._is_busy = False
        _all.add(self)

    def take(self, nbytes: int, *, zeroed: bool = True, name: str | None = None) -> DeviceMemory:
        """Memory of at least `nbytes`; zeroed unless the caller is going to fill it.

        `name` is the buffer that it is for, if an error has to say so.
        """
        size = size_class(nbytes)
        if size > _SURELY_FITS:
            size = self._fitting(nbytes, size, name)
        with self._working():
            memory = self._idle_of(size)
            if memory is not None:
                self.counters.idle -= size
                self.counters.reuses += 1
            self._count(size)
        if memory is None:
            memory = self._allocate(size, nbytes)
        elif zeroed:
            memory.zero()
        return memory

    def give(self, memory: DeviceMemory) -> None:
        """Take memory back for later use."""
        self._returned.append(memory)
        self._settle()

    def drop_idle(self) -> None:
        """Give all idle memory back to the device."""
        with self._working():
            dropped = self._down_to(0)
        for memory in dropped:
            memory.release()

    def reset_peak(self) -> None:
        """Measure the peak anew from what is in use now."""
        with self._lock:
            self.counters.peak = self.counters.in_use

    def forked(self) -> None:
        """In a new process: another thread may have been at work on the pool that it copied."""
        if not is_held_here(self._lock):
            self._is_busy = False
            self.counters.idle = sum(size * len(idle) for size, idle in self._idle.items())

    @contextmanager
    def _working(self) -> Iterator[None]:
        """Alone with the pool, after all that was given back has become idle."""
        with self._lock:
            self._settle()
            was_busy, self._is_busy = self._is_busy, True
            try:
                yield
            finally:
                self._is_busy = was_busy
        self._settle()

    def _settle(self) -> None:
        """Make what was given back idle, unless the pool is being worked on: then it waits."""
        while self._returned and self._lock.acquire(blocking=False):
            try:
                if self._is_busy:
                    return
                self._is_busy = True
                try:
                    dropped = self._made_idle()
                finally:
                    self._is_busy = False
            finally:
                self._lock.release()
            for memory in dropped:
                memory.release()

    def _idle_of(self, size: int) -> DeviceMemory | None:
        waiting = self._idle.get(size)
        try:
            return waiting.pop() if waiting else None
        except IndexError:  # a signal handler took it
            return None

    def _made_idle(self) -> list[DeviceMemory]:
        """Move all that was given back to what is idle; gives what is too much of it."""
        dropped: list[DeviceMemory] = []
        while self._returned:
            memory = self._returned.popleft()
            size = memory.nbytes
            self.counters.in_use -= size
            if size > self.cap:
                dropped.append(memory)
                continue
            self._idle.setdefault(size, []).append(memory)
            self._idle.move_to_end(size)
            self.counters.idle += size
        return dropped + self._down_to(self.cap)

    def _down_to(self, most: int) -> list[DeviceMemory]:
        """Take the oldest pieces out until no more than that many bytes are idle."""
        dropped: list[DeviceMemory] = []
        while self._idle and self.counters.idle > most:
            size, waiting = next(iter(self._idle.items()))
            if waiting:
                dropped.append(waiting.pop())
                self.counters.idle -= size
            if not waiting:
                del self._idle[size]
        return dropped

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
        except MemoryError as problem:
            if is_from_handler(problem):
                raise
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


def size_class(nbytes: int) -> int:
    """Sizes are rounded up a little, so that pieces of nearly the same size serve each other."""
    if nbytes <= 256:
        return 256
    step = 1 << max((nbytes - 1).bit_length() - 3, 8)
    return -(-nbytes // step) * step


_all: weakref.WeakSet[MemoryPool] = weakref.WeakSet()
_pools: dict[str, MemoryPool] = {}
_pools_lock = make_lock()


def _after_fork() -> None:
    for pool in _all:
        pool.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def pool_of(device: Device) -> MemoryPool:
    """The pool of a device."""
    key = device.info.id
    pool = _pools.get(key)
    if pool is None or pool.device is not device:
        with _pools_lock:
            pool = _pools.get(key)
            if pool is None or pool.device is not device:
                pool = _pools[key] = MemoryPool(device)
    return pool
