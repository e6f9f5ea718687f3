"""Whether barriers still stand between accesses that would otherwise race.

A cautious check on the text of a program, made for random programs and what shrinking leaves of
them: between two barriers, memory that invocations share is used in one way only.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, auto

from vyre import ir
from vyre.ir.walk import bodies, rewrite_expr, walk_own_exprs, walk_stmts
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
    index: ir.AnyExpr | None = None


def is_ordered(program: ir.Program) -> bool:
    """Whether no two kinds of use of shared memory meet between two barriers."""
    workgroup = {decl.name for decl in program.buffers if decl.is_workgroup}
    device = {d.name for d in program.buffers if d.is_writable and not d.is_on_chip}
    own = _own_indices(program.entry)
    since_barrier: dict[str, _Kind] = {}
    since_grid_sync: dict[str, _Kind] = {}
    for event in _events(program.entry):
        if isinstance(event, ir.MemoryOrdering):
            since_barrier.clear()
            if event is ir.MemoryOrdering.GRID_SYNC:
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


def _is_private(use: _Use, own: set[tuple[str, ir.AnyExpr]]) -> bool:
    """Whether an invocation reads an element back that only it writes; copies have their parts."""
    if use.kind is _Kind.READ and use.index is not None:
        return (use.buffer, _shape(use.index)) in own
    return use.kind is _Kind.COPY


def _own_indices(entry: ir.Body) -> set[tuple[str, ir.AnyExpr]]:
    return {(s.buffer, _shape(s.index)) for s in walk_stmts(entry) if isinstance(s, ir.Store)}


def _shape(index: ir.AnyExpr) -> ir.AnyExpr:
    """An index without its numbers and types: what an invocation owns differs in them only."""

    def plain(expr: ir.AnyExpr) -> ir.AnyExpr:
        if isinstance(expr, ir.Lit):
            return ir.Lit(expr.dtype, 0)
        return expr.value if isinstance(expr, ir.Cast) else expr

    return rewrite_expr(index, plain)


def _events(body: ir.Body) -> Iterator[_Use | ir.MemoryOrdering]:
    """Uses of memory and barriers in the order of execution, two rounds of each loop."""
    for statement in body:
        rounds = 2 if isinstance(statement, (ir.Loop, ir.While)) else 1
        for _ in range(rounds):
            yield from _own_events(statement)
            for inner in bodies(statement):
                yield from _events(inner)


def _own_events(statement: ir.AnyStmt) -> Iterator[_Use | ir.MemoryOrdering]:
    for expr in walk_own_exprs(statement):
        if isinstance(expr, ir.Load):
            yield _Use(expr.buffer, _Kind.READ, expr.index)
        elif isinstance(expr, ir.Atomic):
            yield _Use(expr.buffer, _Kind.ATOMIC)
    match statement:
        case ir.Store(buffer, index):
            yield _Use(buffer, _Kind.STORE, index)
        case ir.AsyncLoad() | ir.AsyncStore():
            yield _Use(statement.source, _Kind.COPY)
            yield _Use(statement.destination, _Kind.COPY)
        case ir.Barrier(ordering):
            yield ordering
        case ir.AsyncWait():
            yield ir.MemoryOrdering.SEQ_CST
        case _:
            return
