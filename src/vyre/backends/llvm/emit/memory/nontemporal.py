"""Stores that go past the caches, for results that are too large to stay in them.

A plain store first reads the line that it writes to. Where a kernel fills a buffer from one end to
the other and never reads it, that is a third or a quarter of all traffic. Whether the buffer is
large enough, and the place aligned, is seen when the code runs.
"""

from __future__ import annotations

from collections.abc import Callable

from vyre import ir
from vyre.backends.llvm.emit.builder import Builder
from vyre.backends.llvm.host import Host
from vyre.ir.walk import expr_children, walk_expr, walk_stmts

LARGE = 32 << 20
"""Bytes of a buffer that do not stay in a cache until somebody reads them."""
PIECE = 16
"""Bytes that are written at once: the alignment that arrays of all kinds have."""
SHORTEST_ROW = 128
"""Lanes side by side that fill whole lines, where workgroups follow one another."""


def nontemporal_buffers(program: ir.Program, host: Host) -> frozenset[str]:
    """Buffers that a program writes and never reads.

    Not where there are atomics: they publish what was stored before, and such stores come late.
    """
    if host.architecture != "x86_64":
        return frozenset()
    written: set[str] = set()
    other: set[str] = set()
    for statement in walk_stmts(program.entry):
        if isinstance(statement, (ir.AsyncLoad, ir.AsyncStore)):
            return frozenset()
        if isinstance(statement, ir.Store):
            written.add(statement.buffer)
        for child in expr_children(statement):
            for node in walk_expr(child):
                if isinstance(node, ir.Atomic):
                    return frozenset()
                if isinstance(node, ir.Load):
                    other.add(node.buffer)
    on_chip = {decl.name for decl in program.buffers if decl.is_on_chip}
    return frozenset(written - other - on_chip)


def emit_size_test(w: Builder, count: str, element_bytes: int) -> str:
    """At the kernel's entry: 0 if stores to a buffer go past the caches, else 1; an i64."""
    small = w.at_entry(f"icmp ult i64 {count}, {LARGE // element_bytes}")
    return w.at_entry(f"zext i1 {small} to i64", "cached")


def emit_streaming_store(
    w: Builder, type_: str, stored: str, pointer: str, size: int, cached: str
) -> None:
    """Store a vector past the caches if `cached` is 0 and the place is aligned, else plainly."""
    emit_either_store(
        w,
        pointer,
        cached,
        lambda: w.do(f"store {type_} {stored}, ptr {pointer}, align {PIECE}, !nontemporal !2"),
        lambda: w.do(f"store {type_} {stored}, ptr {pointer}, align {size}"),
    )


def emit_either_store(
    w: Builder, pointer: str, cached: str, past: Callable[[], None], plain: Callable[[], None]
) -> None:
    """One of two ways to store: past the caches if `cached` is 0 and the place is aligned."""
    # Most buffers are small, and whether one is does not change: that is asked first.
    large, stream, other, done = (w.fresh(n) for n in ("large", "stream", "plain", "stored"))
    w.branch(w.emit(f"icmp eq i64 {cached}, 0"), large, other)
    w.block(large)
    address = w.emit(f"ptrtoint ptr {pointer} to i64")
    low = w.emit(f"and i64 {address}, {PIECE - 1}")
    w.branch(w.emit(f"icmp eq i64 {low}, 0"), stream, other)
    w.block(stream)
    past()
    # Without a difference at their ends LLVM would make one plain store of both.
    w.do('call void asm sideeffect "", ""()')
    w.jump(done)
    w.block(other)
    plain()
    w.jump(done)
    w.block(done)


def emit_fence(w: Builder) -> None:
    """Such stores are seen by other threads only after a fence of their own."""
    w.call("llvm.x86.sse.sfence", "void")
