"""Work that lanes may do twice: then the last vector of a row may reach back over the one before.

What a lane stores depends then on nothing that any lane of the same work has stored: it stores the
same once more. The few lanes that are left at the end of a row need not run one by one.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from vyre import ir
from vyre.ir.walk import expr_children, walk_expr, walk_stmts

_HARMLESS = (ir.Let, ir.Assign, ir.Store, ir.If, ir.Loop, ir.While, ir.Block, ir.Region)


def is_idempotent(program: ir.Program, body: ir.Body, kept: AbstractSet[str]) -> bool:
    """Whether it makes no difference how often a lane runs; `kept` are variables that others read.

    Memory of a lane's own begins as zeros, which only its first run finds.
    """
    private = {decl.name for decl in program.buffers if decl.is_local}
    written: set[str] = set()
    read: set[str] = set()
    for statement in walk_stmts(body):
        if not isinstance(statement, _HARMLESS):
            return False
        if isinstance(statement, (ir.Let, ir.Assign)) and statement.name in kept:
            return False
        if isinstance(statement, ir.Store):
            written.add(statement.buffer)
        for child in expr_children(statement):
            for node in walk_expr(child):
                if isinstance(node, ir.Atomic):
                    return False
                if isinstance(node, ir.Load):
                    read.add(node.buffer)
    return not written & (read | private)


__all__ = ["is_idempotent"]
