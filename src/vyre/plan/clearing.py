"""Memory that begins as zeros, in the middle of a fused program.

Run by itself, a program finds its outputs and its workgroup memory zeroed. As a later arm it may
come after arms that have used a buffer of the same name, or after a barrier over the grid: then
statements make the zeros.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from vyre.analysis import ProgramFacts
from vyre.ir import (
    AnyExpr,
    AnyStmt,
    AsyncLoad,
    AsyncStore,
    Atomic,
    Body,
    BufferDecl,
    Expr,
    Load,
    Node,
    Program,
    Store,
)
from vyre.ir.walk import expr_children, walk_expr, walk_stmts
from vyre.plan.arms import Arm, FreshNames

_WIDTH = "width"


def with_clearing(
    arms: Sequence[Arm], buffers: Sequence[BufferDecl], fresh: FreshNames
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


def _clearing(arm: Arm, stale: Sequence[BufferDecl], fresh: FreshNames) -> Arm:
    """An arm whose invocations, those of the first row, store zeros to all elements of buffers."""
    name = f"{arm.name}.clear"
    width = arm.program.workgroup_size[0]
    stride, at = fresh.like(f"{name}.{_WIDTH}"), Expr.gid(0)
    row: list[AnyStmt] = [Node.let(stride, Expr.num_workgroups(0) * Expr.u32(width))]
    decls: list[BufferDecl] = []
    for decl in stale:
        zero, step = fresh.like(f"{name}.zero"), fresh.like(f"{name}.step")
        length = Expr.buf_len(decl.name)
        # No sum here wraps: the last element of an invocation lies inside.
        rounds = (length - Expr.u32(1) - at) / Expr.var(stride) + Expr.u32(1)
        index = at + Expr.var(step) * Expr.var(stride)
        store = Node.store(decl.name, index, Expr.load(zero, 0))
        row.append(Node.if_(at < length, [Node.loop(step, 0, rounds, [store])]))
        decls += [decl, BufferDecl.local(zero, 1, decl.element)]
    first_row = Expr.gid(1).eq(Expr.u32(0)) & Expr.gid(2).eq(Expr.u32(0))
    body = [Node.if_(first_row, row)]
    made = Program(decls, arm.program.workgroup_size, body, None, arm.program.fast_math)
    return Arm(name, made)


def zeroed_workgroup_memory(arm: Arm, fresh: FreshNames) -> tuple[list[BufferDecl], Body]:
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
    at = (Expr.local_id(2) * Expr.u32(height) + Expr.local_id(1)) * Expr.u32(width)
    at = at + Expr.local_id(0)
    size = prod(program.workgroup_size)
    decls: list[BufferDecl] = []
    body: list[AnyStmt] = []
    for decl in wanted:
        zero = fresh.like(f"{decl.name}.zero")
        decls.append(BufferDecl.local(zero, 1, decl.element))
        body += _strided(decl, at, size, Expr.load(zero, 0), fresh)
    return decls, (*body, Node.barrier())


def _strided(
    decl: BufferDecl, at: AnyExpr, size: int, value: AnyExpr, fresh: FreshNames
) -> Iterator[AnyStmt]:
    """Stores to all elements by a workgroup; those outside of the buffer do nothing."""
    if decl.count <= size:
        yield Node.store(decl.name, at, value)
        return
    step = fresh.like(f"{decl.name}.step")
    index = at + Expr.var(step) * Expr.u32(size)
    yield Node.loop(step, 0, -(-decl.count // size), [Node.store(decl.name, index, value)])


def _read_first(program: Program) -> Iterator[str]:
    """The buffers that are read, in the order of the text, before anything is written to them."""
    written: set[str] = set()
    for statement in walk_stmts(program.entry):
        for child in expr_children(statement):
            for expr in walk_expr(child):
                if isinstance(expr, (Load, Atomic)) and expr.buffer not in written:
                    yield expr.buffer
        match statement:
            case AsyncStore() if statement.source not in written:
                yield statement.source
            case AsyncLoad():
                written.add(statement.destination)
            case Store(buffer):
                written.add(buffer)
            case _:
                pass
