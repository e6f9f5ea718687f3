"""The front door: run a program on numpy arrays."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from vyre.backends.reference.code import Code
from vyre.backends.reference.compile import compiled
from vyre.backends.reference.fuel import Meter
from vyre.backends.reference.machine import Printed, World
from vyre.backends.reference.memory import Cells
from vyre.backends.reference.sanitizer import Limits, Sanitizer
from vyre.backends.reference.scheduler import LockStep, Shape, Shuffled
from vyre.diagnostics import ArgumentError, Diagnostic, DispatchError, ExecutionError
from vyre.diagnostics.codes import driver as driver_codes
from vyre.diagnostics.codes import execution as codes
from vyre.driver.grid import checked
from vyre.ir import BufferDecl, Program
from vyre.record import dataclass
from vyre.semantics import Array, storage_dtype

Grid = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class ReferenceResult:
    """What a run left behind."""

    outputs: dict[str, Array]
    """Every buffer that the host reads back, by name."""
    findings: tuple[Diagnostic, ...]
    """What the sanitizer found."""
    printed: tuple[Printed, ...]
    executed: int
    """Statements executed, counted over all invocations."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How to run."""

    subgroup_width: int = 32
    sanitize: bool = False
    schedule: int | None = None
    """A seed for another legal order than the defining one."""
    deadline: float | None = None
    """Seconds."""
    fuel: int | None = None
    """Statements, counted over all invocations."""
    limits: Limits | None = None
    """What the sanitizer is told of the invocations that were asked for."""

    def __post_init__(self) -> None:
        width = self.subgroup_width
        if not 1 <= width <= 128 or width & (width - 1):
            raise DispatchError(
                codes.BAD_RUN.at(
                    what="the width of subgroups",
                    found=width,
                    expected="give a power of two from 1 to 128",
                )
            )


def execute(  # noqa: PLR0913
    program: Program,
    inputs: Mapping[str, Array],
    grid: Grid,
    *,
    subgroup_width: int = 32,
    sanitize: bool = False,
    schedule: int | None = None,
    deadline: float | None = None,
    fuel: int | None = None,
    limits: tuple[tuple[int, ...], Mapping[int, str]] | None = None,
    output_sizes: Mapping[str, int] | None = None,
) -> ReferenceResult:
    """Run a program over a grid of workgroups; the arrays of `inputs` are not changed.

    Arrays hold elements as memory does: `bool` as bool or bytes, `bf16` as the upper half of f32
    in `uint16`, types shorter than a byte one to a byte; vectors have a second axis or are flat.
    `limits` are the invocations that were asked for, along x, y and z, and the statements that are
    reported when one past these executes them: by identity, how to guard them.
    """
    ends = None if limits is None else Limits(*limits)
    options = RunOptions(subgroup_width, sanitize, schedule, deadline, fuel, ends)
    cells = bind(program, inputs, output_sizes or {})
    world = run(program, cells, grid, options)
    outputs = {
        decl.name: _as_given(item, inputs.get(decl.name))
        for decl, item in zip(program.buffers, cells, strict=True)
        if decl.is_host_output
    }
    findings = () if world.watch is None else world.watch.findings.diagnostics()
    return ReferenceResult(outputs, findings, tuple(world.printed), world.meter.spent)


def run(program: Program, cells: list[Cells], grid: Grid, options: RunOptions) -> World:
    """Run a program on memory that is changed in place."""
    code = compiled(program, sanitize=options.sanitize)
    if code.indirect is not None:
        grid = _indirect_grid(code, cells)
    x, y, z = checked(program, grid)
    sx, sy, sz = program.workgroup_size
    if not sx * sy * sz:
        problem = "has workgroups without invocations"
        raise DispatchError(driver_codes.BAD_GRID.at(grid=grid, problem=problem))
    shape = _shape(code, options.subgroup_width)
    seed = options.schedule
    order = LockStep(shape) if seed is None else Shuffled(shape, seed)
    watch = None
    if options.sanitize:
        watch = Sanitizer(code, cells, x * y * z, sx * sy * sz, options.limits)
    world = World(
        code,
        cells,
        grid,
        subgroup_width=options.subgroup_width,
        order=order,
        meter=Meter(options.fuel, options.deadline),
        watch=watch,
    )
    try:
        world.run()
    except ExecutionError as ended:
        ended.printed = tuple(str(line) for line in world.printed)
        raise
    return world


