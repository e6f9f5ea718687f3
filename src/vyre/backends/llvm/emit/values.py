"""Values while code is generated: the same in all lanes, rising from lane to lane, or free."""

from __future__ import annotations

from enum import Enum

from vyre.ir import AnyExpr, BufferDecl, DataType
from vyre.record import dataclass


class LaneShape(Enum):
    """How a value relates to the lanes of a vector."""

    UNIFORM = "uniform"
    """One scalar."""
    LINEAR = "linear"
    """A scalar for the first lane, and a constant step from lane to lane."""
    VARYING = "varying"
    """A vector with one element per lane."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Elements that never change, a constant step apart, and the types they are converted to."""

    memory: Memory
    at: str
    """The first lane's index, i64."""
    stride: int
    casts: tuple[DataType, ...] = ()


@dataclass(frozen=True, slots=True)
class Value:
    """An operand with its type and form; a value of a vector type is held lane by lane."""

    dtype: DataType
    form: LaneShape
    text: str
    stride: int = 0
    parts: tuple[Value, ...] = ()
    exact: bool = False
    """Of a linear value: it passes no power of two of its type between the lanes."""
    origin: Origin | None = None
    """Of a loaded vector: where its lanes can be had one by one."""

    @property
    def is_uniform(self) -> bool:
        """Whether one scalar stands for all lanes."""
        if self.parts:
            return all(part.is_uniform for part in self.parts)
        return self.form is LaneShape.UNIFORM


def uniform(dtype: DataType, text: str) -> Value:
    """A value that is the same in all lanes."""
    return Value(dtype, LaneShape.UNIFORM, text)


def varying(dtype: DataType, text: str) -> Value:
    """A value with one element per lane."""
    return Value(dtype, LaneShape.VARYING, text)


@dataclass(frozen=True, slots=True)
class Slot:
    """Where a variable that changes, or lives across a barrier, is kept."""

    dtype: DataType
    pointers: tuple[str, ...]
    """One per component; a scalar type has one."""
    form: LaneShape
    per_lane: bool = False
    """Kept in an array with one element per invocation of the workgroup."""
    stride: int = 0
    """Of a variable that is a constant step apart from lane to lane: that step."""
    shared: bool = False
    """Made before the variable is bound: by the workgroup, or for what other stretches read."""


@dataclass(frozen=True, slots=True)
class Memory:
    """A buffer as the generated code sees it."""

    decl: BufferDecl
    pointer: str
    safe_pointer: str
    """As `pointer`, but readable at element 0 even when the buffer is empty."""
    count: str
    """Elements, an i64 operand."""
    shared: bool
    """Whether other threads may access it at the same time."""
    private: bool = False
    """Whether every lane has its own; `pointer` is that of the first lane's."""
    side_by_side: bool = False
    """Of private memory: an element of all lanes is a vector, and the next one follows it."""
    cached: str = ""
    """Of a buffer that is only written: 0 if stores go past the caches, an i64 operand."""

    @property
    def constant(self) -> bool:
        """Whether nothing changes it while the kernel runs."""
        return not self.decl.is_writable


@dataclass(frozen=True, slots=True)
class Strided:
    """An access whose lanes lie a few elements apart, all of which are in bounds."""

    stride: int
    place: int
    """Of the element within its step."""
    base: AnyExpr
    """The index without the literals that are added to it."""
    block: int
    """Whole steps among those literals."""
