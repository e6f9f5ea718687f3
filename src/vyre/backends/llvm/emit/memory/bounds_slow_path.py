"""Outlined slow path of contiguous accesses that cross a bound.

Contiguous vectors are nearly always in bounds, and the scalarised slow path is many times as much
code. The first few of a kernel are emitted inline, unless the code is for a first launch; later
ones call a function, with the vector in memory. The function computes each lane's index modulo the
index type and checks each of them, so it is right for any index and any buffer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.backends.llvm import heuristics
from vyre.backends.llvm.emit.builder import register_type, widened
from vyre.backends.llvm.emit.storage_formats import STORAGE_ONLY, memory_type
from vyre.backends.llvm.emit.values import Memory, Value
from vyre.ir import DataType

if TYPE_CHECKING:
    from vyre.backends.llvm.emit.expressions import LaneContext


def is_called(lanes: LaneContext, element: DataType) -> bool:
    """True if this slow path is a call, after `MAX_INLINE_SLOW_PATHS` inline ones; counts it."""
    lanes.kernel.edges += 1
    few = heuristics.MAX_INLINE_SLOW_PATHS if lanes.kernel.thorough else 0
    return lanes.kernel.edges > few and element not in STORAGE_ONLY


def load_at_edge(lanes: LaneContext, memory: Memory, index: Value, element: DataType) -> str:
    """Elements from a first index on, in memory format; zeros out of bounds."""
    w = lanes.w
    slot = _call(lanes, "load", memory.safe_pointer, memory, index, element)
    return w.emit(f"load {widened(memory_type(element), lanes.width)}, ptr {slot}, align 1")


def store_at_edge(
    lanes: LaneContext, memory: Memory, index: Value, stored: str, element: DataType
) -> None:
    """Store the in-bounds elements from a first index on; all lanes are active."""
    type_ = widened(memory_type(element), lanes.width)
    lanes.w.do(f"store {type_} {stored}, ptr {_slot(lanes, element)}, align 1")
    _call(lanes, "store", memory.pointer, memory, index, element)


def _call(
    lanes: LaneContext, kind: str, base: str, memory: Memory, index: Value, element: DataType
) -> str:
    w = lanes.w
    scalar = register_type(index.dtype)
    sign = "s" if index.dtype.is_signed else "u"
    bits = 8 * (element.size_bytes or 1)
    name = f"@vyre.edge.{kind}.i{bits}x{lanes.width}.{sign}{scalar}"
    if name not in w.globals:
        w.globals[name] = _function(name, kind, bits, lanes.width, index.dtype)
    slot = _slot(lanes, element)
    w.do(
        f"call void {name}(ptr {slot}, ptr {base}, i64 {memory.count}, {scalar} {index.text})",
    )
    return slot


def _slot(lanes: LaneContext, element: DataType) -> str:
    """Memory for one vector, the same for all vectors of a size."""
    nbytes = (element.size_bytes or 1) * lanes.width
    slots, key = lanes.kernel.edge_slots, (nbytes, lanes.kernel.aside)
    if key not in slots:
        slots[key] = lanes.w.slot(f"[{nbytes} x i8], align 16", "edge")
    return slots[key]


def _function(name: str, kind: str, bits: int, width: int, dtype: DataType) -> str:
    scalar, element = register_type(dtype), f"i{bits}"
    extend = "sext" if dtype.is_signed else "zext"
    widen = f"{extend} {scalar} %index to i64" if dtype.bits != 64 else "add i64 %index, 0"
    steps = _LOAD if kind == "load" else _STORE
    return f"""\
define internal void {name}(ptr %vector, ptr %base, i64 %count, {scalar} %first) \
noinline cold nounwind {{
entry:
  br label %lane
lane:
  %number = phi {scalar} [ 0, %entry ], [ %following, %next ]
  %index = add {scalar} %first, %number
  %at = {widen}
  %inside = icmp ult i64 %at, %count
  %place = getelementptr {element}, ptr %vector, {scalar} %number
{steps.format(element=element, align=bits // 8)}
  br label %next
next:
  %following = add {scalar} %number, 1
  %done = icmp eq {scalar} %following, {width}
  br i1 %done, label %end, label %lane
end:
  ret void
}}"""


_LOAD = """\
  %safe = select i1 %inside, i64 %at, i64 0
  %from = getelementptr {element}, ptr %base, i64 %safe
  %found = load {element}, ptr %from, align {align}
  %kept = select i1 %inside, {element} %found, {element} 0
  store {element} %kept, ptr %place, align {align}"""

_STORE = """\
  br i1 %inside, label %write, label %next
write:
  %value = load {element}, ptr %place, align {align}
  %to = getelementptr {element}, ptr %base, i64 %at
  store {element} %value, ptr %to, align {align}"""

__all__ = ["is_called", "load_at_edge", "store_at_edge"]
