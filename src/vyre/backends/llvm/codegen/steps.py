"""Structures in memory: how far apart lanes are, guessed from what they touch of a structure.

In `p[i, 0]`, `p[i, 1]`, `p[i, 2]` the index is `i * p.shape[1] + 2`: lanes lie `p.shape[1]` apart,
which is known when the kernel runs. That it is 3 is a good guess, because nothing lies beyond 2
that is of interest, and with a number for it lanes are read together and sorted in registers. The
guess is one of the things that are taken for granted in the midst of a row: where it is wrong, the
lanes run one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from vyre.backends.llvm.codegen.linear import LinearForms
from vyre.ir import (
    AnyExpr,
    AnyStmt,
    Atomic,
    Binary,
    BinOp,
    Body,
    DataType,
    Lit,
    Load,
    Program,
    Select,
    Store,
    Var,
)
from vyre.ir.walk import expr_children, walk_expr, walk_stmts

WIDEST_STEP: Final = 4
_USUAL: Final = 3
"""The size of a structure of which only single parts are touched."""


def guessed_steps(
    program: Program,
    body: Body,
    outer: Mapping[str, AnyExpr],
    leaves: frozenset[str],
    types: Mapping[str, DataType],
    more: int = 0,
) -> dict[AnyExpr, Lit]:
    """Distances between lanes that are not known, with the numbers that they may well be.

    With `more`, structures are taken to have so many parts that nothing touches.
    """
    if not any(_multiplies(statement) for statement in walk_stmts(body)):
        return {}
    forms = LinearForms(program, body, outer, leaves, types)
    touched: dict[AnyExpr, set[int]] = {}
    for statement in walk_stmts(body):
        for buffer, index in accesses_of(statement):
            if buffer not in forms.private:
                written = forms.expand(index)
                flat = written.if_true if isinstance(written, Select) else written
                _look(flat, forms, leaves, touched)
    found: dict[AnyExpr, Lit] = {}
    for distance, places in touched.items():
        step = max(places) + 1
        if len(places) < step:
            step = max(step, _USUAL)
        step += more
        if 1 < step <= WIDEST_STEP and max(places):
            found[distance] = Lit(DataType.U32, step)
    return found


def _multiplies(statement: AnyStmt) -> bool:
    """Whether a statement has a product in it that may be a place in memory."""
    return any(
        isinstance(node, Binary) and node.op is BinOp.MUL and not _has_number(node)
        for child in expr_children(statement)
        for node in walk_expr(child)
    )


def _has_number(node: Binary) -> bool:
    return isinstance(node.left, Lit) or isinstance(node.right, Lit)


def accesses_of(statement: AnyStmt) -> Iterator[tuple[str, AnyExpr]]:
    """The buffers and indices of what a statement itself, not its bodies, looks at or stores."""
    if isinstance(statement, Store):
        yield statement.buffer, statement.index
    for child in expr_children(statement):
        for node in walk_expr(child):
            if isinstance(node, (Load, Atomic)):
                yield node.buffer, node.index


def _look(
    index: AnyExpr, forms: LinearForms, leaves: frozenset[str], touched: dict[AnyExpr, set[int]]
) -> None:
    """Note a place in a structure: `position * distance + place`.

    What goes to other places as well, or to those that only a loop knows, is larger than any guess.
    """
    base, place = forms.without_offset(index), forms.offset(index)
    is_place = isinstance(base, Binary) and base.op is BinOp.MUL and 0 <= place < WIDEST_STEP
    for node in (base,) if is_place else walk_expr(index):
        if not isinstance(node, Binary) or node.op is not BinOp.MUL:
            continue
        for position, distance in ((node.left, node.right), (node.right, node.left)):
            if not is_distance(distance, forms, leaves):
                continue
            if forms.is_u32(position) and forms.stride(position) == 1:
                touched.setdefault(distance, set()).add(place if is_place else WIDEST_STEP)
                break


def is_distance(expr: AnyExpr, forms: LinearForms, leaves: frozenset[str]) -> bool:
    """Whether it is a number that was given, and nothing computed."""
    match expr:
        case Load(_, Lit()):
            return forms.is_u32(expr) and forms.is_row_constant(expr)
        case Var(name):
            return name in leaves and forms.is_u32(expr)
        case _:
            return False


__all__ = ["accesses_of", "guessed_steps", "is_distance"]
