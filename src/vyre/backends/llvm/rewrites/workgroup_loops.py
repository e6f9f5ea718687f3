"""Loops that all lanes of a workgroup come to, rewritten."""

from __future__ import annotations

from collections.abc import Callable

from vyre.ir import AnyStmt, Block, Body, Loop, Region, While
from vyre.ir.walk import rebuilt

Change = Callable[[Loop | While, Body, int], list[AnyStmt]]
"""What becomes of a loop that stands at a place in a body."""


def with_common_loops(body: Body, change: Change) -> Body:
    """Statements that all lanes come to, with loops rewritten; the very same if none is."""
    made: list[AnyStmt] = []
    for place, statement in enumerate(body):
        match statement:
            case Block(inner) | Region(_, _, inner):
                new = with_common_loops(inner, change)
                made.append(statement if new is inner else rebuilt(statement, {"body": new}))
            case Loop() | While():
                made += change(statement, body, place)
            case _:
                made.append(statement)
    same = len(made) == len(body) and all(a is b for a, b in zip(made, body, strict=True))
    return body if same else tuple(made)


__all__ = ["with_common_loops"]
