"""Launches the groups of a window, on memory that scratch buffers share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from vyre.diagnostics import VyreError
from vyre.driver.backend import Device, DeviceMemory
from vyre.pipelines.apart import Host, OneByOne
from vyre.pipelines.settling import Contest
from vyre.pipelines.stages import Site, placed, without_room
from vyre.pipelines.steps import Buffer, Cleared, Copied, Launch, Step
from vyre.pipelines.window import WindowPlan
from vyre.record import dataclass
from vyre.runtime.copies import read_back
from vyre.runtime.device_array import DeviceArray, in_place
from vyre.runtime.host_types import numpy_type
from vyre.runtime.kernel import Kernel
from vyre.runtime.memory_pool import Held, pool_of

MOST_ARENAS = 2
"""Sets of scratch that a plan keeps for its next runs, in different threads."""
MOST_KEPT = 1 << 22
"""Bytes of such a set: with more, what finding memory costs is a small part of a run."""

Arena = dict[int, DeviceArray]
"""The arrays of a window's scratch, by number; some share memory."""
Memory = list[Host | DeviceArray | None]
"""The array of each buffer of a window."""


@dataclass(slots=True)
class Remembered:
    """A plan, and arrays that its last runs have left for the next."""

    plan: WindowPlan
    arenas: list[Arena]
    rivalry: Rivalry | None = None
    """Another plan for the same, as long as it is open which of both is faster."""
    is_settled: bool = False
    """True if it was timed against its rival, in this process or an earlier one."""


@dataclass(frozen=True, slots=True)
class Rivalry:
    """The second best plan of a window, and the contest with it."""

    rival: Remembered
    contest: Contest
    key: str
    """Under which the verdict is kept."""


@dataclass(slots=True)
class Counted:
    """What a call did."""

    launches: int = 0
    copies: int = 0
    host_reads: int = 0
    scratch_bytes: int = 0
    """Most bytes of scratch that were in use at once."""


@dataclass(frozen=True, slots=True)
class Run:
    """A kernel call; arguments are buffers by number, or numbers."""

    kernel: Kernel[...]
    values: tuple[Any, ...]
    places: tuple[tuple[int, int], ...]
    """Positions of arguments, and the numbers of their buffers."""
    extents: tuple[tuple[int, ...] | None, tuple[int, ...] | None]
    sites: tuple[Site, ...]


@dataclass(frozen=True, slots=True)
class CopyRun:
    """A copy, by the numbers of buffers."""

    source: int
    target: int


@dataclass(frozen=True, slots=True)
class ClearRun:
    """A clear, by the number of its buffer."""

    buffer: int


AnyRun = Run | CopyRun | ClearRun
"""What one step of a window does."""


@dataclass(frozen=True, slots=True)
class Window:
    """A window of one call: its plan, and its steps with their numbers."""

    known: Remembered
    steps: list[Step]
    buffers: list[Buffer]
    runs: list[list[AnyRun]]
    """By group."""


def runs_of(plan: WindowPlan, steps: Sequence[Step]) -> list[list[AnyRun]]:
    """What each group of a plan calls."""
    found: list[list[AnyRun]] = []
    order: dict[int, int] = {}
    for step in steps:
        for buffer, _ in step.uses():
            order.setdefault(id(buffer), len(order))
    for group in plan.groups:
        own = steps[group.first : group.first + group.count]
        launches = [step for step in own if isinstance(step, Launch)]
        if group.tiled is not None:
            kernel, values = group.tiled.kernel, group.tiled.arguments(launches)
            grid = (group.tiled.launch.grid, 1, 1)
            found.append([_run(kernel, values, order, (grid, None), launches)])
        elif group.fused is not None:
            kernel, values = group.fused.kernel, group.fused.arguments(launches)
            found.append([_run(kernel, values, order, (launches[0].grid, None), launches)])
        else:
            found.append([_alone(step, order) for step in own])
    return found


def count_launches(window: Window) -> int:
    """How many launches a window has."""
    return sum(isinstance(run, Run) for runs in window.runs for run in runs)


def _alone(step: Step, order: dict[int, int]) -> AnyRun:
    if isinstance(step, Copied):
        return CopyRun(order[id(step.source)], order[id(step.target)])
    if isinstance(step, Cleared):
        return ClearRun(order[id(step.buffer)])
    values = [step.given[name] for name in step.kernel.source.parameters]
    return _run(step.kernel, values, order, step.extents, [step])


