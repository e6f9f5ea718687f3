"""Loads, stores and atomics: every access stays inside its buffer.

An access that is not known to be in bounds is tested: once per vector where lanes are contiguous,
lane by lane otherwise. A load out of bounds reads element 0 of a readable stand-in and is then
replaced by zero, so that no branch is needed; a store is branched around.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from vyre.backends.llvm.codegen.ahead import LINE, emit_ask
from vyre.backends.llvm.codegen.edges import is_called, load_at_edge, store_at_edge
from vyre.backends.llvm.codegen.lookup import look_up
from vyre.backends.llvm.codegen.packed import (
    STORAGE_ONLY,
    encoder_of,
    memory_type,
    table_of,
)
from vyre.backends.llvm.codegen.private import load_together, store_together
from vyre.backends.llvm.codegen.streaming import PIECE, emit_streaming_store
from vyre.backends.llvm.codegen.strided import is_word, is_worth_it, read_from_word, read_strided
from vyre.backends.llvm.codegen.value import (
    Form,
    Memory,
    Origin,
    Strided,
    Value,
    uniform,
    varying,
)
from vyre.backends.llvm.codegen.writer import constant, mangled, register_type, widened
from vyre.ir import DataType

if TYPE_CHECKING:
    from vyre.backends.llvm.codegen.lanes import Lanes


class MemoryAccess:
    """Emits accesses for one set of lanes."""

    def __init__(self, lanes: Lanes) -> None:
        self.lanes = lanes
        self.w = lanes.w

    # Loads ---------------------------------------------------------------------------------------

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
            at = self.wide(Value(index.dtype, Form.UNIFORM, index.text))
            origin = _origin(memory, at, strided.stride)
            return Value(element.value_type, Form.VARYING, value, origin=origin)
        if element.is_vector and element.element is not None:
            parts = tuple(
                self._load_scalar(memory, index, element.element, element.lanes, part, proven)
                for part in range(element.lanes)
            )
            form = Form.UNIFORM if all(p.is_uniform for p in parts) else Form.VARYING
            return Value(element, form, "", parts=parts)
        return self._load_scalar(memory, index, element, 1, 0, proven)

    def load_at_sum(self, memory: Memory, early: Value, late: Value) -> Value:
        """The element at the sum of two indices, which is in bounds and does not wrap.

        What is known early goes into the pointer, so that a chain of loads waits for less.
        """
        pointer = self._element(memory.pointer, memory.decl.element, self.wide(early), 1, 0)
        return self.load(replace(memory, pointer=pointer), late, proven=True)

    def ask_ahead(self, memory: Memory, index: Value) -> None:
        """Ask for what the next lanes load, where lanes are contiguous."""
        element = memory.decl.element
        nbytes = (element.size_bytes or 1) * self.lanes.width
        if index.form is Form.LINEAR and index.stride == 1 and nbytes >= LINE // 2:
            at = self.wide(Value(index.dtype, Form.UNIFORM, index.text))
            pointer = self.w.emit(
                f"getelementptr [{element.size_bytes or 1} x i8], ptr {memory.pointer}, i64 {at}"
            )
            emit_ask(self.lanes.kernel, pointer, nbytes)

    def look_up(self, memory: Memory, index: Value, entries: int) -> Value:
        """The entry of a small table of bytes; zero where the table ends before."""
        if index.is_uniform:
            return self.load(memory, index, proven=False)
        width = self.lanes.width
        text = self.lanes.vector(index)
        small = self.lanes.casts.cast(index.dtype, DataType.U8, width, text)
        return varying(memory.decl.element, look_up(self.lanes, memory, small, entries))

    def _load_scalar(
        self, memory: Memory, index: Value, element: DataType, step: int, part: int, proven: bool
    ) -> Value:
        if memory.private and self.lanes.width:
            if memory.side_by_side and index.is_uniform:
                return load_together(self.lanes, memory, index)
            return self._gather(memory, index, element, step, part, proven)
        if index.is_uniform:
            return self._load_uniform(memory, index, element, step, part, proven)
        if index.form is Form.LINEAR and index.stride == 1 and step == 1:
            return self._load_contiguous(memory, index, element, proven)
        if proven and step == 1 and _falls(memory, index):
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
        """Few accesses are out of bounds: a branch is foreseen, and costs less than selects."""
        w = self.w
        read, outside, done = (w.fresh(n) for n in ("read", "outside", "read.done"))
        w.branch(inside, read, outside, likely=True)
        w.block(outside)
        # A block that does something stays: the way that is taken does not prepare a zero.
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
        at = self.wide(Value(index.dtype, Form.UNIFORM, index.text))
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
        """Elements of which the last lane has the first: in memory's order, then turned round."""
        width = self.lanes.width
        first = self.wide(Value(index.dtype, Form.UNIFORM, index.text))
        found = self._vector_read(memory, element, self.w.emit(f"sub i64 {first}, {width - 1}"))
        return varying(element.value_type, self._turned(found))

    def _turned(self, value: Value) -> str:
        """The lanes of a value in the opposite order."""
        width = self.lanes.width
        type_ = register_type(value.dtype, width)
        picks = ", ".join(f"i32 {n}" for n in reversed(range(width)))
        text = self.lanes.vector(value)
        return self.w.emit(
            f"shufflevector {type_} {text}, {type_} poison, <{width} x i32> <{picks}>"
        )

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
        """Lane by lane: scalar loads put together are faster than gathers on most machines."""
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
        """One lane's index: loaded for itself where that is possible, else taken from a vector."""
        w, origin = self.w, index.origin
        if origin is None:
            return w.emit(f"extractelement {widened('i64', self.lanes.width)} {spread}, i64 {lane}")
        element = origin.memory.decl.element
        offset = w.emit(f"add i64 {origin.at}, {lane * origin.stride}")
        pointer = self._element(origin.memory.pointer, element, offset, 1, 0)
        found, dtype = self._read(origin.memory, pointer, element), element.value_type
        for target in (*origin.casts, _wide_type(index.dtype)):
            found, dtype = self.lanes.casts.cast(dtype, target, 0, found), target
        if not count:
            return found
        inside = w.emit(f"icmp ult i64 {found}, {count}")
        return w.emit(f"select i1 {inside}, i64 {found}, i64 0")

    def own_elements(self, memory: Memory, index: str) -> str:
        """Element numbers in a private array turned into numbers over all lanes' arrays."""
        width = self.lanes.width
        many = widened("i64", width)
        apart = memory.decl.count
        if memory.side_by_side:
            index = self.w.emit(f"mul {many} {index}, {constant('i64', width, width)}")
            apart = 1
        steps = ", ".join(f"i64 {lane * apart}" for lane in range(width))
        return self.w.emit(f"add {many} {index}, <{steps}>")

    # Stores --------------------------------------------------------------------------------------

    def store(self, memory: Memory, index: Value, value: Value, *, proven: bool) -> None:
        """Write the element at `index`, where that is in bounds and the lane is active."""
        lanes = self.lanes
        if not lanes.width:
            self._store_one(memory, self.wide(index), value, proven)
            return
        if memory.side_by_side and index.is_uniform:
            store_together(lanes, memory, index, value)
            return
        simple = not value.parts and not memory.private
        rises = index.form is Form.LINEAR and index.stride == 1
        if simple and rises and (lanes.mask is None or _maskable(memory.decl.element)):
            self._store_contiguous(memory, index, value, proven)
            return
        if simple and proven and lanes.mask is None and _falls(memory, index):
            first = self.wide(Value(index.dtype, Form.UNIFORM, index.text))
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
        wide = self.wide_vector(spread)

        def one(lane: str) -> None:
            at = self.w.emit(f"extractelement {widened('i64', lanes.width)} {wide}, i64 {lane}")
            self._store_one(base(lane), at, lanes.lane_of(values, lane), proven)

        lanes.for_each_active(one)

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
        at = self.wide(Value(index.dtype, Form.UNIFORM, index.text))
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
            # Of the lanes that take part, and only of those.
            self._vector_write(memory, at, value)
        else:
            self._store_at_edge(memory, index, value)
        w.jump(done)
        w.block(done)

    def _blended_write(self, memory: Memory, at: str, value: Value) -> None:
        """Write the elements of some lanes, and those of the others as they are.

        Only one thread sees the memory of a workgroup, so nobody notices; and a store under a mask
        takes as long as ten others on some machines. All elements are in bounds.
        """
        w, element, width = self.w, memory.decl.element, self.lanes.width
        pointer = self._element(memory.pointer, element, at, 1, 0)
        stored = self.stored_form(self.lanes.vector(value), element, width)
        type_ = widened(memory_type(element), width)
        assert self.lanes.mask is not None
        flags = f"{widened('i1', width)} {self.lanes.mask_flags(self.lanes.mask)}"
        place = f"ptr {pointer}, align {element.size_bytes or 1}"
        # LLVM would make a store under a mask of it again, were it not volatile.
        before = w.emit(f"load volatile {type_}, {place}")
        blended = w.emit(f"select {flags}, {type_} {stored}, {type_} {before}")
        w.do(f"store {type_} {blended}, {place}")

    def _store_at_edge(self, memory: Memory, index: Value, value: Value) -> None:
        w, width, element = self.w, self.lanes.width, memory.decl.element
        if self.lanes.mask is None and is_called(self.lanes, element):
            stored = self.stored_form(self.lanes.vector(value), element, width)
            store_at_edge(self.lanes, memory, index, stored, element)
            return
        spread = self.wide_vector(self.lanes.spread(index))
        many = widened("i64", width)

        def one(lane: str) -> None:
            position = w.emit(f"extractelement {many} {spread}, i64 {lane}")
            self._store_one(memory, position, self.lanes.lane_of(value, lane), False)

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
        """Write one element; `value` is a scalar."""
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

    # Forms ---------------------------------------------------------------------------------------

    def wide(self, index: Value) -> str:
        """A uniform index as i64; a negative one becomes larger than any length."""
        return self.lanes.casts.cast(index.dtype, _wide_type(index.dtype), 0, index.text)

    def wide_vector(self, index: Value) -> str:
        """An index per lane as i64."""
        text = self.lanes.vector(index)
        return self.lanes.casts.cast(index.dtype, _wide_type(index.dtype), self.lanes.width, text)

    def _element(self, base: str, element: DataType, at: str, step: int, part: int) -> str:
        type_ = memory_type(element)
        if step > 1:
            at = self.w.emit(f"mul i64 {at}, {step}")
            at = self.w.emit(f"add i64 {at}, {part}") if part else at
        return self.w.emit(f"getelementptr {type_}, ptr {base}, i64 {at}")

    def _read(self, memory: Memory, pointer: str, element: DataType) -> str:
        size = element.size_bytes or 1
        extra = self.metadata(memory)
        found = self.w.load(memory_type(element), pointer, f", align {size}{extra}")
        return self.value_of(memory, found, element, 0)

    def metadata(self, memory: Memory) -> str:
        """What LLVM may know about a load."""
        return ", !invariant.load !0" if memory.constant else ""

    def value_of(self, memory: Memory, found: str, element: DataType, width: int) -> str:
        """What was loaded as a value."""
        w = self.w
        if element.is_bool:
            return w.emit(f"icmp ne {widened('i8', width)} {found}, {constant('i8', 0, width)}")
        if element not in STORAGE_ONLY:
            if (element.is_integer or element is DataType.BYTES) and not memory.constant:
                # A racing load may give something undefined; it must be one value for all uses.
                return w.emit(f"freeze {register_type(element.value_type, width)} {found}")
            return found
        return self._per_lane(
            lambda one: self._decode(one, element),
            "i8",
            register_type(element.value_type),
            found,
            width,
        )

    def _decode(self, code: str, element: DataType) -> str:
        w = self.w
        scalar = register_type(element.value_type)
        table = table_of(w, element)
        at = w.emit(f"zext i8 {code} to i64")
        pointer = w.emit(f"getelementptr [256 x {scalar}], ptr {table}, i64 0, i64 {at}")
        return w.emit(f"load {scalar}, ptr {pointer}, align 4")

    def stored_form(self, value: str, element: DataType, width: int) -> str:
        """A value as memory holds it."""
        if element.is_bool:
            return self.w.emit(f"zext {widened('i1', width)} {value} to {widened('i8', width)}")
        if element not in STORAGE_ONLY:
            return value
        scalar = register_type(element.value_type)
        function = encoder_of(self.w, element)
        return self._per_lane(
            lambda one: self.w.emit(f"call i8 {function}({scalar} {one})"),
            scalar,
            "i8",
            value,
            width,
        )

    def _per_lane(
        self, change: Callable[[str], str], old: str, new: str, value: str, width: int
    ) -> str:
        if not width:
            return change(value)
        w = self.w
        result = "poison"
        for lane in range(width):
            one = w.emit(f"extractelement {widened(old, width)} {value}, i64 {lane}")
            made = change(one)
            many = widened(new, width)
            result = w.emit(f"insertelement {many} {result}, {new} {made}, i64 {lane}")
        return result


def _falls(memory: Memory, index: Value) -> bool:
    """Whether lanes that are in bounds go backwards element by element, and no index wraps."""
    backwards = index.form is Form.LINEAR and index.stride == -1
    return backwards and not memory.private and memory.decl.count < 1 << 32


def _origin(memory: Memory, at: str, stride: int) -> Origin | None:
    """Where lanes of a loaded vector can be had one by one, if they are still there later."""
    element = memory.decl.element
    return Origin(memory, at, stride) if memory.constant and element.is_integer else None


def _maskable(element: DataType) -> bool:
    """Whether vector stores under a mask are worth it: the machine has them for wide elements."""
    return (element.size_bytes or 1) >= 4 and element not in STORAGE_ONLY


def _wide_type(dtype: DataType) -> DataType:
    return DataType.I64 if dtype.is_signed else DataType.U64
