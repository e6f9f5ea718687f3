"""The outline of a program with grid-wide barriers: what stands between them.

Only regions, blocks and loops can hold a grid-wide barrier (the checker sees to it). Walking
through those, a program becomes a list of items: plain statements, barriers, copies between
buffers, and loops whose bodies are such lists again.
"""

from __future__ import annotations

from collections.abc import Iterator

from vyre.ir import (
    AllGather,
    AllReduce,
    AnyStmt,
    Barrier,
    Block,
    Body,
    Break,
    Broadcast,
    Continue,
    Loop,
    MemoryOrdering,
    Program,
    ReduceScatter,
    Region,
    Return,
    While,
)
from vyre.ir.walk import bodies, walk_stmts
from vyre.record import dataclass


@dataclass(frozen=True, slots=True)
class Plain:
    """A statement without a grid-wide barrier, and the regions it stands in, outermost first."""

    statement: AnyStmt
    regions: tuple[Region, ...]


@dataclass(frozen=True, slots=True)
class Sync:
    """A grid-wide barrier."""


@dataclass(frozen=True, slots=True)
class Copy:
    """A collective over one device that copies a buffer."""

    source: str
    destination: str


@dataclass(frozen=True, slots=True)
class Repeat:
    """A loop with a grid-wide barrier inside."""

    loop: Loop | While
    items: tuple[Item, ...]


Item = Plain | Sync | Copy | Repeat

_COLLECTIVES = (AllReduce, AllGather, ReduceScatter, Broadcast)


def contains_grid_sync(program: Program) -> bool:
    """Whether the program has a barrier over the whole grid, or something that acts as one."""
    return program.memo("grid_sync.contains", lambda p: _any_sync(p.entry))


def contains_collective(program: Program) -> bool:
    """Whether the program has a collective, which happens once for the grid."""
    return any(isinstance(statement, _COLLECTIVES) for statement in walk_stmts(program.entry))


def outline(program: Program) -> tuple[Item, ...]:
    """The items of a program, in order. What follows an unconditional return is left out."""
    return tuple(_items(program.entry, ()))


def is_grid_level(statement: AnyStmt) -> bool:
    """Whether a statement by itself is an event of the whole grid."""
    if isinstance(statement, Barrier):
        return statement.ordering is MemoryOrdering.GRID_SYNC
    return isinstance(statement, _COLLECTIVES)


def may_leave(statement: AnyStmt) -> bool:
    """Whether a statement may break or continue a loop that it does not hold itself."""
    match statement:
        case Break() | Continue():
            return True
        case Loop() | While():
            return False
        case _:
            return any(may_leave(inner) for body in bodies(statement) for inner in body)


def _any_sync(body: Body) -> bool:
    return any(is_grid_level(statement) for statement in walk_stmts(body))


def _items(body: Body, regions: tuple[Region, ...]) -> Iterator[Item]:
    for position, statement in enumerate(body):
        match statement:
            case _ if is_grid_level(statement):
                yield from _event(statement)
            case Region() if _any_sync(statement.body):
                yield from _items(statement.body, (*regions, statement))
            case Block() if _any_sync(statement.body):
                yield from _items(statement.body, regions)
            case Loop() | While() if _any_sync(statement.body):
                yield Repeat(statement, tuple(_items(statement.body, regions)))
            case _:
                yield Plain(statement, regions)
                if _always_returns(statement):
                    yield from _events(body[position + 1 :])
                    return


def _always_returns(statement: AnyStmt) -> bool:
    match statement:
        case Return():
            return True
        case Block(body) | Region(_, _, body):
            return any(_always_returns(inner) for inner in body)
        case _:
            return False


def _event(statement: AnyStmt) -> Iterator[Item]:
    """What a statement is that by itself is an event of the whole grid."""
    yield Sync()
    if isinstance(statement, (AllGather, ReduceScatter)):
        if statement.source != statement.destination:
            yield Copy(statement.source, statement.destination)
        yield Sync()


def _events(body: Body) -> Iterator[Item]:
    """What remains of statements that no invocation is left to execute.

    Barriers still count as segments, and collectives happen once for the grid, not in invocations.
    """
    for statement in walk_stmts(body):
        if is_grid_level(statement):
            yield from _event(statement)
