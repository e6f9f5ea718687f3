"""Workgroup memory that nothing writes between two barriers.

    barrier
    let n = tile[0]
    barrier

All invocations that load an element there get the same value, also in a program with races: what
was written before is visible to all of them, and what is written later is written after all have
loaded. That is how a workgroup agrees on a value, and branches on it around barriers.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from vyre import ir
from vyre.analysis.effects import statement_effects
from vyre.ir.walk import bodies, walk_stmts

Buffers = frozenset[str]
_NONE: Buffers = frozenset()


def candidates(program: ir.Program) -> Buffers:
    """Workgroup buffers that loads and stores alone access; copies arrive at any time."""
    workgroup = frozenset(d.name for d in program.buffers if d.is_workgroup)
    if not workgroup:
        return workgroup
    copied = {s.destination for s in walk_stmts(program.entry) if isinstance(s, ir.AsyncLoad)}
    return workgroup - copied


def settled_in(body: ir.Body, buffers: Buffers) -> dict[int, Buffers]:
    """The buffers that nothing writes around each statement of a body, by its place in the body.

    Only between two barriers of the body itself, without others nested in between: so a barrier
    that depends on what was loaded comes after the second one.
    """
    if not buffers:
        return {}
    ends = [place for place, statement in enumerate(body) if isinstance(statement, ir.Barrier)]
    found: dict[int, Buffers] = {}
    for first, last in pairwise(ends):
        settled = _unwritten(body[first + 1 : last], buffers)
        if settled:
            found |= dict.fromkeys(range(first + 1, last), settled)
    return found


def _unwritten(statements: ir.Body, buffers: Buffers) -> Buffers:
    for statement in statements:
        effects = statement_effects(statement)
        together = effects.synchronises or effects.grid_synchronises or effects.crosses_lanes
        if effects.opaque or (together and statement.body_fields):
            return _NONE
        buffers -= effects.writes
    return buffers


def agreeing_bindings(body: ir.Body, buffers: Buffers) -> dict[ir.Let | ir.Assign, Buffers]:
    """Settled buffers by the statement that binds or assigns a variable.

    Equal statements at several places have those that are settled at each of these.
    """
    found: dict[ir.Let | ir.Assign, Buffers] = {}
    if not buffers:
        return found
    for settled, statement in _bindings(body, buffers):
        found[statement] = found.get(statement, settled) & settled
    return found


def _bindings(body: ir.Body, buffers: Buffers) -> Iterator[tuple[Buffers, ir.Let | ir.Assign]]:
    settled = settled_in(body, buffers)
    for place, statement in enumerate(body):
        if isinstance(statement, (ir.Let, ir.Assign)):
            yield settled.get(place, _NONE), statement
        for inner in bodies(statement):
            yield from _bindings(inner, buffers)
