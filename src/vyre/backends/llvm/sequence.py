"""Sequences as one job of the thread pool: parameters, runs, and what they come to."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from collections.abc import Sequence as Ordered
from math import prod
from typing import Final

from vyre.backends.llvm.abi import MEMORY_BLOCK_BYTES
from vyre.backends.llvm.executable import CpuExecutable, record_of
from vyre.backends.llvm.heuristics import SHORT_LAUNCH_NS
from vyre.backends.llvm.kernel_info import BufferSlot, KernelInfo
from vyre.backends.llvm.launch import Grid, Slot, slot_of, strided, timeout_ns
from vyre.backends.llvm.outcome import Status, read_outcome
from vyre.backends.llvm.pool import Pool, process_pool
from vyre.backends.llvm.sequence_layout import Layout, PatchStruct, SequenceStruct, info_of
from vyre.driver.host_memory import is_private
from vyre.driver.sequence import (
    DONE,
    Launch,
    Parameter,
    Sequence,
    SequenceRecord,
    spans_of,
)

_NO_INFO: Final = KernelInfo(buffers=(), workgroup_size=(1, 1, 1))


class NativeSequence:
    """A sequence that the thread pool runs."""

    def __init__(
        self, sequence: Sequence, slots: Ordered[BufferSlot], pool: Pool, threads: int
    ) -> None:
        layout = Layout(sequence, pool)
        patches = (PatchStruct * len(layout.patches))(*layout.patches)
        native_slots = (Slot * len(slots))(*map(slot_of, slots))
        for parameter in _views(sequence):
            native_slots[parameter] = strided(native_slots[parameter])
        least = (ctypes.c_int64 * len(slots))(*_least_bytes(sequence))
        infos = [info_of(step) for step in sequence.steps if isinstance(step, Launch)]
        self._struct = SequenceStruct(
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
        workgroups = prod(grid)
        for bound, nbytes in self._layout.group_clears:
            bound.array[0].count = nbytes * workgroups
            bound.grid[0] = -(-nbytes * workgroups // MEMORY_BLOCK_BYTES)
        estimate = self._layout.estimate_ns + self._layout.group_ns * workgroups
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
                return info_of(step)
        return _NO_INFO


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
            for place in info_of(step).proving_places:
                argument = step.arguments[place]
                if isinstance(argument, Parameter):
                    found.add(argument.index)
    return tuple(sorted(found))


def _views(sequence: Sequence) -> set[int]:
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
        if not isinstance(step.executable, CpuExecutable) or info_of(step).prints:
            return None
        if step.grid is not None and not _is_countable(step.grid):
            return None
    slots = _slots(sequence.parameters, launches)
    if slots is None:
        return None
    least = _least_bytes(sequence)
    if any(least[view] for view in _views(sequence)):
        return None
    return NativeSequence(sequence, slots, pool or process_pool(), threads)


def _slots(count: int, launches: Iterable[Launch]) -> list[BufferSlot] | None:
    found: dict[int, BufferSlot] = {}
    for step in launches:
        for argument, slot in zip(step.arguments, info_of(step).buffers, strict=True):
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
