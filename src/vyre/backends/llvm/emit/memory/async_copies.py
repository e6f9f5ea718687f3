"""Asynchronous copies to and from workgroup memory, performed synchronously.

The workgroup's thread copies when the copy is started.
"""

from __future__ import annotations

from dataclasses import replace

from vyre.backends.llvm.emit.context import Kernel
from vyre.backends.llvm.emit.expressions import LaneContext
from vyre.backends.llvm.emit.values import Memory, uniform
from vyre.ir import AsyncLoad, AsyncStore, DataType
from vyre.semantics.packed import NF4_ZERO

_BITS = {1: DataType.U8, 2: DataType.U16, 4: DataType.U32, 8: DataType.U64}


def emit_copy(kernel: Kernel, lanes: LaneContext, statement: AsyncLoad | AsyncStore) -> None:
    """Copy element by element, each with the usual out-of-bounds rules."""
    w = kernel.w
    to = lanes.memory.wide(lanes.value(statement.destination_start))
    come = lanes.memory.wide(lanes.value(statement.source_start))
    count = lanes.memory.wide(lanes.value(statement.count))
    slot = w.slot("i64", "copied")
    w.do(f"store i64 0, ptr {slot}")
    head, run, done = (w.fresh(n) for n in ("copy", "copy.one", "copied"))
    w.block(head)
    now = w.emit(f"load i64, ptr {slot}")
    more = w.emit(f"icmp slt i64 {now}, {count}")
    w.branch(more, run, done)
    w.block(run)
    source = uniform(DataType.U64, w.emit(f"add i64 {come}, {now}"))
    target = uniform(DataType.U64, w.emit(f"add i64 {to}, {now}"))
    origin = kernel.memories[statement.source]
    value = lanes.memory.load(_as_bits(origin), source, proven=False)
    if origin.decl.element is DataType.NF4:
        # NF4 is the only type whose zero bits are not the number zero.
        inside = w.emit(f"icmp ult i64 {source.text}, {origin.count}")
        value = uniform(DataType.U8, w.emit(f"select i1 {inside}, i8 {value.text}, i8 {NF4_ZERO}"))
    into = _as_bits(kernel.memories[statement.destination])
    lanes.memory.store(into, target, value, proven=False)
    following = w.emit(f"add i64 {now}, 1")
    w.do(f"store i64 {following}, ptr {slot}")
    w.jump(head)
    w.block(done)


def _as_bits(memory: Memory) -> Memory:
    """The same memory with raw elements of the same size."""
    size = memory.decl.element.size_bytes or 1
    raw = _BITS.get(size) or DataType.array(size)
    return replace(memory, decl=replace(memory.decl, element=raw))
