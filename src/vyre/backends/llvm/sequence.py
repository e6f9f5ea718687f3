"""Sequences as one job of the thread pool: the steps of `driver.sequence` in the native layout.

Each step becomes one `%step` of native/sequence.ll, at the same position. Clears and copies of much
memory are launches of a kernel of the runtime, so that all threads share them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from collections.abc import Sequence as Ordered
from math import prod
from typing import Final, cast

from vyre.backends.llvm.abi import MEMORY_BLOCK_BYTES
from vyre.backends.llvm.device import HostMemory
from vyre.backends.llvm.executable import CpuExecutable, places_of, record_of
from vyre.backends.llvm.heuristics import SHORT_LAUNCH_NS
from vyre.backends.llvm.kernel_info import BufferSlot, KernelInfo
from vyre.backends.llvm.launch import (
    Bound,
    BufferPlace,
    Grid,
    NativeKernel,
    Slot,
    slot_of,
    strided,
    timeout_ns,
)
from vyre.backends.llvm.outcome import Status, read_outcome
from vyre.backends.llvm.pool import Pool, process_pool
from vyre.driver.backend import Argument
from vyre.driver.host_memory import is_private
from vyre.driver.sequence import (
    DONE,
    Add,
    Below,
    Branch,
    Clear,
    Copy,
    Jump,
    Launch,
    Load,
    Parameter,
    Place,
    Put,
    Sequence,
    SequenceRecord,
    Step,
    Stop,
    Store,
    spans_of,
)

_LAUNCH, _CLEAR, _COPY, _ADD, _JUMP, _EQUAL, _DIFFERENT, _BELOW, _BELOW_UNSIGNED, _STOP = range(10)
_NO_INFO: Final = KernelInfo(buffers=(), workgroup_size=(1, 1, 1))


class _Step(ctypes.Structure):
    """The `%step` of native/sequence.ll."""

    _fields_ = (
        ("kind", ctypes.c_int32),
        ("to", ctypes.c_int32),
        ("first", ctypes.c_void_p),
        ("second", ctypes.c_void_p),
        ("value", ctypes.c_int64),
        ("spent_ns", ctypes.c_int64),
        ("launches", ctypes.c_int64),
        ("unused", ctypes.c_int64),
    )


class _Patch(ctypes.Structure):
    """The `%patch` of native/sequence.ll."""

    _fields_ = (
        ("parameter", ctypes.c_int64),
        ("where", ctypes.c_void_p),
        ("offset", ctypes.c_int64),
    )


class _Sequence(ctypes.Structure):
    """The `%sequence` of native/sequence.ll."""

    _fields_ = (
        ("steps", ctypes.c_void_p),
        ("step_count", ctypes.c_int32),
        ("parameter_count", ctypes.c_int32),
        ("slots", ctypes.c_void_p),
        ("least_bytes", ctypes.c_void_p),
        ("patches", ctypes.c_void_p),
        ("patch_count", ctypes.c_int64),
        ("scratch_bytes", ctypes.c_int64),
        ("stack_bytes", ctypes.c_int64),
        ("is_short", ctypes.c_int32),
        ("threads", ctypes.c_int32),
        ("position", ctypes.c_int32),
        ("reason", ctypes.c_int32),
    )


_TO: Final = _Step.first.offset
_FROM: Final = _Step.second.offset


class NativeSequence:
    """A sequence that the thread pool runs."""

    def __init__(
        self, sequence: Sequence, slots: Ordered[BufferSlot], pool: Pool, threads: int
    ) -> None:
        layout = _Layout(sequence, pool)
        patches = (_Patch * len(layout.patches))(*layout.patches)
        native_slots = (Slot * len(slots))(*map(slot_of, slots))
        for parameter in views_of(sequence):
            native_slots[parameter] = strided(native_slots[parameter])
        least = (ctypes.c_int64 * len(slots))(*_least_bytes(sequence))
        infos = [_info(step) for step in sequence.steps if isinstance(step, Launch)]
        self._struct = _Sequence(
            steps=ctypes.addressof(layout.steps),
            step_count=len(layout.steps),
            parameter_count=len(slots),
            slots=ctypes.addressof(native_slots),
            least_bytes=ctypes.addressof(least),
            patches=ctypes.addressof(patches),
            patch_count=len(patches),
            scratch_bytes=max((info.scratch_bytes for info in infos), default=0),
            stack_bytes=max((info.stack_bytes for info in infos), default=0),
            threads=threads,
        )
        self._layout = layout
        self._has_loop = sequence.has_loop
        self._grid: Grid = (1, 1, 1)
        self._take_grid(self._grid)
        self._steps = layout.steps
        self._counters = layout.counters
        self._sequence = sequence
        self._has_counters = bool(sequence.counters)
        self._proving = _proving(sequence)
        owners = (self._struct, layout, patches, native_slots, least, sequence)
        self._native = pool.function("sequence", (ctypes.addressof(self._struct), *owners))

    @property
    def position(self) -> int:
        """The step that was under way when the latest run failed."""
        return self._struct.position

    @property
    def counters(self) -> tuple[int, ...]:
        """The counters as the latest run left them."""
        return tuple(self._counters[: self._sequence.counters])

    def _take_grid(self, grid: Grid) -> None:
        self._grid = grid
        for bound in self._layout.open_bounds:
            bound.grid[:] = grid
        estimate = self._layout.estimate_ns + self._layout.group_ns * prod(grid)
        self._struct.is_short = not self._has_loop and estimate <= SHORT_LAUNCH_NS

    def run(
        self,
        arrays: Ordered[object] = (),
        deadline: float | None = None,
        clearing: bytes = b"",
        grid: Grid | None = None,
    ) -> SequenceRecord | None:
        """Run to the end on all threads; None if arrays cannot be used as they are."""
        for place in self._proving:
            if not is_private(arrays[place]):
                return None
        if grid is not None and grid != self._grid:
            if not _is_countable(grid):
                return None
            self._take_grid(grid)
        result = self._native(0 if deadline is None else timeout_ns(deadline), clearing, *arrays)
        if result == 0:
            return SequenceRecord(0, self.counters) if self._has_counters else DONE
        outcome = read_outcome(result, self._info_here(), None)
        assert outcome is not None
        if outcome.status is Status.BAD_ARGUMENT:
            return None
        if outcome.status is Status.STEP:
            return SequenceRecord(self._struct.reason, self.counters)
        record_of(outcome, deadline, self._info_here())
        raise AssertionError(outcome)

    def take_times(self) -> list[tuple[int, int, int]]:
        """Launches since the last call: step, nanoseconds, how many."""
        found: list[tuple[int, int, int]] = []
        for position, step in enumerate(self._sequence.steps):
            native = self._steps[position]
            if native.launches and isinstance(step, Launch):
                found.append((position, native.spent_ns, native.launches))
                native.spent_ns = native.launches = 0
        return found

    def _info_here(self) -> KernelInfo:
        for step in self._sequence.steps[self.position : self.position + 1]:
            if isinstance(step, Launch):
                return _info(step)
        return _NO_INFO


class _Layout:
    """Steps in native memory, with what they point to."""

    def __init__(self, sequence: Sequence, pool: Pool) -> None:
        self._pool = pool
        self.steps = (_Step * len(sequence.steps))()
        self.patches: list[_Patch] = []
        self.bounds: list[Bound] = []
        constants = [step.value for step in sequence.steps if isinstance(step, Put)]
        constants += [s.limit for s in sequence.steps if isinstance(s, Below) and not s.is_counter]
        self._constants = sequence.counters
        """The next of those, which follow the counters."""
        self.counters = (ctypes.c_int64 * (sequence.counters + len(constants)))()
        self.estimate_ns = 0
        self.group_ns = 0
        """How long a workgroup takes in all launches with the grid of the run."""
        self.open_bounds: list[Bound] = []
        """Those launches."""
        for position, step in enumerate(sequence.steps):
            self._lay(step, self.steps[position])

    def _lay(self, step: Step, native: _Step) -> None:
        match step:
            case Launch():
                self._launch(native, _bound(step, self.patches), step.grid)
            case Clear(place, nbytes):
                self._move(native, _CLEAR, (place,), nbytes)
            case Copy(source, target, nbytes):
                self._move(native, _COPY, (target, source), nbytes)
            case Put(counter, value):
                native.kind, native.value = _COPY, 8
                native.first, native.second = self._counter(counter), self._constant(value)
            case Load(counter, place):
                native.kind, native.value, native.first = _COPY, 8, self._counter(counter)
                native.second = self._address(place, native, _FROM)
            case Store(counter, place, nbytes):
                native.kind, native.value, native.second = _COPY, nbytes, self._counter(counter)
                native.first = self._address(place, native, _TO)
            case Add(counter, value):
                native.kind, native.value, native.first = _ADD, value, self._counter(counter)
            case Jump(to):
                native.kind, native.to = _JUMP, to
            case Branch(place, value, to, equal):
                native.kind, native.to, native.value = _EQUAL if equal else _DIFFERENT, to, value
                native.first = self._address(place, native, _TO)
            case Below():
                native.kind, native.to = _BELOW if step.signed else _BELOW_UNSIGNED, step.to
                native.first = self._counter(step.counter)
                other = self._counter(step.limit) if step.is_counter else self._constant(step.limit)
                native.second = other
            case Stop(reason):
                native.kind, native.value = _STOP, reason

    def _launch(self, native: _Step, bound: Bound, grid: Grid | None) -> None:
        native.kind = _LAUNCH
        native.first = ctypes.addressof(bound)
        self.bounds.append(bound)
        is_known = bound.group_cost_ns and not bound.flags & 1
        cost = bound.group_cost_ns if is_known else SHORT_LAUNCH_NS + 1
        if grid is None:
            self.open_bounds.append(bound)
            self.group_ns += cost
        else:
            self.estimate_ns += prod(grid) * cost

    def _move(self, native: _Step, kind: int, places: tuple[Place, ...], nbytes: int) -> None:
        if nbytes <= MEMORY_BLOCK_BYTES:
            native.kind, native.value = kind, nbytes
            native.first = self._address(places[0], native, _TO)
            if len(places) > 1:
                native.second = self._address(places[1], native, _FROM)
            self.estimate_ns += nbytes * SHORT_LAUNCH_NS // MEMORY_BLOCK_BYTES
            return
        kernel = self._pool.clear_blocks if kind == _CLEAR else self._pool.copy_blocks
        groups = -(-nbytes // MEMORY_BLOCK_BYTES)
        bound = Bound(kernel=kernel, grid=(groups, 1, 1), group_cost_ns=SHORT_LAUNCH_NS)
        bound.array = (BufferPlace * len(places))()
        for number, place in enumerate(places):
            bound.array[number].count = nbytes
            bound.array[number].data = self._address(place, bound.array[number], 0)
        bound.buffers = ctypes.addressof(bound.array)
        self._launch(native, bound, (groups, 1, 1))

    def _counter(self, counter: int) -> int:
        return ctypes.addressof(self.counters) + 8 * counter

    def _constant(self, value: int) -> int:
        number = self._constants
        self._constants += 1
        self.counters[number] = value if value < 1 << 63 else value - (1 << 64)
        return self._counter(number)

    def _address(self, place: Place, owner: ctypes.Structure, offset: int) -> int | None:
        """Where a place is; for a parameter, each run writes it to this member of the owner."""
        if isinstance(place.memory, Parameter):
            where = ctypes.addressof(owner) + offset
            self.patches.append(_Patch(place.memory.index, where, place.offset))
            return None
        assert isinstance(place.memory, HostMemory)
        return place.memory.address + place.offset


def _bound(step: Launch, patches: list[_Patch]) -> Bound:
    kernel = _kernel(step)
    fixed = [each if isinstance(each, Argument) else None for each in step.arguments]
    places = [(0, 0) if each is None else places_of([each])[0] for each in fixed]
    proving = [fixed[place] for place in kernel.info.proving_places]
    sure = all(
        each is None or (isinstance(each.memory, HostMemory) and each.memory.is_private)
        for each in proving
    )
    bound = kernel.descriptor(places, step.grid or (1, 1, 1), 0, 0, sure=sure)
    for number, each in enumerate(step.arguments):
        if isinstance(each, Parameter):
            where = ctypes.addressof(bound.array) + number * ctypes.sizeof(BufferPlace)
            patches.append(_Patch(each.index, where, -1))
    return bound


def _kernel(step: Launch) -> NativeKernel:
    return cast("CpuExecutable", step.executable).kernel


def _info(step: Launch) -> KernelInfo:
    return _kernel(step).info


def _least_bytes(sequence: Sequence) -> list[int]:
    """How long each parameter must be for clears, copies and branches."""
    least = [0] * sequence.parameters
    for step in sequence.steps:
        for place, nbytes in spans_of(step):
            if isinstance(place.memory, Parameter):
                index = place.memory.index
                least[index] = max(least[index], place.offset + nbytes)
    return least


def _proving(sequence: Sequence) -> tuple[int, ...]:
    """Parameters whose contents prove that indices are in bounds."""
    found: set[int] = set()
    for step in sequence.steps:
        if isinstance(step, Launch):
            for place in _info(step).proving_places:
                argument = step.arguments[place]
                if isinstance(argument, Parameter):
                    found.add(argument.index)
    return tuple(sorted(found))


def views_of(sequence: Sequence) -> set[int]:
    """Parameters that are views with strides."""
    arguments = [a for s in sequence.steps if isinstance(s, Launch) for a in s.arguments]
    return {each.index for each in arguments if isinstance(each, Parameter) and each.is_view}


def _is_countable(grid: Grid) -> bool:
    """Whether the native runtime can count the workgroups of a grid."""
    return prod(grid) < 1 << 60 and max(grid) < 1 << 32


def native_sequence(
    sequence: Sequence, pool: Pool | None = None, threads: int = 0
) -> NativeSequence | None:
    """The sequence for the thread pool; None if it has to be run step by step.

    That is so for kernels that print, for parameters whose element type no launch tells, or
    several tell differently, and for views that are cleared, copied or looked at.
    """
    launches = [step for step in sequence.steps if isinstance(step, Launch)]
    for step in launches:
        if not isinstance(step.executable, CpuExecutable) or _info(step).prints:
            return None
        if step.grid is not None and not _is_countable(step.grid):
            return None
    slots = _slots(sequence.parameters, launches)
    if slots is None:
        return None
    least = _least_bytes(sequence)
    if any(least[view] for view in views_of(sequence)):
        return None
    return NativeSequence(sequence, slots, pool or process_pool(), threads)


def _slots(count: int, launches: Iterable[Launch]) -> list[BufferSlot] | None:
    found: dict[int, BufferSlot] = {}
    for step in launches:
        for argument, slot in zip(step.arguments, _info(step).buffers, strict=True):
            if not isinstance(argument, Parameter):
                continue
            known = found.get(argument.index, slot)
            if known.dtype != slot.dtype:
                return None
            is_written = known.writable or slot.writable
            found[argument.index] = BufferSlot("", slot.dtype, slot.element_bytes, is_written)
    if len(found) < count:
        return None
    return [found[index] for index in range(count)]


__all__ = ["NativeSequence", "native_sequence"]
