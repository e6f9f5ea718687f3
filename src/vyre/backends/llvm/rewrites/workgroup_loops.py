"""Loops that all lanes of a workgroup come to, rewritten."""

from __future__ import annotations

from collections.abc import Callable

from vyre import ir
from vyre.ir.walk import rebuilt

Change = Callable[[ir.Loop | ir.While, ir.Body, int], list[ir.AnyStmt]]
"""What becomes of a loop that stands at a place in a body."""


def map_workgroup_loops(body: ir.Body, change: Change) -> ir.Body:
    """Statements that all lanes come to, with loops rewritten; the very same if none is."""
    made: list[ir.AnyStmt] = []
    for place, statement in enumerate(body):
        match statement:
            case ir.Block(inner) | ir.Region(_, _, inner):
                new = map_workgroup_loops(inner, change)
                made.append(statement if new is inner else rebuilt(statement, {"body": new}))
            case ir.Loop() | ir.While():
                made += change(statement, body, place)
            case _:
                made.append(statement)
    same = len(made) == len(body) and all(a is b for a, b in zip(made, body, strict=True))
    return body if same else tuple(made)


__all__ = ["map_workgroup_loops"]
