"""Which unreachable statements may be removed.

The checker looks at what a program says, not at what it does. Some statements that are never
reached are all that makes others valid, or act without being reached, and must stay:

- a write to workgroup memory in a program with grid syncs: reading what can not have been written
  since the sync is refused;
- a collective, which happens once for the grid even if every invocation has returned;
- the start of an async copy, or the wait for it, whose counterpart stands elsewhere;
- a trap whose resume stands elsewhere.
"""

from __future__ import annotations

from vyre import ir
from vyre.analysis import ProgramFacts, body_effects
from vyre.ir.walk import walk_stmts

_COLLECTIVES = (ir.AllGather, ir.AllReduce, ir.Broadcast, ir.ReduceScatter)
_NEEDED_ELSEWHERE = (*_COLLECTIVES, ir.AsyncLoad, ir.AsyncStore, ir.AsyncWait, ir.Trap, ir.Resume)


def has_grid_sync(program: ir.Program) -> bool:
    """Whether the program has grid syncs or collectives."""
    return any(
        (type(s) is ir.Barrier and s.ordering is ir.MemoryOrdering.GRID_SYNC)
        or isinstance(s, _COLLECTIVES)
        for s in ProgramFacts.of(program).statements
    )


class Dropping:
    """Answers for one program."""

    def __init__(self, program: ir.Program) -> None:
        self._program = program
        self._memory: frozenset[str] | None = None

    def allows(self, body: ir.Body) -> bool:
        """Whether the statements may be taken out, if they are never executed."""
        if any(isinstance(statement, _NEEDED_ELSEWHERE) for statement in walk_stmts(body)):
            return False
        if self._memory is None:
            self._memory = _lost_at_syncs(self._program)
        return not self._memory or body_effects(body).writes.isdisjoint(self._memory)


def _lost_at_syncs(program: ir.Program) -> frozenset[str]:
    """The workgroup buffers of a program that has grid syncs; none if it has not."""
    shared = frozenset(decl.name for decl in program.buffers if decl.is_workgroup)
    return shared if shared and has_grid_sync(program) else frozenset()
