"""Stores of the elements that pass a test, one after the other.

Elements are packed in a register and then stored under a mask: the instruction that packs into
memory is microcoded on Zen 4, and takes over a hundred cycles there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.backends.llvm.emit.builder import mangled, widened
from vyre.backends.llvm.emit.storage_formats import memory_type
from vyre.backends.llvm.emit.values import Memory

if TYPE_CHECKING:
    from vyre.backends.llvm.emit.expressions import LaneContext


def emit_compressed_store(
    lanes: LaneContext, memory: Memory, at: str, values: str, flags: str, count: str
) -> None:
    """Store the flagged elements of a vector from `at` on; those out of bounds are dropped.

    `at` is an i64 and `count` the number of flagged elements, an i64; `at + count` does not wrap.
    """
    w, width, element = lanes.w, lanes.width, memory.decl.element
    type_, flag = widened(memory_type(element), width), widened("i1", width)
    name = f"llvm.experimental.vector.compress.{mangled(type_)}"
    packed = w.call(name, type_, (type_, values), (flag, flags), (type_, "poison"))
    room = w.intrinsic("usub.sat", "i64", memory.count, at)
    stored = w.intrinsic("umin", "i64", count, room)
    # A vector has at most 32 lanes, so that no shift is too far.
    ones = w.emit(f"shl i64 -1, {stored}")
    low = w.emit(f"xor i64 {ones}, -1")
    mask = w.emit(f"trunc i64 {low} to i{width}")
    lane_flags = w.emit(f"bitcast i{width} {mask} to {flag}")
    size = element.size_bytes or 1
    pointer = w.emit(f"getelementptr {memory_type(element)}, ptr {memory.pointer}, i64 {at}")
    w.call(
        f"llvm.masked.store.{mangled(type_)}.p0",
        "void",
        (type_, packed),
        (f"ptr align {size}", pointer),
        (flag, lane_flags),
    )


__all__ = ["emit_compressed_store"]
