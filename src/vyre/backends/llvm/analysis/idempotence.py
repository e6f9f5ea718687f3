"""Idempotence: regions that a lane may execute twice.

The last vector of a row may then overlap the one before, so the remainder of the row needs no
scalar lanes. A region is idempotent if its stores depend on nothing that any of its lanes stored:
a second execution stores the same values. Sound and conservative: no buffer may be both stored and
loaded, and there are no atomics, prints or barriers.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from vyre import ir
from vyre.ir.walk import walk_own_exprs, walk_stmts

_REPEATABLE = (ir.Let, ir.Assign, ir.Store, ir.If, ir.Loop, ir.While, ir.Block, ir.Region)


def is_idempotent(program: ir.Program, body: ir.Body, kept: AbstractSet[str]) -> bool:
    """True if a lane may run any number of times; errs towards False.

    `kept` are variables that other regions read. Private memory starts as zeros, which only the
    first execution finds, so stores to it are not idempotent.
    """
    private = {decl.name for decl in program.buffers if decl.is_local}
    written: set[str] = set()
    read: set[str] = set()
    for statement in walk_stmts(body):
        if not isinstance(statement, _REPEATABLE):
            return False
        if isinstance(statement, (ir.Let, ir.Assign)) and statement.name in kept:
            return False
        if isinstance(statement, ir.Store):
            written.add(statement.buffer)
        for node in walk_own_exprs(statement):
            if isinstance(node, ir.Atomic):
                return False
            if isinstance(node, ir.Load):
                read.add(node.buffer)
    return not written & (read | private)


__all__ = ["is_idempotent"]
