"""`Out` arrays begin as zeros, unless nobody could tell."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import cast

from vyre.front import KernelSource
from vyre.front.filled import Filled, filled_buffers
from vyre.front.parameters import ArrayParameter, Mode
from vyre.ir import Program
from vyre.runtime.device_array import DeviceArray
from vyre.runtime.kernel_arguments import Prepared

Grid = Sequence[int] | int | None


def zero_outputs(
    kernel: KernelSource, program: Program, made: Prepared, grid: Grid, elements: int | None
) -> None:
    """Clear the `Out` arrays of a call, but for those that its invocations write altogether."""
    filled = program.memo("front.filled", filled_buffers)
    for name, array in made.written.items():
        parameter = kernel.parameters[name]
        if not isinstance(parameter, ArrayParameter) or parameter.mode is not Mode.OUT:
            continue
        known = filled.get(name)
        if known is not None and name not in made.layouts:
            lanes = _lanes(program, grid, elements, made)
            if lanes is not None and _is_covered(array.shape, known, lanes, made):
                continue
        if isinstance(array, DeviceArray):
            array.memory().zero()
        else:
            array.fill(0)


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


def _is_covered(shape: Sequence[int], filled: Filled, lanes: Sequence[int], made: Prepared) -> bool:
    """Whether every element of an array has an invocation that gets to write it."""
    extents = [*reversed(shape), 1, 1][:3]
    if len(shape) != filled.rank or any(a > b for a, b in zip(extents, lanes, strict=True)):
        return False
    for axis, (buffer, along) in filled.bounds:
        other = _shape_of(made, buffer)
        if other is None or along >= len(other) or (along < 0 and buffer in made.layouts):
            return False
        bound = math.prod(other) if along < 0 else other[along]
        if bound < extents[axis]:
            return False
    return True


def _shape_of(made: Prepared, buffer: str) -> Sequence[int] | None:
    both: Mapping[str, object] = {**made.given, **made.written}
    found = getattr(both.get(buffer), "shape", None)
    return cast("Sequence[int]", found) if isinstance(found, tuple) else None


__all__ = ["zero_outputs"]
