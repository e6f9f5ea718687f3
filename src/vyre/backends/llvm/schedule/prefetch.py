"""Software prefetching ahead of contiguous loads in long rows.

Lanes that stream through a large buffer with little arithmetic are bound by memory. The hardware
prefetcher does not cross the ends of the pieces into which a workgroup's loops and tests split a
row. A prefetch has no observable effect, and its address may be invalid.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre import ir
from vyre.ir.walk import expr_children, walk_expr, walk_stmts

if TYPE_CHECKING:
    from vyre.backends.llvm.emit.context import Kernel
    from vyre.backends.llvm.rewrites.partition_rows import RowPartition

DISTANCE = 768
"""Prefetch distance in bytes: what arrives meanwhile. Twice as many are as bad as none."""
LINE = 64
"""Bytes of a cache line, on nearly all machines."""
MOST_NODES = 48
"""Expressions of a region that is bound by memory."""

MOST_WALKS = 4
"""Streams that are prefetched: with more, enough loads are in flight at any time."""


def prefetched_loads(kernel: Kernel, peeling: RowPartition) -> frozenset[int]:
    """Identities of loads worth prefetching: one for each stream."""
    if not kernel.fills_lines or kernel.host.looks_far_ahead:
        return frozenset()
    found: dict[tuple[str, ir.AnyExpr], int] = {}
    nodes = 0
    for statement in walk_stmts(peeling.simplified):
        if isinstance(statement, (ir.Loop, ir.While)):
            return frozenset()
        for child in expr_children(statement):
            for node in walk_expr(child):
                nodes += 1
                if not isinstance(node, ir.Load) or not kernel.memories[node.buffer].shared:
                    continue
                index = peeling.forms.expand(node.index)
                if peeling.forms.stride(index) == 1:
                    found.setdefault((node.buffer, peeling.forms.without_offset(index)), id(node))
    if nodes > MOST_NODES or len(found) > MOST_WALKS:
        return frozenset()
    return frozenset(found.values())


def emit_prefetch(kernel: Kernel, pointer: str, nbytes: int) -> None:
    """Prefetch `nbytes` at `DISTANCE` behind a pointer, as many as are loaded."""
    w = kernel.w
    for line in range(0, nbytes, LINE):
        there = w.emit(f"getelementptr i8, ptr {pointer}, i64 {DISTANCE + line}")
        arguments = (("ptr", there), ("i32", "0"), ("i32", "3"), ("i32", "1"))
        w.call("llvm.prefetch.p0", "void", *arguments)
