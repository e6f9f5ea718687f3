"""Running a split program: segment after segment on memory that stays on the device."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from math import prod
from typing import Final

from vyre.diagnostics import DispatchError
from vyre.diagnostics.codes import driver as codes
from vyre.driver.backend import Argument, Device, DeviceMemory, Executable, LaunchRecord
from vyre.driver.grid import Grid
from vyre.driver.grid_sync.lowering import Bound, Lowered, lower
from vyre.driver.grid_sync.plan import Spill, SplitPlan
from vyre.driver.grid_sync.segment_errors import in_segment
from vyre.driver.sequence import Clear, Parameter, Place, PreparedSequence, prepare
from vyre.signals import is_from_handler

_MOST_KEPT: Final = 1 << 26
"""Bytes of memory between segments that a program keeps for its next launches."""
_MOST_KINDS: Final = 16


class _Ready:
    """A split program on memory between its segments, for one launch at a time."""

    __slots__ = ("_lowered", "_plan", "_prepared", "nbytes")

    def __init__(
        self, plan: SplitPlan, lowered: Lowered, prepared: PreparedSequence, nbytes: int
    ) -> None:
        self._plan = plan
        self._lowered = lowered
        self._prepared = prepared
        self.nbytes = nbytes
        """Of the memory between segments."""

    def run(
        self,
        arrays: Sequence[object],
        deadline: float | None,
        clearing: bytes = b"",
        grid: Grid | None = None,
    ) -> LaunchRecord | None:
        """Launch; None, without any effect, if arrays cannot be used as they are."""
        try:
            record = self._prepared.run(arrays, deadline, clearing, grid)
        except Exception as problem:
            if is_from_handler(problem):
                raise
            with self._in_segment():
                raise
        if record is None:
            return None
        return LaunchRecord(record.kernel_ns, record.printed)

    def _in_segment(self) -> AbstractContextManager[None]:
        segment = self._lowered.segments.get(self._prepared.position)
        if segment is None:
            return nullcontext()
        return in_segment(segment, len(self._plan.segments))


class SplitExecutable:
    """A split program on a device that runs sequences by itself: one executable like others."""

    __slots__ = (*("_device", "_executables", "_idle", "_is_fixed", "_kept", "_names", "_plan"),)

    def __init__(
        self,
        plan: SplitPlan,
        executables: Mapping[int, Executable],
        device: Device,
        names: Sequence[str],
    ) -> None:
        self._plan = plan
        self._executables = executables
        self._device = device
        self._names = tuple(names)
        self._idle: dict[tuple[int, Sequence[int]], list[_Ready]] = {}
        """Prepared on arrays of the caller, by how many workgroups there is memory for, and which
        buffers are views: each launch takes one, or makes it."""
        self._kept = 0
        self._is_fixed = not any(_group_bytes(plan, spill) for spill in plan.spills)
        """Whether the memory between segments is the same for every grid."""

    def launch(
        self, arguments: Sequence[Argument], grid: Grid, deadline: float | None = None
    ) -> LaunchRecord:
        """Run the grid."""
        bound = dict(zip(self._names, arguments, strict=True))
        return run_split(self._plan, self._executables, self._device, bound, grid, deadline)

    def bind(
        self, arguments: Sequence[Argument], grid: Grid, deadline: float | None = None
    ) -> Callable[[], LaunchRecord]:
        """The same launch again and again; several threads may do it at once."""
        bound = dict(zip(self._names, arguments, strict=True))
        plan, executables, device = self._plan, self._executables, self._device
        idle: list[_Ready] = []

        def run() -> LaunchRecord:
            try:
                ready = idle.pop()
            except IndexError:  # the first launch, or other threads use all there are
                ready = _prepared(plan, executables, device, bound, grid, prod(grid), None, {})
            record = ready.run((), deadline)
            idle.append(ready)
            assert record is not None
            return record

        return run

    def on_arrays(
        self, grid: Grid, deadline: float | None = None, strided: Sequence[int] = ()
    ) -> Callable[..., LaunchRecord | None]:
        """A launch on host arrays, as `TakesArrays` has it."""
        count, views = len(self._names), tuple(strided)

        def run(*given: object) -> LaunchRecord | None:
            wanted: Grid = given[count : count + 3] or grid  # pyright: ignore[reportAssignmentType]
            clearing: bytes = given[count + 3] if len(given) > count + 3 else b""  # pyright: ignore[reportAssignmentType]
            return self._on_arrays(given[:count], wanted, deadline, clearing, views)

        return run

    def _on_arrays(
        self,
        arrays: Sequence[object],
        grid: Grid,
        deadline: float | None,
        clearing: bytes,
        views: tuple[int, ...],
    ) -> LaunchRecord | None:
        workgroups = self._room(prod(grid))
        idle = self._idle.get((workgroups, views))
        if idle is None:
            if len(self._idle) >= _MOST_KINDS:
                self._idle, self._kept = {}, 0
            idle = self._idle.setdefault((workgroups, views), [])
        try:
            ready = idle.pop()
            self._kept -= ready.nbytes
        except IndexError:
            ready = self._make(workgroups, views)
        record = ready.run(arrays, deadline, clearing, grid)
        # Several threads may count at once: what they lose is only a number of bytes.
        if self._kept + ready.nbytes <= _MOST_KEPT:
            self._kept += ready.nbytes
            idle.append(ready)
        return record

    def _room(self, workgroups: int) -> int:
        """For how many workgroups there is memory between segments for a launch of this size.

        Grids of about one size use the same.
        """
        if self._is_fixed:
            return 1
        more = 1 << (workgroups - 1).bit_length()
        return more if _has_places(self._plan, more) else workgroups

    def _make(self, workgroups: int, views: tuple[int, ...]) -> _Ready:
        bound = {
            name: Parameter(number, number in views) for number, name in enumerate(self._names)
        }
        plan, executables, device = self._plan, self._executables, self._device
        return _prepared(plan, executables, device, bound, None, workgroups, None, {})


def _group_bytes(plan: SplitPlan, spill: Spill) -> int:
    """Bytes between segments for each workgroup."""
    size = prod(plan.segments[0].workgroup_size)
    elements = spill.per_invocation * size + spill.per_workgroup
    return elements * (spill.element.size_bytes or 0)


def _has_places(plan: SplitPlan, workgroups: int) -> bool:
    """Whether 32 bits tell all places between segments, also that after the last one."""
    size = prod(plan.segments[0].workgroup_size)
    largest = max((spill.count(workgroups, size) for spill in plan.spills), default=0)
    return not plan.spills or max(workgroups * size, largest + workgroups) < 1 << 32


def run_split(
    plan: SplitPlan,
    executables: Mapping[int, Executable],
    device: Device,
    arguments: Mapping[str, Argument],
    grid: Grid,
    deadline: float | None,
    handovers: Mapping[int, Sequence[DeviceMemory]] | None = None,
) -> LaunchRecord:
    """Run a split program to its end on memory that is bound by name.

    `handovers` is memory that changes hands: it is cleared before the segment it is given to.
    """
    own: list[DeviceMemory] = []
    try:
        workgroups, changing = prod(grid), handovers or {}
        ready = _prepared(plan, executables, device, arguments, grid, workgroups, own, changing)
        record = ready.run((), deadline)
    finally:
        for memory in own:
            memory.release()
    assert record is not None
    return record


def _prepared(
    plan: SplitPlan,
    executables: Mapping[int, Executable],
    device: Device,
    arguments: Bound,
    grid: Grid | None,
    workgroups: int,
    own: list[DeviceMemory] | None,
    handovers: Mapping[int, Sequence[DeviceMemory]],
) -> _Ready:
    """Memory between segments for a number of workgroups, and the sequence on it.

    For a single run the memory is added to `own`; without, each run begins by clearing it.
    """
    if not _has_places(plan, workgroups):
        problem = "is too large for a grid barrier"
        raise DispatchError(codes.BAD_GRID.at(grid=grid or workgroups, problem=problem))
    size = prod(plan.segments[0].workgroup_size)
    bound = dict(arguments)
    clears: list[Clear] = []
    nbytes = 0
    for spill in plan.spills:
        count = spill.count(workgroups, size)
        memory = device.allocate(count * (spill.element.size_bytes or 0))
        nbytes += memory.nbytes
        bound[spill.buffer] = Argument(memory, count)
        if own is not None:
            own.append(memory)
        elif not spill.is_stored_first:
            # A run on a grid of its own uses as much of it as that needs.
            each = _group_bytes(plan, spill) if grid is None else 0
            clears.append(Clear(Place(memory), each or memory.nbytes, bool(each)))
    parameters = sum(isinstance(each, Parameter) for each in arguments.values())
    lowered = lower(plan, executables, bound, grid, handovers, parameters=parameters, first=clears)
    return _Ready(plan, lowered, prepare(device, lowered.sequence), nbytes)


__all__ = ["SplitExecutable", "run_split"]
