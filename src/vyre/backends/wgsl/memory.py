"""Buffers in WGSL: where they live, and what they are arrays of.

| elements | cells |
| --- | --- |
| 32-bit scalars | the scalar; `atomic<u32>` or `atomic<i32>` if updated atomically |
| 64-bit integers | `vec2<u32>`; two `atomic<u32>`, or one of 64 bits, if updated atomically |
| 8 and 16 bits | words of `u32`; `atomic<u32>` if the program stores, as neighbours share a word |
| vectors | `vecN` of 2 or 4 32-bit lanes, else their lanes one after another |

A uniform buffer is an array of `vec4<u32>`, as WGSL wants it, whatever its elements are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from enum import Enum

from vyre import ir
from vyre.backends.wgsl.context import Context
from vyre.backends.wgsl.literals import unsigned
from vyre.backends.wgsl.types import held, is_wide
from vyre.lower import Binding
from vyre.record import dataclass
from vyre.semantics.packed import NF4_VALUES

NATIVE64 = ("atomic64", "native")
"""The detail of a target whose device has atomics of 64 bits."""


class Space(Enum):
    """Where WGSL puts a buffer."""

    STORAGE = "storage"
    UNIFORM = "uniform"
    WORKGROUP = "workgroup"
    PRIVATE = "private"


class Cells(Enum):
    """What a buffer is an array of."""

    PLAIN = "plain"
    """Values as they are held."""
    ATOMIC = "atomic"
    """One atomic word for each element."""
    PAIRS = "pairs"
    """Two atomic words for each element."""
    ATOMIC64 = "atomic64"
    """One atomic of 64 bits for each element, an extension of naga."""
    PACKED = "packed"
    """Words that hold several elements."""
    UNIFORM = "uniform"
    """Four words each."""


@dataclass(slots=True)
class Buffer:
    """A buffer of the program, and which of its functions the shader calls."""

    decl: ir.BufferDecl
    name: str
    space: Space
    written: bool
    atomic: bool
    separable: bool = False
    """Whether atomics may update the halves of an element one after the other."""
    native64: bool = False
    """Whether the device has atomics of 64 bits."""
    argument: int | None = None
    """Its place among the arguments of a launch."""
    functions: dict[str, ir.AtomicOp | None] = field(
        default_factory=dict[str, "ir.AtomicOp | None"]
    )
    used: bool = False
    """Whether the shader accesses its elements."""

    @property
    def scalar(self) -> ir.DataType:
        """The type of one scalar in memory: an element, or a lane of one."""
        element = self.decl.element
        return element.element if element.is_vector and element.element else element

    @property
    def lanes(self) -> int:
        """Scalars of one element."""
        return self.decl.element.lanes if self.decl.element.is_vector else 1

    @property
    def cells(self) -> Cells:
        """What the WGSL array holds."""
        if self.space is Space.PRIVATE:
            return Cells.PLAIN
        if self.space is Space.UNIFORM:
            return Cells.UNIFORM
        if (self.scalar.bits or 0) < 32:
            return Cells.PACKED
        if not self.atomic:
            return Cells.PLAIN
        if not is_wide(self.scalar):
            return Cells.ATOMIC
        return Cells.ATOMIC64 if self.native64 else Cells.PAIRS

    @property
    def is_native_vector(self) -> bool:
        """Whether one cell is a whole vector."""
        if self.decl.element.kind is not ir.TypeKind.VECTOR or self.cells is not Cells.PLAIN:
            return False
        return self.lanes in (2, 4) and self.scalar.bits == 32

    @property
    def is_simple(self) -> bool:
        """Whether one cell is one element: an access that is in bounds needs no function."""
        whole = self.lanes == 1 or self.is_native_vector
        return whole and self.cells in (Cells.PLAIN, Cells.ATOMIC) and not self.is_converted

    @property
    def is_converted(self) -> bool:
        """Whether a store changes the value: a private array holds what memory would."""
        return self.space is Space.PRIVATE and self.scalar.kind is ir.TypeKind.PACKED

    @property
    def shares_words(self) -> bool:
        """Whether stores of different invocations may meet in one word."""
        return self.cells is Cells.PACKED and self.written

    @property
    def cells_per_element(self) -> int | None:
        """How many cells an element takes; None where that is no whole number."""
        if self.cells in (Cells.PACKED, Cells.UNIFORM):
            return None
        if self.is_native_vector:
            return 1
        return self.lanes * (2 if self.cells is Cells.PAIRS else 1)

    @property
    def cell_type(self) -> str:
        """The type of one cell."""
        match self.cells:
            case Cells.PLAIN:
                return held(self.decl.element if self.is_native_vector else self.scalar.value_type)
            case Cells.ATOMIC:
                return f"atomic<{'i32' if self.scalar.is_signed else 'u32'}>"
            case Cells.PAIRS:
                return "atomic<u32>"
            case Cells.ATOMIC64:
                return f"atomic<{self.scalar}>"
            case Cells.PACKED:
                return "atomic<u32>" if self.shares_words else "u32"
            case Cells.UNIFORM:
                return "vec4<u32>"

    @property
    def cell_count(self) -> int:
        """Cells of a buffer whose size is part of the program."""
        if self.cells is Cells.PLAIN:
            return self.decl.count * (1 if self.is_native_vector else self.lanes)
        bits = self.decl.count * (self.decl.element.bits or 0)
        widths = {Cells.UNIFORM: 128, Cells.ATOMIC64: 64}
        return -(-bits // widths.get(self.cells, 32))

    @property
    def cell_bytes(self) -> int:
        """Bytes of one cell on the chip."""
        if self.cells is not Cells.PLAIN:
            return 8 if self.cells is Cells.ATOMIC64 else 4
        if self.is_native_vector:
            return 4 * self.lanes
        return 8 if is_wide(self.scalar) else 4

    @property
    def declaration(self) -> str:
        """`name: array<...>`, with the number of cells where it is part of the program."""
        sized = f", {self.cell_count}" if self.space is not Space.STORAGE else ""
        kind = f"array<{self.cell_type}{sized}>"
        return f"{self.name}: {kind}{self._beginning(kind)}"

    def _beginning(self, kind: str) -> str:
        """What a private array holds at first, where the code 0 is not the number 0."""
        if not self.is_converted or self.scalar is not ir.DataType.NF4:
            return ""
        return f" = {kind}({', '.join([f'{NF4_VALUES[0]}f'] * self.cell_count)})"

    def call(self, function: str, *arguments: str, op: ir.AtomicOp | None = None) -> str:
        """A call of one of this buffer's functions."""
        self.functions[function] = op
        self.used = True
        return f"{function}_{self.name}({', '.join(arguments)})"


