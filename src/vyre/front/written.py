"""What is known of the elements that a program writes: places along axes, and what limits them.

Plain values, found by `filled`, remembered with a translated kernel, and used with every call.
"""

from __future__ import annotations

from vyre.record import dataclass

Extent = tuple[str, int]
"""A buffer, and which of its axes; `ALL` for all of its elements, `NUMBER` for what it holds."""
ALL = -1
NUMBER = -2
SAFE_EXTENT = 1 << 30
"""Along axes that are shorter, positions and small numbers add up in `i32` and in `u32` alike."""


@dataclass(frozen=True, slots=True)
class Along:
    """A position along an axis of the grid."""

    axis: int


@dataclass(frozen=True, slots=True)
class UpTo:
    """All positions from 0 up to an extent, one in every round of a loop."""

    counter: str
    end: Extent


@dataclass(frozen=True, slots=True)
class At:
    """A number."""

    number: int


Place = Along | UpTo | At
Size = Extent | int


@dataclass(frozen=True, slots=True)
class Limit:
    """Invocations from `first` on, and before the end of an extent less a margin, do their work.

    There may be others that do: where an extent is less than the margin, the difference wraps.
    """

    axis: int
    """Of the grid."""
    first: int = 0
    extent: Extent | None = None
    margin: int = 0

    @property
    def is_edge(self) -> bool:
        """Whether invocations at an edge are kept from their work."""
        return bool(self.first or self.margin)


@dataclass(frozen=True, slots=True)
class Filled:
    """A buffer whose elements are written by invocations at places that they alone tell."""

    places: tuple[Place, ...]
    """Along each axis; `At(0)` stands for all numbers in `parts`."""
    sizes: tuple[Size, ...]
    """Of all axes but the first."""
    limits: tuple[Limit, ...]
    """What invocations must keep to write; all of them."""
    parts: frozenset[tuple[int, ...]] = frozenset(((),))
    """The numbers that stand for the places along the other axes, all that are written."""
