"""Cutting a workgroup's work at its barriers.

One thread runs a whole workgroup, so a barrier is where a loop over lanes ends and the next one
begins. Statements that hold a barrier run once for the workgroup, their conditions being the same
for all lanes, and so do variables that all lanes share; everything between is a stretch of work
that runs lane after lane. A loop whose guard depends on its round is taken apart the same way:
then the guard says in every round how many lanes take part.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field

from vyre import ir
from vyre.backends.llvm.analysis.read_names import reads_of_body
from vyre.ir.walk import walk_stmts
from vyre.record import dataclass


@dataclass(frozen=True, slots=True)
class ParallelRegion:
    """Statements that run lane after lane."""

    body: ir.Body


@dataclass(frozen=True, slots=True)
class Once:
    """Variables that the workgroup shares, bound or changed once for all lanes."""

    body: tuple[ir.Let | ir.Assign, ...]


@dataclass(frozen=True, slots=True)
class Together:
    """A statement that the workgroup does as one: a copy, or control flow around barriers."""

    statement: ir.AnyStmt
    inner: tuple[tuple[Piece, ...], ...] = ()


Piece = ParallelRegion | Once | Together

_MEETING = (ir.Barrier, ir.AsyncWait, ir.AsyncLoad, ir.AsyncStore)


def holds_barrier(statement: ir.AnyStmt) -> bool:
    """Whether invocations meet somewhere in a statement."""
    return any(isinstance(s, _MEETING) for s in walk_stmts((statement,)))


@dataclass(slots=True)
class Cutter:
    """Cuts bodies into pieces."""

    is_shared: Callable[[ir.Let | ir.Assign], bool]
    """Whether a variable gets a value that is the same for the whole workgroup."""
    runs_outside: Callable[[ir.Loop], bool]
    """Whether a loop without barriers is better run around the lanes than in each."""
    found: list[Piece] = field(default_factory=list[Piece])
    _waiting: list[ir.AnyStmt] = field(default_factory=list[ir.AnyStmt])

    def cut(self, body: ir.Body) -> tuple[Piece, ...]:
        """The work of a body, cut where invocations meet."""
        inner = Cutter(self.is_shared, self.runs_outside)
        inner._take(body)
        inner._flush()
        return tuple(inner.found)

    def _take(self, body: ir.Body) -> None:
        for statement in body:
            outside = isinstance(statement, ir.Loop) and self.runs_outside(statement)
            if not outside and not self._opens(statement):
                self._waiting.append(statement)
                continue
            if isinstance(statement, (ir.Block, ir.Region)):
                self._take(statement.body)
                continue
            self._flush()
            match statement:
                case ir.If(_, then, otherwise):
                    arms = (self.cut(then), self.cut(otherwise))
                    self.found.append(Together(statement, arms))
                case ir.Loop() | ir.While():
                    self.found.append(Together(statement, (self.cut(statement.body),)))
                case ir.AsyncLoad() | ir.AsyncStore():
                    self.found.append(Together(statement))
                case _:
                    pass

    def _opens(self, statement: ir.AnyStmt) -> bool:
        """Whether a statement is cut: for what is in it."""
        if isinstance(statement, (ir.Block, ir.Region)):
            return any(
                self._opens(s) or (isinstance(s, ir.Loop) and self.runs_outside(s))
                for s in statement.body
            )
        return holds_barrier(statement)

    def _flush(self) -> None:
        """Turn the statements that wait into a stretch, with what is shared before and after."""
        before: list[ir.Let | ir.Assign] = []
        rest: list[ir.AnyStmt] = []
        changed: set[str] = set()
        touched: set[str] = set()
        for statement in self._waiting:
            if isinstance(statement, (ir.Let, ir.Assign)) and self.is_shared(statement):
                reads = reads_of_body((statement,))
                free = isinstance(statement, ir.Let) or statement.name not in touched
                if free and not reads & changed:
                    before.append(statement)
                    continue
            rest.append(statement)
            touched |= reads_of_body((statement,))
            for inner in walk_stmts((statement,)):
                if isinstance(inner, (ir.Let, ir.Assign)):
                    changed.add(inner.name)
                    touched.add(inner.name)
        after: list[ir.Let | ir.Assign] = []
        while rest and isinstance(last := rest[-1], ir.Assign) and self.is_shared(last):
            after.insert(0, last)
            rest.pop()
        if before:
            self.found.append(Once(tuple(before)))
        if rest:
            self.found.append(ParallelRegion(tuple(rest)))
        if after:
            self.found.append(Once(tuple(after)))
        self._waiting.clear()


def stretches(work: tuple[Piece, ...]) -> list[ParallelRegion]:
    """All stretches of some work, nested ones included."""
    found: list[ParallelRegion] = []
    for piece in work:
        if isinstance(piece, ParallelRegion):
            found.append(piece)
        elif isinstance(piece, Together):
            for inner in piece.inner:
                found.extend(stretches(inner))
    return found
