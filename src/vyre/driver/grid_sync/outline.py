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
    Broadcast,
    Loop,
    MemoryOrdering,
    Program,
    ReduceScatter,
    Region,
    Return,
    While,
)
from vyre.ir.walk import walk_stmts
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


def contains_grid_sync(program: Program) -> bool:
    """Whether the program has a barrier over the whole grid, or something that acts as one."""
    return program.memo("grid_sync.contains", lambda p: _any_sync(p.entry))


def outline(program: Program) -> tuple[Item, ...]:
    """The items of a program, in order. What follows an unconditional return is left out."""
    return tuple(_items(program.entry, ()))


def is_grid_level(statement: AnyStmt) -> bool:
    """Whether a statement by itself is an event of the whole grid."""
    if isinstance(statement, Barrier):
        return statement.ordering is MemoryOrdering.GRID_SYNC
    return isinstance(statement, (AllReduce, AllGather, ReduceScatter, Broadcast))


def _any_sync(body: Body) -> bool:
    return any(is_grid_level(statement) for statement in walk_stmts(body))


def _items(body: Body, regions: tuple[Region, ...]) -> Iterator[Item]:
    for position, statement in enumerate(body):
        match statement:
            case Barrier(MemoryOrdering.GRID_SYNC) | AllReduce() | Broadcast():
                yield Sync()
            case AllGather(source, destination) | ReduceScatter(source, destination):
                yield Sync()
                yield Copy(source, destination)
                yield Sync()
            case Region() if _any_sync(statement.body):
                yield from _items(statement.body, (*regions, statement))
            case Block() if _any_sync(statement.body):
                yield from _items(statement.body, regions)
            case Loop() | While() if _any_sync(statement.body):
                yield Repeat(statement, tuple(_items(statement.body, regions)))
            case _:
                yield Plain(statement, regions)
                if _always_returns(statement):
                    yield from _only_syncs(body[position + 1 :])
                    return


def _always_returns(statement: AnyStmt) -> bool:
    match statement:
        case Return():
            return True
        case Block(body) | Region(_, _, body):
            return any(_always_returns(inner) for inner in body)
        case _:
            return False


def _only_syncs(body: Body) -> Iterator[Item]:
    # Nobody is left to execute what follows, but the barriers still count as segments.
    for statement in walk_stmts(body):
        if is_grid_level(statement):
            yield Sync()
