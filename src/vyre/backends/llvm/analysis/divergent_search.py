"""Divergent searches: early-exit loops that divide integers.

A search ends either at a hit or after its last iteration, and the second takes much longer. Most
lanes leave at once, a few execute every iteration, and all lanes of a vector wait for those. That
is profitable where a vector executes an iteration of all its lanes in the time of one lane. An
integer division is not such an iteration: the scalar divider takes no longer per lane than a
vector of divisions does.

The test is syntactic and decides profitability only.
"""

from __future__ import annotations

from vyre import ir
from vyre.ir.infer import TypeEnv, type_of
from vyre.ir.walk import bodies, walk_own_exprs, walk_stmts


def divides_in_search(body: ir.Body, env: TypeEnv) -> bool:
    """True if an early-exit loop divides integers by a non-literal."""
    return any(
        isinstance(statement, (ir.Loop, ir.While))
        and _has_normal_exit(statement)
        and _breaks(statement.body)
        and _divides(statement, env)
        for statement in walk_stmts(body)
    )


def _has_normal_exit(loop: ir.Loop | ir.While) -> bool:
    return isinstance(loop, ir.Loop) or not isinstance(loop.cond, ir.Lit)


def _breaks(body: ir.Body) -> bool:
    """True if this body breaks out of its loop."""
    for statement in body:
        if isinstance(statement, ir.Break):
            return True
        inner = () if isinstance(statement, (ir.Loop, ir.While)) else bodies(statement)
        if any(_breaks(nested) for nested in inner):
            return True
    return False


def _divides(loop: ir.AnyStmt, env: TypeEnv) -> bool:
    for statement in (loop, *(s for body in bodies(loop) for s in walk_stmts(body))):
        for node in walk_own_exprs(statement):
            if isinstance(node, ir.Binary) and node.op in (ir.BinOp.DIV, ir.BinOp.REM):
                dtype = type_of(node, env)
                integer = isinstance(dtype, ir.DataType) and dtype.is_integer
                if integer and not isinstance(node.right, ir.Lit):
                    return True
    return False
