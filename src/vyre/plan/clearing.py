"""Memory that begins as zeros, in the middle of a fused program.

Run by itself, a program finds its outputs and its workgroup memory zeroed. As a later arm it may
come after arms that have used a buffer of the same name, or after a barrier over the grid: then
statements make the zeros.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from vyre import ir
from vyre.analysis import ProgramFacts
from vyre.ir.walk import walk_own_exprs, walk_stmts
from vyre.plan.arms import Arm, FreshNames

_WIDTH = "width"


def with_clearing(
    arms: Sequence[Arm], buffers: Sequence[ir.BufferDecl], fresh: FreshNames
) -> list[Arm]:
    """The arms, and before each one an arm that clears those of its outputs that need it."""
    joined = {decl.name: decl for decl in buffers}
    used = {decl.name for decl in buffers if decl.is_host_input}
    """Buffers that may hold something else than zeros."""
    result: list[Arm] = []
    for arm in arms:
        own = (decl for decl in arm.program.buffers if decl.is_device_allocated)
        stale = [joined[decl.name] for decl in own if decl.name in used]
        if stale:
            result.append(_clearing(arm, stale, fresh))
        result.append(arm)
        used |= ProgramFacts.of(arm.program).written_buffers
    return result


def _clearing(arm: Arm, stale: Sequence[ir.BufferDecl], fresh: FreshNames) -> Arm:
    """An arm whose invocations, those of the first row, store zeros to all elements of buffers."""
    name = f"{arm.name}.clear"
    width = arm.program.workgroup_size[0]
    stride, at = fresh.like(f"{name}.{_WIDTH}"), ir.Expr.gid(0)
    row: list[ir.AnyStmt] = [ir.Node.let(stride, ir.Expr.num_workgroups(0) * ir.Expr.u32(width))]
    decls: list[ir.BufferDecl] = []
    for decl in stale:
        zero, step = fresh.like(f"{name}.zero"), fresh.like(f"{name}.step")
        length = ir.Expr.buf_len(decl.name)
        # No sum here wraps: the last element of an invocation lies inside.
        rounds = (length - ir.Expr.u32(1) - at) / ir.Expr.var(stride) + ir.Expr.u32(1)
        index = at + ir.Expr.var(step) * ir.Expr.var(stride)
        store = ir.Node.store(decl.name, index, ir.Expr.load(zero, 0))
        row.append(ir.Node.if_(at < length, [ir.Node.loop(step, 0, rounds, [store])]))
        decls += [decl, ir.BufferDecl.local(zero, 1, decl.element)]
    first_row = ir.Expr.gid(1).eq(ir.Expr.u32(0)) & ir.Expr.gid(2).eq(ir.Expr.u32(0))
    body = [ir.Node.if_(first_row, row)]
    made = ir.Program(decls, arm.program.workgroup_size, body, None, arm.program.fast_math)
    return Arm(name, made)


def zeroed_workgroup_memory(arm: Arm, fresh: FreshNames) -> tuple[list[ir.BufferDecl], ir.Body]:
    """Statements that zero the workgroup memory that an arm reads before it writes it.

    Workgroup memory is zero after a barrier over the grid in any case, but the checker refuses a
    read of it that no write precedes, since there it is a mistake most of the time.
    """
    program = arm.program
    found = set(_read_first(program))
    wanted = [decl for decl in program.buffers if decl.is_workgroup and decl.name in found]
    if not wanted:
        return [], ()
    width, height, _ = program.workgroup_size
    at = (ir.Expr.local_id(2) * ir.Expr.u32(height) + ir.Expr.local_id(1)) * ir.Expr.u32(width)
    at = at + ir.Expr.local_id(0)
    size = prod(program.workgroup_size)
    decls: list[ir.BufferDecl] = []
    body: list[ir.AnyStmt] = []
    for decl in wanted:
        zero = fresh.like(f"{decl.name}.zero")
        decls.append(ir.BufferDecl.local(zero, 1, decl.element))
        body += _strided(decl, at, size, ir.Expr.load(zero, 0), fresh)
    return decls, (*body, ir.Node.barrier())


def _strided(
    decl: ir.BufferDecl, at: ir.AnyExpr, size: int, value: ir.AnyExpr, fresh: FreshNames
) -> Iterator[ir.AnyStmt]:
    """Stores to all elements by a workgroup; those outside of the buffer do nothing."""
    if decl.count <= size:
        yield ir.Node.store(decl.name, at, value)
        return
    step = fresh.like(f"{decl.name}.step")
    index = at + ir.Expr.var(step) * ir.Expr.u32(size)
    yield ir.Node.loop(step, 0, -(-decl.count // size), [ir.Node.store(decl.name, index, value)])


def _read_first(program: ir.Program) -> Iterator[str]:
    """The buffers that are read, in the order of the text, before anything is written to them."""
    written: set[str] = set()
    for statement in walk_stmts(program.entry):
        for expr in walk_own_exprs(statement):
            if isinstance(expr, (ir.Load, ir.Atomic)) and expr.buffer not in written:
                yield expr.buffer
        match statement:
            case ir.AsyncStore() if statement.source not in written:
                yield statement.source
            case ir.AsyncLoad():
                written.add(statement.destination)
            case ir.Store(buffer):
                written.add(buffer)
            case _:
                pass
