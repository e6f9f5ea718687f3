"""Calls like one before: the launches of a call, replayed on other arrays of the same shapes.

A call whose course the host alone decides, by lengths, scalar arguments and names from outside,
is one window. The next call with the same of them runs that window, without walking the tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any, cast

import numpy as np

from vyre.driver.routing import Route
from vyre.pipelines.apart import Clock, OneByOne
from vyre.pipelines.evaluate import Read
from vyre.pipelines.execute import Counted, Memory, Window, run_window
from vyre.pipelines.planned import Planned
from vyre.pipelines.sequence import WindowSequence
from vyre.pipelines.stage_hints import (
    SAMPLED_CALLS,
    Sampling,
    TimedLaunches,
    is_apart,
    note_stages,
)
from vyre.pipelines.stages import resolve
from vyre.pipelines.steps import Launch
from vyre.pipelines.turns import by_plan, in_turn
from vyre.record import dataclass
from vyre.runtime.device_array import DeviceArray
from vyre.runtime.run import check_deadline


@dataclass(frozen=True, slots=True)
class Recording:
    """The window of a call, and what of it are arguments and results."""

    window: Window
    arguments: tuple[tuple[int, int], ...]
    """Numbers of buffers, and the positions of the arguments that they are."""
    results: tuple[int | None, ...]
    """Numbers of the buffers that the call returns."""
    reads: tuple[Read, ...]
    route: Route
    is_on_host: bool
    """True if no argument is a device array."""
    natively: WindowSequence
    """Runs the window as one sequence of the device."""
    rival: Recording | None = None
    """The same call by the second best plan."""
    sampling: Sampling = field(default_factory=Sampling, compare=False)

    def is_current(self) -> bool:
        """True if names from outside stand for what they did, and kernels have their programs."""
        if any(resolve(source, name) is not found for source, name, found in self.reads):
            return False
        for step in self.window.steps:
            if isinstance(step, Launch):
                outside = step.outside
                if not (outside.same() or outside.means_the_same()):
                    return False
        return True

    def replay(self, args: Sequence[Any], deadline: float | None) -> tuple[DeviceArray, ...]:
        """Run the window on the arrays of a call: the arrays that it returns."""
        if deadline is not None:
            check_deadline(deadline)
        rivalry = self.window.known.rivalry
        if rivalry is None or self.rival is None:
            return self._run(args, deadline)
        plans, verdict = (self, self.rival), rivalry.contest.verdict
        if verdict is not None:
            return plans[verdict]._run(args, deadline)
        number = self.sampling.next()
        if number in SAMPLED_CALLS and is_apart(self.rival.window):
            return self._sample(self.rival, number, args, deadline)
        return in_turn(
            self.window, self.route.device, lambda turn: plans[turn]._run(args, deadline)
        )

    def _run(self, args: Sequence[Any], deadline: float | None) -> tuple[DeviceArray, ...]:
        """Run it by its own plan."""
        done = self.natively.run(args, deadline)
        if done is not None:
            return done
        return self._launch(args, OneByOne(self.route.device, Clock(deadline)))

    def _sample(
        self, apart: Recording, number: int, args: Sequence[Any], deadline: float | None
    ) -> tuple[DeviceArray, ...]:
        """Run each stage by itself, and record its time."""
        timed = TimedLaunches(self.route.device, Clock(deadline))
        found = apart._launch(args, timed)
        note_stages(self.window.known.plan, apart.window, timed.times, number)
        return found

    def _launch(self, args: Sequence[Any], simple: OneByOne) -> tuple[DeviceArray, ...]:
        """Launch one step after the other."""
        window = self.window
        memory: Memory = [None] * len(window.buffers)
        for number, position in self.arguments:
            memory[number] = args[position]
        run_window(window, memory, self.route.device, simple, Counted())
        found: list[Any] = [None if number is None else memory[number] for number in self.results]
        return tuple(found)


def recorded(
    actions: Planned, parameters: Sequence[str], reads: Sequence[Read], *, is_on_host: bool
) -> Recording | None:
    """The recording of a call; None if the device had a say in its course."""
    if len(actions.windows) != 1 or actions.is_decided or actions.kept:
        return None
    [window] = actions.windows
    numbers = {id(buffer): number for number, buffer in enumerate(window.buffers)}
    arguments: list[tuple[int, int]] = []
    for buffer in window.buffers:
        if not buffer.is_scratch:
            arguments.append((numbers[id(buffer)], parameters.index(buffer.name)))
    results = [numbers.get(id(buffer)) for buffer in actions.results]
    if None in results:
        return None

    def recording(window: Window, rival: Recording | None) -> Recording:
        device = actions.route.device
        return Recording(
            window,
            tuple(arguments),
            tuple(results),
            tuple(reads),
            actions.route,
            is_on_host,
            WindowSequence(window, dict(arguments), tuple(results), device),
            rival,
        )

    if window.known.rivalry is None:
        return recording(window, None)
    return recording(window, recording(by_plan(window, 1), None))


def key_of_call(args: Sequence[Any], device: str | None) -> tuple[object, ...] | None:
    """What the course of a call may depend on; None if arguments have to be looked at closely."""
    parts: list[object] = [device]
    seen: set[int] = set()
    for value in args:
        kind = cast("type[object]", type(value))
        if kind is np.ndarray:
            # Memory of its own is not that of another argument.
            if value.base is not None or not value.flags.carray or id(value) in seen:
                return None
            seen.add(id(value))
            parts.append((value.shape, value.dtype))
        elif kind is DeviceArray:
            if value.is_free or id(value) in seen:
                return None
            seen.add(id(value))
            parts.append((value.shape, value.dtype, value.device.info.id))
        elif kind is float:
            parts.append(value.hex())
        elif kind is int or kind is bool:
            parts.append((kind, value))
        else:
            return None
    return tuple(parts)


__all__ = ["Recording", "key_of_call", "recorded"]
