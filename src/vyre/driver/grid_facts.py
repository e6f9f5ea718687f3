"""What the statements of a program say about its grid."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir import stmt
from vyre.ir.expr import Atomic
from vyre.ir.walk import walk_all_exprs, walk_stmts

if TYPE_CHECKING:
    from vyre.ir import Program

# Statements are taken from where they are defined: `vyre.ir.Store` loads all that compiles.


def find_indirect_dispatch(program: Program) -> stmt.IndirectDispatch | None:
    """The statement by which a program reads its grid from a buffer."""
    body = program.entry
    while body and isinstance(body[0], stmt.Region):
        body = body[0].body
    first = body[0] if body else None
    return first if isinstance(first, stmt.IndirectDispatch) else None


def find_written_buffers(program: Program) -> tuple[str, ...]:
    """The device buffers that a program writes."""
    written: set[str] = set()
    for statement in walk_stmts(program.entry):
        match statement:
            case stmt.Store(buffer, _, _) | stmt.AllReduce(buffer, _) | stmt.Broadcast(buffer, _):
                written.add(buffer)
            case stmt.AsyncStore() | stmt.AllGather() | stmt.ReduceScatter():
                written.add(statement.destination)
            case stmt.Opaque():
                written.update(decl.name for decl in program.buffers)
            case _:
                pass
    for expr in walk_all_exprs(program.entry):
        if isinstance(expr, Atomic):
            written.add(expr.buffer)
    return tuple(d.name for d in program.buffers if not d.is_on_chip and d.name in written)
