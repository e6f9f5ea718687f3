"""`Out` arrays begin as zeros, where anybody could tell."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from vyre.front import KernelSource
from vyre.front.filled import SAFE_EXTENT, Extent, Filled, filled_buffers
from vyre.front.parameters import ArrayParameter, Mode
from vyre.ir import Program
from vyre.runtime.device_array import DeviceArray
from vyre.runtime.kernel_arguments import Prepared

Grid = Sequence[int] | int | None
Host = np.ndarray[Any, np.dtype[Any]]
Box = Sequence[tuple[int, int]]
"""Along each axis of an array, the first element and the end."""
Cut = tuple[slice, ...]
Cuts = tuple[Cut, ...]
_ALL: Cuts = ((),)
_MANY_BYTES = 1 << 20


def zero_outputs(
    kernel: KernelSource, program: Program, made: Prepared, grid: Grid, elements: int | None
) -> dict[str, Cuts]:
    """Clear the `Out` arrays of a call, but for the elements that its invocations write.

    Gives what was cleared of each of them, if anything was.
    """
    filled = program.memo("front.filled", filled_buffers)
    cleared: dict[str, Cuts] = {}
    for name, array in made.written.items():
        parameter = kernel.parameters[name]
        if not isinstance(parameter, ArrayParameter) or parameter.mode is not Mode.OUT:
            continue
        known = filled.get(name)
        box: Box | None = None
        if known is not None and name not in made.layouts:
            lanes = _lanes(program, grid, elements, made)
            box = None if lanes is None else _written_box(array.shape, known, lanes, made)
        cuts = _outside(array.shape, box)
        if cuts:
            cleared[name] = cuts
            clear(array, cuts)
    return cleared


def clear(array: Host | DeviceArray, cuts: Cuts) -> None:
    """Fill parts of an array with zeros."""
    if isinstance(array, DeviceArray):
        memory = array.memory()
        view = None if cuts == _ALL else memory.host_view()
        if view is None:
            memory.zero()
            return
        array = np.frombuffer(view, array.dtype, math.prod(array.shape)).reshape(array.shape)
    if cuts == _ALL and array.nbytes >= _MANY_BYTES and array.flags.forc:
        # Twice as quick as numpy, which reads every line before it fills it.
        ctypes.memset(array.ctypes.data, 0, array.nbytes)
        return
    for cut in cuts:
        array[cut] = 0


def _outside(shape: Sequence[int], box: Box | None) -> Cuts:
    """The parts of an array around a box; all of it if the box is small."""
    written = 0 if box is None else math.prod(end - first for first, end in box)
    if box is None or 2 * written < math.prod(shape):
        return _ALL
    cuts: list[Cut] = []
    for axis, (first, end) in enumerate(box):
        along = (slice(None),) * axis
        if first:
            cuts.append((*along, slice(0, first)))
        if end < shape[axis]:
            cuts.append((*along, slice(end, None)))
    return tuple(cuts)


def _lanes(program: Program, grid: Grid, elements: int | None, made: Prepared) -> list[int] | None:
    """How many invocations there are along each axis, at least; None where that is not plain."""
    size = program.workgroup_size
    if grid is None and elements is not None and type(elements) is not int:
        return None
    if grid is None:
        longest = max((math.prod(array.shape) for array in made.written.values()), default=0)
        return [longest if elements is None else elements, size[1], size[2]]
    # Whoever resolves the grid refuses what is no number; here only plain ones count.
    groups = list(grid) if isinstance(grid, (tuple, list)) else [grid]
    if not 1 <= len(groups) <= len(size) or any(type(n) is not int or n < 0 for n in groups):
        return None
    numbers = [*cast("list[int]", groups), 1, 1]
    return [many * each for many, each in zip(numbers, size, strict=False)]


def _written_box(
    shape: Sequence[int], filled: Filled, lanes: Sequence[int], made: Prepared
) -> Box | None:
    """The elements of an array that surely have an invocation that gets to write them."""
    if len(shape) != filled.rank or any(extent >= SAFE_EXTENT for extent in shape):
        return None
    own, parts = shape, filled.parts
    if parts is not None:
        own = shape[:-1]
        if not all(part in parts for part in range(shape[-1])):
            return None
    firsts = [0, 0, 0]
    ends = [min(pair) for pair in zip([*reversed(own), 1, 1][:3], lanes, strict=True)]
    for limit in filled.limits:
        axis = limit.axis
        firsts[axis] = max(firsts[axis], limit.first)
        if limit.extent is not None:
            bound = _bound(limit.extent, made)
            if bound is None or bound >= SAFE_EXTENT:
                return None
            ends[axis] = min(ends[axis], bound - limit.margin)
    if any(first >= end for first, end in zip(firsts, ends, strict=True)):
        return None
    box = [(firsts[axis], ends[axis]) for axis in reversed(range(len(own)))]
    return box if parts is None else [*box, (0, shape[-1])]


def _bound(extent: Extent, made: Prepared) -> int | None:
    """An extent of the arrays at hand."""
    buffer, along = extent
    shape = _shape_of(made, buffer)
    if shape is None or along >= len(shape) or (along < 0 and buffer in made.layouts):
        return None
    return math.prod(shape) if along < 0 else shape[along]


def _shape_of(made: Prepared, buffer: str) -> Sequence[int] | None:
    both: Mapping[str, object] = {**made.given, **made.written}
    found = getattr(both.get(buffer), "shape", None)
    return cast("Sequence[int]", found) if isinstance(found, tuple) else None


__all__ = ["Cuts", "clear", "zero_outputs"]
