"""Scalarisation of vectors: extraction of lanes at dynamic positions.

LLVM extracts a dynamic lane by spilling the whole vector, once per extraction. Here it is spilled
once, before the loop over active lanes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from vyre.backends.llvm.emit.builder import register_type, widened
from vyre.backends.llvm.emit.values import LaneShape, Value, uniform

if TYPE_CHECKING:
    from vyre.backends.llvm.emit.expressions import LaneContext

_BYTES = {"i8": 1, "i16": 2, "i32": 4, "i64": 8, "half": 2, "bfloat": 2, "float": 4, "double": 8}
"""Sizes of elements that are contiguous in memory: `i1` elements are not."""


class Apart:
    """The vectors of one loop over the active lanes of a set."""

    def __init__(self, lanes: LaneContext) -> None:
        self._lanes = lanes
        self._written = 0

    def value(self, value: Value) -> Callable[[str], Value]:
        """A function that extracts the value of a lane."""
        if value.parts:
            parts = [self.value(part) for part in value.parts]
            return lambda lane: Value(
                value.dtype, LaneShape.UNIFORM, "", parts=tuple(part(lane) for part in parts)
            )
        lanes = self._lanes
        if not lanes.width or value.form is LaneShape.UNIFORM:
            return lambda _: uniform(value.dtype, value.text)
        take = self.vector(register_type(value.dtype), lanes.vector(value))
        return lambda lane: uniform(value.dtype, take(lane))

    def vector(self, scalar: str, text: str) -> Callable[[str], str]:
        """A function that extracts a lane of a vector."""
        lanes, w = self._lanes, self._lanes.w
        many = widened(scalar, lanes.width)
        nbytes = _BYTES.get(scalar)
        if lanes.mask is None or nbytes is None:
            return lambda lane: w.emit(f"extractelement {many} {text}, i64 {lane}")
        slot = self._slot(nbytes)
        w.do(f"store {many} {text}, ptr {slot}, align {nbytes}")

        def take(lane: str) -> str:
            pointer = w.emit(f"getelementptr {scalar}, ptr {slot}, i64 {lane}")
            return w.load(scalar, pointer, f", align {nbytes}")

        return take

    def _slot(self, nbytes: int) -> str:
        """The spill slot of a vector; other loops reuse it."""
        kernel = self._lanes.kernel
        self._written += 1
        key = nbytes * self._lanes.width, self._written, kernel.aside
        slots = kernel.apart_slots
        if key not in slots:
            slots[key] = self._lanes.w.slot(f"[{key[0]} x i8], align 64", "apart")
        return slots[key]


__all__ = ["Apart"]
