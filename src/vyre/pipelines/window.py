"""A window: steps that are planned together, and the memory of the scratch between them.

A window ends where the host has to decide: at a flag that it reads, and at the end of the call.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from vyre.front.parameters import Mode
from vyre.pipelines.fused import FusedKernel, FusedKernels, number_buffers
from vyre.pipelines.grouping import Group, grouped
from vyre.pipelines.lending import lenders, lent
from vyre.pipelines.steps import Buffer, Cleared, Launch, Step
from vyre.pipelines.tile_kernels import GroupKernels, PlanningDevice, TiledGroup
from vyre.pipelines.tiling import tiled_groups
from vyre.plan.memory_sharing import share
from vyre.record import dataclass


@dataclass(frozen=True, slots=True)
class Slot:
    """Memory that several scratch buffers of a window have one after the other."""

    nbytes: int
    buffers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PlannedGroup:
    """A group of steps, by their positions in the window."""

    first: int
    count: int
    fused: FusedKernel | None
    """None for a step that runs by itself."""
    zeroed: tuple[int, ...]
    """Scratch that is filled with zeros before: its first stage does not overwrite it."""
    apart: str
    tiled: TiledGroup | None = None
    """None unless the steps hand over tiles."""


@dataclass(frozen=True, slots=True)
class WindowPlan:
    """What is done with a window, whatever the numbers and the memory of a call are."""

    groups: tuple[PlannedGroup, ...]
    slots: tuple[Slot, ...]
    """Memory of scratch that dies in the window. Scratch that lives on has its own."""
    own: tuple[int, ...]
    """Scratch that gets memory here and is used after the window."""
    registers: tuple[int, ...]
    """Scratch that has no memory."""
    tiles: tuple[tuple[int, bool], ...]
    """Scratch that is in tiles, and whether it is in memory too."""
    lent: tuple[tuple[int, int], ...] = ()
    """Scratch that has the memory of an output, and which output."""

    @property
    def has_tiles(self) -> bool:
        """True if some launch hands over tiles."""
        return any(group.tiled is not None for group in self.groups)

    @property
    def is_fused(self) -> bool:
        """True if some launch is several stages."""
        return self.has_tiles or any(group.fused is not None for group in self.groups)

    @property
    def shape(self) -> str:
        """Which steps are joined, and how: the same for plans that differ in numbers only."""
        kinds = ("t" if g.tiled is not None else "r" if g.fused else "s" for g in self.groups)
        return " ".join(f"{k}{g.count}" for k, g in zip(kinds, self.groups, strict=True))

    @property
    def slot_bytes(self) -> int:
        """Bytes of the memory that scratch shares."""
        return sum(slot.nbytes for slot in self.slots)


def buffers_of(steps: Sequence[Step]) -> list[Buffer]:
    """The buffers of a window, each once, in the order of their first use."""
    found: dict[int, Buffer] = {}
    for step in steps:
        for buffer, _ in step.uses():
            found.setdefault(id(buffer), buffer)
    return list(found.values())


def key_of(
    steps: Sequence[Step], buffers: Sequence[Buffer], live: AbstractSet[int]
) -> tuple[object, ...]:
    """What the plan of a window depends on."""
    order = {id(buffer): number for number, buffer in enumerate(buffers)}
    parts: list[object] = [
        (b.dtype, b.shape, b.is_scratch, b.is_fresh, b.is_plain, id(b) in live) for b in buffers
    ]
    for step in steps:
        used = tuple(order[id(buffer)] for buffer, _ in step.uses())
        if isinstance(step, Launch):
            parts.append((step.program, step.kernel, step.grid, used))
        else:
            parts.append((type(step), used))
    return tuple(parts)


def without_needless_clears(steps: Sequence[Step]) -> list[Step]:
    """The steps without clears of what a later step clears or overwrites before it is read."""
    kept: list[Step] = []
    for position, step in enumerate(steps):
        if isinstance(step, Cleared) and _is_overwritten(step.buffer, steps[position + 1 :]):
            continue
        kept.append(step)
    return kept


def _is_overwritten(buffer: Buffer, later: Sequence[Step]) -> bool:
    for step in later:
        for used, mode in step.uses():
            if used is buffer:
                return mode is Mode.OUT and not (isinstance(step, Launch) and 0 in step.grid)
    return False


def plan_window(
    steps: Sequence[Step],
    buffers: Sequence[Buffer],
    live: AbstractSet[int],
    *,
    kernels: GroupKernels | None,
    device: PlanningDevice,
    tiles: bool = True,
) -> WindowPlan:
    """Group the steps, and share memory between scratch buffers whose lives are disjoint.

    Without `kernels` nothing is fused, and without `tiles` only what registers hand over.
    """
    order = {id(buffer): number for number, buffer in enumerate(buffers)}
    last = {id(b): position for position, step in enumerate(steps) for b, _ in step.uses()}
    begun: set[int] = {id(b) for b in buffers if not (b.is_scratch and b.is_fresh)}
    planned: list[PlannedGroup] = []
    registers: list[int] = []
    in_tiles: dict[int, bool] = {}
    lives: dict[int, tuple[int, int]] = {}
    at = 0
    groups = _groups(steps, begun, live, kernels, device, tiles=tiles)
    for number, (group, tiled) in enumerate(groups):
        end = at + len(group.steps)
        fused = None
        if kernels is not None and tiled is None:
            fused = _fused(group, begun, live, last, end, kernels.registers)
        launches = [s for s in group.steps if isinstance(s, Launch)]
        without_memory: set[int] = set()
        if fused is not None:
            own = number_buffers(launches)
            without_memory = {id(own[each]) for each in fused.in_registers}
            registers += [order[each] for each in without_memory]
        if tiled is not None:
            without_memory, handed = _tiled_places(launches, tiled)
            registers += [order[each] for each in without_memory if each not in handed]
            for each, is_in_memory in handed.items():
                in_tiles[order[each]] = in_tiles.get(order[each], False) or is_in_memory
        zeroed: list[int] = []
        for step in group.steps:
            for buffer, mode in step.uses():
                key = id(buffer)
                if key in without_memory or not buffer.is_scratch:
                    continue
                if key not in begun:
                    begun.add(key)
                    is_empty = isinstance(step, Launch) and 0 in step.grid
                    if mode is not Mode.OUT or is_empty:
                        zeroed.append(order[key])
                    lives[order[key]] = (number, number)
                elif order[key] in lives:
                    lives[order[key]] = (lives[order[key]][0], number)
        planned.append(PlannedGroup(at, end - at, fused, tuple(zeroed), group.apart, tiled))
        at = end
    own_memory = [number for number in lives if id(buffers[number]) in live]
    shared = {number: life for number, life in lives.items() if number not in own_memory}
    overwritten = lenders([group for group, _ in groups], order)
    borrowed = lent(buffers, overwritten, frozenset(own_memory), shared)
    rest = {number: life for number, life in shared.items() if number not in borrowed}
    sizes = {number: buffers[number].nbytes for number in rest}
    slots = tuple(
        Slot(max(sizes[each] for each in numbers), tuple(numbers)) for numbers in share(sizes, rest)
    )
    handed_over = tuple((n, n in lives) for n in in_tiles if buffers[n].is_scratch)
    return WindowPlan(
        tuple(planned),
        slots,
        tuple(own_memory),
        tuple(registers),
        handed_over,
        tuple(borrowed.items()),
    )


def _groups(
    steps: Sequence[Step],
    begun: AbstractSet[int],
    live: AbstractSet[int],
    kernels: GroupKernels | None,
    device: PlanningDevice,
    *,
    tiles: bool,
) -> list[tuple[Group, TiledGroup | None]]:
    """The groups of a window, each with its tiles if it has some."""
    groups = grouped(steps, fuse=kernels is not None, most_buffers=device.most_buffers)
    if kernels is None or not tiles:
        return [(group, None) for group in groups]
    fresh = {id(b) for step in steps for b, _ in step.uses() if id(b) not in begun}
    return tiled_groups(groups, live, fresh, device, kernels.tiles)


def _tiled_places(
    launches: Sequence[Launch], tiled: TiledGroup
) -> tuple[set[int], dict[int, bool]]:
    """Buffers without memory in a tiled group; and those in tiles, with whether they have some."""
    own = number_buffers(launches)
    tiles = dict(tiled.in_tiles)
    elsewhere = {
        id(own[buffer])
        for value, buffer in enumerate(tiled.buffers)
        if value not in tiled.in_registers and tiles.get(value, True)
    }
    handed: dict[int, bool] = {}
    for value, is_in_memory in tiled.in_tiles:
        key = id(own[tiled.buffers[value]])
        handed[key] = handed.get(key, False) or is_in_memory
    return {id(buffer) for buffer in own} - elsewhere, handed


def _fused(
    group: Group,
    begun: AbstractSet[int],
    live: AbstractSet[int],
    last: dict[int, int],
    end: int,
    kernels: FusedKernels,
) -> FusedKernel | None:
    launches = [step for step in group.steps if isinstance(step, Launch)]
    if len(launches) < 2:
        return None
    dead = frozenset(
        number
        for number, buffer in enumerate(number_buffers(launches))
        if buffer.is_scratch
        and id(buffer) not in begun
        and id(buffer) not in live
        and last[id(buffer)] < end
    )
    return kernels.find(launches, dead)
