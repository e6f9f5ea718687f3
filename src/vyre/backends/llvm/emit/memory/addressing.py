"""Addresses of elements, and conversion between memory and register formats."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from vyre.backends.llvm.emit.builder import constant, register_type, widened
from vyre.backends.llvm.emit.storage_formats import (
    STORAGE_ONLY,
    encoder_of,
    memory_type,
    table_of,
)
from vyre.backends.llvm.emit.values import (
    LaneShape,
    Memory,
    Value,
)
from vyre.ir import DataType

if TYPE_CHECKING:
    from vyre.backends.llvm.emit.expressions import LaneContext


class Elements:
    """Addresses and formats of elements, for one set of lanes."""

    def __init__(self, lanes: LaneContext) -> None:
        self.lanes = lanes
        self.w = lanes.w

    def wide(self, index: Value) -> str:
        """A uniform index as i64; a negative one becomes larger than any length."""
        return self.lanes.casts.cast(index.dtype, wide_type(index.dtype), 0, index.text)

    def wide_vector(self, index: Value) -> str:
        """An index per lane as i64."""
        text = self.lanes.vector(index)
        return self.lanes.casts.cast(index.dtype, wide_type(index.dtype), self.lanes.width, text)

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
        """The metadata of a load."""
        return ", !invariant.load !0" if memory.constant else ""

    def value_of(self, memory: Memory, found: str, element: DataType, width: int) -> str:
        """A loaded element converted to its register format."""
        w = self.w
        if element.is_bool:
            return w.emit(f"icmp ne {widened('i8', width)} {found}, {constant('i8', 0, width)}")
        if element not in STORAGE_ONLY:
            if (element.is_integer or element is DataType.BYTES) and not memory.constant:
                # A racing load may be undefined; `freeze` makes it one value for all uses.
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
        """A value converted to its memory format."""
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

    def own_elements(self, memory: Memory, index: str) -> str:
        """Private-array indices as indices into all lanes' arrays."""
        width = self.lanes.width
        many = widened("i64", width)
        apart = memory.decl.count
        if memory.side_by_side:
            index = self.w.emit(f"mul {many} {index}, {constant('i64', width, width)}")
            apart = 1
        steps = ", ".join(f"i64 {lane * apart}" for lane in range(width))
        return self.w.emit(f"add {many} {index}, <{steps}>")

    def _turned(self, value: Value) -> str:
        """The lanes of a value in reverse order."""
        width = self.lanes.width
        type_ = register_type(value.dtype, width)
        picks = ", ".join(f"i32 {n}" for n in reversed(range(width)))
        text = self.lanes.vector(value)
        return self.w.emit(
            f"shufflevector {type_} {text}, {type_} poison, <{width} x i32> <{picks}>"
        )


def falls(memory: Memory, index: Value) -> bool:
    """True if in-bounds lanes have stride -1, and no index wraps."""
    backwards = index.form is LaneShape.LINEAR and index.stride == -1
    return backwards and not memory.private and memory.decl.count < 1 << 32


def wide_type(dtype: DataType) -> DataType:
    """The 64-bit type of an index."""
    return DataType.I64 if dtype.is_signed else DataType.U64
