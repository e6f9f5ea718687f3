"""What the reference makes of a program, in the shape in which a backend gives its results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from vyre.backends.reference import execute
from vyre.driver import grid as grids
from vyre.ir import Program
from vyre.semantics import Array


def reference_outputs(
    program: Program,
    inputs: Mapping[str, Any],
    grid: Sequence[int] | None,
    like: Mapping[str, Any],
    subgroup_width: int,
) -> dict[str, Array]:
    """The results of the reference; `like` are results that tell how long the outputs are."""
    given = {name: np.asarray(value) for name, value in inputs.items()}
    sizes = {
        decl.name: np.asarray(like[decl.name]).size // decl.element.lanes
        for decl in program.buffers
        if decl.is_device_allocated and not decl.count
    }
    counts = {decl.name: decl.count for decl in program.buffers if decl.count}
    for name, array in given.items():
        decl = program.buffer(name)
        counts[name] = array.size // (1 if decl is None else decl.element.lanes)
    shape = grids.resolve(program, counts | sizes, grid, None)
    return execute(program, given, shape, subgroup_width=subgroup_width, output_sizes=sizes).outputs
