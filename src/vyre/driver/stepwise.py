"""Sequences run from the host, step by step: the meaning of a sequence on any device."""

from __future__ import annotations

import time
from collections.abc import Sequence as Ordered
from math import prod
from typing import Final, assert_never

from vyre.diagnostics import DeadlineError, ExecutionError
from vyre.diagnostics.codes import driver as codes
from vyre.driver.backend import Argument, DeviceMemory
from vyre.driver.grid import Grid
from vyre.driver.sequence import (
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
    Stop,
    Store,
)

_MASK: Final = (1 << 64) - 1


class Stepwise:
    """A sequence whose steps the host makes one after the other."""

    def __init__(self, sequence: Sequence) -> None:
        self._sequence = sequence
        self._counters = [0] * sequence.counters
        """Their 64 bits, as numbers that are not negative."""
        self._printed: tuple[str, ...] = ()
        self._times: dict[int, tuple[int, int]] = {}
        self._kernel_ns: int | None = 0
        """Time of the kernels of a run, as long as the device tells it."""
        self._at = 0
        self._grid: Grid | None = None

    @property
    def position(self) -> int:
        """The step that was under way when the latest run failed."""
        return self._at

    @property
    def counters(self) -> tuple[int, ...]:
        """The counters as the latest run left them."""
        return tuple(_signed(value) for value in self._counters)

    def run(
        self,
        arrays: Ordered[object] = (),
        deadline: float | None = None,
        clearing: bytes = b"",
        grid: Grid | None = None,
    ) -> SequenceRecord | None:
        """Run to the end; None if there are parameters, which the host cannot bind."""
        self._at = 0
        self._grid = grid
        self._printed = ()
        self._kernel_ns = 0
        if self._sequence.parameters:
            return None
        ends_at = None if deadline is None else time.monotonic() + deadline
        try:
            reason = self._steps(ends_at)
        except ExecutionError as ended:
            ended.printed = self._printed + ended.printed
            raise
        return SequenceRecord(reason, self.counters, self._printed, self._kernel_ns)

    def take_times(self) -> list[tuple[int, int, int]]:
        """Launches since the last call: step, nanoseconds, how many."""
        times, self._times = self._times, {}
        return [(position, *found) for position, found in sorted(times.items())]

    def _steps(self, ends_at: float | None) -> int:
        steps = self._sequence.steps
        while self._at < len(steps):
            step = steps[self._at]
            if isinstance(step, Stop):
                return step.reason
            if isinstance(step, (Jump, Branch, Below)):
                _remaining(ends_at)
                self._at = step.to if self._goes(step) else self._at + 1
                continue
            self._do(step, ends_at)
            self._at += 1
        return 0

    def _goes(self, step: Jump | Branch | Below) -> bool:
        match step:
            case Jump():
                return True
            case Branch(place, value, _, equal):
                return (int.from_bytes(self._read(place, 4), "little") == value) is equal
            case Below():
                one = self._counters[step.counter]
                other = self._counters[step.limit] if step.is_counter else step.limit & _MASK
                return _signed(one) < _signed(other) if step.signed else one < other

    def _do(
        self, step: Launch | Clear | Copy | Put | Load | Store | Add, ends_at: float | None
    ) -> None:
        match step:
            case Launch():
                self._launch(step, ends_at)
            case Clear(place, nbytes, is_per_workgroup):
                _remaining(ends_at)
                if is_per_workgroup:
                    assert self._grid is not None
                    nbytes *= prod(self._grid)
                memory = _memory(place)
                if not place.offset and nbytes == memory.nbytes:
                    memory.zero()
                else:
                    memory.write(memoryview(bytes(nbytes)), place.offset)
            case Copy(source, target, nbytes):
                _remaining(ends_at)
                self._copy(source, target, nbytes)
            case Put(counter, value):
                self._counters[counter] = value & _MASK
            case Load(counter, place):
                self._counters[counter] = int.from_bytes(self._read(place, 8), "little")
            case Store(counter, place, nbytes):
                low = self._counters[counter].to_bytes(8, "little")[:nbytes]
                _memory(place).write(memoryview(low), place.offset)
            case Add(counter, value):
                self._counters[counter] = self._counters[counter] + value & _MASK
            case _:
                assert_never(step)

    def _launch(self, step: Launch, ends_at: float | None) -> None:
        grid = step.grid or self._grid
        assert grid is not None
        if 0 in grid:
            return
        bound = [each for each in step.arguments if isinstance(each, Argument)]
        left = _remaining(ends_at)
        began = time.perf_counter_ns()
        record = step.executable.launch(bound, grid, left)
        spent = record.kernel_ns
        if spent is not None and self._kernel_ns is not None:
            self._kernel_ns += spent
        elif spent is None:
            self._kernel_ns = None
            spent = time.perf_counter_ns() - began
        total, count = self._times.get(self._at, (0, 0))
        self._times[self._at] = total + spent, count + 1
        self._printed += record.printed

    def _copy(self, source: Place, target: Place, nbytes: int) -> None:
        if not nbytes:
            return
        if not source.offset and not target.offset:
            _memory(target).copy_from(_memory(source), nbytes)
        else:
            _memory(target).write(memoryview(self._read(source, nbytes)), target.offset)

    def _read(self, place: Place, nbytes: int) -> bytes:
        found = bytearray(nbytes)
        _memory(place).read(memoryview(found), place.offset)
        return bytes(found)


def _memory(place: Place) -> DeviceMemory:
    assert not isinstance(place.memory, Parameter)
    return place.memory


def _remaining(ends_at: float | None) -> float | None:
    """Seconds until the deadline, if there is one."""
    if ends_at is None:
        return None
    remaining = ends_at - time.monotonic()
    if remaining <= 0:
        raise DeadlineError(codes.DEADLINE_BETWEEN.at())
    return remaining


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


__all__ = ["Stepwise"]
