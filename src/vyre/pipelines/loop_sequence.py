"""Iterations that repeat, as one sequence of the device: without the host between them.

    iteration, iteration with names swapped   ->   launches, Add, Branch(flag), Below,
                                                   launches, Add, Branch(flag), Below(to the first)

Legal when iterations of a cycle are collected as windows that make no scratch for later ones, and
each of their launches is one that was made before, on arrays that are used in place. Decisions by
`vy.when` are branches of the sequence. Profitable on a device that runs sequences by itself: an
iteration costs its launches and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from vyre.diagnostics import DeadlineError, TrapError, VyreError
from vyre.driver import sequence as seq
from vyre.driver.backend import Argument, Device
from vyre.pipelines.apart import Clock
from vyre.pipelines.collected import Branch, Item
from vyre.pipelines.execute import (
    MOST_ARENAS,
    MOST_KEPT,
    Arena,
    Memory,
    Window,
    count_launches,
    new_arena,
)
from vyre.pipelines.sequence import Stage, StepBuilder, in_place_of, stage_at
from vyre.pipelines.stages import placed
from vyre.pipelines.steps import Buffer
from vyre.record import dataclass
from vyre.runtime import telemetry
from vyre.runtime.device_array import DeviceArray
from vyre.runtime.memory_pool import Held
from vyre.runtime.traps import located

LIMIT: Final = 1
"""Why a sequence stopped: it has made as many iterations as it may."""
_PROBLEM: Final = 2
"""From here on: what is wrong in a branch that is taken, by its number."""
_ITERATIONS: Final = 0
_MOST_TIMES: Final = 256

MemoryOf = Callable[[Buffer], Any]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run of a cycle has done."""

    iterations: int
    goes_on: bool
    launches: int


