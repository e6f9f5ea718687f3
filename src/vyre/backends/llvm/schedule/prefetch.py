"""Software prefetching ahead of contiguous loads in long rows.

Lanes that stream through a large buffer with little arithmetic are bound by memory. The hardware
prefetcher does not cross the ends of the pieces into which a workgroup's loops and tests split a
row. A prefetch has no observable effect, and its address may be invalid.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre import ir
from vyre.backends.llvm import heuristics
from vyre.ir.walk import walk_own_exprs, walk_stmts

if TYPE_CHECKING:
    from vyre.backends.llvm.emit.context import Kernel
    from vyre.backends.llvm.rewrites.partition_rows import RowPartition


def prefetched_loads(kernel: Kernel, peeling: RowPartition) -> frozenset[int]:
    """Identities of loads worth prefetching: one for each stream."""
    if not kernel.fills_lines or kernel.host.looks_far_ahead:
        return frozenset()
    found: dict[tuple[str, ir.AnyExpr], int] = {}
    nodes = 0
    for statement in walk_stmts(peeling.simplified):
        if isinstance(statement, (ir.Loop, ir.While)):
            return frozenset()
        for node in walk_own_exprs(statement):
            nodes += 1
            if not isinstance(node, ir.Load) or not kernel.memories[node.buffer].shared:
                continue
            index = peeling.forms.expand(node.index)
            if peeling.forms.stride(index) == 1:
                found.setdefault((node.buffer, peeling.forms.without_offset(index)), id(node))
    if nodes > heuristics.MAX_PREFETCHED_NODES or len(found) > heuristics.MAX_PREFETCHED_STREAMS:
        return frozenset()
    return frozenset(found.values())


def emit_prefetch(kernel: Kernel, pointer: str, nbytes: int) -> None:
    """Prefetch `nbytes` at `PREFETCH_DISTANCE` behind a pointer, as many as are loaded."""
    w = kernel.w
    for line in range(0, nbytes, heuristics.CACHE_LINE_BYTES):
        there = w.emit(
            f"getelementptr i8, ptr {pointer}, i64 {heuristics.PREFETCH_DISTANCE + line}"
        )
        arguments = (("ptr", there), ("i32", "0"), ("i32", "3"), ("i32", "1"))
        w.call("llvm.prefetch.p0", "void", *arguments)
