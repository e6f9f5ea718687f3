"""Stores: uniform, contiguous, or scattered.

An out-of-bounds store is branched around.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from vyre.backends.llvm.emit.builder import mangled, widened
from vyre.backends.llvm.emit.memory.addressing import Elements, falls
from vyre.backends.llvm.emit.memory.bounds_slow_path import is_called, store_at_edge
from vyre.backends.llvm.emit.memory.nontemporal import PIECE, emit_streaming_store
from vyre.backends.llvm.emit.memory.private_arrays import store_together
from vyre.backends.llvm.emit.memory.scalarise import Apart
from vyre.backends.llvm.emit.storage_formats import (
    STORAGE_ONLY,
    memory_type,
)
from vyre.backends.llvm.emit.values import (
    LaneShape,
    Memory,
    Value,
    varying,
)
from vyre.backends.llvm.host import Host
from vyre.ir import DataType


class Stores(Elements):
    """Emits stores for one set of lanes."""

    def store(self, memory: Memory, index: Value, value: Value, *, proven: bool) -> None:
        """Store the elements of active lanes whose `index` is in bounds."""
        lanes = self.lanes
        if not lanes.width:
            self._store_one(memory, self.wide(index), value, proven)
            return
        if memory.side_by_side and index.is_uniform:
            store_together(lanes, memory, index, value)
            return
        simple = not value.parts and not memory.private
        rises = index.form is LaneShape.LINEAR and index.stride == 1
        if simple and rises and (lanes.mask is None or self._is_maskable(memory)):
            self._store_contiguous(memory, index, value, proven)
            return
        if simple and proven and lanes.mask is None and falls(memory, index):
            first = self.wide(Value(index.dtype, LaneShape.UNIFORM, index.text))
            at = self.w.emit(f"sub i64 {first}, {lanes.width - 1}")
            turned = varying(value.dtype, self._turned(value))
            self._vector_write(replace(memory, cached=""), at, turned)
            return
        if lanes.mask is None and index.is_uniform and not memory.private:
            # All lanes write one element; the last lane's value is as good as any.
            last = lanes.lane_of(value, lanes.width - 1)
            self._store_one(memory, self.wide(index), last, proven)
            return
        spread = lanes.spread(index)
        values = lanes.spread(value)
        base = self._lane_base(memory)
        apart = Apart(lanes)
        place, own = apart.vector("i64", self.wide_vector(spread)), apart.value(values)

        def one(lane: str) -> None:
            self._store_one(base(lane), place(lane), own(lane), proven)

        lanes.for_each_active(one)

    def _is_maskable(self, memory: Memory) -> bool:
        return is_maskable(memory.decl.element, self.lanes.kernel.host)

    def _lane_base(self, memory: Memory) -> Callable[[str], Memory]:
        def of(lane: str) -> Memory:
            if not memory.private:
                return memory
            size = memory.decl.element.size_bytes or 1
            apart = size if memory.side_by_side else memory.decl.count * size
            offset = self.w.emit(f"mul i64 {lane}, {apart}")
            pointer = self.w.emit(f"getelementptr i8, ptr {memory.pointer}, i64 {offset}")
            return replace(memory, pointer=pointer, safe_pointer=pointer)

        return of

    def _store_contiguous(self, memory: Memory, index: Value, value: Value, proven: bool) -> None:
        w, width = self.w, self.lanes.width
        at = self.wide(Value(index.dtype, LaneShape.UNIFORM, index.text))
        blends = self.lanes.mask is not None and memory.decl.is_workgroup
        if proven and not blends:
            self._vector_write(memory, at, value)
            return
        last = w.emit(f"add i64 {at}, {width - 1}")
        fits = w.emit(f"icmp ult i64 {last}, {memory.count}")
        if index.dtype.is_signed or index.dtype.bits == 64:
            begins = w.emit(f"icmp ult i64 {at}, {memory.count}")
            fits = w.emit(f"and i1 {fits}, {begins}")
        fast, slow, done = (w.fresh(n) for n in ("inside", "edge", "stored"))
        w.branch(fits, fast, slow, likely=True)
        w.block(fast)
        if blends:
            self._blended_write(memory, at, value)
        else:
            self._vector_write(memory, at, value)
        w.jump(done)
        w.block(slow)
        if proven:
            # The bounds are proven for active lanes only: a masked store.
            self._vector_write(memory, at, value)
        else:
            self._store_at_edge(memory, index, value)
        w.jump(done)
        w.block(done)

    def _blended_write(self, memory: Memory, at: str, value: Value) -> None:
        """Store a blend: new elements of active lanes, old elements of the others.

        Workgroup memory is local to one thread, so this is not observable; and a masked store takes
        as long as ten others on some machines. All elements are in bounds.
        """
        w, element, width = self.w, memory.decl.element, self.lanes.width
        pointer = self._element(memory.pointer, element, at, 1, 0)
        stored = self.stored_form(self.lanes.vector(value), element, width)
        type_ = widened(memory_type(element), width)
        assert self.lanes.mask is not None
        flags = f"{widened('i1', width)} {self.lanes.mask_flags(self.lanes.mask)}"
        place = f"ptr {pointer}, align {element.size_bytes or 1}"
        # Volatile, because LLVM would turn it into a masked store again.
        before = w.emit(f"load volatile {type_}, {place}")
        blended = w.emit(f"select {flags}, {type_} {stored}, {type_} {before}")
        w.do(f"store {type_} {blended}, {place}")

    def _store_at_edge(self, memory: Memory, index: Value, value: Value) -> None:
        width, element = self.lanes.width, memory.decl.element
        if self.lanes.mask is None and is_called(self.lanes, element):
            stored = self.stored_form(self.lanes.vector(value), element, width)
            store_at_edge(self.lanes, memory, index, stored, element)
            return
        apart = Apart(self.lanes)
        place = apart.vector("i64", self.wide_vector(self.lanes.spread(index)))
        own = apart.value(value)

        def one(lane: str) -> None:
            self._store_one(memory, place(lane), own(lane), False)

        self.lanes.for_each_active(one)

    def _vector_write(self, memory: Memory, at: str, value: Value) -> None:
        element = memory.decl.element
        width = self.lanes.width
        pointer = self._element(memory.pointer, element, at, 1, 0)
        stored = self.stored_form(self.lanes.vector(value), element, width)
        type_ = widened(memory_type(element), width)
        size = element.size_bytes or 1
        if self.lanes.mask is None:
            if memory.cached and size * width % PIECE == 0:
                emit_streaming_store(self.w, type_, stored, pointer, size, memory.cached)
            else:
                self.w.do(f"store {type_} {stored}, ptr {pointer}, align {size}")
            return
        flags = self.lanes.mask_flags(self.lanes.mask)
        self.w.call(
            f"llvm.masked.store.{mangled(type_)}.p0",
            "void",
            (type_, stored),
            (f"ptr align {size}", pointer),
            (widened("i1", width), flags),
        )

    def _store_one(self, memory: Memory, at: str, value: Value, proven: bool) -> None:
        """Store one element; `value` is a scalar."""
        w = self.w
        done = ""
        if not proven:
            inside = w.emit(f"icmp ult i64 {at}, {memory.count}")
            write, done = w.fresh("write"), w.fresh("written")
            w.branch(inside, write, done, likely=True)
            w.block(write)
        element = memory.decl.element
        scalar = element.element if element.is_vector and element.element else element
        parts = value.parts or (value,)
        for part, piece in enumerate(parts):
            step = self.lanes.width if memory.side_by_side else len(parts)
            pointer = self._element(memory.pointer, scalar, at, step, part)
            stored = self.stored_form(piece.text, scalar, 0)
            size = scalar.size_bytes or 1
            w.do(f"store {memory_type(scalar)} {stored}, ptr {pointer}, align {size}")
        if not proven:
            w.jump(done)
            w.block(done)


def is_maskable(element: DataType, host: Host) -> bool:
    """True if the machine has masked vector stores: all have them for 4 bytes and more."""
    if element in STORAGE_ONLY:
        return False
    return (element.size_bytes or 1) >= 4 or (element.is_integer and host.masks_bytes)
