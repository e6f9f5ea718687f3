"""Going over trees and rebuilding them. "The same object back" means that nothing changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar, cast

from vyre.ir.expr import AnyExpr
from vyre.ir.node import Tree
from vyre.ir.stmt import AnyStmt, Block, Body, Region

T = TypeVar("T", bound=Tree)

_AROUND = (Block, Region)


def expr_children(tree: AnyExpr | AnyStmt) -> tuple[AnyExpr, ...]:
    """The expressions directly under a node, in the order in which they are evaluated."""
    return tree.children(tree)


def bodies(statement: AnyStmt) -> list[Body]:
    """The bodies directly under a statement."""
    return [getattr(statement, name) for name in statement.body_fields]


def walk_expr(expr: AnyExpr) -> Iterator[AnyExpr]:
    """An expression and everything under it, parents first, left to right."""
    stack: list[AnyExpr] = [expr]
    while stack:
        current = stack.pop()
        yield current
        if current.depth > 1:
            stack += current.children(current)[::-1]


def walk_stmts(body: Body) -> Iterator[AnyStmt]:
    """All statements of a body, nested ones included, in the order of the text."""
    stack = list(reversed(body))
    while stack:
        current = stack.pop()
        yield current
        for name in reversed(current.body_fields):
            stack.extend(reversed(getattr(current, name)))


def without_blocks(body: Body) -> list[AnyStmt]:
    """The statements of a body, with those of blocks and regions in their place."""
    found: list[AnyStmt] = []
    for statement in body:
        found += without_blocks(statement.body) if isinstance(statement, _AROUND) else [statement]
    return found


def walk_all_exprs(body: Body) -> Iterator[AnyExpr]:
    """Every expression in every statement of a body."""
    for statement in walk_stmts(body):
        for child in expr_children(statement):
            yield from walk_expr(child)


def map_exprs(tree: T, change: Callable[[AnyExpr], AnyExpr]) -> T:
    """The node with `change` applied to the expressions directly under it."""
    changed: dict[str, object] = {}
    for name in tree.expr_fields:
        old = getattr(tree, name)
        if old is not None:
            new = change(old)
            if new is not old:
                changed[name] = new
    for name in tree.expr_tuple_fields:
        old_many = cast("tuple[AnyExpr, ...]", getattr(tree, name))
        new_many = tuple(change(old) for old in old_many)
        if any(new is not old for new, old in zip(new_many, old_many, strict=True)):
            changed[name] = new_many
    return rebuilt(tree, changed) if changed else tree


def map_bodies(tree: T, change: Callable[[Body], Body]) -> T:
    """The statement with `change` applied to the bodies directly under it."""
    changed: dict[str, object] = {}
    for name in tree.body_fields:
        old = cast("Body", getattr(tree, name))
        new = change(old)
        if new is not old:
            changed[name] = new
    return rebuilt(tree, changed) if changed else tree


def rewrite_expr(expr: AnyExpr, change: Callable[[AnyExpr], AnyExpr]) -> AnyExpr:
    """The expression with `change` applied to every node, children before parents."""
    if expr.depth > 1:
        expr = map_exprs(expr, lambda child: rewrite_expr(child, change))
    return change(expr)


def rewrite_exprs(body: Body, change: Callable[[AnyExpr], AnyExpr]) -> Body:
    """The body with `change` applied to every expression node in it, children first."""

    def one(statement: AnyStmt) -> AnyStmt:
        statement = map_exprs(statement, lambda child: rewrite_expr(child, change))
        return map_bodies(statement, lambda inner: map_body(inner, one))

    return map_body(body, one)


def map_body(body: Body, change: Callable[[AnyStmt], AnyStmt]) -> Body:
    """The body with `change` applied to each of its statements."""
    result = tuple(change(statement) for statement in body)
    same = all(new is old for new, old in zip(result, body, strict=True))
    return body if same else result


def rebuilt(tree: T, changed: dict[str, object]) -> T:
    """A copy of a node with some fields replaced; a statement keeps its span."""
    values = {name: getattr(tree, name) for name in tree.compared_fields}
    values.update(changed)
    made = type(tree)(**values)
    span = getattr(tree, "span", None)
    if span is not None:
        object.__setattr__(made, "span", span)
    return made
