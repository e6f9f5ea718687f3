"""Whether workgroups may be reordered.

True if no observable result depends on the dispatch order. No program is guaranteed an order, but
users expect the first workgroup first in three cases: the result of an atomic reveals which
workgroup ran before, messages are printed, or a workgroup waits for those before it. Such programs
run in order. Errs towards False.
"""

from __future__ import annotations

from vyre import ir
from vyre.ir.walk import expr_children, walk_all_exprs, walk_expr, walk_stmts


def may_reorder_workgroups(program: ir.Program) -> bool:
    """True if reordering workgroups preserves observable behaviour."""
    shared = {d.name for d in program.buffers if d.is_writable and not d.is_on_chip}
    for statement in walk_stmts(program.entry):
        if isinstance(statement, (ir.Print, ir.Trap, ir.Opaque)):
            return False
        for child in expr_children(statement):
            inner = walk_expr(child)
            if isinstance(statement, ir.Eval) and isinstance(child, ir.Atomic):
                # Its result is unused; its operands are not.
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
    """True if a loop may wait for a store of another invocation."""
    if isinstance(statement, ir.While):
        return True
    return isinstance(statement, ir.Loop) and any(
        isinstance(inner, (ir.Break, ir.Return)) for inner in walk_stmts(statement.body)
    )


__all__ = ["may_reorder_workgroups"]
