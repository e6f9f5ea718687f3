"""Removal of bindings that nothing reads.

CPU passes that compute a value elsewhere leave its binding behind; as a region of its own it would
be a loop over all lanes.
"""

from __future__ import annotations

from vyre import ir
from vyre.analysis import is_movable
from vyre.ir.walk import (
    assigned_names,
    map_bodies,
    read_names,
    walk_stmts,
)


def without_unread_bindings(body: ir.Body) -> ir.Body:
    """Statements without bindings that nothing reads; names are unique."""
    used = read_names(body) | assigned_names(body)

    def kept(inner: ir.Body) -> ir.Body:
        return tuple(map_bodies(s, kept) for s in inner if not _is_unread(s, used))

    shorter = kept(body)
    before, after = (sum(1 for _ in walk_stmts(each)) for each in (body, shorter))
    return shorter if before == after else without_unread_bindings(shorter)


def _is_unread(statement: ir.AnyStmt, used: frozenset[str]) -> bool:
    if not isinstance(statement, ir.Let) or statement.name in used:
        return False
    return is_movable(statement.value)


__all__ = ["without_unread_bindings"]
