"""What a split program is: segments, the steps that launch them, and the memory they share."""

from __future__ import annotations

from collections.abc import Mapping

from vyre.ir import DataType, Program
from vyre.record import dataclass


@dataclass(frozen=True, slots=True)
class Spill:
    """Memory for what lives longer than a segment: variables, private arrays, workgroup arrays."""

    buffer: str
    element: DataType
    per_invocation: int
    """Elements for each invocation; 0 for a single element that all share."""
    per_workgroup: int = 0
    """Elements for each workgroup, of an array that these share."""
    is_stored_first: bool = False
    """True if no element has to begin as zero: each is stored before it is used."""

    def count(self, workgroups: int, workgroup_size: int) -> int:
        """The elements for a whole grid."""
        return workgroups * (self.per_invocation * workgroup_size + self.per_workgroup) or 2


@dataclass(frozen=True, slots=True)
class Launch:
    """Run one segment."""

    segment: int
    leaves: bool = False
    """Whether it may say, through `EXIT`, that a loop is left or goes on early."""


@dataclass(frozen=True, slots=True)
class CopyBuffer:
    """Copy one buffer to another, as many elements as both have."""

    source: str
    destination: str
    element: DataType


@dataclass(frozen=True, slots=True)
class Clear:
    """A barrier takes workgroup arrays away that are kept in these buffers."""

    buffers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CountedLoop:
    """Repeat steps for every value of a loop variable."""

    variable: Spill
    bounds: tuple[int, int] | Launch
    """Both bounds, or the segment that computes them into `BOUNDS`."""
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class ConditionLoop:
    """Repeat steps while the segment `condition` leaves a one in `EXIT`."""

    condition: Launch
    steps: tuple[Step, ...]


Step = Launch | CopyBuffer | Clear | CountedLoop | ConditionLoop

EXIT = "vyre.sync.exit"
"""One `u32`: 0 go on, 1 leave the loop (or: the condition holds), 2 next round."""
BOUNDS = "vyre.sync.bounds"
"""Two `i64`-sized slots of the loop variable's type widened to 64 bits."""
RETURNED = "vyre.sync.returned"
"""One `u32` per invocation: whether it has ended."""

EXIT_LEAVE = 1
EXIT_CONTINUE = 2


@dataclass(frozen=True, slots=True)
class SplitPlan:
    """A program cut at its grid-wide barriers."""

    segments: tuple[Program, ...]
    empty: frozenset[int]
    """Segments that do nothing; they are not launched."""
    steps: tuple[Step, ...]
    spills: tuple[Spill, ...]
    begins: Mapping[int, int]
    """By epoch, the first segment of it that is launched once; epochs inside of loops have none."""

    @property
    def copies(self) -> tuple[CopyBuffer, ...]:
        """What is left to do where there are no invocations."""
        return tuple(step for step in self.steps if isinstance(step, CopyBuffer))

    @property
    def has_copies(self) -> bool:
        """Whether buffers are copied, as collectives do, also in loops."""
        return _has_copies(self.steps)


def _has_copies(steps: tuple[Step, ...]) -> bool:
    return any(
        isinstance(step, CopyBuffer)
        or (isinstance(step, (CountedLoop, ConditionLoop)) and _has_copies(step.steps))
        for step in steps
    )
