"""Buffers that a program accesses by reduction atomics only.

The results of these atomics are unused, so the time at which they happen is not observable before
the end of the launch.
"""

from __future__ import annotations

from typing import Final

from vyre import ir
from vyre.analysis.node_kinds import NodeKinds
from vyre.ir.stmt import Assign, Break, Continue, Print, Trap
from vyre.ir.walk import expr_children, walk_expr, walk_stmts
from vyre.record import dataclass

_PLAIN_STATEMENTS: Final = (
    Assign,
    ir.Barrier,
    ir.Block,
    Break,
    Continue,
    ir.Eval,
    ir.If,
    ir.Let,
    ir.Loop,
    Print,
    ir.Region,
    ir.Return,
    ir.Store,
    Trap,
    ir.While,
)
"""Statements that access buffers by stores and in their expressions only."""
_REDUCING: Final = {
    ir.AtomicOp.ADD: ir.AtomicOp.ADD,
    ir.AtomicOp.SUB: ir.AtomicOp.ADD,
    ir.AtomicOp.AND: ir.AtomicOp.AND,
    ir.AtomicOp.OR: ir.AtomicOp.OR,
    ir.AtomicOp.XOR: ir.AtomicOp.XOR,
    ir.AtomicOp.MIN: ir.AtomicOp.MIN,
    ir.AtomicOp.MAX: ir.AtomicOp.MAX,
}
"""The operator by which partial results are combined."""


@dataclass(frozen=True, slots=True)
class ReducedBuffer:
    """A buffer of the device that is accessed by atomics of one reduction only."""

    decl: ir.BufferDecl
    op: ir.AtomicOp
    """The operator that combines partial results."""
    atomics: tuple[tuple[int, ir.Atomic], ...]
    """The atomics, each with the position of its statement."""


def is_reducing(expr: ir.Atomic) -> bool:
    """True if the atomic is a relaxed reduction, its result unused."""
    return expr.ordering is ir.MemoryOrdering.RELAXED and expr.op in _REDUCING


def reduced_buffers(program: ir.Program) -> tuple[ReducedBuffer, ...]:
    """The buffers that are accessed by one reduction only; errs towards fewer."""
    kinds = NodeKinds.of(program)
    if ir.Atomic not in kinds.expressions or not kinds.statements.issubset(_PLAIN_STATEMENTS):
        return ()
    joined: dict[str, list[tuple[int, ir.Atomic]]] = {}
    other: set[str] = set()
    for position, statement in enumerate(walk_stmts(program.entry)):
        if isinstance(statement, ir.Store):
            other.add(statement.buffer)
        for child in expr_children(statement):
            for node in walk_expr(child):
                if isinstance(statement, ir.Eval) and node is statement.value:
                    if isinstance(node, ir.Atomic):
                        joined.setdefault(node.buffer, []).append((position, node))
                elif isinstance(node, (ir.Load, ir.Atomic)):
                    other.add(node.buffer)
    decls = {decl.name: decl for decl in program.buffers if not decl.is_on_chip}
    found: list[ReducedBuffer] = []
    for name, atomics in joined.items():
        if name not in decls or name in other:
            continue
        ops = {_REDUCING.get(node.op) for _, node in atomics}
        op = ops.pop()
        if op is None or ops or not all(is_reducing(node) for _, node in atomics):
            continue
        found.append(ReducedBuffer(decls[name], op, tuple(atomics)))
    return tuple(found)


__all__ = ["ReducedBuffer", "is_reducing", "reduced_buffers"]