_VERBS = ("load", "store", "cell", "set_cell")
"""What the functions of a buffer begin with, beside the atomics."""


_LOCALS = frozenset(
    {"borrow", "carry", "expected", "i", "k", "lanes", "low", "next", "old",
    "operand", "result", "shift", "tried", "value", "waiting", "wanted", "word"}
)  # fmt: skip
"""Names inside the functions that access buffers: a buffer of such a name would be hidden there."""


def make_buffers(ctx: Context, found: Sequence[Binding], *, ordered: bool) -> list[Buffer]:
    """The WGSL side of buffers. `ordered`: some atomic orders the accesses around it."""
    # One place is kept for the launch record. What does not fit is read from storage instead.
    left = ctx.target.limits.max_uniform_buffers - 1
    buffers: list[Buffer] = []
    for binding in found:
        space = _space(binding)
        if space is Space.UNIFORM:
            space = Space.UNIFORM if left > 0 else Space.STORAGE
            left -= 1
        buffers.append(_make_buffer(ctx, binding, space, ordered))
    return buffers


def _space(binding: Binding) -> Space:
    decl = binding.decl
    if decl.is_local:
        return Space.PRIVATE
    if decl.is_workgroup:
        return Space.WORKGROUP
    is_uniform = decl.access is ir.BufferAccess.UNIFORM and decl.count > 0 and binding.loaded
    return Space.UNIFORM if is_uniform else Space.STORAGE


def _make_buffer(ctx: Context, binding: Binding, space: Space, ordered: bool) -> Buffer:
    decl = binding.decl
    wish = f"{decl.name}_buffer" if decl.name in _LOCALS else decl.name
    name = ctx.names.fresh(wish)
    spellings = [op.row.spelling for op in ir.AtomicOp]
    ctx.names.reserve(*(f"{verb}_{name}" for verb in (*_VERBS, *spellings)))
    # Next to an ordering atomic, plain accesses are made atomic too: no compiler moves those.
    atomic = binding.atomic or (ordered and binding.written)
    return Buffer(
        decl,
        name,
        space,
        binding.written,
        atomic,
        separable=binding.separable,
        native64=NATIVE64 in ctx.target.details,
        argument=binding.argument,
    )


def length(ctx: Context, buffer: Buffer) -> str:
    """The number of elements: known, or that of the bound cells, or what the host says."""
    if buffer.decl.count:
        return unsigned(buffer.decl.count)
    per_element = buffer.cells_per_element
    if per_element is None:
        return ctx.launch_field(f"len_{buffer.name}")
    cells = f"arrayLength(&{buffer.name})"
    measured = cells if per_element == 1 else f"({cells} / {per_element}u)"
    return ctx.measured_field(f"len_{buffer.name}", measured)
