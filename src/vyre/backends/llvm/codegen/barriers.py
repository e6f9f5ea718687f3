"""Cutting a workgroup's work at its barriers.

One thread runs a whole workgroup, so a barrier is where a loop over lanes ends and the next one
begins. Statements that hold a barrier run once for the workgroup, their conditions being the same
for all lanes; everything between is a stretch of work that runs lane after lane.
"""

from __future__ import annotations

from dataclasses import dataclass

from vyre.ir import (
    AnyStmt,
    AsyncLoad,
    AsyncStore,
    AsyncWait,
    Barrier,
    Block,
    Body,
    If,
    Loop,
    Region,
    While,
)
from vyre.ir.walk import walk_stmts


@dataclass(frozen=True, slots=True)
class Stretch:
    """Statements that run lane after lane."""

    body: Body


@dataclass(frozen=True, slots=True)
class Together:
    """A statement that the workgroup does as one: a copy, or control flow around barriers."""

    statement: AnyStmt
    inner: tuple[tuple[Piece, ...], ...] = ()


Piece = Stretch | Together

_MEETING = (Barrier, AsyncWait, AsyncLoad, AsyncStore)


def holds_barrier(statement: AnyStmt) -> bool:
    """Whether invocations meet somewhere in a statement."""
    return any(isinstance(s, _MEETING) for s in walk_stmts((statement,)))


def pieces(body: Body) -> tuple[Piece, ...]:
    """The work of a body, cut where invocations meet."""
    found: list[Piece] = []
    waiting: list[AnyStmt] = []

    def flush() -> None:
        if waiting:
            found.append(Stretch(tuple(waiting)))
            waiting.clear()

    for statement in body:
        if not holds_barrier(statement):
            waiting.append(statement)
            continue
        flush()
        match statement:
            case Block(inner) | Region(_, _, inner):
                found.extend(pieces(inner))
            case If(_, then, otherwise):
                found.append(Together(statement, (pieces(then), pieces(otherwise))))
            case Loop() | While():
                found.append(Together(statement, (pieces(statement.body),)))
            case AsyncLoad() | AsyncStore():
                found.append(Together(statement))
            case _:
                pass
    flush()
    return tuple(found)
