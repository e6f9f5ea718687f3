"""Checks that no workgroup memory is expected to survive a grid sync.

Goes through the program in the order of its text with the set of workgroup buffers that hold
nothing, because no write to them followed the last grid sync, and with the copies out of them that
are still under way. Loops carry the set from the end of a round to the beginning of the next; the
walk is repeated until no loop learns anything new.
"""

from __future__ import annotations

from dataclasses import field

from vyre import ir
from vyre.check.findings import Findings
from vyre.check.notes import Notes
from vyre.diagnostics.codes import check as codes
from vyre.ir.walk import walk_own_exprs
from vyre.record import dataclass


def check_grid_memory(program: ir.Program, notes: Notes, findings: Findings) -> None:
    """Report reads of workgroup memory that a grid sync has wiped out."""
    workgroup = frozenset(decl.name for decl in program.buffers if decl.is_workgroup)
    if not workgroup or not notes.grid_syncs:
        return
    walk = _Walk(workgroup)
    while not walk.settled:
        walk.run(program.entry)
    for (position, name), expr in sorted(walk.found.items(), key=lambda item: item[0]):
        findings.add(position, codes.LOST_WORKGROUP_MEMORY.at(name=name), expr)


@dataclass(slots=True)
class _Walk:
    workgroup: frozenset[str]
    found: dict[tuple[int, str], ir.AnyExpr | None] = field(
        default_factory=dict[tuple[int, str], ir.AnyExpr | None]
    )
    settled: bool = False
    _lost: set[str] = field(default_factory=set[str])
    _rounds: dict[int, set[str]] = field(default_factory=dict[int, set[str]])
    """By position of a loop: what may be lost when a round begins."""
    _copied: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    """By tag: what is being copied out of workgroup memory."""
    _torn: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    """The same, of copies that were under way at a grid sync."""
    _next: int = 0

    def run(self, entry: ir.Body) -> None:
        self.settled = True
        self._lost = set()
        self._copied, self._torn = {}, {}
        self._next = 0
        self._body(entry)

    def _body(self, body: ir.Body) -> None:
        for statement in body:
            position = self._next
            self._next += 1
            is_loop = isinstance(statement, (ir.Loop, ir.While))
            if isinstance(statement, ir.While):
                # Its condition is part of every round; the bounds of a loop are not.
                self._lost |= self._rounds.get(position, set())
            self._uses(statement, position)
            if is_loop:
                self._lost |= self._rounds.get(position, set())
            if isinstance(statement, _GRID_WIDE) or _is_grid_sync(statement):
                self._lost = set(self.workgroup)
                self._torn.update(self._copied)
            for name in statement.body_fields:
                self._body(getattr(statement, name))
            if is_loop:
                self._end_of_round(position)

    def _end_of_round(self, position: int) -> None:
        known = self._rounds.setdefault(position, set())
        if not self._lost <= known:
            known |= self._lost
            self.settled = False

    def _uses(self, statement: ir.AnyStmt, position: int) -> None:
        for expr in walk_own_exprs(statement):
            if isinstance(expr, ir.Load):
                self._read(position, expr.buffer, expr)
            elif isinstance(expr, ir.Atomic):
                self._read(position, expr.buffer, expr)
                self._lost.discard(expr.buffer)
        if isinstance(statement, ir.AsyncStore):
            self._read(position, statement.source, None)
            self._copied.setdefault(statement.tag, set()).add(statement.source)
        elif isinstance(statement, ir.AsyncWait):
            self._copied.pop(statement.tag, None)
            for name in self._torn.pop(statement.tag, ()):
                self.found.setdefault((position, name), None)
        elif isinstance(statement, ir.AsyncLoad):
            self._lost.discard(statement.destination)
        elif isinstance(statement, ir.Store):
            self._lost.discard(statement.buffer)

    def _read(self, position: int, name: str, expr: ir.AnyExpr | None) -> None:
        if name in self._lost:
            self.found.setdefault((position, name), expr)


_GRID_WIDE = (ir.AllReduce, ir.AllGather, ir.ReduceScatter, ir.Broadcast)


def _is_grid_sync(statement: ir.AnyStmt) -> bool:
    return isinstance(statement, ir.Barrier) and statement.ordering is ir.MemoryOrdering.GRID_SYNC
