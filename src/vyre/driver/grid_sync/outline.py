"""The outline of a program with grid-wide barriers: what stands between them.

Only regions, blocks and loops can hold a grid-wide barrier (the checker sees to it). Walking
through those, a program becomes a list of items: plain statements, barriers, copies between
buffers, and loops whose bodies are such lists again.
"""

from __future__ import annotations

from collections.abc import Iterator

from vyre import ir
from vyre.ir.walk import bodies, walk_stmts
from vyre.record import dataclass


@dataclass(frozen=True, slots=True)
class Plain:
    """A statement without a grid-wide barrier, and the regions it stands in, outermost first."""

    statement: ir.AnyStmt
    regions: tuple[ir.Region, ...]


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

    loop: ir.Loop | ir.While
    items: tuple[Item, ...]


Item = Plain | Sync | Copy | Repeat

_COLLECTIVES = (ir.AllReduce, ir.AllGather, ir.ReduceScatter, ir.Broadcast)


def contains_grid_sync(program: ir.Program) -> bool:
    """Whether the program has a barrier over the whole grid, or something that acts as one."""
    return program.memo("grid_sync.contains", lambda p: _any_sync(p.entry))


def contains_collective(program: ir.Program) -> bool:
    """Whether the program has a collective, which happens once for the grid."""
    return any(isinstance(statement, _COLLECTIVES) for statement in walk_stmts(program.entry))


def outline(program: ir.Program) -> tuple[Item, ...]:
    """The items of a program, in order. What follows an unconditional return is left out."""
    return tuple(_items(program.entry, ()))


def is_grid_level(statement: ir.AnyStmt) -> bool:
    """Whether a statement by itself is an event of the whole grid."""
    if isinstance(statement, ir.Barrier):
        return statement.ordering is ir.MemoryOrdering.GRID_SYNC
    return isinstance(statement, _COLLECTIVES)


def may_leave(statement: ir.AnyStmt) -> bool:
    """Whether a statement may break or continue a loop that it does not hold itself."""
    match statement:
        case ir.Break() | ir.Continue():
            return True
        case ir.Loop() | ir.While():
            return False
        case _:
            return any(may_leave(inner) for body in bodies(statement) for inner in body)


def _any_sync(body: ir.Body) -> bool:
    return any(is_grid_level(statement) for statement in walk_stmts(body))


def _items(body: ir.Body, regions: tuple[ir.Region, ...]) -> Iterator[Item]:
    for position, statement in enumerate(body):
        match statement:
            case _ if is_grid_level(statement):
                yield from _event(statement)
            case ir.Region() if _any_sync(statement.body):
                yield from _items(statement.body, (*regions, statement))
            case ir.Block() if _any_sync(statement.body):
                yield from _items(statement.body, regions)
            case ir.Loop() | ir.While() if _any_sync(statement.body):
                yield Repeat(statement, tuple(_items(statement.body, regions)))
            case _:
                yield Plain(statement, regions)
                if _always_returns(statement):
                    yield from _events(body[position + 1 :])
                    return


def _always_returns(statement: ir.AnyStmt) -> bool:
    match statement:
        case ir.Return():
            return True
        case ir.Block(body) | ir.Region(_, _, body):
            return any(_always_returns(inner) for inner in body)
        case _:
            return False


def _event(statement: ir.AnyStmt) -> Iterator[Item]:
    """What a statement is that by itself is an event of the whole grid."""
    yield Sync()
    if isinstance(statement, (ir.AllGather, ir.ReduceScatter)):
        if statement.source != statement.destination:
            yield Copy(statement.source, statement.destination)
        yield Sync()


def _events(body: ir.Body) -> Iterator[Item]:
    """What remains of statements that no invocation is left to execute.

    Barriers still count as segments, and collectives happen once for the grid, not in invocations.
    """
    for statement in walk_stmts(body):
        if is_grid_level(statement):
            yield from _event(statement)
