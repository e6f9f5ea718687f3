"""Loads: uniform, contiguous, interleaved, or gathered.

An out-of-bounds load reads element 0 of a readable substitute, and a select replaces the result by
zero, so that no branch is needed.
"""

from __future__ import annotations

from dataclasses import replace

from vyre import ir
from vyre.backends.llvm import heuristics
from vyre.backends.llvm.analysis.constant_tables import ConstantTable
from vyre.backends.llvm.emit.builder import constant, register_type, widened
from vyre.backends.llvm.emit.memory.addressing import Elements, falls, wide_type
from vyre.backends.llvm.emit.memory.bounds_slow_path import is_called, load_at_edge
from vyre.backends.llvm.emit.memory.interleaved import (
    is_word,
    is_worth_it,
    read_from_word,
    read_strided,
)
from vyre.backends.llvm.emit.memory.private_arrays import load_together
from vyre.backends.llvm.emit.memory.realign import load_beside
from vyre.backends.llvm.emit.memory.table_lookup import (
    BYTES,
    MOST_ENTRIES,
    constant_memory,
    look_up,
)
from vyre.backends.llvm.emit.memory.table_lookup import is_worth_it as has_shuffles
from vyre.backends.llvm.emit.storage_formats import (
    memory_type,
)
from vyre.backends.llvm.emit.values import (
    LaneShape,
    Memory,
    Origin,
    Strided,
    Value,
    uniform,
    varying,
)
from vyre.backends.llvm.schedule.prefetch import emit_prefetch
from vyre.ir import DataType


