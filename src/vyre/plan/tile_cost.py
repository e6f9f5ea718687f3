"""Cost of a tiled launch against its stages apart, in seconds that only order choices.

    apart  Σ max(bytes / bandwidth, work / speed) + launches · launch
    fused  max(bytes left / bandwidth, Σ work · (1 + recomputed) / speed · slowdown) + clears
           + barriers + launch

Bandwidth depends on whether what a call touches fits in the cache. The constants stand in one
table, by the kind of the device.
"""

from __future__ import annotations

from collections.abc import Sequence

from vyre.plan.tile_plan import Tiling
from vyre.record import dataclass


@dataclass(frozen=True, slots=True)
class Costs:
    """Constants of a device."""

    launch: float
    """Seconds of a launch."""
    cached: float
    """Bytes per second from the cache, and from memory."""
    memory: float
    cache: int
    """Bytes of the cache."""
    speed: float
    """Units of `program_cost` per second."""
    slowdown: float
    """Of work in a tiled launch: vectors and coalescing that are lost."""
    barrier: float
    """Seconds per workgroup and barrier."""
    clear: float
    """Seconds per byte of workgroup memory and workgroup."""
    most: float = 0.95
    """Fuse below this part of the time apart."""


COSTS = {
    "cpu": Costs(4e-6, 60e9, 15e9, 1 << 24, 400e9, 1.0, 1e-8, 1e-11),
    "software": Costs(60e-6, 10e9, 5e9, 1 << 24, 6e9, 1.5, 4e-6, 1e-9),
    "gpu": Costs(10e-6, 400e9, 200e9, 1 << 22, 2e12, 1.2, 1e-8, 1e-12),
}
"""By kind: a CPU, a GPU in software, a GPU."""


@dataclass(frozen=True, slots=True)
class StageCost:
    """What a stage moves and does."""

    bytes_apart: int
    bytes_fused: int
    work: int


def predicted(stages: Sequence[StageCost], tiling: Tiling, costs: Costs) -> float:
    """The time of the tiled launch, as a part of that of its stages apart."""
    touched = sum(stage.bytes_apart for stage in stages)
    left = sum(stage.bytes_fused for stage in stages)
    apart = (
        sum(
            max(stage.bytes_apart / _bandwidth(costs, touched), stage.work / costs.speed)
            for stage in stages
        )
        + len(stages) * costs.launch
    )
    work = sum(
        stage.work * bounds.rows / bounds.step
        for stage, bounds in zip(stages, tiling.plan.stages, strict=True)
    )
    groups = tiling.launch.grid
    fused = max(left / _bandwidth(costs, left), work / costs.speed * costs.slowdown)
    fused += groups * (len(stages) - 1) * costs.barrier
    fused += groups * tiling.plan.nbytes * costs.clear + costs.launch
    return fused / apart


def _bandwidth(costs: Costs, nbytes: int) -> float:
    return costs.cached if nbytes <= costs.cache else costs.memory
