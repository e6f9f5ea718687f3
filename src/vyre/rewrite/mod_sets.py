"""MOD sets: the variables and buffers that a statement may modify, memoised per statement."""

from __future__ import annotations

from typing import NamedTuple

from vyre import ir
from vyre.ir.walk import expr_children

_SYNCHRONISES = frozenset(
    {
        *(
            ir.AllGather,
            ir.AllReduce,
            ir.AsyncLoad,
            ir.AsyncStore,
            ir.AsyncWait,
            ir.Barrier,
            ir.Broadcast,
        ),
        *(ir.ReduceScatter, ir.Opaque),
    }
)
"""After these, other invocations or copies may have changed any memory that is shared."""


class Changes(NamedTuple):
    """What may be different after a statement."""

    variables: frozenset[str]
    buffers: frozenset[str]
    """Buffers it stores to, or works on with atomics."""
    memory: bool
    """Whether all shared memory may be different, because others could write in between."""
    everything: bool = False
    """Whether local arrays may be different too: an opaque statement may do anything."""


NOTHING = Changes(frozenset(), frozenset(), memory=False)
ALL_MEMORY = Changes(frozenset(), frozenset(), memory=True)


def both(a: Changes, b: Changes) -> Changes:
    """What may be different after one and the other."""
    if b is NOTHING:
        return a
    if a is NOTHING:
        return b
    return Changes(
        a.variables | b.variables,
        a.buffers | b.buffers,
        a.memory or b.memory,
        a.everything or b.everything,
    )


class Changing:
    """Answers by statement; statements that passes leave alone are not looked at again."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[ir.AnyStmt, Changes]] = {}

    def within(self, statement: ir.AnyStmt) -> Changes:
        """What the statement and everything in it may change."""
        known = self._known.get(id(statement))
        if known is None:
            found = _own(statement)
            for field in statement.body_fields:
                for inner in getattr(statement, field):
                    found = both(found, self.within(inner))
            known = self._known[id(statement)] = (statement, found)
        return known[1]

    def assigned(self, entry: ir.Body) -> frozenset[str]:
        """The variables that anything in a body assigns."""
        return frozenset[str]().union(*(self.within(s).variables for s in entry))


def _own(statement: ir.AnyStmt) -> Changes:
    found = ALL_MEMORY if type(statement) in _SYNCHRONISES else NOTHING
    if type(statement) is ir.Opaque:
        found = Changes(frozenset(), frozenset(), memory=True, everything=True)
    for child in expr_children(statement):
        if child.depth > 1:
            found = both(found, expr_changes(child))
    if type(statement) is ir.Assign:
        return both(found, Changes(frozenset((statement.name,)), frozenset(), memory=False))
    if type(statement) is ir.Store:
        return both(found, Changes(frozenset(), frozenset((statement.buffer,)), memory=False))
    return found


def expr_changes(expr: ir.AnyExpr) -> Changes:
    """What evaluating an expression may change."""
    found = NOTHING
    if expr.depth > 1:
        for child in expr_children(expr):
            found = both(found, expr_changes(child))
    if type(expr) is ir.Atomic:
        found = both(found, atomic_changes(expr))
    return found


def atomic_changes(expr: ir.Atomic) -> Changes:
    """What an atomic changes, its operands left out."""
    ordered = expr.ordering is not ir.MemoryOrdering.RELAXED
    return Changes(frozenset(), frozenset((expr.buffer,)), ordered)
