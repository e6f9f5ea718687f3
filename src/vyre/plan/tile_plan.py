"""A plan for stages that run as one launch, with what they hand over in workgroup memory.

    P: t[i] = f(x[i])                        each workgroup:  P for T + 2 invocations, into a tile
    C: y[i] = t[i - 1] + t[i] + t[i + 1]                      barrier
                                                              C for T invocations, from the tile

Bounds are inferred backwards: what a stage reads of a tile says which invocations of its producer
the workgroup runs, so halos add up along a chain and scale with ratios. Everything here is frozen
data: `TilePlan` is what the kernel depends on, `TileLaunch` the numbers of one call.
"""

from __future__ import annotations

from collections.abc import Mapping

from vyre import ir
from vyre.plan.access_forms import Launched
from vyre.plan.interior import Interior
from vyre.record import dataclass

MOST_TILE_BYTES = 16_384
"""Workgroup memory of all tiles of a launch that are alive at once."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage as the planner gets it."""

    name: str
    line: int
    program: ir.Program
    """Without returns; buffers have the names of values."""
    launched: Launched


@dataclass(frozen=True, slots=True)
class Value:
    """An array that a stage of the group writes and later ones read."""

    name: str
    shown: str
    element: ir.DataType
    length: int
    is_wanted: bool
    """True if it is used elsewhere too: it is written to the tile and to memory."""


@dataclass(frozen=True, slots=True)
class Seam:
    """How a value passes from its producer to its readers; strides are per invocation."""

    value: Value
    producer: int
    write_stride: int
    write_low: int
    write_high: int
    is_dense: bool
    """True if every element inside of the buffer is stored."""
    reads: tuple[tuple[int, int, int, int], ...]
    """Of each reader: its stage, stride, lowest and highest offset."""


@dataclass(frozen=True, slots=True)
class StageRange:
    """The invocations that each workgroup runs: `step * group + first` and `rows` - 1 more."""

    step: int
    first: int
    rows: int
    is_guarded: bool
    """True if the program itself does nothing beyond its own invocations."""

    @property
    def is_exact(self) -> bool:
        """True if no invocation is run by two workgroups."""
        return self.first == 0 and self.rows == self.step


@dataclass(frozen=True, slots=True)
class Tile:
    """The elements `step * group + first` and `size` - 1 more of a value."""

    step: int
    first: int
    size: int
    slot: int
    is_cleared: bool
    is_written_through: bool
    length: str
    """A buffer in memory that is as long; empty if the length is passed as a number."""


@dataclass(frozen=True, slots=True)
class TilePlan:
    """What the kernel of a group depends on, beside the programs of its stages."""

    lanes: int
    stages: tuple[StageRange, ...]
    tiles: Mapping[str, Tile]
    slots: tuple[tuple[ir.DataType, int], ...]
    """Workgroup memory: tiles whose lives are disjoint share it."""

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for plans that need the same kernel."""
        return (self.lanes, self.stages, tuple(self.tiles.items()), self.slots)

    @property
    def nbytes(self) -> int:
        """Bytes of workgroup memory, as the host lays them out."""
        return sum(size * (element.size_bytes or 1) for element, size in self.slots)


@dataclass(frozen=True, slots=True)
class TileLaunch:
    """The numbers of one call."""

    grid: int
    first: int
    """The first workgroup in the interior, and how many there are."""
    count: int
    totals: tuple[int, ...]
    """Invocations of each stage, if it ran by itself."""
    recomputed: float
    """Invocations that several workgroups run, as a part of all."""


@dataclass(frozen=True, slots=True)
class Tiling:
    """A plan with all that it was made of."""

    stages: tuple[Stage, ...]
    interiors: tuple[Interior, ...]
    seams: tuple[Seam, ...]
    plan: TilePlan
    launch: TileLaunch


@dataclass(frozen=True, slots=True)
class Refusal:
    """The first condition that failed."""

    condition: str
    why: str

    def __str__(self) -> str:
        return f"{self.condition}: {self.why}"


@dataclass(frozen=True, slots=True)
class Machine:
    """What a device gives to a workgroup."""

    most_lanes: int
    most_bytes: int
    most_groups: int
    in_one_row: bool
    """True if one invocation per lane is best, however many lanes there are: a CPU."""
    least_bytes: int
    """Bytes of an element in workgroup memory at least."""

    def bytes_of(self, element: ir.DataType) -> int:
        """Bytes of an element in workgroup memory."""
        return max(element.size_bytes or 1, self.least_bytes)
