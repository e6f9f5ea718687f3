"""Accesses at a loop's counter: one test before the loop in place of one per round.

Lanes that run one by one have loops with bounds of their own, as in `for e in starts[node]..starts[
node + 1] { … targets[e] … }`. Where such a loop ends inside the buffers, it runs without tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.backends.llvm.codegen.large import is_large
from vyre.ir import AnyExpr, Atomic, Binary, BinOp, DataType, Lit, Load, Loop, Store, Var, While
from vyre.ir.walk import expr_children, walk_expr, walk_stmts
from vyre.record import dataclass

if TYPE_CHECKING:
    from vyre.backends.llvm.codegen.lanes import Lanes
    from vyre.backends.llvm.codegen.value import Value

MOST_NODES = 128
"""Expressions in a loop that is written twice."""
MOST_OFFSET = 1 << 20


@dataclass(frozen=True, slots=True)
class AtCounter:
    """Accesses of a loop at its counter, or a constant after it."""

    ends: dict[str, int]
    """For every buffer, how far after the counter."""
    accesses: frozenset[int]


def at_counter(lanes: Lanes, loop: Loop, counter: DataType) -> AtCounter | None:
    """The accesses that one test before an innermost loop proves; None if it is not worth it."""
    if lanes.width or not lanes.branches or lanes.kernel.unchecked:
        return None
    if is_large(lanes.kernel.program):
        return None
    if counter is not DataType.U32:
        return None
    ends: dict[str, int] = {}
    found: set[int] = set()
    nodes = 0
    for statement in walk_stmts(loop.body):
        if isinstance(statement, (Loop, While)):
            return None
        inner = [node for child in expr_children(statement) for node in walk_expr(child)]
        nodes += len(inner)
        accesses = [node for node in inner if isinstance(node, (Load, Atomic))]
        for access in (*accesses, *([statement] if isinstance(statement, Store) else [])):
            offset = _offset(access.index, loop.var)
            if offset is not None and not lanes.proven(access):
                ends[access.buffer] = max(offset, ends.get(access.buffer, 0))
                found.add(id(access))
    return AtCounter(ends, frozenset(found)) if found and nodes <= MOST_NODES else None


def _offset(index: AnyExpr, counter: str) -> int | None:
    match index:
        case Var(name):
            return 0 if name == counter else None
        case Binary(BinOp.ADD, Var(name), Lit(_, bits)) if name == counter:
            return bits if bits <= MOST_OFFSET else None
        case _:
            return None


def emit_test(lanes: Lanes, stop: Value, found: AtCounter) -> str:
    """Whether a loop up to `stop` stays inside the buffers, an i1."""
    w = lanes.w
    holds = "true"
    end = w.emit(f"zext i32 {stop.text} to i64")
    for buffer, offset in found.ends.items():
        # The counter is less than `stop`, and an index of 32 bits must not wrap on the way.
        last = w.emit(f"add i64 {end}, {offset}") if offset else end
        count = w.intrinsic("umin", "i64", lanes.buffer(buffer).count, str(1 << 32))
        inside = w.emit(f"icmp ule i64 {last}, {count}")
        holds = w.emit(f"and i1 {holds}, {inside}")
    return holds
