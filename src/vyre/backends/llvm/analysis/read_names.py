"""Use sets: the variables that statements read."""

from __future__ import annotations

from vyre.ir import Body, Var
from vyre.ir.walk import expr_children, walk_expr, walk_stmts


def reads_of_body(body: Body) -> frozenset[str]:
    """Variables that statements read, nested bodies included."""
    return frozenset(
        node.name
        for statement in walk_stmts(body)
        for child in expr_children(statement)
        for node in walk_expr(child)
        if isinstance(node, Var)
    )
