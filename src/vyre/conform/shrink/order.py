"""Whether barriers still stand between accesses that would otherwise race.

A cautious check on the text of a program, made for random programs and what shrinking leaves of
them: between two barriers, memory that invocations share is used in one way only.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, auto

from vyre.ir import (
    AnyExpr,
    AnyStmt,
    AsyncLoad,
    AsyncStore,
    AsyncWait,
    Atomic,
    Barrier,
    Body,
    Cast,
    Lit,
    Load,
    Loop,
    MemoryOrdering,
    Program,
    Store,
    While,
)
from vyre.ir.walk import bodies, expr_children, rewrite_expr, walk_expr, walk_stmts
from vyre.record import dataclass


class _Kind(Enum):
    STORE = auto()
    READ = auto()
    ATOMIC = auto()
    COPY = auto()


@dataclass(frozen=True, slots=True)
class _Use:
    buffer: str
    kind: _Kind
    index: AnyExpr | None = None


def is_ordered(program: Program) -> bool:
    """Whether no two kinds of use of shared memory meet between two barriers."""
    workgroup = {decl.name for decl in program.buffers if decl.is_workgroup}
    device = {d.name for d in program.buffers if d.is_writable and not d.is_on_chip}
    own = _own_indices(program.entry)
    since_barrier: dict[str, _Kind] = {}
    since_grid_sync: dict[str, _Kind] = {}
    for event in _events(program.entry):
        if isinstance(event, MemoryOrdering):
            since_barrier.clear()
            if event is MemoryOrdering.GRID_SYNC:
                since_grid_sync.clear()
        elif event.buffer in workgroup:
            before = since_barrier.setdefault(event.buffer, event.kind)
            if before is not event.kind:
                return False
        elif event.buffer in device and not _is_private(event, own):
            before = since_grid_sync.setdefault(event.buffer, event.kind)
            if before is not event.kind:
                return False
    return True


def _is_private(use: _Use, own: set[tuple[str, AnyExpr]]) -> bool:
    """Whether an invocation reads an element back that only it writes; copies have their parts."""
    if use.kind is _Kind.READ and use.index is not None:
        return (use.buffer, _shape(use.index)) in own
    return use.kind is _Kind.COPY


def _own_indices(entry: Body) -> set[tuple[str, AnyExpr]]:
    return {(s.buffer, _shape(s.index)) for s in walk_stmts(entry) if isinstance(s, Store)}


def _shape(index: AnyExpr) -> AnyExpr:
    """An index without its numbers and types: what an invocation owns differs in them only."""

    def plain(expr: AnyExpr) -> AnyExpr:
        if isinstance(expr, Lit):
            return Lit(expr.dtype, 0)
        return expr.value if isinstance(expr, Cast) else expr

    return rewrite_expr(index, plain)


def _events(body: Body) -> Iterator[_Use | MemoryOrdering]:
    """Uses of memory and barriers in the order of execution, two rounds of each loop."""
    for statement in body:
        rounds = 2 if isinstance(statement, (Loop, While)) else 1
        for _ in range(rounds):
            yield from _own_events(statement)
            for inner in bodies(statement):
                yield from _events(inner)


def _own_events(statement: AnyStmt) -> Iterator[_Use | MemoryOrdering]:
    for child in expr_children(statement):
        for expr in walk_expr(child):
            if isinstance(expr, Load):
                yield _Use(expr.buffer, _Kind.READ, expr.index)
            elif isinstance(expr, Atomic):
                yield _Use(expr.buffer, _Kind.ATOMIC)
    match statement:
        case Store(buffer, index):
            yield _Use(buffer, _Kind.STORE, index)
        case AsyncLoad() | AsyncStore():
            yield _Use(statement.source, _Kind.COPY)
            yield _Use(statement.destination, _Kind.COPY)
        case Barrier(ordering):
            yield ordering
        case AsyncWait():
            yield MemoryOrdering.SEQ_CST
        case _:
            return
