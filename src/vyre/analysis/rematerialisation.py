"""Variables that are cheaper to recompute than to keep in memory (rematerialisation).

A variable whose live range crosses a barrier is either spilled or recomputed after it. Recomputing
is legal if the value is pure and the same at every position: it reads no memory but lengths and
ids, and only variables of the same kind. It is profitable if the expression is small.
"""

from __future__ import annotations

from collections.abc import Mapping

from vyre import ir
from vyre.ir.walk import assigned_names, walk_expr, walk_stmts

CHEAP_NODES = 8
"""The largest expression, in nodes, that is recomputed rather than kept in memory."""

_PURE = (ir.Lit, ir.Var, ir.Builtin, ir.BufLen, ir.Unary, ir.Binary, ir.Cast, ir.Bitcast, ir.Select)


def recomputable(program: ir.Program) -> Mapping[str, ir.AnyExpr]:
    """Variables that may be recomputed at any position, with their values."""
    assigned = assigned_names(program.entry)
    found: dict[str, ir.AnyExpr] = {}
    for statement in walk_stmts(program.entry):
        if isinstance(statement, ir.Let) and statement.name not in assigned:
            nodes = list(walk_expr(statement.value))
            if len(nodes) <= CHEAP_NODES and all(_same_anywhere(n, found) for n in nodes):
                found[statement.name] = statement.value
    return found


def _same_anywhere(node: ir.AnyExpr, found: Mapping[str, ir.AnyExpr]) -> bool:
    """True if a node has the same value at every position of a program."""
    if isinstance(node, ir.Var):
        return node.name in found
    if isinstance(node, ir.Builtin):
        return node.kind not in (ir.BuiltinKind.SUBGROUP_LANE, ir.BuiltinKind.SUBGROUP_SIZE)
    return isinstance(node, _PURE)
