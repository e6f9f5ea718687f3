"""The buffers of a random program, and when an invocation may read or write which element.

Programs are free of races by construction: an element is written by one invocation only, and read
by others only where a barrier stands in between.
"""

from __future__ import annotations

from enum import Enum, auto

from vyre import ir
from vyre.record import dataclass


class Role(Enum):
    """What a buffer is for."""

    INPUT = auto()
    """Read by everyone at any index."""
    OUTPUT = auto()
    """Every invocation has elements of its own; it may read them back."""
    APPROXIMATE = auto()
    """Written once per element with the result of an approximate opcode, never read."""
    SHARED = auto()
    """Workgroup memory: written at the invocation's slot, read by all after a barrier."""
    RELAY = auto()
    """Device memory: written at the invocation's element, read by all after a grid sync."""
    LOCAL = auto()
    """An array of each invocation's own."""
    COUNTERS = auto()
    """Changed by everyone with one atomic operation whose order does not matter, never read."""
    TALLY = auto()
    """The same in workgroup memory; read by all after a barrier."""
    OWN_ATOMIC = auto()
    """Every invocation applies atomics to elements of its own."""
    COPIED = auto()
    """The target of async stores: each workgroup fills a part of its own."""


@dataclass(slots=True, eq=False)
class Memory:
    """A buffer and how it is used."""

    decl: ir.BufferDecl
    role: Role
    stride: int = 1
    """How many elements each invocation owns."""
    reversed: bool = False
    """Whether the last invocation owns the first elements."""
    total: int = 0
    """Elements that all invocations own together."""
    readable: bool = False
    """Whether everyone may read every element now."""
    op: ir.AtomicOp = ir.AtomicOp.ADD

    @property
    def name(self) -> str:
        """The buffer's name."""
        return self.decl.name

    @property
    def value_type(self) -> ir.DataType:
        """The type that a load gives."""
        return self.decl.value_type

    def own(self, linear: ir.AnyExpr, offset: int) -> ir.AnyExpr:
        """The index of one of the elements that the invocation numbered `linear` owns."""
        index = (
            linear if self.stride == 1 else linear * ir.Expr.u32(self.stride) + ir.Expr.u32(offset)
        )
        return ir.Expr.u32(self.total - 1) - index if self.reversed else index
