"""Parallel regions: a workgroup's body split at its barriers.

One thread runs a whole workgroup, so a loop over lanes ends at a barrier and the next one begins
there (loop fission):

    a; barrier; b    ->    for lane { a }  for lane { b }

Control flow that contains a barrier runs once per workgroup, as its conditions are uniform, and so
do branches to a version of the program and bindings of workgroup-uniform variables; everything in
between is a parallel region, run once per lane. A loop whose guard depends on its iteration is
split in the same way: the guard then bounds the active lanes of every iteration.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field

from vyre import ir
from vyre.ir.walk import read_names, walk_stmts
from vyre.record import dataclass


@dataclass(frozen=True, slots=True)
class ParallelRegion:
    """Barrier-free statements, run once per invocation."""

    body: ir.Body


@dataclass(frozen=True, slots=True)
class Once:
    """Bindings and assignments of workgroup-uniform variables, run once."""

    body: tuple[ir.Let | ir.Assign, ...]


@dataclass(frozen=True, slots=True)
class Together:
    """A workgroup-level statement: a copy, or control flow around barriers."""

    statement: ir.AnyStmt
    inner: tuple[tuple[Piece, ...], ...] = ()


Piece = ParallelRegion | Once | Together

SYNCHRONISING = (ir.Barrier, ir.AsyncWait, ir.AsyncLoad, ir.AsyncStore)


def holds_barrier(statement: ir.AnyStmt) -> bool:
    """True if a statement contains a barrier or an asynchronous copy."""
    return any(isinstance(s, SYNCHRONISING) for s in walk_stmts((statement,)))


@dataclass(slots=True)
class Cutter:
    """Splits bodies into regions and workgroup-level pieces."""

    is_shared: Callable[[ir.Let | ir.Assign], bool]
    """True if a variable gets a workgroup-uniform value."""
    runs_outside: Callable[[ir.Loop], bool]
    """True if a barrier-free loop should run around the lane loop."""
    version_flags: frozenset[str] = frozenset()
    """Conditions that select a version: its regions are its own."""
    pieces: list[Piece] = field(default_factory=list[Piece])
    _pending: list[ir.AnyStmt] = field(default_factory=list[ir.AnyStmt])

    def cut(self, body: ir.Body) -> tuple[Piece, ...]:
        """Split a body at its barriers."""
        inner = Cutter(self.is_shared, self.runs_outside, self.version_flags)
        inner._take(body)
        inner._flush()
        return tuple(inner.pieces)

    def _take(self, body: ir.Body) -> None:
        for statement in body:
            outside = isinstance(statement, ir.Loop) and self.runs_outside(statement)
            if not outside and not self._opens(statement):
                self._pending.append(statement)
                continue
            if isinstance(statement, (ir.Block, ir.Region)):
                self._take(statement.body)
                continue
            self._flush()
            match statement:
                case ir.If(_, then, otherwise):
                    arms = (self.cut(then), self.cut(otherwise))
                    self.pieces.append(Together(statement, arms))
                case ir.Loop() | ir.While():
                    self.pieces.append(Together(statement, (self.cut(statement.body),)))
                case ir.AsyncLoad() | ir.AsyncStore():
                    self.pieces.append(Together(statement))
                case _:
                    pass

    def _opens(self, statement: ir.AnyStmt) -> bool:
        """True if a statement is split, because of its contents."""
        if isinstance(statement, (ir.Block, ir.Region)):
            return any(
                self._opens(s) or (isinstance(s, ir.Loop) and self.runs_outside(s))
                for s in statement.body
            )
        return self._selects_version(statement) or holds_barrier(statement)

    def _selects_version(self, statement: ir.AnyStmt) -> bool:
        match statement:
            case ir.If(ir.Var(name), _, _):
                return name in self.version_flags
            case _:
                return False

    def _flush(self) -> None:
        """Form a region of the pending statements, uniform ones hoisted or sunk."""
        before: list[ir.Let | ir.Assign] = []
        rest: list[ir.AnyStmt] = []
        changed: set[str] = set()
        touched: set[str] = set()
        for statement in self._pending:
            if isinstance(statement, (ir.Let, ir.Assign)) and self.is_shared(statement):
                reads = read_names((statement,))
                free = isinstance(statement, ir.Let) or statement.name not in touched
                if free and not reads & changed:
                    before.append(statement)
                    continue
            rest.append(statement)
            touched |= read_names((statement,))
            for inner in walk_stmts((statement,)):
                if isinstance(inner, (ir.Let, ir.Assign)):
                    changed.add(inner.name)
                    touched.add(inner.name)
        after: list[ir.Let | ir.Assign] = []
        while rest and isinstance(last := rest[-1], ir.Assign) and self.is_shared(last):
            after.insert(0, last)
            rest.pop()
        if before:
            self.pieces.append(Once(tuple(before)))
        if rest:
            self.pieces.append(ParallelRegion(tuple(rest)))
        if after:
            self.pieces.append(Once(tuple(after)))
        self._pending.clear()


def regions_in(work: tuple[Piece, ...]) -> list[ParallelRegion]:
    """All parallel regions of some pieces, nested ones included."""
    regions: list[ParallelRegion] = []
    for piece in work:
        if isinstance(piece, ParallelRegion):
            regions.append(piece)
        elif isinstance(piece, Together):
            for inner in piece.inner:
                regions.extend(regions_in(inner))
    return regions
