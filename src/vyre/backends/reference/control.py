"""Control flow as closures: who executes which body, and who comes out of it."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

from vyre.backends.reference.lanes import Lanes
from vyre.backends.reference.task import Arrival, Collective, LoopExits, Run, Sync, Task
from vyre.record import dataclass
from vyre.semantics import Array
from vyre.semantics.representation import unsigned

if TYPE_CHECKING:
    from vyre.backends.reference.code import Evaluate, Flow, Leaf


class Kind(Enum):
    """What a statement does with the invocations that execute it."""

    LEAF = "leaf"
    """All of them go on."""
    FLOW = "flow"
    """Some may not come out, or it waits."""
    LEAVE = "leave"
    """None goes on."""


@dataclass(frozen=True, slots=True)
class Step:
    """A compiled statement."""

    kind: Kind
    leaf: Leaf | None = None
    flow: Flow | None = None


def body(steps: Sequence[Step], ending: dict[int, list[int]]) -> Flow:
    """Statements one after the other; `ending` are the variables that each needs last."""
    plan = tuple((step, tuple(ending.get(number, ()))) for number, step in enumerate(steps))

    def run(task: Task, lanes: Lanes) -> Run:
        meter = task.cohort.world.meter
        for step, dead in plan:
            meter.spend(lanes.size)
            if step.leaf is not None:
                step.leaf(task, lanes)
                if step.kind is Kind.LEAVE:
                    return None
            elif step.flow is not None:
                rest = yield from step.flow(task, lanes)
                if rest is None:
                    return None
                lanes = rest
            for variable in dead:
                task.forget(variable)
        return lanes

    return run


def if_(cond: Evaluate, then: Flow, otherwise: Flow) -> Flow:
    """One of two bodies."""

    def run(task: Task, lanes: Lanes) -> Run:
        taken, other = lanes.split(cond(task, lanes))
        if taken is not None:
            taken = yield from then(task, taken)
        if other is not None:
            other = yield from otherwise(task, other)
        return lanes.join((taken, other))

    return run


def while_(cond: Evaluate, inner: Flow) -> Flow:
    """A body again and again, for each invocation as long as its condition holds."""

    def run(task: Task, lanes: Lanes) -> Run:
        meter = task.cohort.world.meter
        done: list[Lanes | None] = []
        current: Lanes | None = lanes
        while current is not None:
            meter.spend(current.size)
            going, stopped = current.split(cond(task, current))
            done.append(stopped)
            current = None
            if going is not None:
                current = yield from _round(task, going, inner, done)
        return lanes.join(done)

    return run


def loop(variable: int, start: Evaluate, stop: Evaluate, inner: Flow) -> Flow:
    """A body once for every number from `start` up to, not including, `stop`."""

    def run(task: Task, lanes: Lanes) -> Run:
        first, end = start(task, lanes), stop(task, lanes)
        if first.size == 1 and end.size == 1:
            return (yield from together(task, lanes, first, end))
        return (yield from apart(task, lanes, first, end))

    def together(task: Task, lanes: Lanes, first: Array, end: Array) -> Run:
        meter = task.cohort.world.meter
        done: list[Lanes | None] = []
        current: Lanes | None = lanes
        for number in range(int(first[0]), int(end[0])):
            meter.spend(current.size)
            task.let(variable, current, np.array([number], first.dtype))
            current = yield from _round(task, current, inner, done)
            if current is None:
                break
        return lanes.join((current, *done))

    def apart(task: Task, lanes: Lanes, first: Array, end: Array) -> Run:
        meter = task.cohort.world.meter
        first, end = np.broadcast_arrays(first, end)
        # The number of rounds fits the unsigned type of the same width, whatever the bounds are.
        rounds = np.where(first < end, unsigned(end) - unsigned(first), 0)
        done: list[Lanes | None] = []
        current, number = lanes, 0
        while True:
            at = current.within(lanes) if current is not lanes else slice(None)
            going, stopped = current.split(rounds[at] > number)
            done.append(stopped)
            if going is None:
                break
            meter.spend(going.size)
            at = going.within(lanes) if going is not lanes else slice(None)
            counter = unsigned(first[at]) + unsigned(first).dtype.type(number)
            task.let(variable, going, counter.view(first.dtype))
            rest = yield from _round(task, going, inner, done)
            if rest is None:
                break
            current, number = rest, number + 1
        return lanes.join(done)

    return run


def _round(task: Task, lanes: Lanes, inner: Flow, done: list[Lanes | None]) -> Run:
    """One round: those who go on to the next; those who left the loop are added to `done`."""
    exits = LoopExits()
    task.loops.append(exits)
    rest = yield from inner(task, lanes)
    task.loops.pop()
    done.extend(exits.broken)
    return lanes.join((rest, *exits.continued)) if exits.continued else rest


def break_(task: Task, lanes: Lanes) -> None:
    """Leave the innermost loop."""
    task.loops[-1].broken.append(lanes)


def continue_(task: Task, lanes: Lanes) -> None:
    """Go on with the next round of the innermost loop."""
    task.loops[-1].continued.append(lanes)


def return_(task: Task, lanes: Lanes) -> None:
    """End the invocations for good."""


def barrier(sync: Sync, place: int, collective: Collective | None = None) -> Flow:
    """Wait for the others."""

    def run(task: Task, lanes: Lanes) -> Run:
        world = task.cohort.world
        yield Arrival(sync, lanes, place, collective)
        return world.survivors(task, lanes)

    return run