def _run(
    kernel: Kernel[...],
    values: Sequence[Any],
    order: dict[int, int],
    extents: tuple[tuple[int, ...] | None, tuple[int, ...] | None],
    launches: Sequence[Launch],
) -> Run:
    places = tuple(
        (position, order[id(value)])
        for position, value in enumerate(values)
        if isinstance(value, Buffer)
    )
    sites = tuple(each.site for each in launches)
    return Run(kernel, tuple(values), places, extents, sites)


def run_window(
    window: Window,
    memory: Memory,
    device: Device,
    simple: OneByOne,
    counted: Counted,
    iteration: tuple[int, int] | None = None,
) -> None:
    """Run a window; afterwards `memory` has the arrays of scratch that lives on.

    `iteration` is the depth of a loop, and which of its iterations this is.
    """
    plan, buffers = window.known.plan, window.buffers
    try:
        arena = window.known.arenas.pop()
    except IndexError:
        arena = new_arena(plan, buffers, device)
    for number, array in arena.items():
        memory[number] = array
    for number in plan.own:
        memory[number] = new_array(device, buffers[number], zeroed=False)
    for number, output in plan.lent:
        memory[number] = memory[output]
    for group, runs in zip(plan.groups, window.runs, strict=True):
        for number in group.zeroed:
            simple.clear(_array(memory, number))
        for run in runs:
            _step(run, memory, simple, counted, iteration)
    for number in (*arena, *(number for number, _ in plan.lent)):
        memory[number] = None
    if len(window.known.arenas) < MOST_ARENAS and plan.slot_bytes <= MOST_KEPT:
        window.known.arenas.append(arena)


def first_words(
    device: Device, arrays: Sequence[Host | DeviceArray | None], *, is_shared: bool
) -> list[int]:
    """The first `u32` of each of some arrays, with one wait; 0 for one that has no memory."""
    found = [np.zeros(1, np.uint32) for _ in arrays]
    pending: list[tuple[Host, DeviceMemory]] = []
    for array, into in zip(arrays, found, strict=True):
        if isinstance(array, DeviceArray):
            held = array.hold()
            if is_shared:
                into[0] = in_place(array, held)[0]
            else:
                pending.append((into, held.memory))
        elif array is not None:
            into[0] = array.reshape(-1)[0]
    if pending:
        read_back(device, pending)
    return [int(each[0]) for each in found]


def _array(memory: Memory, number: int) -> Host | DeviceArray:
    found = memory[number]
    assert found is not None
    return found


def _step(
    run: AnyRun,
    memory: Memory,
    simple: OneByOne,
    counted: Counted,
    iteration: tuple[int, int] | None,
) -> None:
    match run:
        case Run(kernel, values, places, (grid, elements)):
            given = list(values)
            for position, number in places:
                given[position] = memory[number]
            try:
                simple.call(kernel, given, grid, elements)
            except VyreError as error:
                sites = run.sites
                if iteration is not None:
                    sites = [site.at(*iteration) for site in sites]
                raise placed(error, sites) from error.__cause__
            counted.launches += 1
        case CopyRun(source, target):
            simple.copy(_array(memory, source), _array(memory, target))
            counted.copies += 1
        case ClearRun(buffer):
            simple.clear(_array(memory, buffer))


def new_arena(plan: WindowPlan, buffers: Sequence[Buffer], device: Device) -> Arena:
    """Memory for the scratch that dies in a window."""
    arena: Arena = {}
    for slot in plan.slots:
        names = [buffers[number].name for number in slot.buffers]
        held = _memory(device, slot.nbytes, names, zeroed=False)
        for number in slot.buffers:
            buffer = buffers[number]
            arena[number] = DeviceArray(device, buffer.shape, numpy_type(buffer.dtype), held)
    return arena


def new_array(device: Device, buffer: Buffer, *, zeroed: bool) -> DeviceArray:
    """Memory of its own for a buffer."""
    held = _memory(device, buffer.nbytes, [buffer.name], zeroed=zeroed)
    return DeviceArray(device, buffer.shape, numpy_type(buffer.dtype), held)


def _memory(device: Device, nbytes: int, names: Sequence[str], *, zeroed: bool) -> Held:
    pool = pool_of(device)
    try:
        return Held(pool, pool.take(max(nbytes, 1), zeroed=zeroed))
    except VyreError as error:
        raise without_room(error, names) from error.__cause__
