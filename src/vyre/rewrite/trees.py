"""Children of nodes, and nodes with other children: what hot loops do most, as tables by type.

The same answers as `expr_children` and `map_exprs` of `vyre.ir.walk`, several times as fast for
the kinds of nodes that programs mostly consist of.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, TypeVar, get_args

from vyre.ir import (
    AnyExpr,
    AnyStmt,
    Assign,
    Atomic,
    Binary,
    Cast,
    Eval,
    Let,
    Load,
    Select,
    Store,
    Unary,
)
from vyre.ir.node import Tree
from vyre.ir.walk import expr_children, map_exprs, rebuilt

T = TypeVar("T", bound=Tree)
Change = Callable[[AnyExpr], AnyExpr]


def _getter(cls: type[Tree]) -> Callable[[Any], tuple[AnyExpr, ...]]:
    if cls is Atomic or (cls.expr_fields and cls.expr_tuple_fields):
        return lambda tree: tuple(expr_children(tree))
    if cls.expr_tuple_fields:
        return attrgetter(*cls.expr_tuple_fields)
    if len(cls.expr_fields) == 1:
        only = attrgetter(*cls.expr_fields)
        return lambda tree: (only(tree),)
    return attrgetter(*cls.expr_fields) if cls.expr_fields else lambda _: ()


_CHILDREN = {cls: _getter(cls) for cls in (*get_args(AnyExpr), *get_args(AnyStmt))}


def children(tree: AnyExpr | AnyStmt) -> tuple[AnyExpr, ...]:
    """The expressions directly under a node, in the order in which they are evaluated."""
    return _CHILDREN[type(tree)](tree)


def with_children(tree: T, change: Change) -> T:
    """The node with `change` applied to the expressions directly under it."""
    special = _CHANGED.get(type(tree))
    return map_exprs(tree, change) if special is None else special(tree, change)


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
