"""Speculated strides of arrays of structures.

In `p[i, 0]`, `p[i, 1]`, `p[i, 2]` the index is `i * p.shape[1] + 2`: the stride of lanes is
`p.shape[1]`, known at launch only. The guess is the greatest accessed member plus one, here 3. With
a literal stride, lanes load whole structures and shuffle them in registers. The guess is an
assumption of the steady state: where it is wrong, the lanes run as scalars, so a wrong guess costs
time only.

In `p[i, k]` with one `k` for a whole row, the accesses give no guess. There each of the usual
sizes is tried.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from vyre import ir
from vyre.backends.llvm import heuristics
from vyre.backends.llvm.analysis.affine_forms import LinearForms
from vyre.ir.walk import accesses_of, walk_expr, walk_own_exprs, walk_stmts

_BEYOND: Final = 1 << 32
"""A member index greater than any guess."""
_ANY: Final = -1
"""A member index that is row-uniform, but not a literal."""


def speculated_strides(
    program: ir.Program,
    body: ir.Body,
    outer: Mapping[str, ir.AnyExpr],
    leaves: frozenset[str],
    types: Mapping[str, ir.DataType],
    more: int = 0,
    usual: int = 0,
) -> dict[ir.AnyExpr, ir.Lit]:
    """Map unknown strides to their speculated literals.

    Structures whose bit is set in `more`, in their order, have one extra, unaccessed member. Those
    of which each row accesses one member have `usual` members, if that is not zero.
    """
    if not any(_multiplies(statement) for statement in walk_stmts(body)):
        return {}
    forms = LinearForms(program, body, outer, leaves, types)
    accessed: dict[ir.AnyExpr, set[int]] = {}
    for statement in walk_stmts(body):
        for buffer, index in accesses_of(statement):
            if buffer not in forms.private:
                written = forms.expand(index)
                flat = written.if_true if isinstance(written, ir.Select) else written
                _record(flat, forms, leaves, accessed)
    strides: dict[ir.AnyExpr, ir.Lit] = {}
    for number, (distance, members) in enumerate(accessed.items()):
        step = max(members) + 1
        most = heuristics.MAX_STRUCT_MEMBERS
        if _ANY in members:
            if max(step, 1) <= usual:
                strides[distance] = ir.Lit(ir.DataType.U32, usual)
            continue
        if len(members) < step:
            step = max(step, heuristics.ASSUMED_STRUCT_MEMBERS)
            most = heuristics.MAX_PARTIAL_STRUCT_MEMBERS
        if more >> number & 1:
            step, most = step + 1, heuristics.MAX_PARTIAL_STRUCT_MEMBERS
        if 1 < step <= most and max(members):
            strides[distance] = ir.Lit(ir.DataType.U32, step)
    return strides


def _multiplies(statement: ir.AnyStmt) -> bool:
    """True if a statement contains a product of non-literals, perhaps an index."""
    return any(
        isinstance(node, ir.Binary) and node.op is ir.BinOp.MUL and not _has_literal(node)
        for node in walk_own_exprs(statement)
    )


def _has_literal(node: ir.Binary) -> bool:
    return isinstance(node.left, ir.Lit) or isinstance(node.right, ir.Lit)


def _record(
    index: ir.AnyExpr,
    forms: LinearForms,
    leaves: frozenset[str],
    accessed: dict[ir.AnyExpr, set[int]],
) -> None:
    """Record a member index: `position * distance + member`.

    Strides used with other member indices, or with ones that depend on a loop, get `_BEYOND`.
    """
    base, member = forms.without_offset(index), forms.offset(index)
    is_member = (
        isinstance(base, ir.Binary)
        and base.op is ir.BinOp.MUL
        and 0 <= member < heuristics.MAX_STRUCT_MEMBERS
    )
    if is_member and _record_nested(base, member, forms, leaves, accessed):
        return
    if not is_member and _record_row_uniform(index, forms, leaves, accessed):
        return
    for node in (base,) if is_member else walk_expr(index):
        product = _product(node, forms, leaves)
        if product is not None and forms.stride(product[0]) == 1:
            accessed.setdefault(product[1], set()).add(member if is_member else _BEYOND)


def _record_row_uniform(
    index: ir.AnyExpr,
    forms: LinearForms,
    leaves: frozenset[str],
    accessed: dict[ir.AnyExpr, set[int]],
) -> bool:
    """Record a row-uniform member index: `position * distance + member`."""
    product = _product(index, forms, leaves)
    if product is not None and forms.stride(product[0]) == 1:
        accessed.setdefault(product[1], set()).add(_ANY)
        return True
    match index:
        case ir.Binary(ir.BinOp.ADD, left, right) if forms.is_row_constant(left):
            return _record_row_uniform(right, forms, leaves, accessed)
        case ir.Binary(ir.BinOp.ADD | ir.BinOp.SUB, left, right) if forms.is_row_constant(right):
            return _record_row_uniform(left, forms, leaves, accessed)
        case _:
            return False


def _record_nested(
    base: ir.AnyExpr,
    member: int,
    forms: LinearForms,
    leaves: frozenset[str],
    accessed: dict[ir.AnyExpr, set[int]],
) -> bool:
    """Record a nested member index: `(position * rows + row) * columns + member`."""
    outer = _product(base, forms, leaves)
    if outer is None:
        return False
    inner = _product(forms.without_offset(outer[0]), forms, leaves)
    row = forms.offset(outer[0])
    if inner is None or forms.stride(inner[0]) != 1 or not 0 <= row < heuristics.MAX_STRUCT_MEMBERS:
        return False
    accessed.setdefault(inner[1], set()).add(row)
    accessed.setdefault(outer[1], set()).add(member)
    return True


def _product(
    node: ir.AnyExpr, forms: LinearForms, leaves: frozenset[str]
) -> tuple[ir.AnyExpr, ir.AnyExpr] | None:
    """Split a product into a lane position and a stride; None if it is no such product."""
    if not isinstance(node, ir.Binary) or node.op is not ir.BinOp.MUL:
        return None
    for position, distance in ((node.left, node.right), (node.right, node.left)):
        if is_distance(distance, forms, leaves) and forms.is_u32(position):
            return position, distance
    return None


def is_distance(expr: ir.AnyExpr, forms: LinearForms, leaves: frozenset[str]) -> bool:
    """True if it is an input of the launch, not computed."""
    match expr:
        case ir.Load(_, ir.Lit()):
            return forms.is_u32(expr) and forms.is_row_constant(expr)
        case ir.Var(name):
            return name in leaves and forms.is_u32(expr)
        case _:
            return False


__all__ = ["is_distance", "speculated_strides"]
