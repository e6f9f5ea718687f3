"""The variables and buffers that statements read and write, by name."""

from __future__ import annotations

from collections.abc import Iterable

from vyre import ir
from vyre.ir.walk import expr_children, walk_expr, walk_stmts
from vyre.record import dataclass


@dataclass(frozen=True, slots=True)
class Uses:
    """Names used by a sequence of statements."""

    reads: frozenset[str]
    writes: frozenset[str]
    """Variables declared or assigned."""
    buffers: frozenset[str]


def uses_of(statements: Iterable[ir.AnyStmt], extra: Iterable[ir.AnyExpr] = ()) -> Uses:
    """The variables and buffers that statements and expressions use."""
    reads: set[str] = set()
    writes: set[str] = set()
    buffers: set[str] = set()

    def look(expr: ir.AnyExpr) -> None:
        for node in walk_expr(expr):
            if isinstance(node, ir.Var):
                reads.add(node.name)
            buffer = getattr(node, "buffer", None)
            if buffer is not None:
                buffers.add(buffer)

    for statement in walk_stmts(tuple(statements)):
        if isinstance(statement, (ir.Let, ir.Assign)):
            writes.add(statement.name)
        for field in ("buffer", "source", "destination"):
            name = getattr(statement, field, None)
            if isinstance(name, str):
                buffers.add(name)
        for child in expr_children(statement):
            look(child)
    for expr in extra:
        look(expr)
    return Uses(frozenset(reads), frozenset(writes), frozenset(buffers))
