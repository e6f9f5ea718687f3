"""A compiled program: closures, and what running them needs to know."""

from __future__ import annotations

from collections.abc import Callable

from vyre.backends.reference.lanes import Lanes
from vyre.backends.reference.task import Collective, Run, Task
from vyre.diagnostics import Location
from vyre.ir import AnyStmt, IndirectDispatch, Program
from vyre.record import dataclass
from vyre.semantics import Array
from vyre.text import statement_line

Evaluate = Callable[[Task, Lanes], Array]
"""Gives one entry per invocation, or one for all."""
Leaf = Callable[[Task, Lanes], None]
"""A statement that every invocation comes out of."""
Flow = Callable[[Task, Lanes], Run]
"""A statement that some invocations may not come out of, or that waits."""


@dataclass(frozen=True, slots=True)
class Place:
    """A statement and where it stands."""

    path: str
    statement: AnyStmt

    @property
    def location(self) -> Location:
        """The same, as diagnostics want it."""
        return Location(self.path, self.statement.span, statement_line(self.statement))


@dataclass(frozen=True, slots=True)
class Code:
    """A program ready to run. It holds no state: any number of runs may share it."""

    program: Program
    entry: Flow
    variables: int
    places: tuple[Place, ...]
    has_grid_sync: bool
    has_subgroups: bool
    has_acquire: bool
    """Whether some atomic orders memory."""
    collectives: tuple[Collective, ...]
    indirect: IndirectDispatch | None
    sanitized: bool
