"""Going over trees and rebuilding them. "The same object back" means that nothing changed."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from typing import Any, TypeVar, cast

from vyre.ir.expr import AnyExpr, Atomic, Binary, Cast, Load, Select, Unary, Var
from vyre.ir.node import Tree
from vyre.ir.stmt import AnyStmt, Assign, Block, Body, Eval, Let, Region, Store

T = TypeVar("T", bound=Tree)
Change = Callable[[AnyExpr], AnyExpr]
"""What becomes of an expression."""

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


def walk_own_exprs(statement: AnyStmt) -> Iterator[AnyExpr]:
    """Every expression in a statement, without those of its bodies, in the order of the text."""
    stack = list(statement.children(statement)[::-1])
    while stack:
        current = stack.pop()
        yield current
        if current.depth > 1:
            stack += current.children(current)[::-1]


def walk_all_exprs(body: Body) -> Iterator[AnyExpr]:
    """Every expression in every statement of a body."""
    for statement in walk_stmts(body):
        yield from walk_own_exprs(statement)


def assigned_names(body: Body) -> frozenset[str]:
    """The variables that statements of a body assign."""
    return frozenset([s.name for s in walk_stmts(body) if type(s) is Assign])


def declared_names(body: Body) -> frozenset[str]:
    """The variables that statements of a body declare, without induction variables."""
    return frozenset([s.name for s in walk_stmts(body) if type(s) is Let])


def variables_of(expr: AnyExpr) -> frozenset[str]:
    """The variables that an expression reads."""
    return frozenset([node.name for node in walk_expr(expr) if type(node) is Var])


def read_names(body: Body) -> frozenset[str]:
    """The variables that statements of a body read."""
    return frozenset([node.name for node in walk_all_exprs(body) if type(node) is Var])


def reads_any(expr: AnyExpr, names: Container[str]) -> bool:
    """True if an expression reads one of some variables."""
    return any(type(node) is Var and node.name in names for node in walk_expr(expr))


def fixed_values(body: Body) -> dict[str, AnyExpr]:
    """The values of the variables that statements of a body declare, and none assigns."""
    assigned = assigned_names(body)
    return {s.name: s.value for s in walk_stmts(body) if type(s) is Let and s.name not in assigned}


def accesses_of(statement: AnyStmt) -> Iterator[tuple[str, AnyExpr]]:
    """The buffers and indices of what a statement itself, not its bodies, looks at or stores."""
    if isinstance(statement, Store):
        yield statement.buffer, statement.index
    for node in walk_own_exprs(statement):
        if isinstance(node, (Load, Atomic)):
            yield node.buffer, node.index


def map_exprs(tree: T, change: Change) -> T:
    """The node with `change` applied to the expressions directly under it."""
    special = _CHANGED.get(type(tree))
    return _map_any(tree, change) if special is None else special(tree, change)


def _map_any(tree: T, change: Change) -> T:
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


# The kinds of nodes that programs mostly consist of, several times as fast ------------------------


def _binary(tree: Binary, change: Change) -> Binary:
    left, right = change(tree.left), change(tree.right)
    if left is tree.left and right is tree.right:
        return tree
    return Binary(tree.op, left, right)


def _unary(tree: Unary, change: Change) -> Unary:
    operand = change(tree.operand)
    return tree if operand is tree.operand else Unary(tree.op, operand)


def _load(tree: Load, change: Change) -> Load:
    index = change(tree.index)
    return tree if index is tree.index else Load(tree.buffer, index)


def _cast(tree: Cast, change: Change) -> Cast:
    value = change(tree.value)
    return tree if value is tree.value else Cast(value, tree.dtype)


def _select(tree: Select, change: Change) -> Select:
    cond, if_true, if_false = change(tree.cond), change(tree.if_true), change(tree.if_false)
    if cond is tree.cond and if_true is tree.if_true and if_false is tree.if_false:
        return tree
    return Select(cond, if_true, if_false)


def _valued(tree: Let | Assign | Eval, change: Change) -> Let | Assign | Eval:
    value = change(tree.value)
    return tree if value is tree.value else rebuilt(tree, {"value": value})


def _store(tree: Store, change: Change) -> Store:
    index, value = change(tree.index), change(tree.value)
    if index is tree.index and value is tree.value:
        return tree
    return rebuilt(tree, {"index": index, "value": value})


_CHANGED: dict[type[Tree], Callable[[Any, Change], Any]] = {
    Binary: _binary,
    Unary: _unary,
    Load: _load,
    Cast: _cast,
    Select: _select,
    Let: _valued,
    Assign: _valued,
    Eval: _valued,
    Store: _store,
}
