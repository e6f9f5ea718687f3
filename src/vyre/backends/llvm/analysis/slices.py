"""Backward slices of indices and conditions; removal of dead bindings.

Slices follow bindings (`let`), not assignments.
"""

from __future__ import annotations

from collections.abc import Mapping

from vyre import ir
from vyre.ir.walk import (
    assigned_names,
    expr_children,
    map_bodies,
    read_names,
    walk_expr,
    walk_stmts,
)


def index_names(body: ir.Body, outer: Mapping[str, ir.AnyExpr]) -> frozenset[str]:
    """Variables in the backward slice of an index."""
    worklist: list[ir.AnyExpr] = []
    for statement in walk_stmts(body):
        if isinstance(statement, ir.Store):
            worklist.append(statement.index)
        for child in expr_children(statement):
            worklist += [n.index for n in walk_expr(child) if isinstance(n, (ir.Load, ir.Atomic))]
    return _slice(worklist, body, outer)


def deciding_names(body: ir.Body) -> frozenset[str]:
    """Variables in the backward slice of the condition of an `if`."""
    return _slice([s.cond for s in walk_stmts(body) if isinstance(s, ir.If)], body, {})


def _slice(
    worklist: list[ir.AnyExpr], body: ir.Body, outer: Mapping[str, ir.AnyExpr]
) -> frozenset[str]:
    """Variables of expressions, and transitively of their bindings."""
    values = {**outer, **{s.name: s.value for s in walk_stmts(body) if isinstance(s, ir.Let)}}
    names: set[str] = set()
    while worklist:
        for node in walk_expr(worklist.pop()):
            if isinstance(node, ir.Var) and node.name not in names:
                names.add(node.name)
                if node.name in values:
                    worklist.append(values[node.name])
    return frozenset(names)


def without_unread(body: ir.Body, kept: frozenset[str]) -> ir.Body:
    """Remove dead bindings from a body, unless they contain an atomic."""
    while True:
        read = read_names(body) | kept | assigned_names(body)

        def is_read(statement: ir.AnyStmt, read: frozenset[str] = read) -> bool:
            if not isinstance(statement, ir.Let) or statement.name in read:
                return True
            return any(isinstance(node, ir.Atomic) for node in walk_expr(statement.value))

        def cleaned(inner: ir.Body) -> ir.Body:
            live = tuple(map_bodies(s, cleaned) for s in inner if is_read(s))
            same = len(live) == len(inner) and all(a is b for a, b in zip(live, inner, strict=True))
            return inner if same else live

        smaller = cleaned(body)
        if smaller is body:
            return body
        body = smaller


__all__ = ["deciding_names", "index_names", "without_unread"]
