"""How many lanes run together."""

from __future__ import annotations

from vyre.backends.llvm.schedule.lane_filter import LaneFilter
from vyre.record import dataclass


@dataclass(frozen=True, slots=True)
class Tile:
    """Lanes that run in lock-step: `jam` sets of them, each a vector of `width` or one lane."""

    width: int = 0
    """Lanes of a vector along x; 0 for one lane as plain scalar code."""
    jam: int = 1
    axis: int = 0
    """Along which axis the sets follow one another."""
    lock_step: bool = True
    """Whether sets go statement by statement, or one after the other."""
    peeled: bool = False
    """Whether lanes for which conditions and accesses hold run apart from the others."""
    reason: str = ""
    """Why lanes run one at a time, where they do."""
    sieve: LaneFilter | None = None
    """What lanes are asked first, many at once, before those that have work run one by one."""

    @property
    def step(self) -> int:
        """Lanes along x that run together."""
        return (self.width or 1) * (self.jam if self.axis == 0 else 1)


ONE_BY_ONE = Tile(reason="lanes are ordered by returns or loops that leave the region")
"""Lanes one after the other, in regions that other regions depend on lane by lane."""


def describe(tile: Tile, *, overlaps: bool) -> str:
    """How lanes run, in words."""
    where = ("columns", "rows", "planes")[tile.axis]
    if not tile.width:
        lanes = f"{tile.jam} lanes in turn" if tile.jam > 1 else "one lane at a time"
        if tile.jam > 1 and tile.lock_step:
            lanes = f"{tile.jam} scalar lanes in lock-step"
        return f"{lanes}: {tile.reason}" if tile.reason else lanes
    jam = f", {tile.jam} of them along {where}" if tile.jam > 1 else ""
    remainder = "overlapping" if overlaps else "scalar"
    return f"vectors of {tile.width} lanes{jam}, {remainder} remainder"


__all__ = ["ONE_BY_ONE", "Tile", "describe"]
