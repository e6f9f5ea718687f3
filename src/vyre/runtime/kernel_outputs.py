"""Which elements of `Out` arrays have to be zeroed before a launch.

Those that the kernel does not overwrite: the complement of its output coverage.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from vyre.analysis.coverage_types import (
    COVERAGE,
    NUMBER,
    SAFE_EXTENT,
    Along,
    At,
    Coverage,
    Extent,
    Subscript,
    UpTo,
)
from vyre.driver.grid import Grid
from vyre.front import KernelSource
from vyre.front.parameters import ArrayParameter, Mode
from vyre.ir import Program
from vyre.runtime.clearing import ALL, Cut, Cuts, Out
from vyre.runtime.device_array import DeviceArray
from vyre.runtime.kernel_arguments import Prepared

Host = np.ndarray[Any, np.dtype[Any]]
Box = Sequence[tuple[int, int]]
"""Along each axis of an array, the first element and the end."""
FEW_BYTES = 1 << 16
"""Arrays that are cleared sooner than it is found out whether they must be."""


def outputs_of(
    kernel: KernelSource, program: Program, made: Prepared, grid: Grid, deciding: frozenset[str]
) -> dict[str, Out]:
    """The `Out` arrays of a call, with what to clear: not the elements that invocations write.

    `deciding` are the numbers that the grid follows from.
    """
    names = [name for name in made.written if _is_out(kernel, name)]
    return outputs_named(names, program, made, grid, deciding)


def _is_out(kernel: KernelSource, name: str) -> bool:
    parameter = kernel.parameters[name]
    return isinstance(parameter, ArrayParameter) and parameter.mode is Mode.OUT


def outputs_named(
    names: Iterable[str],
    program: Program,
    made: Prepared,
    grid: Grid,
    deciding: frozenset[str] = frozenset(),
) -> dict[str, Out]:
    """Arrays that begin as zeros, with what to clear."""
    filled = coverage_of(program)
    lanes = [many * each for many, each in zip(grid, program.workgroup_size, strict=True)]
    found: dict[str, Out] = {}
    for name in names:
        array = made.written[name]
        known = filled.get(name)
        box: Box | None = None
        if known is not None and name not in made.layouts and _is_worth_it(known, array):
            box = _written_box(array.shape, known, lanes, made)
            made.fixed |= deciding
        found[name] = Out(array, _outside(array.shape, box))
    return found


def fills(
    program: Program,
    name: str,
    numbers: Mapping[str, Host],
    shapes: Mapping[str, tuple[int, ...]],
    grid: Grid,
) -> bool:
    """Whether a launch surely writes all elements of an output, whatever it computes."""
    known = coverage_of(program).get(name)
    if known is None:
        return False
    lanes = [many * each for many, each in zip(grid, program.workgroup_size, strict=True)]
    made = Prepared(given=dict(numbers), shapes=dict(shapes))
    box = _written_box(shapes[name], known, lanes, made)
    return box is not None and all(
        first == 0 and end == extent for (first, end), extent in zip(box, shapes[name], strict=True)
    )


def coverage_of(program: Program) -> dict[str, Coverage]:
    """The coverage of the outputs of a program; computed once."""
    return program.memo(COVERAGE, _find_coverage)


def _find_coverage(program: Program) -> dict[str, Coverage]:
    from vyre.analysis.output_coverage import output_coverage  # a cached translation has it

    return output_coverage(program)


def _is_worth_it(filled: Coverage, array: Host | DeviceArray) -> bool:
    """Whether to look at what is written: not for numbers that may change with every call."""
    sizes = [*filled.sizes, *(limit.extent for limit in filled.limits)]
    sizes += [place.end for place in filled.places if isinstance(place, UpTo)]
    changes = any(isinstance(size, tuple) and size[1] == NUMBER for size in sizes)
    return not changes or math.prod(array.shape) * array.dtype.itemsize >= FEW_BYTES


def _outside(shape: Sequence[int], box: Box | None) -> Cuts:
    """The parts of an array around a box; all of it if the box is small."""
    written = 0 if box is None else math.prod(end - first for first, end in box)
    if box is None or 2 * written < math.prod(shape):
        return ALL
    cuts: list[Cut] = []
    for axis, (first, end) in enumerate(box):
        along = (slice(None),) * axis
        if first:
            cuts.append((*along, slice(0, first)))
        if end < shape[axis]:
            cuts.append((*along, slice(end, None)))
    return tuple(cuts)


def _written_box(
    shape: Sequence[int], filled: Coverage, lanes: Sequence[int], made: Prepared
) -> Box | None:
    """The elements of an array that surely have an invocation that gets to write them."""
    sizes = [size if isinstance(size, int) else _bound(size, made) for size in filled.sizes]
    numbers = [size for size in sizes if size is not None and 0 < size < SAFE_EXTENT]
    count, inner = math.prod(shape), math.prod(numbers)
    if len(numbers) < len(sizes) or max(count, inner, *shape) >= SAFE_EXTENT:
        return None
    extents = [-(-count // inner), *numbers]
    as_it_is = tuple(extents) == tuple(shape)
    if not (as_it_is or len(shape) == 1) or not _has_parts(filled, extents):
        return None
    spans = _spans(filled, lanes, made)
    found = [
        None if spans is None else _along(place, extent, spans, made)
        for place, extent in zip(filled.places, extents, strict=True)
    ]
    box = [span for span in found if span is not None and span[0] < span[1]]
    if len(box) < len(found):
        return None
    if as_it_is:
        return box
    if any(span != (0, extent) for span, extent in zip(box[1:], numbers, strict=True)):
        return None
    return [(box[0][0] * inner, min(box[0][1] * inner, count))]


def _spans(filled: Coverage, lanes: Sequence[int], made: Prepared) -> list[tuple[int, int]] | None:
    """Which invocations get to write along each axis of the grid; None if none do for sure."""
    firsts, ends = [0, 0, 0], list(lanes)
    for limit in filled.limits:
        axis = limit.axis
        firsts[axis] = max(firsts[axis], limit.first)
        if limit.extent is not None:
            bound = _bound(limit.extent, made)
            if bound is None or bound >= SAFE_EXTENT:
                return None
            ends[axis] = min(ends[axis], bound - limit.margin)
    spans = list(zip(firsts, ends, strict=True))
    return None if any(first >= end for first, end in spans) else spans


def _along(
    place: Subscript, extent: int, spans: Sequence[tuple[int, int]], made: Prepared
) -> tuple[int, int] | None:
    """Which positions along an axis of the array are written."""
    match place:
        case Along(axis):
            first, end = spans[axis]
            return first, min(end, extent)
        case At():
            return 0, extent
        case UpTo(_, end):
            bound = _bound(end, made)
            return None if bound is None else (0, min(bound, extent))


def _has_parts(filled: Coverage, extents: Sequence[int]) -> bool:
    """Whether there is a store for all numbers along the axes whose places are numbers."""
    ends = [e for e, place in zip(extents, filled.places, strict=True) if isinstance(place, At)]
    if math.prod(ends) > len(filled.parts):
        return False
    return all(part in filled.parts for part in itertools.product(*map(range, ends)))


def _bound(extent: Extent, made: Prepared) -> int | None:
    """An extent of the arrays at hand."""
    buffer, along = extent
    if along == NUMBER:
        number = made.given.get(buffer)
        if not isinstance(number, np.ndarray):
            return None
        made.fixed.add(buffer)
        return int(cast("Host", number).flat[0])
    # Not those of `given`: the memory that a view spans stands there in its place.
    shape = made.shapes.get(buffer)
    if shape is None or along >= len(shape) or (along < 0 and buffer in made.layouts):
        return None
    return math.prod(shape) if along < 0 else shape[along]


__all__ = ["FEW_BYTES", "coverage_of", "fills", "outputs_named", "outputs_of"]