def bind(
    program: Program, inputs: Mapping[str, Array], output_sizes: Mapping[str, int]
) -> list[Cells]:
    """Memory for every buffer of the program, filled with copies of the inputs."""
    wanted = [decl.name for decl in program.buffers if decl.is_host_input]
    for name in inputs:
        decl = program.buffer(name)
        if decl is None or not (decl.is_host_input or decl.is_device_allocated):
            known = ", ".join(wanted)
            raise ArgumentError(driver_codes.UNKNOWN_INPUT.at(name=name, known=known))
    return [_cells(decl, inputs.get(decl.name), output_sizes) for decl in program.buffers]


def _cells(decl: BufferDecl, given: Array | None, output_sizes: Mapping[str, int]) -> Cells:
    if decl.is_on_chip:
        return Cells.zeros(decl, 0, decl.count)
    if decl.is_host_input:
        if given is None:
            stored = storage_dtype(decl.element)
            raise ArgumentError(driver_codes.MISSING_INPUT.at(name=decl.name, dtype=stored))
        data = as_storage(decl, given).copy()
        return Cells(decl, data, len(data))
    count = output_sizes.get(decl.name, decl.count)
    if not count and given is not None:
        count = len(as_storage(decl, given))
    if not count and decl.name not in output_sizes:
        raise ArgumentError(driver_codes.UNSIZED_OUTPUT.at(name=decl.name))
    if decl.count and count != decl.count:
        raise _wrong_size(decl, count)
    return Cells.zeros(decl, 1, count)


def as_storage(decl: BufferDecl, given: Array) -> Array:
    """An array of the host as the elements of a buffer."""
    element = decl.element
    stored = storage_dtype(element)
    array = np.ascontiguousarray(given)
    if array.dtype != stored:
        if array.dtype.kind not in "biuV" or array.dtype.itemsize != stored.itemsize:
            raise _wrong_type(decl, array)
        array = array.view(stored) if _stores_bits(decl, array) else array
        if array.dtype != stored:
            raise _wrong_type(decl, array)
    array = array.reshape((-1, element.lanes) if element.is_vector else -1)
    if decl.count and len(array) != decl.count:
        raise _wrong_size(decl, len(array))
    return array


def _stores_bits(decl: BufferDecl, array: Array) -> bool:
    """Whether memory holds something else than numbers of its type, so that bits are meant."""
    scalar = decl.element.element if decl.element.is_vector else decl.element
    if scalar is None or scalar.is_integer:
        return False
    return array.dtype.kind == "b" or not scalar.is_bool


def _wrong_type(decl: BufferDecl, given: Array) -> ArgumentError:
    """Numbers are converted where none becomes another one; bits are not numbers."""
    expected = storage_dtype(decl.element)
    scalar = decl.element.element if decl.element.is_vector else decl.element
    are_numbers = scalar is None or scalar.is_integer or expected.kind == "f"
    both_floats = given.dtype.kind == expected.kind == "f"
    fix = f"pass an array of the type {expected}"
    if are_numbers and (both_floats or np.can_cast(given.dtype, expected, "safe")):
        fix = f"pass {decl.name}.astype({str(expected)!r})"
    return ArgumentError(
        driver_codes.WRONG_DTYPE.at(name=decl.name, expected=expected, found=given.dtype, fix=fix)
    )


def _wrong_size(decl: BufferDecl, found: int) -> ArgumentError:
    return ArgumentError(
        driver_codes.SHORT_BUFFER.at(name=decl.name, expected=decl.count, found=found)
    )


def _as_given(cells: Cells, given: Array | None) -> Array:
    """What the host reads back, in the type in which it gave the contents."""
    if given is not None and given.dtype.itemsize == cells.data.dtype.itemsize:
        return cells.data.view(given.dtype)
    if cells.decl.element.is_bool:
        return cells.data.view(np.bool_)
    return cells.data


def _indirect_grid(code: Code, cells: list[Cells]) -> Grid:
    assert code.indirect is not None
    name, offset = code.indirect.count_buffer, code.indirect.count_offset
    source = next(item for item in cells if item.decl.name == name)
    x, y, z = (int(extent) for extent in source.load(np.arange(offset, offset + 3), None))
    return x, y, z


def _shape(code: Code, subgroup_width: int) -> Shape:
    x, y, z = code.program.workgroup_size
    shared = private = 0
    for decl in code.program.buffers:
        shared += (decl.size_bytes or 0) if decl.is_workgroup else 0
        private += (decl.size_bytes or 0) if decl.is_local else 0
    return Shape(x * y * z, shared + private * x * y * z, subgroup_width, code.has_subgroups)
