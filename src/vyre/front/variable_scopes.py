"""Determines the block that declares each variable of a Python function.

Python's variables belong to the function, the language's belong to a block. A variable is declared
where it is first assigned, if that is in the block that holds all its uses. If it is first
assigned inside an `if` or a loop and used after it, the declaration is put before that statement.
Blocks that each begin by assigning a name, with no use outside of them, have variables of
their own under the same name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import field

from vyre.front.ast_nodes import parts
from vyre.record import dataclass

_KEPT = "_vyre_names"
"""The attribute of a piece of code that holds the names in it."""


@dataclass(slots=True)
class Homes:
    """Names to declare before a statement, by the identity of the statement's node."""

    before: dict[int, list[str]] = field(default_factory=dict[int, list[str]])

    def of(self, statement: ast.stmt) -> list[str]:
        """Names to declare before `statement`."""
        return self.before.get(id(statement), [])

    def moved(self, name: str, rest: Sequence[ast.stmt]) -> Homes:
        """The same, with a place for `name` in the rest of a block, as it has no value before."""
        made = Homes({place: list(names) for place, names in self.before.items()})
        _place(name, rest, made)
        return made


def find_homes(body: Sequence[ast.stmt], known: frozenset[str]) -> Homes:
    """Where the variables of a function body live; `known` names are bound before it."""
    homes = Homes()
    for name in sorted(assigned_names(body) - known):
        _place(name, body, homes)
    return homes


def assigned_names(body: Sequence[ast.stmt]) -> set[str]:
    """Names that plain assignments in a body bind; loop variables are not among them."""
    return {
        node.id
        for statement in body
        for target in _targets(statement)
        for node in parts(target)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def bound_names(body: Sequence[ast.stmt]) -> frozenset[str]:
    """Names that a body binds in any way, loop variables included."""
    return frozenset(
        node.id
        for statement in body
        for node in parts(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )


def loop_variables(body: Sequence[ast.stmt]) -> frozenset[str]:
    """Names of the variables of `for` loops in a body."""
    return frozenset(
        node.id
        for statement in body
        for loop in parts(statement)
        if isinstance(loop, ast.For)
        for node in parts(loop.target)
        if isinstance(node, ast.Name)
    )


def _targets(statement: ast.stmt) -> Iterator[ast.expr]:
    for node in parts(statement):
        if isinstance(node, ast.Assign):
            yield from node.targets
        elif isinstance(node, (ast.AugAssign, ast.AnnAssign)):
            yield node.target


def _place(name: str, block: Sequence[ast.stmt], homes: Homes) -> None:
    holders = [statement for statement in block if _mentions(statement, name)]
    if not holders or _binds_first(holders[0], name):
        return
    if all(_is_apart(statement, name) for statement in holders):
        for statement in holders:
            for inner in _blocks(statement):
                _place(name, inner, homes)
        return
    homes.before.setdefault(id(holders[0]), []).append(name)


def _is_apart(statement: ast.stmt, name: str) -> bool:
    """Whether no value of `name` flows into or out of a statement."""
    if not isinstance(statement, (ast.If, ast.For, ast.While)):
        return False
    if any(_mentions(part, name) for part in _header(statement)):
        return False
    return all(_begins_anew(block, name) for block in _blocks(statement))


def _begins_anew(block: Sequence[ast.stmt], name: str) -> bool:
    holders = [statement for statement in block if _mentions(statement, name)]
    if not holders or _binds_first(holders[0], name):
        return True
    return all(_is_apart(statement, name) for statement in holders)


def _binds_first(statement: ast.stmt, name: str) -> bool:
    """Whether a statement assigns `name` and does not need its old value."""
    if isinstance(statement, ast.AnnAssign):
        value = statement.value
        is_target = isinstance(statement.target, ast.Name) and statement.target.id == name
        return is_target and (value is None or not _mentions(value, name))
    if not isinstance(statement, ast.Assign) or _mentions(statement.value, name):
        return False
    bound = False
    for target in statement.targets:
        for node in parts(target):
            if isinstance(node, ast.Name) and node.id == name:
                if isinstance(node.ctx, ast.Load):
                    return False
                bound = True
    return bound


def _header(statement: ast.If | ast.For | ast.While) -> list[ast.expr]:
    if isinstance(statement, ast.For):
        return [statement.target, statement.iter]
    return [statement.test]


def _blocks(statement: ast.stmt) -> list[list[ast.stmt]]:
    if isinstance(statement, (ast.If, ast.For, ast.While)):
        return [statement.body, statement.orelse]
    return []


def _mentions(node: ast.AST, name: str) -> bool:
    return name in _names(node)


def _names(node: ast.AST) -> frozenset[str]:
    """The names in a piece of code; kept with it, as it is asked about each of them."""
    known: frozenset[str] | None = getattr(node, _KEPT, None)
    if known is None:
        known = frozenset(part.id for part in parts(node) if isinstance(part, ast.Name))
        setattr(node, _KEPT, known)
    return known
