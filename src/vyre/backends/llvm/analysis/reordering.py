"""Whether the order of workgroups is nothing to anybody.

No program is promised an order, but people expect the first workgroup first: where what an atomic
gives back tells who came before, where messages are printed, and where a workgroup waits for those
before it. Such programs are run as one expects.
"""

from __future__ import annotations

from vyre.ir import (
    AnyStmt,
    Atomic,
    Break,
    Eval,
    Load,
    Loop,
    Opaque,
    Print,
    Program,
    Return,
    Trap,
    While,
)
from vyre.ir.walk import expr_children, walk_all_exprs, walk_expr, walk_stmts


def is_any_order_fine(program: Program) -> bool:
    """Whether nobody could tell, but by the time it takes."""
    shared = {d.name for d in program.buffers if d.is_writable and not d.is_on_chip}
    for statement in walk_stmts(program.entry):
        if isinstance(statement, (Print, Trap, Opaque)):
            return False
        for child in expr_children(statement):
            inner = walk_expr(child)
            if isinstance(statement, Eval) and isinstance(child, Atomic):
                # What it gives back is thrown away; its operands are not.
                next(inner)
            if any(isinstance(node, Atomic) for node in inner):
                return False
        if _may_wait(statement) and any(
            isinstance(node, (Load, Atomic)) and node.buffer in shared
            for node in walk_all_exprs((statement,))
        ):
            return False
    return True


def _may_wait(statement: AnyStmt) -> bool:
    """Whether a loop may end only when somebody else has done something."""
    if isinstance(statement, While):
        return True
    return isinstance(statement, Loop) and any(
        isinstance(inner, (Break, Return)) for inner in walk_stmts(statement.body)
    )


__all__ = ["is_any_order_fine"]
