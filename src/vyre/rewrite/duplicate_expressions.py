"""Finds expressions that occur more than once in a program, by hash.

A program in which nothing repeats, the usual case once it is optimised, needs no closer look. The
hashes of a statement are remembered for as long as it is the same object.
"""

from __future__ import annotations

from collections import Counter

from vyre import ir
from vyre.ir.walk import expr_children, walk_stmts

_Hashes = tuple[tuple[int, ...], tuple[int, ...]]
"""Of the operations and of the loads in the expressions of one statement."""


class Repeats:
    """Answers by program, at the price of what changed."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[ir.AnyStmt, _Hashes]] = {}

    def operations(self, entry: ir.Body) -> set[int]:
        """The hashes that several operations have; equal ones have equal hashes."""
        return self._repeated(entry, 0)

    def loads(self, entry: ir.Body) -> set[int]:
        """The hashes that several loads have."""
        return self._repeated(entry, 1)

    def _repeated(self, entry: ir.Body, which: int) -> set[int]:
        counts: Counter[int] = Counter()
        known = self._known
        for statement in walk_stmts(entry):
            found = known.get(id(statement))
            if found is None:
                found = known[id(statement)] = (statement, _hashes(statement))
            if found[1][which]:
                counts.update(found[1][which])
        return {hashed for hashed, count in counts.items() if count > 1}


def _hashes(statement: ir.AnyStmt) -> _Hashes:
    operations: list[int] = []
    loads: list[int] = []
    stack: list[ir.AnyExpr] = [expr for expr in expr_children(statement) if expr.depth > 1]
    while stack:
        expr = stack.pop()
        (loads if type(expr) is ir.Load else operations).append(hash(expr))
        stack.extend([child for child in expr_children(expr) if child.depth > 1])
    return tuple(operations), tuple(loads)
