"""Private arrays that become scalars (SROA) once the loops over their elements are unrolled.

An array whose indices are all constants needs no memory: scalar replacement of aggregates, the pass
`dissolve_arrays`, makes each element a variable. Loops with a small trip count over its elements
prevent that until they are unrolled.
"""

from __future__ import annotations

from vyre import ir
from vyre.ir.walk import accesses_of, assigned_names, reads_any, walk_expr, walk_stmts

MOST_ROUNDS = 16
MOST_STATEMENTS = 40
"""Rounds of a loop, and statements after that, that are worth writing out for an array's sake."""
MOST_ELEMENTS = 64
"""Elements that can be expected to be variables in registers."""


def dissolving_arrays(program: ir.Program) -> frozenset[str]:
    """Private arrays whose indices are numbers once loops of a few rounds are written out."""
    found = {d.name for d in program.buffers if d.is_local and 0 < d.count <= MOST_ELEMENTS}
    if not found:
        return frozenset()
    assigned = assigned_names(program.entry)
    numbers: set[str] = set()
    for statement in walk_stmts(program.entry):
        found -= {name for name, index in accesses_of(statement) if not _is_number(index, numbers)}
        if isinstance(statement, ir.Loop):
            (numbers.add if _is_short(statement) else numbers.discard)(statement.var)
        elif isinstance(statement, ir.Let):
            is_one = statement.name not in assigned and _is_number(statement.value, numbers)
            (numbers.add if is_one else numbers.discard)(statement.name)
    return frozenset(found)


def goes_through(loop: ir.Loop, arrays: frozenset[str]) -> bool:
    """Whether a loop, as its rounds count, comes to other elements of one of these arrays."""
    counted = {loop.var}
    for statement in walk_stmts(loop.body):
        if any(
            name in arrays and reads_any(index, counted) for name, index in accesses_of(statement)
        ):
            return True
        if isinstance(statement, ir.Let) and reads_any(statement.value, counted):
            counted.add(statement.name)
    return False


def _is_number(expr: ir.AnyExpr, names: set[str]) -> bool:
    """Whether an expression is made of literals and of names that will be."""
    for node in walk_expr(expr):
        if isinstance(node, (ir.Load, ir.Atomic)) or (
            isinstance(node, ir.Var) and node.name not in names
        ):
            return False
        if node.depth == 1 and not isinstance(node, (ir.Lit, ir.Var)):
            return False
    return True


def _is_short(loop: ir.Loop) -> bool:
    return _rounds(loop) <= MOST_ROUNDS and _written_out((loop,)) <= MOST_STATEMENTS


def _rounds(loop: ir.Loop) -> int:
    if isinstance(loop.start, ir.Lit) and isinstance(loop.stop, ir.Lit):
        return max(int(loop.stop.value) - int(loop.start.value), 0)
    return MOST_ROUNDS + 1


def _written_out(body: ir.Body) -> int:
    """Statements of a body when loops in it are written out."""
    total = 0
    for statement in body:
        inner = sum(_written_out(getattr(statement, field)) for field in statement.body_fields)
        total += _rounds(statement) * inner if isinstance(statement, ir.Loop) else 1 + inner
    return total


__all__ = ["MOST_ELEMENTS", "MOST_ROUNDS", "MOST_STATEMENTS", "dissolving_arrays", "goes_through"]
