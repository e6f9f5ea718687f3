"""The tile of a region: vector width and jam factor."""

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
    """The axis along which the sets are adjacent."""
    lock_step: bool = True
    """True if sets run statement by statement; else one after the other."""
    peeled: bool = False
    """True if the row is split: lanes whose guards and bounds are proven run separately."""
    reason: str = ""
    """Why the region is scalar, if it is."""
    sieve: LaneFilter | None = None
    """The vector pre-test that selects the scalar lanes with work, if any."""

    @property
    def step(self) -> int:
        """Lanes along x that run together."""
        return (self.width or 1) * (self.jam if self.axis == 0 else 1)


ONE_BY_ONE = Tile(reason="lanes are ordered by returns or loops that leave the region")
"""Scalar lanes in order: other regions depend on the region lane by lane."""


def describe(tile: Tile, *, overlaps: bool) -> str:
    """The tile in words, for the schedule listing."""
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
