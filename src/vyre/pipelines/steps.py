"""Steps of a planned call: launches, copies and clears, in order, on buffers without memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod
from typing import Any

from vyre.front import Specialisation
from vyre.front.capture_guards import Outside
from vyre.front.parameters import ArrayParameter, Mode
from vyre.ir import DataType, Program
from vyre.pipelines.stages import Site
from vyre.record import dataclass
from vyre.runtime.host_types import numpy_type
from vyre.runtime.kernel import Kernel
from vyre.runtime.kernel_grid import launch_grid
from vyre.runtime.specialisation import specialise, type_of_value

Grid = tuple[int, int, int]


@dataclass(eq=False, slots=True)
class Buffer:
    """An argument of a call, or scratch: its type and shape, not its memory."""

    name: str
    dtype: DataType
    shape: tuple[int, ...]
    is_scratch: bool
    is_plain: bool = True
    """True unless it is a view with strides, which is not fused."""
    is_fresh: bool = True
    """True for scratch that no step has used: it is all zeros."""
    is_output: bool = False
    """True for an argument that is zero when the call begins."""

    @property
    def size(self) -> int:
        """Its number of elements."""
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Its bytes, as numpy holds them."""
        return self.size * numpy_type(self.dtype).itemsize


@dataclass(eq=False, slots=True)
class Launch:
    """A launch of a kernel."""

    kernel: Kernel[...]
    program: Program
    given: Mapping[str, Any]
    """By parameter: a buffer or a number."""
    grid: Grid
    extents: tuple[tuple[int, ...] | None, tuple[int, ...] | None]
    """`grid=` and `elements=` as they were written."""
    site: Site
    outside: Outside
    """Names from outside that the program was translated with."""

    def uses(self) -> Iterator[tuple[Buffer, Mode]]:
        """The buffers that it uses, and how."""
        for name, parameter in self.kernel.source.parameters.items():
            if isinstance(parameter, ArrayParameter):
                yield self.given[name], parameter.mode

    @property
    def is_typed(self) -> bool:
        """True if arrays have the types and ranks of their parameters."""
        for name, parameter in self.kernel.source.parameters.items():
            if isinstance(parameter, ArrayParameter):
                buffer: Buffer = self.given[name]
                wanted = parameter.dtype
                if isinstance(wanted, DataType) and wanted is not buffer.dtype:
                    return False
                if len(buffer.shape) != parameter.rank or not buffer.is_plain:
                    return False
        return True


@dataclass(eq=False, slots=True)
class Copied:
    """A copy of a buffer to another."""

    source: Buffer
    target: Buffer

    def uses(self) -> Iterator[tuple[Buffer, Mode]]:
        """The buffers that it uses, and how."""
        yield self.source, Mode.IN
        # It overwrites all of it, so what was there does not count.
        yield self.target, Mode.OUT


@dataclass(eq=False, slots=True)
class Cleared:
    """A buffer filled with zeros."""

    buffer: Buffer

    def uses(self) -> Iterator[tuple[Buffer, Mode]]:
        """The buffers that it uses, and how."""
        yield self.buffer, Mode.OUT


Step = Launch | Copied | Cleared


@dataclass(frozen=True, slots=True)
class Sizes:
    """Sizes of buffers, for the grid of a launch."""

    given: Mapping[str, Any]

    def length(self, buffer: str) -> int:
        """How many elements an array has."""
        return self.given[buffer].size

    def extent(self, buffer: str, axis: int) -> int:
        """How long an array is along an axis."""
        return self.given[buffer].shape[axis]

    def number(self, name: str) -> int:
        """The value of a parameter that is one integer."""
        return int(self.given[name])


def specialisation(kernel: Kernel[...], given: Mapping[str, Any]) -> Specialisation:
    """What buffers and numbers decide about a kernel."""
    return specialise(kernel.source, given, _type_of)


def _type_of(value: object) -> DataType | None:
    return value.dtype if isinstance(value, Buffer) else type_of_value(value)


def launch_of(
    kernel: Kernel[...],
    given: Mapping[str, Any],
    grid: tuple[int, ...] | None,
    elements: tuple[int, ...] | None,
    site: Site,
) -> Launch:
    """The launch of a stage, with its program and its grid."""
    made = kernel.source.translated(specialisation(kernel, given))
    shape = launch_grid(made.program, Sizes(given), grid, elements)
    return Launch(kernel, made.program, given, shape, (grid, elements), site, made.outside)
