"""What random expressions can be made of: functions, arrays and values around a function."""

from __future__ import annotations

from dataclasses import field

from vyre.conform.python.scope import SMALL, Kind
from vyre.record import dataclass


@dataclass(frozen=True, slots=True)
class Whole:
    """The text of a whole number and how far from zero it can be."""

    text: str
    bound: int = SMALL


@dataclass(frozen=True, slots=True)
class Device:
    """A device function that can be called."""

    name: str
    parameters: tuple[tuple[str, Kind], ...]
    result: Kind
    optional: int = 0
    """How many of the last parameters have a default."""
    keyword: frozenset[str] = frozenset()
    """Parameters that are given by name only."""
    has_effect: bool = False
    """Whether it stores to the array, at the place, that it takes before all parameters."""


@dataclass(slots=True)
class Outside:
    """What a function finds around itself."""

    functions: list[Device] = field(default_factory=list[Device])
    wholes: tuple[str, ...] = ()
    reals: tuple[str, ...] = ()
    table: str | None = None
    """A tuple of four whole numbers."""
    places: tuple[str, ...] = ()
    """Elements that the invocation has for itself, as `r` and an index."""
    arrays: tuple[str, ...] = ("x",)
    """Arrays of whole numbers that are read anywhere."""
    own: tuple[str, ...] = ()
    """Private arrays of whole numbers, of five elements."""
    own_planes: tuple[str, ...] = ()
    """Private arrays of 2 × 3 whole numbers."""
    planes: tuple[str, ...] = ()
    """Arrays of 2 × 3 whole numbers."""
    real_arrays: tuple[str, ...] = ()
