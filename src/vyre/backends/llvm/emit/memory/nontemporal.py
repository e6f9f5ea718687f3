"""Non-temporal stores to buffers that exceed the caches.

A plain store first reads the cache line that it writes to. Where a kernel fills a buffer from one
end to the other and never reads it, that is a third or a quarter of all traffic. The size of the
buffer and the alignment of the address are tested at run time.
"""

from __future__ import annotations

from collections.abc import Callable

from vyre import ir
from vyre.analysis.node_kinds import NodeKinds
from vyre.backends.llvm import heuristics
from vyre.backends.llvm.emit.builder import Builder
from vyre.backends.llvm.host import Host
from vyre.ir.walk import walk_own_exprs, walk_stmts

PIECE = 16
"""Bytes per non-temporal store: the alignment that all arrays have."""


def nontemporal_buffers(program: ir.Program, host: Host) -> frozenset[str]:
    """Buffers that a program writes and never reads.

    None if there are atomics: they release earlier stores, and non-temporal stores are unordered.
    """
    asynchronous = (ir.Atomic, ir.AsyncLoad, ir.AsyncStore)
    if host.architecture != "x86_64" or NodeKinds.of(program).have(*asynchronous):
        return frozenset()
    written: set[str] = set()
    other: set[str] = set()
    for statement in walk_stmts(program.entry):
        if isinstance(statement, ir.Store):
            written.add(statement.buffer)
        for node in walk_own_exprs(statement):
            if isinstance(node, ir.Load):
                other.add(node.buffer)
    on_chip = {decl.name for decl in program.buffers if decl.is_on_chip}
    return frozenset(written - other - on_chip)


def emit_size_test(w: Builder, count: str, element_bytes: int) -> str:
    """At the kernel's entry: 0 if stores to a buffer are non-temporal, else 1; an i64."""
    small = w.at_entry(f"icmp ult i64 {count}, {heuristics.NONTEMPORAL_BYTES // element_bytes}")
    return w.at_entry(f"zext i1 {small} to i64", "cached")


def emit_streaming_store(
    w: Builder, type_: str, stored: str, pointer: str, size: int, cached: str
) -> None:
    """A non-temporal or plain store: non-temporal if `cached` is 0 and the address aligned."""
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
    """One of two stores: non-temporal if `cached` is 0 and the address is aligned."""
    # Most buffers are small, and the size is loop-invariant: it is tested first.
    large, stream, other, done = (w.fresh(n) for n in ("large", "stream", "plain", "stored"))
    w.branch(w.emit(f"icmp eq i64 {cached}, 0"), large, other)
    w.block(large)
    address = w.emit(f"ptrtoint ptr {pointer} to i64")
    low = w.emit(f"and i64 {address}, {PIECE - 1}")
    w.branch(w.emit(f"icmp eq i64 {low}, 0"), stream, other)
    w.block(stream)
    past()
    # Without a difference at their ends LLVM would merge both to one plain store.
    w.do('call void asm sideeffect "", ""()')
    w.jump(done)
    w.block(other)
    plain()
    w.jump(done)
    w.block(done)


def emit_fence(w: Builder) -> None:
    """The fence that makes non-temporal stores visible to other threads."""
    w.call("llvm.x86.sse.sfence", "void")
