"""What the statements of a program say about its grid."""

from __future__ import annotations

from vyre import ir
from vyre.ir.walk import walk_all_exprs, walk_stmts


def find_indirect_dispatch(program: ir.Program) -> ir.IndirectDispatch | None:
    """The statement by which a program reads its grid from a buffer."""
    body = program.entry
    while body and isinstance(body[0], ir.Region):
        body = body[0].body
    first = body[0] if body else None
    return first if isinstance(first, ir.IndirectDispatch) else None


def find_written_buffers(program: ir.Program) -> tuple[str, ...]:
    """The device buffers that a program writes."""
    written: set[str] = set()
    for statement in walk_stmts(program.entry):
        match statement:
            case ir.Store(buffer, _, _) | ir.AllReduce(buffer, _) | ir.Broadcast(buffer, _):
                written.add(buffer)
            case ir.AsyncStore() | ir.AllGather() | ir.ReduceScatter():
                written.add(statement.destination)
            case ir.Opaque():
                written.update(decl.name for decl in program.buffers)
            case _:
                pass
    for expr in walk_all_exprs(program.entry):
        if isinstance(expr, ir.Atomic):
            written.add(expr.buffer)
    return tuple(d.name for d in program.buffers if not d.is_on_chip and d.name in written)
