"""Maps a rewrite over loops that all lanes of a workgroup execute.

Visits loops at the top level of a body and in its blocks and regions, not those in branches or in
other loops.
"""

from __future__ import annotations

from collections.abc import Callable

from vyre import ir
from vyre.ir.walk import rebuilt

Change = Callable[[ir.Loop | ir.While, ir.Body, int], list[ir.AnyStmt]]
"""Replacement of a loop, given its body and position."""


def map_workgroup_loops(body: ir.Body, change: Change) -> ir.Body:
    """Rewrite the loops of a body; returns the same object if none changes."""
    rewritten: list[ir.AnyStmt] = []
    for position, statement in enumerate(body):
        match statement:
            case ir.Block(inner) | ir.Region(_, _, inner):
                new = map_workgroup_loops(inner, change)
                rewritten.append(statement if new is inner else rebuilt(statement, {"body": new}))
            case ir.Loop() | ir.While():
                rewritten += change(statement, body, position)
            case _:
                rewritten.append(statement)
    same = len(rewritten) == len(body) and all(a is b for a, b in zip(rewritten, body, strict=True))
    return body if same else tuple(rewritten)


__all__ = ["map_workgroup_loops"]
