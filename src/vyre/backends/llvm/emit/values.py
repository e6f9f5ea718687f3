"""Operands over lanes: uniform, linear or varying."""

from __future__ import annotations

from enum import Enum

from vyre.backends.llvm.analysis.block_reductions import BlockReduction
from vyre.ir import AnyExpr, BufferDecl, DataType
from vyre.record import dataclass


class LaneShape(Enum):
    """How a value relates to the lanes of a vector."""

    UNIFORM = "uniform"
    """One scalar."""
    LINEAR = "linear"
    """A scalar for the first lane and a constant stride between lanes."""
    VARYING = "varying"
    """A vector with one element per lane."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Memory of a loaded vector: constant elements, their stride, and the casts applied."""

    memory: Memory
    at: str
    """The first lane's index, i64."""
    stride: int
    casts: tuple[DataType, ...] = ()


@dataclass(frozen=True, slots=True)
class Value:
    """An operand with its type and shape; a value of a vector type is held lane by lane."""

    dtype: DataType
    form: LaneShape
    text: str
    stride: int = 0
    parts: tuple[Value, ...] = ()
    exact: bool = False
    """Of a linear value: it crosses no power of two of its type between the lanes."""
    origin: Origin | None = None
    """Of a loaded vector: the memory from which its lanes can be loaded separately."""

    @property
    def is_uniform(self) -> bool:
        """True if one scalar stands for all lanes."""
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
    """Storage of a variable that changes, or lives across a barrier."""

    dtype: DataType
    pointers: tuple[str, ...]
    """One per component; a scalar type has one."""
    form: LaneShape
    per_lane: bool = False
    """Held in an array with one element per invocation of the workgroup."""
    stride: int = 0
    """Of a linear variable: its stride from lane to lane."""
    shared: bool = False
    """Allocated before the variable is bound: by the workgroup, or because other regions read it.
    """


@dataclass(frozen=True, slots=True)
class Memory:
    """A buffer as the generated code accesses it."""

    decl: BufferDecl
    pointer: str
    safe_pointer: str
    """As `pointer`, but element 0 is readable even in an empty buffer."""
    count: str
    """Elements, an i64 operand."""
    shared: bool
    """True if other threads may access it at the same time."""
    private: bool = False
    """True if every lane has its own; `pointer` is that of the first lane's."""
    side_by_side: bool = False
    """Of private memory: lane-interleaved, an element of all lanes is one vector."""
    cached: str = ""
    """Of a buffer that is only written: 0 if stores are non-temporal, an i64 operand."""

    @property
    def constant(self) -> bool:
        """True if nothing changes it while the kernel runs."""
        return not self.decl.is_writable


@dataclass(frozen=True, slots=True)
class BlockAccumulator:
    """The slots of a block reduction in the thread's memory, and the place of its blocks' sums."""

    reduction: BlockReduction
    slots: str
    sums: int
    """Offset in the launching thread's memory."""


@dataclass(frozen=True, slots=True)
class Strided:
    """An access with a small constant stride between lanes; all elements are in bounds."""

    stride: int
    place: int
    """Index of the element within its stride."""
    base: AnyExpr
    """The index without the literals that are added to it."""
    block: int
    """Whole strides among those literals."""
