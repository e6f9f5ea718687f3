"""Result types of the output coverage analysis.

Plain values: computed by `output_coverage`, cached with a translated kernel, and evaluated for the
extents of each call.
"""

from __future__ import annotations

from vyre.record import dataclass

COVERAGE = "analysis.output_coverage"
"""The memo key under which a program holds the coverage of its outputs."""
Extent = tuple[str, int]
"""A buffer and one of its axes; `ALL` for its length, `NUMBER` for the value that it holds."""
ALL = -1
NUMBER = -2
SAFE_EXTENT = 1 << 30
"""Below this extent, adding a small constant to an index overflows neither `i32` nor `u32`."""


@dataclass(frozen=True, slots=True)
class Along:
    """The subscript is the global id along an axis of the grid."""

    axis: int


@dataclass(frozen=True, slots=True)
class UpTo:
    """The subscript is a loop counter that takes all values from 0 up to an extent."""

    counter: str
    end: Extent


@dataclass(frozen=True, slots=True)
class At:
    """The subscript is a constant."""

    number: int


Subscript = Along | UpTo | At
Size = Extent | int


@dataclass(frozen=True, slots=True)
class Limit:
    """A guard of a store: `first <= id < extent - margin` along one axis of the grid.

    Conservative: further invocations may pass the guard, because the difference wraps around where
    the extent is less than the margin.
    """

    axis: int
    """Of the grid."""
    first: int = 0
    extent: Extent | None = None
    margin: int = 0

    @property
    def is_edge(self) -> bool:
        """True if the guard excludes invocations at a border of the array."""
        return bool(self.first or self.margin)


@dataclass(frozen=True, slots=True)
class Coverage:
    """The elements of a buffer that are stored to, as subscripts of each axis and guards."""

    places: tuple[Subscript, ...]
    """One for each axis; `At(0)` stands for all constants in `parts`."""
    sizes: tuple[Size, ...]
    """Of all axes but the first."""
    limits: tuple[Limit, ...]
    """Guards that an invocation has to pass to store; all of them."""
    parts: frozenset[tuple[int, ...]] = frozenset(((),))
    """The constants along the axes that have `At(0)`, one tuple for each combination stored."""
