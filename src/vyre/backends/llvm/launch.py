"""Launching loaded kernels.

`NativeKernel` is machine code ready to run; there are three ways to launch it, by rising cost:

- `bind(...)` fixes addresses, lengths and the grid; the result is called many times;
- `arrays(...)` gives a function that takes arrays, checks them and launches;
- `launch_raw(...)` takes addresses and lengths of every buffer, the grid and the timeout.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from threading import get_ident
from typing import Final

from vyre.backends.llvm.abi import KERNEL_SYMBOL, LAUNCH_UNSURE
from vyre.backends.llvm.kernel_info import BufferSlot, KernelInfo
from vyre.backends.llvm.loader import load_object
from vyre.backends.llvm.outcome import Outcome, PrintRing, read_outcome
from vyre.backends.llvm.pool import LaunchKind, NativeLaunch, Pool

Grid = tuple[int, int, int]

_POLLS, _DIVERGENT, _PRINTS, _KEEPS, _ANY_ORDER = 1, 2, 4, 8, 16
_CONTIGUOUS: Final = 0x20
_CONTIGUOUS_WITH_FORMAT: Final = 0x18 | _CONTIGUOUS | 0x04
_WRITABLE: Final = 0x01
_FORMATS: Final = {
    "bool": "?",
    "u8": "B",
    "i8": "b",
    "u16": "H",
    "i16": "h",
    "u32": "IL",
    "i32": "il",
    "u64": "LQ",
    "i64": "lq",
    "f16": "e",
    "f32": "f",
    "f64": "d",
}
"""Format characters of the buffer protocol for each element type; sizes are checked as well."""


class BufferPlace(ctypes.Structure):
    """The `%buffer` of native/python.ll."""

    _fields_ = (("data", ctypes.c_void_p), ("count", ctypes.c_int64))


class Slot(ctypes.Structure):
    """The `%slot` of native/python.ll."""

    _fields_ = (
        ("element_bytes", ctypes.c_uint32),
        ("flags", ctypes.c_uint32),
        ("formats", ctypes.c_char * 4),
        ("is_strided", ctypes.c_uint32),
    )


class Bound(ctypes.Structure):
    """The `%bound` of native/python.ll."""

    _fields_ = (
        ("kernel", ctypes.c_void_p),
        ("buffers", ctypes.c_void_p),
        ("grid", ctypes.c_uint32 * 3),
        ("flags", ctypes.c_uint32),
        ("scratch_bytes", ctypes.c_int64),
        ("group_cost_ns", ctypes.c_int64),
        ("timeout_ns", ctypes.c_int64),
        ("threads", ctypes.c_int32),
        ("buffer_count", ctypes.c_int32),
        ("slots", ctypes.c_void_p),
        ("ring", ctypes.c_void_p),
        ("ring_words", ctypes.c_int64),
        ("grid_buffer", ctypes.c_int32),
        ("grid_elements", ctypes.c_int32),
        ("stack_bytes", ctypes.c_int64),
    )
    array: ctypes.Array[BufferPlace]
    """The buffers of a bound launch, kept alive with it."""


_LONGEST = 1e9
"""Seconds, thirty years: more nanoseconds do not fit beside those of a clock."""


def timeout_ns(seconds: float | None) -> int:
    """A deadline as the runtime takes it: 0 for none, else at least one nanosecond."""
    return 0 if seconds is None else max(1, int(min(seconds, _LONGEST) * 1e9))


class NativeKernel:
    """A kernel in executable memory, and the pool it runs on."""

    def __init__(self, code: bytes, info: KernelInfo, pool: Pool) -> None:
        self.info = info
        self.pool = pool
        self._code = load_object(code)
        self._slots = (Slot * len(info.buffers))(*(slot_of(slot) for slot in info.buffers))
        self._ring = PrintRing() if info.prints else None
        self._raw = self._function("raw", self.descriptor((), (1, 1, 1), 0, 0))
        self._raw_unsure = self._raw
        if info.proving:
            unsure = self.descriptor((), (1, 1, 1), 0, 0, sure=False)
            self._raw_unsure = self._function("raw", unsure)

    def bind(
        self,
        buffers: Sequence[tuple[int, int]],
        grid: Grid,
        *,
        timeout: float | None = None,
        threads: int = 0,
        keep: object = None,
        sure: bool = True,
    ) -> LaunchFunction:
        """A launch with fixed buffers (address, element count), grid and timeout.

        `keep` is held as long as the result: pass the arrays the addresses belong to. Without
        `sure`, nothing is proved by what read-only memory holds.
        """
        bound = self.descriptor(buffers, grid, timeout_ns(timeout), threads, sure=sure)
        return self._function("bound", bound, keep)

    def arrays(
        self,
        grid: Grid | None = None,
        *,
        grid_buffer: int = 0,
        timeout: float | None = None,
        threads: int = 0,
        sure: bool = True,
        views: Sequence[int] = (),
    ) -> LaunchFunction:
        """A launch that takes the buffers' arrays, in their order.

        Those at the places `views` have strides, and are bound with all memory between their
        elements.

        Without a grid, each call covers the elements of buffer `grid_buffer` along x; or the call
        gives nx, ny, nz after the arrays, and after them the runs of bytes to be cleared before.
        """
        bound = self.descriptor((), grid or (1, 1, 1), timeout_ns(timeout), threads, sure=sure)
        bound.grid_buffer = -1 if grid else grid_buffer
        if not views:
            return self._function("arrays", bound)
        slots = (Slot * len(self.info.buffers)).from_buffer_copy(self._slots)
        for place in views:
            slots[place] = strided(slots[place])
        bound.slots = ctypes.addressof(slots)
        return self._function("arrays", bound, slots)

    def launch_raw(
        self,
        buffers: Sequence[tuple[int, int]],
        grid: Grid,
        timeout: float | None = None,
        sure: bool = True,
    ) -> Outcome | None:
        """Launch once on the (address, element count) of every buffer."""
        flat = [value for buffer in buffers for value in buffer]
        function = self._raw if sure else self._raw_unsure
        return function(*grid, timeout_ns(timeout), *flat)

    def descriptor(
        self,
        buffers: Sequence[tuple[int, int]],
        grid: Grid,
        timeout: int,
        threads: int,
        *,
        sure: bool = True,
    ) -> Bound:
        """What the native runtime reads of a launch."""
        info = self.info
        bound = Bound(
            kernel=self._code.address(KERNEL_SYMBOL),
            grid=grid,
            flags=_POLLS * info.polls
            | _DIVERGENT * info.divergent
            | _PRINTS * bool(info.prints)
            | _KEEPS * info.keeps
            | _ANY_ORDER * info.any_order
            | LAUNCH_UNSURE * (not sure),
            scratch_bytes=info.scratch_bytes,
            group_cost_ns=info.group_cost_ns,
            timeout_ns=timeout,
            threads=threads,
            buffer_count=len(info.buffers),
            slots=ctypes.addressof(self._slots),
            grid_buffer=-1,
            grid_elements=info.workgroup_size[0],
            stack_bytes=info.stack_bytes,
        )
        bound.array = (BufferPlace * len(buffers))(*buffers)
        bound.buffers = ctypes.addressof(bound.array)
        return bound

    def _function(self, kind: LaunchKind, bound: Bound, keep: object = None) -> LaunchFunction:
        return self._printing(kind, bound, keep, self._ring)

    def _printing(
        self, kind: LaunchKind, bound: Bound, keep: object, ring: PrintRing | None
    ) -> LaunchFunction:
        """A launch that prints into a ring."""
        if ring is not None:
            bound.ring, bound.ring_words = ring.address, ring.words
        owners = (bound, self._code, self._slots, ring, keep)
        native = self.pool.function(kind, (ctypes.addressof(bound), *owners))

        def within() -> LaunchFunction:
            own = Bound.from_buffer_copy(bound)
            own.array = bound.array
            return self._printing(kind, own, keep, PrintRing())

        return LaunchFunction(native, self.info, ring, within)


class LaunchFunction:
    """Launches a kernel when called; several threads may call it at once.

    The result is None for a plain success. An exception of a signal handler ends the launch.
    """

    __slots__ = ("_info", "_native", "_ring", "_within")

    def __init__(
        self,
        native: NativeLaunch,
        info: KernelInfo,
        ring: PrintRing | None,
        within: Callable[[], LaunchFunction],
    ) -> None:
        self._native = native
        self._info = info
        self._ring = ring
        self._within = within
        """Makes the same launch with its own ring, for nested launches."""

    def __call__(self, *arguments: object) -> Outcome | None:
        """Run to the end."""
        if self._ring is not None:
            return self._print(self._ring, arguments)
        result = self._native(*arguments)
        return None if result == 0 else read_outcome(result, self._info, None)

    def _print(self, ring: PrintRing, arguments: tuple[object, ...]) -> Outcome | None:
        own = get_ident()
        if ring.thread == own:
            return self._within()(*arguments)
        with ring.lock:
            ring.thread = own
            try:
                return read_outcome(self._native(*arguments), self._info, ring)
            finally:
                ring.thread = 0


def slot_of(slot: BufferSlot) -> Slot:
    """What an array must be to be bound to a buffer."""
    return Slot(
        element_bytes=slot.element_bytes,
        flags=_CONTIGUOUS_WITH_FORMAT | (_WRITABLE if slot.writable else 0),
        formats=_FORMATS.get(slot.dtype, "").encode(),
    )


def strided(slot: Slot) -> Slot:
    """The same for a view with strides."""
    return Slot(slot.element_bytes, slot.flags & ~_CONTIGUOUS, slot.formats, is_strided=1)
