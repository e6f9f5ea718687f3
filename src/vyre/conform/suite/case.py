"""What the conformance suite consists of.

A *trial* is one program with its data. A *case* is one thing that it shows: for opcodes and
conversions one result (an opcode, a type, an operand form and one tuple of operand values), for
memory one access, for everything else one behaviour. A trial says of every stretch of its outputs
how many cases it holds, so that cases are counted and failures are named one by one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from vyre.conform.compare import EXACT, Tolerance
from vyre.diagnostics import ExecutionError
from vyre.ir import Program
from vyre.record import dataclass
from vyre.semantics import Array

Grid = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Elements of one output that show one thing."""

    label: str
    buffer: str
    start: int
    count: int
    tolerance: Tolerance = EXACT
    whole: bool = False
    """Whether all elements together are one case, instead of each being one."""
    accesses: int | None = None
    """How many cases there are, where it is neither one nor one per element."""

    @property
    def cases(self) -> int:
        """How many cases it holds."""
        if self.accesses is not None:
            return self.accesses
        return 1 if self.whole else self.count


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run must end, when it must not end well."""

    error: type[BaseException]
    code: str | None = None
    """The code of the diagnostic, if it must be a certain one."""
    tag: str | None = None
    """The tag of a trap."""

    @property
    def is_refusal(self) -> bool:
        """Whether the program must not even start."""
        return not issubclass(self.error, ExecutionError)


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """A program, its data, and what it shows."""

    area: str
    name: str
    program: Program
    inputs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    grid: Grid = (1, 1, 1)
    stretches: tuple[Stretch, ...] = ()
    """What is compared; without any, all outputs together are one case."""
    expected: Mapping[str, Array] = field(default_factory=dict[str, Array])
    """Results known from somewhere else than the reference: both must hold."""
    sizes: Mapping[str, int] = field(default_factory=dict[str, int])
    tolerance: Tolerance = EXACT
    """For outputs without stretches."""
    ending: Ending | None = None
    in_place: bool = False
    """Whether the host's own arrays are changed."""
    deadline: float | None = None
    """Seconds that the run is given; a target without deadlines does not offer the trial."""

    @property
    def cases(self) -> int:
        """How many cases it holds."""
        return sum(stretch.cases for stretch in self.stretches) or 1
