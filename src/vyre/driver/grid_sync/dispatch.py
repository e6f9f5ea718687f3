"""Running a split program: segment after segment on memory that stays on the device."""

from __future__ import annotations

import struct
import time
from collections.abc import Mapping, Sequence
from math import prod

from vyre.diagnostics import DeadlineError, DispatchError, ExecutionError
from vyre.diagnostics.codes import driver as codes
from vyre.driver.backend import Argument, Device, DeviceMemory, Executable, LaunchRecord
from vyre.driver.grid import Grid
from vyre.driver.grid_sync.plan import (
    BOUNDS,
    EXIT,
    EXIT_CONTINUE,
    EXIT_LEAVE,
    Clear,
    ConditionLoop,
    CopyBuffer,
    CountedLoop,
    Launch,
    SplitPlan,
    Step,
)
from vyre.driver.grid_sync.segment_errors import in_segment
from vyre.record import dataclass


@dataclass(slots=True)
class _Run:
    plan: SplitPlan
    executables: Mapping[int, Executable]
    arguments: dict[str, Argument]
    grid: Grid
    ends_at: float | None
    handovers: Mapping[int, Sequence[DeviceMemory]]
    kernel_ns: int = 0
    timed: bool = True
    printed: tuple[str, ...] = ()

    def steps(self, steps: Sequence[Step]) -> int:
        """Run steps; the value says whether a loop around them is left or goes on early."""
        for step in steps:
            match step:
                case Launch():
                    signal = self.launch(step)
                    if signal:
                        return signal
                case CopyBuffer():
                    self.copy(step)
                case Clear(buffers):
                    for name in buffers:
                        self.arguments[name].memory.zero()
                    self.remaining()
                case CountedLoop():
                    self.counted(step)
                case ConditionLoop():
                    self.conditional(step)
        return 0

    def launch(self, step: Launch) -> int:
        # A segment that does nothing may still be where memory changes hands.
        for memory in self.handovers.get(step.segment, ()):
            memory.zero()
        if step.segment in self.plan.empty:
            return 0
        if step.leaves:
            self.arguments[EXIT].memory.zero()
        segment = self.plan.segments[step.segment]
        bound = [self.arguments[d.name] for d in segment.buffers if not d.is_on_chip]
        try:
            with in_segment(step.segment, len(self.plan.segments)):
                remaining = self.remaining()
                record = self.executables[step.segment].launch(bound, self.grid, remaining)
        except ExecutionError as ended:
            ended.printed = self.printed + ended.printed
            raise
        self.note(record)
        return self.shared_u32() if step.leaves else 0

    def remaining(self) -> float | None:
        """Seconds until the deadline, if there is one."""
        if self.ends_at is None:
            return None
        remaining = self.ends_at - time.monotonic()
        if remaining <= 0:
            raise DeadlineError(codes.DEADLINE_BETWEEN.at())
        return remaining

    def note(self, record: LaunchRecord) -> None:
        self.printed += record.printed
        if record.kernel_ns is None:
            self.timed = False
        else:
            self.kernel_ns += record.kernel_ns

    def shared_u32(self) -> int:
        view = bytearray(4)
        self.arguments[EXIT].memory.read(memoryview(view))
        return struct.unpack("<I", view)[0]

    def copy(self, step: CopyBuffer) -> None:
        source, destination = self.arguments[step.source], self.arguments[step.destination]
        # Pieces of memory may be larger than the buffers that are bound to them.
        count = min(source.count, destination.count)
        size = count * (step.element.size_bytes or 0)
        if size:
            destination.memory.copy_from(source.memory, size)

    def counted(self, step: CountedLoop) -> None:
        if isinstance(step.bounds, Launch):
            self.arguments[BOUNDS].memory.zero()
            self.launch(step.bounds)
            view = bytearray(16)
            self.arguments[BOUNDS].memory.read(memoryview(view))
            # The two slots hold the bounds' low 64 bits; unsigned ones read back as unsigned.
            form = "<2q" if step.variable.element.is_signed else "<2Q"
            start, stop = struct.unpack(form, view)
        else:
            start, stop = step.bounds
        size = step.variable.element.size_bytes or 0
        signed = step.variable.element.is_signed
        memory = self.arguments[step.variable.buffer].memory
        for value in range(start, stop):
            memory.write(memoryview(value.to_bytes(size, "little", signed=signed)))
            if self.steps(step.steps) == EXIT_LEAVE:
                return

    def conditional(self, step: ConditionLoop) -> None:
        while True:
            self.arguments[EXIT].memory.zero()
            self.launch(step.condition)
            if not self.shared_u32():
                return
            signal = self.steps(step.steps)
            if signal == EXIT_LEAVE:
                return
            assert signal in (0, EXIT_CONTINUE)


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
    bound = dict(arguments)
    own: list[DeviceMemory] = []
    workgroups, size = prod(grid), prod(plan.segments[0].workgroup_size)
    invocations = workgroups * size
    # Places in memory are computed in 32 bits, also of an element that comes after the last one.
    largest = max((spill.count(workgroups, size) for spill in plan.spills), default=0)
    if plan.spills and max(invocations, largest + workgroups) >= 1 << 32:
        raise DispatchError(codes.BAD_GRID.at(grid=grid, problem="is too large for a grid barrier"))
    try:
        for spill in plan.spills:
            count = spill.count(workgroups, size)
            memory = device.allocate(count * (spill.element.size_bytes or 0))
            own.append(memory)
            bound[spill.buffer] = Argument(memory, count)
        ends_at = None if deadline is None else time.monotonic() + deadline
        run = _Run(plan, executables, bound, grid, ends_at, handovers or {})
        run.steps(plan.steps if invocations else plan.copies)
        return LaunchRecord(run.kernel_ns if run.timed else None, run.printed)
    finally:
        for memory in own:
            memory.release()
