"""Structures in memory: how far apart lanes are, guessed from what they touch of a structure.

In `p[i, 0]`, `p[i, 1]`, `p[i, 2]` the index is `i * p.shape[1] + 2`: lanes lie `p.shape[1]` apart,
which is known when the kernel runs. That it is 3 is a good guess, because nothing lies beyond 2
that is of interest, and with a number for it lanes are read together and sorted in registers. The
guess is one of the things that are taken for granted in the midst of a row: where it is wrong, the
lanes run one by one.

In `p[i, k]` with one `k` for a whole row nothing tells how far apart they are. There each of the
usual numbers is tried.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from vyre import ir
from vyre.backends.llvm.analysis.affine_forms import LinearForms
from vyre.ir.walk import accesses_of, expr_children, walk_expr, walk_stmts

WIDEST_STEP: Final = 4
"""Parts of structures of which some are touched and some not."""
MOST_PARTS: Final = 16
"""Parts of structures all of which are touched."""
_USUAL: Final = 3
"""The size of a structure of which only single parts are touched."""
USUAL_STEPS: Final = (4, 3, 2, 8)
"""The sizes of structures of which one part is touched, and the row tells which."""
_BEYOND: Final = 1 << 32
"""A place larger than any guess."""
_ANY: Final = -1
"""A place that a row knows."""


def speculated_strides(
    program: ir.Program,
    body: ir.Body,
    outer: Mapping[str, ir.AnyExpr],
    leaves: frozenset[str],
    types: Mapping[str, ir.DataType],
    more: int = 0,
    usual: int = 0,
) -> dict[ir.AnyExpr, ir.Lit]:
    """Distances between lanes that are not known, with the numbers that they may well be.

    Structures of which `more` has a bit set, in their order, have a part more that nothing touches.
    Those of which rows touch one part each are `usual`, if that is not zero.
    """
    if not any(_multiplies(statement) for statement in walk_stmts(body)):
        return {}
    forms = LinearForms(program, body, outer, leaves, types)
    touched: dict[ir.AnyExpr, set[int]] = {}
    for statement in walk_stmts(body):
        for buffer, index in accesses_of(statement):
            if buffer not in forms.private:
                written = forms.expand(index)
                flat = written.if_true if isinstance(written, ir.Select) else written
                _look(flat, forms, leaves, touched)
    found: dict[ir.AnyExpr, ir.Lit] = {}
    for number, (distance, places) in enumerate(touched.items()):
        step = max(places) + 1
        most = MOST_PARTS
        if _ANY in places:
            if max(step, 1) <= usual:
                found[distance] = ir.Lit(ir.DataType.U32, usual)
            continue
        if len(places) < step:
            step, most = max(step, _USUAL), WIDEST_STEP
        if more >> number & 1:
            step, most = step + 1, WIDEST_STEP
        if 1 < step <= most and max(places):
            found[distance] = ir.Lit(ir.DataType.U32, step)
    return found


def _multiplies(statement: ir.AnyStmt) -> bool:
    """Whether a statement has a product in it that may be a place in memory."""
    return any(
        isinstance(node, ir.Binary) and node.op is ir.BinOp.MUL and not _has_number(node)
        for child in expr_children(statement)
        for node in walk_expr(child)
    )


def _has_number(node: ir.Binary) -> bool:
    return isinstance(node.left, ir.Lit) or isinstance(node.right, ir.Lit)


def _look(
    index: ir.AnyExpr,
    forms: LinearForms,
    leaves: frozenset[str],
    touched: dict[ir.AnyExpr, set[int]],
) -> None:
    """Note a place in a structure: `position * distance + place`.

    What goes to other places as well, or to those that only a loop knows, is larger than any guess.
    """
    base, place = forms.without_offset(index), forms.offset(index)
    is_place = isinstance(base, ir.Binary) and base.op is ir.BinOp.MUL and 0 <= place < MOST_PARTS
    if is_place and _look_inside(base, place, forms, leaves, touched):
        return
    if not is_place and _look_along_row(index, forms, leaves, touched):
        return
    for node in (base,) if is_place else walk_expr(index):
        found = _product(node, forms, leaves)
        if found is not None and forms.stride(found[0]) == 1:
            touched.setdefault(found[1], set()).add(place if is_place else _BEYOND)


def _look_along_row(
    index: ir.AnyExpr,
    forms: LinearForms,
    leaves: frozenset[str],
    touched: dict[ir.AnyExpr, set[int]],
) -> bool:
    """Note a place that is the same for all lanes of a row: `position * distance + place`."""
    found = _product(index, forms, leaves)
    if found is not None and forms.stride(found[0]) == 1:
        touched.setdefault(found[1], set()).add(_ANY)
        return True
    match index:
        case ir.Binary(ir.BinOp.ADD, left, right) if forms.is_row_constant(left):
            return _look_along_row(right, forms, leaves, touched)
        case ir.Binary(ir.BinOp.ADD | ir.BinOp.SUB, left, right) if forms.is_row_constant(right):
            return _look_along_row(left, forms, leaves, touched)
        case _:
            return False


def _look_inside(
    base: ir.AnyExpr,
    place: int,
    forms: LinearForms,
    leaves: frozenset[str],
    touched: dict[ir.AnyExpr, set[int]],
) -> bool:
    """Note a place in a structure of structures: `(position * rows + row) * columns + place`."""
    outer = _product(base, forms, leaves)
    if outer is None:
        return False
    inner = _product(forms.without_offset(outer[0]), forms, leaves)
    row = forms.offset(outer[0])
    if inner is None or forms.stride(inner[0]) != 1 or not 0 <= row < MOST_PARTS:
        return False
    touched.setdefault(inner[1], set()).add(row)
    touched.setdefault(outer[1], set()).add(place)
    return True


def _product(
    node: ir.AnyExpr, forms: LinearForms, leaves: frozenset[str]
) -> tuple[ir.AnyExpr, ir.AnyExpr] | None:
    """A position of a lane and a distance, where their product is asked for."""
    if not isinstance(node, ir.Binary) or node.op is not ir.BinOp.MUL:
        return None
    for position, distance in ((node.left, node.right), (node.right, node.left)):
        if is_distance(distance, forms, leaves) and forms.is_u32(position):
            return position, distance
    return None


def is_distance(expr: ir.AnyExpr, forms: LinearForms, leaves: frozenset[str]) -> bool:
    """Whether it is a number that was given, and nothing computed."""
    match expr:
        case ir.Load(_, ir.Lit()):
            return forms.is_u32(expr) and forms.is_row_constant(expr)
        case ir.Var(name):
            return name in leaves and forms.is_u32(expr)
        case _:
            return False


__all__ = ["USUAL_STEPS", "WIDEST_STEP", "is_distance", "speculated_strides"]
