"""Which variables indices and conditions depend on, and which ones nothing reads any more."""

from __future__ import annotations

from collections.abc import Mapping

from vyre import ir
from vyre.ir.walk import expr_children, map_bodies, walk_expr, walk_stmts


def index_names(body: ir.Body, outer: Mapping[str, ir.AnyExpr]) -> frozenset[str]:
    """Variables whose values become part of an index."""
    waiting: list[ir.AnyExpr] = []
    for statement in walk_stmts(body):
        if isinstance(statement, ir.Store):
            waiting.append(statement.index)
        for child in expr_children(statement):
            waiting += [n.index for n in walk_expr(child) if isinstance(n, (ir.Load, ir.Atomic))]
    return _behind(waiting, body, outer)


def deciding_names(body: ir.Body) -> frozenset[str]:
    """Variables whose values become part of the condition of a conditional."""
    return _behind([s.cond for s in walk_stmts(body) if isinstance(s, ir.If)], body, {})


def _behind(
    waiting: list[ir.AnyExpr], body: ir.Body, outer: Mapping[str, ir.AnyExpr]
) -> frozenset[str]:
    """The variables in some expressions, and in what those are bound to."""
    values = {**outer, **{s.name: s.value for s in walk_stmts(body) if isinstance(s, ir.Let)}}
    found: set[str] = set()
    while waiting:
        for node in walk_expr(waiting.pop()):
            if isinstance(node, ir.Var) and node.name not in found:
                found.add(node.name)
                if node.name in values:
                    waiting.append(values[node.name])
    return frozenset(found)


def without_unread(body: ir.Body, kept: frozenset[str]) -> ir.Body:
    """The body without the variables that nothing reads any more."""
    while True:
        read = {
            node.name
            for statement in walk_stmts(body)
            for child in expr_children(statement)
            for node in walk_expr(child)
            if isinstance(node, ir.Var)
        }
        read |= kept | {s.name for s in walk_stmts(body) if isinstance(s, ir.Assign)}

        def is_read(statement: ir.AnyStmt, read: set[str] = read) -> bool:
            if not isinstance(statement, ir.Let) or statement.name in read:
                return True
            return any(isinstance(node, ir.Atomic) for node in walk_expr(statement.value))

        def cleaned(inner: ir.Body) -> ir.Body:
            left = tuple(map_bodies(s, cleaned) for s in inner if is_read(s))
            same = len(left) == len(inner) and all(a is b for a, b in zip(left, inner, strict=True))
            return inner if same else left

        made = cleaned(body)
        if made is body:
            return body
        body = made


__all__ = ["deciding_names", "index_names", "without_unread"]
