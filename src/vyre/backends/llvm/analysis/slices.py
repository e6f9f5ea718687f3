"""Which variables indices and conditions depend on, and which ones nothing reads any more."""

from __future__ import annotations

from collections.abc import Mapping

from vyre.ir import (
    AnyExpr,
    AnyStmt,
    Assign,
    Atomic,
    Body,
    If,
    Let,
    Load,
    Store,
    Var,
)
from vyre.ir.walk import expr_children, map_bodies, walk_expr, walk_stmts


def index_names(body: Body, outer: Mapping[str, AnyExpr]) -> frozenset[str]:
    """Variables whose values become part of an index."""
    waiting: list[AnyExpr] = []
    for statement in walk_stmts(body):
        if isinstance(statement, Store):
            waiting.append(statement.index)
        for child in expr_children(statement):
            waiting += [n.index for n in walk_expr(child) if isinstance(n, (Load, Atomic))]
    return _behind(waiting, body, outer)


def deciding_names(body: Body) -> frozenset[str]:
    """Variables whose values become part of the condition of a conditional."""
    return _behind([s.cond for s in walk_stmts(body) if isinstance(s, If)], body, {})


def _behind(waiting: list[AnyExpr], body: Body, outer: Mapping[str, AnyExpr]) -> frozenset[str]:
    """The variables in some expressions, and in what those are bound to."""
    values = {**outer, **{s.name: s.value for s in walk_stmts(body) if isinstance(s, Let)}}
    found: set[str] = set()
    while waiting:
        for node in walk_expr(waiting.pop()):
            if isinstance(node, Var) and node.name not in found:
                found.add(node.name)
                if node.name in values:
                    waiting.append(values[node.name])
    return frozenset(found)


def without_unread(body: Body, kept: frozenset[str]) -> Body:
    """The body without the variables that nothing reads any more."""
    while True:
        read = {
            node.name
            for statement in walk_stmts(body)
            for child in expr_children(statement)
            for node in walk_expr(child)
            if isinstance(node, Var)
        }
        read |= kept | {s.name for s in walk_stmts(body) if isinstance(s, Assign)}

        def is_read(statement: AnyStmt, read: set[str] = read) -> bool:
            if not isinstance(statement, Let) or statement.name in read:
                return True
            return any(isinstance(node, Atomic) for node in walk_expr(statement.value))

        def cleaned(inner: Body) -> Body:
            left = tuple(map_bodies(s, cleaned) for s in inner if is_read(s))
            same = len(left) == len(inner) and all(a is b for a, b in zip(left, inner, strict=True))
            return inner if same else left

        made = cleaned(body)
        if made is body:
            return body
        body = made


__all__ = ["deciding_names", "index_names", "without_unread"]
