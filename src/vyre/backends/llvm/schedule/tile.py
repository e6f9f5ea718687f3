"""How many lanes run together."""

from __future__ import annotations

from vyre.backends.llvm.schedule.lane_filter import Sieve
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
    sieve: Sieve | None = None
    """What lanes are asked first, many at once, before those that have work run one by one."""

    @property
    def step(self) -> int:
        """Lanes along x that run together."""
        return (self.width or 1) * (self.jam if self.axis == 0 else 1)


ONE_BY_ONE = Tile()
