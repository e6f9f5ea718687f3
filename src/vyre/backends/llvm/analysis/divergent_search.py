"""Searches that divide: loops that most lanes leave at once and a few lanes go through to the end.

A search ends in two ways, by finding something or by having looked everywhere, and the second takes
much longer. Lanes of a vector all wait for the one that looks everywhere. That is worth it where a
vector does a round of all its lanes in the time of one lane. A division is not such a round: what
machines have for single numbers takes no longer for each lane than a vector of them does.
"""

from __future__ import annotations

from vyre import ir
from vyre.ir.infer import TypeEnv, type_of
from vyre.ir.walk import bodies, expr_children, walk_expr, walk_stmts


def divides_in_search(body: ir.Body, env: TypeEnv) -> bool:
    """Whether a loop has two ends, and divides integers by a number not known here."""
    return any(
        isinstance(statement, (ir.Loop, ir.While))
        and _may_end_by_itself(statement)
        and _breaks(statement.body)
        and _divides(statement, env)
        for statement in walk_stmts(body)
    )


def _may_end_by_itself(loop: ir.Loop | ir.While) -> bool:
    return isinstance(loop, ir.Loop) or not isinstance(loop.cond, ir.Lit)


def _breaks(body: ir.Body) -> bool:
    """Whether a loop with this body is left from within."""
    for statement in body:
        if isinstance(statement, ir.Break):
            return True
        inner = () if isinstance(statement, (ir.Loop, ir.While)) else bodies(statement)
        if any(_breaks(nested) for nested in inner):
            return True
    return False


def _divides(loop: ir.AnyStmt, env: TypeEnv) -> bool:
    for statement in (loop, *(s for body in bodies(loop) for s in walk_stmts(body))):
        for child in expr_children(statement):
            for node in walk_expr(child):
                if isinstance(node, ir.Binary) and node.op in (ir.BinOp.DIV, ir.BinOp.REM):
                    dtype = type_of(node, env)
                    whole = isinstance(dtype, ir.DataType) and dtype.is_integer
                    if whole and not isinstance(node.right, ir.Lit):
                        return True
    return False
