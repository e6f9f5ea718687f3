"""Bodies with statements replaced, removed or added; the same object back when nothing changed."""

from __future__ import annotations

from collections.abc import Callable

from vyre import ir
from vyre.ir.walk import walk_stmts

Change = ir.AnyStmt | None | list[ir.AnyStmt]
"""What becomes of a statement: itself or another, nothing, or several."""


def edited(body: ir.Body, change: Callable[[ir.AnyStmt], Change]) -> ir.Body:
    """The body with `change` applied to each of its statements, in order."""
    out: list[ir.AnyStmt] | None = None
    for index, statement in enumerate(body):
        new = change(statement)
        if new is statement:
            if out is not None:
                out.append(statement)
            continue
        if out is None:
            out = list(body[:index])
        if isinstance(new, list):
            out.extend(new)
        elif new is not None:
            out.append(new)
    return body if out is None else tuple(out)


def size_of(body: ir.Body) -> int:
    """How many statements a body holds, nested ones included."""
    return sum(1 for _ in walk_stmts(body))


def jumps(body: ir.Body) -> bool:
    """Whether a break or continue in the body belongs to the loop around it."""
    for statement in body:
        if isinstance(statement, (ir.Break, ir.Continue)):
            return True
        if isinstance(statement, (ir.If, ir.Block, ir.Region)) and any(
            jumps(getattr(statement, name)) for name in statement.body_fields
        ):
            return True
    return False
