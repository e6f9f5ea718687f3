"""A run of a program with a known outcome: inputs given or made up, outputs from the reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from math import prod

import numpy as np

from vyre import ir
from vyre.backends.reference import execute
from vyre.backends.wgsl.targets import PORTABLE
from vyre.backends.wgsl.web_export import Sample
from vyre.cli.arrays import Array
from vyre.conform.tolerance import tolerances
from vyre.diagnostics import TrapError
from vyre.driver import grid as grids
from vyre.driver.grid import Grid
from vyre.ir.buffer import SHAPE
from vyre.ir.walk import walk_stmts
from vyre.record import dataclass
from vyre.runtime.arguments import check_names
from vyre.runtime.host_arrays import as_host_array, element_count
from vyre.runtime.host_types import numpy_type
from vyre.runtime.kernel_grid import ArraySizes, has_kernel_rules, launch_grid
from vyre.semantics import encode, storage_dtype

LENGTH = 1024
"""Elements of inputs that were not given and whose length the program leaves open."""
LARGEST = 100
"""Integers that were not given are smaller: more of them are then sensible indices."""

Extents = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the caller says about a run."""

    inputs: Mapping[str, Array] = field(default_factory=dict[str, Array])
    grid: Sequence[int] | None = None
    elements: Sequence[int] | None = None
    sizes: Mapping[str, int] = field(default_factory=dict[str, int])


def sample_of(program: ir.Program, wishes: Wishes) -> Sample:
    """Run the reference, as a WebGPU device with portable subgroups would."""
    longest = max((array.size for array in wishes.inputs.values()), default=LENGTH)
    length = longest if wishes.elements is None else prod(wishes.elements) or longest
    shapes = _shapes(program, wishes.inputs, length)
    inputs = _inputs(program, wishes.inputs, shapes, length)
    check_names(program, inputs)
    counts: dict[str, int] = {}
    open_sizes: dict[str, int] = {}
    for decl in program.buffers:
        name = decl.name
        if name in inputs:
            inputs[name] = as_host_array(inputs[name], decl)
            counts[name] = element_count(inputs[name], decl)
            if decl.is_device_allocated:
                inputs[name] = np.zeros_like(inputs[name])
        elif decl.is_device_allocated:
            spread = prod(shapes[name]) if name in shapes else length
            counts[name] = decl.count or wishes.sizes.get(name, spread)
            if not decl.count:
                open_sizes[name] = counts[name]
    grid = _grid(program, inputs, counts, shapes, wishes)
    width = PORTABLE.subgroup_width
    try:
        result = execute(program, inputs, grid, subgroup_width=width, output_sizes=open_sizes)
    except TrapError as trapped:
        return Sample(inputs, counts, grid, {}, trapped.tag)
    ulps = {name: tolerance.ulps for name, tolerance in tolerances(program).items()}
    return Sample(inputs, counts, grid, result.outputs, None, ulps)


def _shapes(program: ir.Program, given: Mapping[str, Array], length: int) -> dict[str, Extents]:
    """The shapes of arrays with several axes: as given, else with axes of equal length."""
    found: dict[str, Extents] = {}
    for decl in program.buffers:
        layout = program.buffer(decl.name + SHAPE)
        if layout is None:
            continue
        array = given.get(decl.name)
        if layout.name in given:
            found[decl.name] = tuple(given[layout.name].tolist())
        elif array is not None and array.ndim == layout.count:
            found[decl.name] = array.shape
        else:
            found[decl.name] = (max(1, round(length ** (1 / layout.count))),) * layout.count
    return found


def _inputs(
    program: ir.Program, given: Mapping[str, Array], shapes: Mapping[str, Extents], length: int
) -> dict[str, Array]:
    dice = np.random.default_rng(0)
    found = dict(given)
    for decl in program.buffers:
        if not decl.is_host_input or decl.name in given:
            continue
        described = shapes.get(decl.name.removesuffix(SHAPE))
        if described is not None and decl.name.endswith(SHAPE):
            found[decl.name] = np.array(described, np.uint32)
        else:
            count = decl.count or (length if described is None else prod(described))
            found[decl.name] = made_up(decl, count, length, dice)
    return found


def made_up(decl: ir.BufferDecl, count: int, length: int, dice: np.random.Generator) -> Array:
    """Contents for a buffer: fractions, small integers, and the length for a single integer."""
    dtype = numpy_type(decl.element)
    lane = decl.element.element if decl.element.is_vector else decl.element
    assert lane is not None
    total = count * decl.element.lanes
    kind = lane.value_type
    if kind.is_float:
        values = dice.random(total, np.float64 if kind is ir.DataType.F64 else np.float32)
        return encode(lane, values).astype(dtype)
    if kind.is_bool:
        return dice.integers(0, 2, total).astype(dtype)
    if total == 1 and np.iinfo(dtype).max >= length:
        return np.array([length], dtype)
    return encode(lane, dice.integers(0, LARGEST, total).astype(storage_dtype(kind))).astype(dtype)


def _grid(
    program: ir.Program,
    inputs: Mapping[str, Array],
    counts: Mapping[str, int],
    shapes: Mapping[str, Extents],
    wishes: Wishes,
) -> Grid:
    for statement in walk_stmts(program.entry):
        if isinstance(statement, ir.IndirectDispatch):
            start = statement.count_offset
            held = inputs[statement.count_buffer].reshape(-1)[start : start + 3].tolist()
            x, y, z = (*held, 0, 0, 0)[:3]
            return grids.checked(program, (x, y, z))
    given = grids.given(program, wishes.grid, wishes.elements)
    if given is not None or not has_kernel_rules(program):
        return grids.over_longest(program, counts) if given is None else given
    return launch_grid(program, ArraySizes(counts, shapes, inputs), None, None)
