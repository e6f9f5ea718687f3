"""Whether the order of workgroups is nothing to anybody.

No program is promised an order, but people expect the first workgroup first: where what an atomic
gives back tells who came before, where messages are printed, and where a workgroup waits for those
before it. Such programs are run as one expects.
"""

from __future__ import annotations

from vyre import ir
from vyre.ir.walk import expr_children, walk_all_exprs, walk_expr, walk_stmts


def may_reorder_workgroups(program: ir.Program) -> bool:
    """Whether nobody could tell, but by the time it takes."""
    shared = {d.name for d in program.buffers if d.is_writable and not d.is_on_chip}
    for statement in walk_stmts(program.entry):
        if isinstance(statement, (ir.Print, ir.Trap, ir.Opaque)):
            return False
        for child in expr_children(statement):
            inner = walk_expr(child)
            if isinstance(statement, ir.Eval) and isinstance(child, ir.Atomic):
                # What it gives back is thrown away; its operands are not.
                next(inner)
            if any(isinstance(node, ir.Atomic) for node in inner):
                return False
        if _may_wait(statement) and any(
            isinstance(node, (ir.Load, ir.Atomic)) and node.buffer in shared
            for node in walk_all_exprs((statement,))
        ):
            return False
    return True


def _may_wait(statement: ir.AnyStmt) -> bool:
    """Whether a loop may end only when somebody else has done something."""
    if isinstance(statement, ir.While):
        return True
    return isinstance(statement, ir.Loop) and any(
        isinstance(inner, (ir.Break, ir.Return)) for inner in walk_stmts(statement.body)
    )


__all__ = ["may_reorder_workgroups"]
