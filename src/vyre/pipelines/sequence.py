"""A recorded window as one sequence of the device: its launches without the host between them.

    blur(x, t); blur(t, y)   ->   Launch(blur, (Parameter(0), t), grid)
                                  Launch(blur, (t, Parameter(1)), grid)

Scratch is bound when the sequence is made, arguments and results are its parameters. The launches
are those that calls of the kernels would make: programs, grids and what is cleared are taken from
their call caches, and looked up again every so often, in case there is better code.

Legal when each stage is a single launch whose arrays are used in place, as the recorded call has
shown; kernels that print and kernels with grid barriers run one by one. Profitable on a device that
runs sequences by itself, for windows whose scratch is small enough to be kept: where it is not, the
launches take much longer than the host between them.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from time import perf_counter_ns
from typing import Any, Final, cast

import numpy as np

from vyre.diagnostics import TrapError, VyreError
from vyre.driver import sequence as seq
from vyre.driver.backend import Argument, Device
from vyre.opt.hot_paths import DEFAULT_HOT_THRESHOLD_NS
from vyre.pipelines.execute import (
    MOST_ARENAS,
    MOST_KEPT,
    AnyRun,
    Arena,
    ClearRun,
    CopyRun,
    Memory,
    Run,
    Window,
    new_arena,
    new_array,
)
from vyre.pipelines.stages import placed
from vyre.record import dataclass
from vyre.runtime import telemetry
from vyre.runtime.cached_call import PreparedLaunch
from vyre.runtime.device_array import DeviceArray, in_place
from vyre.runtime.memory_pool import Held
from vyre.runtime.traps import located

_MAX_RUNS: Final = 256
"""Runs of a sequence before one of its launches one by one, which finds better code."""
_MAX_REFUSALS: Final = 4
"""Windows that could not be prepared this often are not tried again."""
_MOST_CLEARS: Final = 16
"""Rows of an array that are cleared by steps of their own."""
_CLEARED: Final = struct.Struct("=5q")


@dataclass(frozen=True, slots=True)
class Stage:
    """A launch of a sequence."""

    run: Run
    launch: PreparedLaunch


@dataclass(frozen=True, slots=True)
class _Ready:
    """A sequence on scratch of its own, for one run at a time."""

    prepared: seq.PreparedSequence
    stages: Mapping[int, Stage]
    """By the position of the step."""
    arena: Arena
    can_improve: bool
    """True if some of the code is not yet what is made of hot programs."""


class WindowSequence:
    """Runs a window as one sequence, where the device does that."""

    def __init__(
        self,
        window: Window,
        arguments: Mapping[int, int],
        results: Sequence[int | None],
        device: Device,
    ) -> None:
        self._window = window
        self._arguments = arguments
        """Numbers of buffers, and the positions of the arguments that they are."""
        self._results = results
        self._device = device
        own = window.known.plan.own
        self._parameters = (*arguments, *own)
        """Numbers of the buffers that each run gives."""
        self._idle: list[_Ready] = []
        self._left = 0
        self._refusals = 0
        small = window.known.plan.slot_bytes <= MOST_KEPT
        self._is_possible = small and isinstance(device, seq.RunsSequences)

    def run(self, args: Sequence[Any], deadline: float | None) -> tuple[DeviceArray, ...] | None:
        """Run on the arrays of a call: those that it returns; None, with no effect, on failure."""
        if not self._is_possible:
            return None
        if self._left <= 0:
            # The next run prepares it again, after this one has looked for better code.
            self._left, self._idle = _MAX_RUNS, []
            return None
        memory: Memory = [None] * len(self._window.buffers)
        for number, position in self._arguments.items():
            memory[number] = args[position]
        for number in self._window.known.plan.own:
            buffer = self._window.buffers[number]
            memory[number] = new_array(self._device, buffer, zeroed=False)
        held: list[Held] = []
        arrays = [in_place_of(memory[number], held) for number in self._parameters]
        try:
            ready = self._idle.pop()
        except IndexError:
            made = self._prepare(memory)
            if made is None:
                self._refusals += 1
                self._is_possible = self._refusals < _MAX_REFUSALS
                return None
            ready = made
        self._left -= 1
        if not self._ran(ready, arrays, deadline):
            return None
        if len(self._idle) < MOST_ARENAS:
            self._idle.append(ready)
        held.clear()
        found: list[Any] = [None if each is None else memory[each] for each in self._results]
        return tuple(found)

    def _ran(self, ready: _Ready, arrays: Sequence[object], deadline: float | None) -> bool:
        started = perf_counter_ns()
        try:
            record = ready.prepared.run(arrays, deadline)
        except VyreError as error:
            stage = stage_at(ready.stages, ready.prepared.position)
            if stage is None:
                raise
            if isinstance(error, TrapError):
                error = located(error, stage.launch.compiled.compilation.source)
            raise placed(error, stage.run.sites) from error.__cause__
        if record is None:
            return False
        spent = perf_counter_ns() - started
        if not self._left or (ready.can_improve and spent >= DEFAULT_HOT_THRESHOLD_NS):
            self._note_times(ready)
        return True

    def _note_times(self, ready: _Ready) -> None:
        """Record the times of launches; one that has become hot is looked up again."""
        for position, nanoseconds, count in ready.prepared.take_times():
            stage = ready.stages.get(position)
            if stage is None:
                continue
            launch, mean = stage.launch, nanoseconds // count
            for _ in range(min(count, _MAX_RUNS)):
                telemetry.record_names(launch.keys, mean, launch.touched)
            if mean >= DEFAULT_HOT_THRESHOLD_NS and not launch.compiled.is_for_hot:
                self._left = 0

    def _prepare(self, memory: Memory) -> _Ready | None:
        known = self._window.known
        try:
            arena = known.arenas.pop()
        except IndexError:
            arena = new_arena(known.plan, self._window.buffers, self._device)
        building = StepBuilder(self._window, [*memory], self._parameters, self._device)
        for number, array in arena.items():
            building.memory[number] = array
        for number, output in known.plan.lent:
            building.memory[number] = building.memory[output]
        for group, runs in zip(known.plan.groups, self._window.runs, strict=True):
            for number in group.zeroed:
                building.clear(number)
            if not all(map(building.add, runs)):
                return None
        sequence = seq.Sequence(tuple(building.steps), parameters=len(self._parameters))
        prepared = seq.prepare(self._device, sequence)
        compiled = [stage.launch.compiled for stage in building.stages.values()]
        can_improve = not all(each.is_for_hot for each in compiled)
        return _Ready(prepared, building.stages, arena, can_improve)


class StepBuilder:
    """The steps of a window, while they are made."""

    def __init__(
        self, window: Window, memory: Memory, parameters: Sequence[int], device: Device
    ) -> None:
        self._window = window
        self.memory = memory
        self._parameters = parameters
        self._device = device
        self._lent = dict(window.known.plan.lent)
        self.steps: list[seq.Step] = []
        self.stages: dict[int, Stage] = {}

    def add(self, run: AnyRun) -> bool:
        """Add what a run does; False if it cannot be a step."""
        match run:
            case Run():
                return self._launch(run)
            case CopyRun(source, target):
                nbytes = self._window.buffers[source].nbytes
                self.steps.append(seq.Copy(self._place(source), self._place(target), nbytes))
            case ClearRun(buffer):
                self.clear(buffer)
        return True

    def clear(self, number: int) -> None:
        """Add a clear of a whole buffer."""
        self.steps.append(seq.Clear(self._place(number), self._window.buffers[number].nbytes))

    def _launch(self, run: Run) -> bool:
        given = list(run.values)
        numbers = dict(run.places)
        for position, number in run.places:
            given[position] = self.memory[number]
        held: list[Held] = []
        grid, elements = run.extents
        device = self._device.info.id
        found = run.kernel.calls.prepared(tuple(given), device, grid, elements, held)
        if found is None or found.compiled.compilation.plan is not None:
            return False
        executable = found.compiled.takes_arrays
        if executable is None:
            return False
        operands: list[Argument | seq.Parameter] = []
        for operand in found.operands:
            if isinstance(operand, int):
                operands.append(self.operand(numbers[operand]))
            else:
                operands.append(self._constant(cast("np.ndarray[Any, Any]", operand)))
        if not self._clear_parts(found, numbers):
            return False
        self.stages[len(self.steps)] = Stage(run, found)
        self.steps.append(seq.Launch(executable, tuple(operands), found.grid))
        return True

    def _clear_parts(self, launch: PreparedLaunch, numbers: Mapping[int, int]) -> bool:
        """Clear what of its outputs a launch does not write."""
        for operand, first, nbytes, repeats, distance in _CLEARED.iter_unpack(launch.clearing):
            if repeats > _MOST_CLEARS:
                return False
            position = launch.operands[operand]
            assert isinstance(position, int)
            for repeat in range(repeats):
                place = self._place(numbers[position], first + repeat * distance)
                self.steps.append(seq.Clear(place, nbytes))
        return True

    def operand(self, number: int) -> Argument | seq.Parameter:
        """What is bound for a buffer."""
        number = self._lent.get(number, number)
        if number in self._parameters:
            return seq.Parameter(self._parameters.index(number))
        array = self.memory[number]
        assert isinstance(array, DeviceArray)
        return Argument(array.hold().memory, array.size)

    def _constant(self, array: np.ndarray[Any, Any]) -> Argument:
        """Memory of its own for a number or a shape."""
        memory = self._device.allocate(max(array.nbytes, 1))
        memory.write(memoryview(array.tobytes()))
        return Argument(memory, array.size)

    def _place(self, number: int, offset: int = 0) -> seq.Place:
        operand = self.operand(number)
        return seq.Place(operand if isinstance(operand, seq.Parameter) else operand.memory, offset)


def stage_at(stages: Mapping[int, Stage], position: int) -> Stage | None:
    """The stage at a step of a sequence, or the latest before it: some steps are no launches."""
    before = [each for each in stages if each <= position]
    return stages[max(before or stages)] if stages else None


def in_place_of(array: object, held: list[Held]) -> object:
    """An array as the sequence takes it; the memory of a device array is appended to `held`."""
    if not isinstance(array, DeviceArray):
        return array
    memory = array.hold()
    held.append(memory)
    return in_place(array, memory)


__all__ = ["Stage", "StepBuilder", "WindowSequence", "in_place_of", "stage_at"]
