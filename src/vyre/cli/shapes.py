"""Arrays of several axes on the command line: what a kernel is told beside their elements."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from vyre.cli import arrays
from vyre.cli.command import UsageError
from vyre.front.parameters import SHAPE
from vyre.ir import Program
from vyre.runtime.kernel_grid import covering

Shape = tuple[int, ...]


def shapes_of(
    program: Program, inputs: Mapping[str, Any], wanted: Mapping[str, str]
) -> dict[str, Shape]:
    """The shapes of all arrays whose kernel asks for it, from `--in` and `--size`."""
    found: dict[str, Shape] = {}
    for decl in program.buffers:
        name = decl.name.removesuffix(SHAPE)
        if name == decl.name or decl.name in inputs:
            continue
        if name in wanted:
            shape = tuple(arrays.whole(n, "--size") for n in wanted[name].split(","))
        elif name in inputs:
            shape = inputs[name].shape
        else:
            example = ",".join(["100"] * decl.count)
            raise UsageError(f"say how large {name} is: --size {name}={example}")
        if len(shape) != decl.count:
            example = ",".join(["100"] * decl.count)
            option = f"--size {name}={example}" if name in wanted else f"--in {name}=ones:{example}"
            raise UsageError(
                f"{name} has {decl.count} axes, and an array of the shape {shape} is given; "
                f"give as many extents, as in {option}, or a .npy file of such a shape"
            )
        found[name] = shape
    return found


def sizes_from(wanted: Mapping[str, str]) -> dict[str, int]:
    """How many elements outputs have; several extents are multiplied."""
    return {
        name: math.prod(arrays.whole(part, "--size") for part in text.split(","))
        for name, text in wanted.items()
    }


def told(shapes: Mapping[str, Shape]) -> dict[str, Any]:
    """Shapes as the small arrays that a program reads."""
    return {name + SHAPE: np.array(shape, np.uint32) for name, shape in shapes.items()}


def grid_over(program: Program, shapes: Mapping[str, Shape]) -> Shape | None:
    """The workgroups that cover the largest array that is written, along all of its axes."""
    written = [
        shapes[decl.name] for decl in program.buffers if decl.name in shapes and decl.is_host_output
    ]
    return covering(program, max(written, key=math.prod)) if written else None