class LoopSequence:
    """A cycle of iterations on the arrays of one call, until the flag is zero."""

    def __init__(self, device: Device, memory_of: MemoryOf) -> None:
        self._device = device
        self._memory_of = memory_of
        self._steps: list[seq.Step] = []
        self._stages: dict[int, Stage] = {}
        self._arrays: list[Any] = []
        """Arrays of the host among the arguments: parameters of the sequence."""
        self._arenas: list[tuple[Window, Arena]] = []
        self._held: list[Held] = []
        self._problems: list[VyreError] = []
        self._launches: list[int] = []
        """Of each iteration of the cycle, at most."""
        self._prepared: seq.PreparedSequence | None = None

    def prepare(self, cycle: Sequence[Sequence[Item]], flag: Buffer, limit: int) -> bool:
        """Make the sequence for at most `limit` iterations; False if there can be none."""
        if not isinstance(self._device, seq.RunsSequences):
            return False
        self._steps.append(seq.Put(_ITERATIONS, 0))
        ends: list[int] = []
        for number, items in enumerate(cycle):
            self._launches.append(0)
            if not all(map(self._add, items)):
                self.release()
                return False
            self._steps.append(seq.Add(_ITERATIONS, 1))
            ends.append(len(self._steps))
            self._steps.append(seq.Stop(LIMIT))
            last = number == len(cycle) - 1
            at = 1 if last else len(self._steps) + 2
            self._steps.append(seq.Below(_ITERATIONS, limit, at))
            self._steps.append(seq.Stop(LIMIT))
        place = self._place(flag)
        for end in ends:
            self._steps[end] = seq.Branch(place, 0, len(self._steps))
        sequence = seq.Sequence(tuple(self._steps), counters=1, parameters=len(self._arrays))
        self._prepared = seq.prepare(self._device, sequence)
        return True

    def release(self) -> None:
        """Give back scratch, for the windows to use."""
        for window, arena in self._arenas:
            if len(window.known.arenas) < MOST_ARENAS:
                window.known.arenas.append(arena)
        self._arenas.clear()
        self._held.clear()

    def run(self, clock: Clock, depth: int, done: int) -> Outcome | None:
        """Run it after `done` iterations; None, with no effect, if arrays cannot be used so."""
        prepared = self._prepared
        assert prepared is not None
        arrays = [in_place_of(each, self._held) for each in self._arrays]
        try:
            record = prepared.run(arrays, clock.left())
        except VyreError as error:
            stage = stage_at(self._stages, prepared.position)
            if stage is None:
                raise
            if isinstance(error, TrapError):
                error = located(error, stage.launch.compiled.compilation.source)
            if isinstance(error, DeadlineError):
                error = clock.restated(error)
            count = done + prepared.counters[_ITERATIONS] + 1
            sites = [site.at(depth, count) for site in stage.run.sites]
            raise placed(error, sites) from error.__cause__
        if record is None:
            return None
        self._note_times()
        if record.stopped >= _PROBLEM:
            raise self._problems[record.stopped - _PROBLEM]
        ran = record.counters[_ITERATIONS]
        whole, rest = divmod(ran, len(self._launches))
        launches = whole * sum(self._launches) + sum(self._launches[:rest])
        return Outcome(ran, record.stopped == LIMIT, launches)

    def _note_times(self) -> None:
        assert self._prepared is not None
        for position, nanoseconds, count in self._prepared.take_times():
            stage = self._stages.get(position)
            if stage is not None:
                mean = nanoseconds // count
                for _ in range(min(count, _MOST_TIMES)):
                    telemetry.record_names(stage.launch.keys, mean, stage.launch.touched)

    def _add(self, item: Item) -> bool:
        if isinstance(item, Window):
            return self._window(item)
        if isinstance(item, Branch):
            return self._branch(item)
        self._steps.append(seq.Stop(_PROBLEM + len(self._problems)))
        self._problems.append(item)
        return True

    def _branch(self, branch: Branch) -> bool:
        test = len(self._steps)
        self._steps.append(seq.Jump(0))
        if not all(map(self._add, branch.then.items)):
            return False
        leave = len(self._steps)
        self._steps.append(seq.Jump(0))
        self._steps[test] = seq.Branch(self._place(branch.flag), 0, len(self._steps))
        if not all(map(self._add, branch.otherwise.items)):
            return False
        self._steps[leave] = seq.Jump(len(self._steps))
        return True

    def _window(self, window: Window) -> bool:
        known = window.known
        if known.plan.own or known.plan.slot_bytes > MOST_KEPT:
            return False
        try:
            arena = known.arenas.pop()
        except IndexError:
            arena = new_arena(known.plan, window.buffers, self._device)
        self._arenas.append((window, arena))
        memory: Memory = [self._memory_of(buffer) for buffer in window.buffers]
        for number, array in arena.items():
            memory[number] = array
        for number, output in known.plan.lent:
            memory[number] = memory[output]
        building = _Building(self, window, memory)
        for group, runs in zip(known.plan.groups, window.runs, strict=True):
            for number in group.zeroed:
                building.clear(number)
            if not all(map(building.add, runs)):
                return False
        base = len(self._steps)
        self._steps += building.steps
        self._stages.update({base + at: stage for at, stage in building.stages.items()})
        self._launches[-1] += count_launches(window)
        return True

    def operand(self, array: Any) -> Argument | seq.Parameter:
        """An array as an operand: memory of the device, or a parameter."""
        if isinstance(array, DeviceArray):
            held = array.hold()
            self._held.append(held)
            return Argument(held.memory, array.size)
        for index, known in enumerate(self._arrays):
            if known is array:
                return seq.Parameter(index)
        self._arrays.append(array)
        return seq.Parameter(len(self._arrays) - 1)

    def _place(self, buffer: Buffer) -> seq.Place:
        operand = self.operand(self._memory_of(buffer))
        return seq.Place(operand if isinstance(operand, seq.Parameter) else operand.memory)


class _Building(StepBuilder):
    """The steps of a window of a cycle, while they are made."""

    def __init__(self, loop: LoopSequence, window: Window, memory: Memory) -> None:
        super().__init__(window, memory, (), loop._device)  # pyright: ignore[reportPrivateUsage]
        self._loop = loop

    def operand(self, number: int) -> Argument | seq.Parameter:
        """What is bound for a buffer."""
        return self._loop.operand(self.memory[number])