class Loads(Elements):
    """Emits loads for one set of lanes."""

    def load(
        self, memory: Memory, index: Value, strided: Strided | None = None, *, proven: bool
    ) -> Value:
        """The element at `index`; zero where that is out of bounds."""
        element = memory.decl.element
        if strided is not None and not self.lanes.width and is_word(strided, element):
            return uniform(element.value_type, read_from_word(self.lanes, memory, index, strided))
        together = strided is not None and index.stride == strided.stride
        if strided is not None and together and is_worth_it(self.lanes, strided, element):
            found = read_strided(self.lanes, memory, index.text, strided)
            value = self.value_of(memory, found, element, self.lanes.width)
            at = self.wide(Value(index.dtype, LaneShape.UNIFORM, index.text))
            origin = _origin(memory, at, strided.stride)
            return Value(element.value_type, LaneShape.VARYING, value, origin=origin)
        if element.is_vector and element.element is not None:
            parts = tuple(
                self._load_scalar(memory, index, element.element, element.lanes, part, proven)
                for part in range(element.lanes)
            )
            form = LaneShape.UNIFORM if all(p.is_uniform for p in parts) else LaneShape.VARYING
            return Value(element, form, "", parts=parts)
        return self._load_scalar(memory, index, element, 1, 0, proven)

    def load_at_sum(self, memory: Memory, early: Value, late: Value) -> Value:
        """The element at the sum of two indices: in bounds, without wrapping.

        The index that is available early is folded into the pointer, which shortens load chains.
        """
        pointer = self._element(memory.pointer, memory.decl.element, self.wide(early), 1, 0)
        return self.load(replace(memory, pointer=pointer), late, proven=True)

    def ask_ahead(self, memory: Memory, index: Value) -> None:
        """Prefetch what the next lanes load, where lanes are contiguous."""
        element = memory.decl.element
        nbytes = (element.size_bytes or 1) * self.lanes.width
        if (
            index.form is LaneShape.LINEAR
            and index.stride == 1
            and nbytes >= heuristics.CACHE_LINE_BYTES // 2
        ):
            at = self.wide(Value(index.dtype, LaneShape.UNIFORM, index.text))
            pointer = self.w.emit(
                f"getelementptr [{element.size_bytes or 1} x i8], ptr {memory.pointer}, i64 {at}"
            )
            emit_prefetch(self.lanes.kernel, pointer, nbytes)

    def look_up(self, memory: Memory, index: Value, entries: int) -> Value:
        """The entry of a small table of bytes; zero out of bounds."""
        if index.is_uniform:
            return self.load(memory, index, proven=False)
        width = self.lanes.width
        text = self.lanes.vector(index)
        small = self.lanes.casts.cast(index.dtype, DataType.U8, width, text)
        return varying(memory.decl.element, look_up(self.lanes, memory, small, entries))

    def look_up_constant(self, table: ConstantTable) -> Value:
        """The entry of a table of constants at the index of each lane.

        Vectors look up bytes by shuffles and select the default; all else is a load at the index,
        clamped to the default behind the entries, so that nothing is tested.
        """
        lanes, count = self.lanes, len(table.entries)
        memory = constant_memory(lanes.kernel, table)
        index = ir.Cast(table.index, DataType.U32)
        limit = ir.Lit(DataType.U32, count)
        small = table.element in BYTES and count <= MOST_ENTRIES
        if small and lanes.width and has_shuffles(lanes.kernel.host, lanes.width, count):
            at = lanes.value(index)
            if not at.is_uniform:
                inside = lanes.value(ir.Binary(ir.BinOp.LT, index, limit))
                entry = self.look_up(memory, at, count)
                return lanes.select(inside, entry, lanes.value(table.default))
        clamped = lanes.value(ir.Binary(ir.BinOp.MIN, index, limit))
        return self.load(memory, clamped, proven=True)

    def _load_scalar(
        self, memory: Memory, index: Value, element: DataType, step: int, part: int, proven: bool
    ) -> Value:
        if memory.private and self.lanes.width:
            if memory.side_by_side and index.is_uniform:
                return load_together(self.lanes, memory, index)
            return self._gather(memory, index, element, step, part, proven)
        if index.is_uniform:
            return self._load_uniform(memory, index, element, step, part, proven)
        if index.form is LaneShape.LINEAR and index.stride == 1 and step == 1:
            return self._load_contiguous(memory, index, element, proven)
        if proven and step == 1 and falls(memory, index):
            return self._load_backwards(memory, index, element)
        return self._gather(memory, index, element, step, part, proven)

    def _load_uniform(
        self, memory: Memory, index: Value, element: DataType, step: int, part: int, proven: bool
    ) -> Value:
        at = self.wide(index)
        if proven:
            pointer = self._element(memory.pointer, element, at, step, part)
            return uniform(element.value_type, self._read(memory, pointer, element))
        inside = self.w.emit(f"icmp ult i64 {at}, {memory.count}")
        if self.lanes.branches:
            return self._load_behind_branch(memory, at, element, step, part, inside)
        safe = self.w.emit(f"select i1 {inside}, i64 {at}, i64 0")
        pointer = self._element(memory.safe_pointer, element, safe, step, part)
        found = self._read(memory, pointer, element)
        type_ = register_type(element.value_type)
        zero = constant(type_, 0)
        return uniform(
            element.value_type,
            self.w.emit(f"select i1 {inside}, {type_} {found}, {type_} {zero}"),
        )

    def _load_behind_branch(
        self, memory: Memory, at: str, element: DataType, step: int, part: int, inside: str
    ) -> Value:
        """A load under a bounds branch: it is predictable and cheaper than selects."""
        w = self.w
        read, outside, done = (w.fresh(n) for n in ("read", "outside", "read.done"))
        w.branch(inside, read, outside, likely=True)
        w.block(outside)
        # The side effect keeps the block: no select, and no zero on the path that is taken.
        w.do('call void asm sideeffect "", ""()')
        w.jump(done)
        w.block(read)
        found = self._read(memory, self._element(memory.pointer, element, at, step, part), element)
        after = w.label
        w.block(done)
        type_ = register_type(element.value_type)
        zero = constant(type_, 0)
        joined = w.emit(f"phi {type_} [ {zero}, %{outside} ], [ {found}, %{after} ]")
        return uniform(element.value_type, joined)

    def _load_contiguous(
        self, memory: Memory, index: Value, element: DataType, proven: bool
    ) -> Value:
        width = self.lanes.width
        at = self.wide(Value(index.dtype, LaneShape.UNIFORM, index.text))
        if proven and index.dtype.bits == 32 and not index.dtype.is_signed:
            pointer = self._element(memory.pointer, element, at, 1, 0)
            extra = self.metadata(memory)
            type_ = memory_type(element)
            found = load_beside(self.lanes, memory, index.text, pointer, type_, extra)
            value = varying(element.value_type, self.value_of(memory, found, element, width))
            return replace(value, origin=_origin(memory, at, 1))
        if proven:
            return replace(self._vector_read(memory, element, at), origin=_origin(memory, at, 1))
        w = self.w
        last = w.emit(f"add i64 {at}, {width - 1}")
        fits = w.emit(f"icmp ult i64 {last}, {memory.count}")
        if index.dtype.is_signed or index.dtype.bits == 64:
            begins = w.emit(f"icmp ult i64 {at}, {memory.count}")
            fits = w.emit(f"and i1 {fits}, {begins}")
        fast, slow, done = (w.fresh(n) for n in ("inside", "edge", "loaded"))
        w.branch(fits, fast, slow, likely=True)
        w.block(fast)
        quick = self._vector_read(memory, element, at)
        quick_label = w.label
        w.jump(done)
        w.block(slow)
        careful = self._load_at_edge(memory, index, element)
        careful_label = w.label
        w.jump(done)
        w.block(done)
        type_ = register_type(element.value_type, width)
        joined = w.emit(
            f"phi {type_} [ {quick.text}, %{quick_label} ], [ {careful.text}, %{careful_label} ]"
        )
        return varying(element.value_type, joined)

    def _load_backwards(self, memory: Memory, index: Value, element: DataType) -> Value:
        """A load of stride -1: contiguous, then reversed by a shuffle."""
        width = self.lanes.width
        first = self.wide(Value(index.dtype, LaneShape.UNIFORM, index.text))
        found = self._vector_read(memory, element, self.w.emit(f"sub i64 {first}, {width - 1}"))
        return varying(element.value_type, self._turned(found))

    def _load_at_edge(self, memory: Memory, index: Value, element: DataType) -> Value:
        if not is_called(self.lanes, element):
            return self._gather(memory, self.lanes.spread(index), element, 1, 0, False)
        found = load_at_edge(self.lanes, memory, index, element)
        return varying(element.value_type, self.value_of(memory, found, element, self.lanes.width))

    def _vector_read(self, memory: Memory, element: DataType, at: str) -> Value:
        pointer = self._element(memory.pointer, element, at, 1, 0)
        width = self.lanes.width
        type_ = widened(memory_type(element), width)
        size = element.size_bytes or 1
        extra = self.metadata(memory)
        found = self.w.emit(f"load {type_}, ptr {pointer}, align {size}{extra}")
        return varying(element.value_type, self.value_of(memory, found, element, width))

    def _gather(
        self, memory: Memory, index: Value, element: DataType, step: int, part: int, proven: bool
    ) -> Value:
        """A gather by scalar loads, which beat gather instructions on most machines."""
        w, width = self.w, self.lanes.width
        many = widened("i64", width)
        at = self.wide_vector(index)
        flag = widened("i1", width)
        safe, inside = at, ""
        if not proven:
            count = self.lanes.splat("i64", memory.count)
            inside = w.emit(f"icmp ult {many} {at}, {count}")
            zero = constant("i64", 0, width)
            safe = w.emit(f"select {flag} {inside}, {many} {at}, {many} {zero}")
        if memory.private:
            safe = self.own_elements(memory, safe)
            index = replace(index, origin=None)
        type_ = register_type(element.value_type, width)
        scalar = register_type(element.value_type)
        base = memory.pointer if proven else memory.safe_pointer
        result = "poison"
        for lane in range(width):
            one = self._lane_index(index, safe, lane, "" if proven else memory.count)
            pointer = self._element(base, element, one, step, part)
            found = self._read(memory, pointer, element)
            result = w.emit(f"insertelement {type_} {result}, {scalar} {found}, i64 {lane}")
        if not proven:
            zero = constant(scalar, 0, width)
            result = w.emit(f"select {flag} {inside}, {type_} {result}, {type_} {zero}")
        return varying(element.value_type, result)

    def _lane_index(self, index: Value, spread: str, lane: int, count: str) -> str:
        """One lane's index: reloaded as a scalar if possible, else extracted from the vector."""
        w, origin = self.w, index.origin
        if origin is None:
            return w.emit(f"extractelement {widened('i64', self.lanes.width)} {spread}, i64 {lane}")
        element = origin.memory.decl.element
        offset = w.emit(f"add i64 {origin.at}, {lane * origin.stride}")
        pointer = self._element(origin.memory.pointer, element, offset, 1, 0)
        found, dtype = self._read(origin.memory, pointer, element), element.value_type
        for target in (*origin.casts, wide_type(index.dtype)):
            found, dtype = self.lanes.casts.cast(dtype, target, 0, found), target
        if not count:
            return found
        inside = w.emit(f"icmp ult i64 {found}, {count}")
        return w.emit(f"select i1 {inside}, i64 {found}, i64 0")


def _origin(memory: Memory, at: str, stride: int) -> Origin | None:
    """Where lanes of a loaded vector can be reloaded as scalars; None if that may change."""
    element = memory.decl.element
    return Origin(memory, at, stride) if memory.constant and element.is_integer else None
