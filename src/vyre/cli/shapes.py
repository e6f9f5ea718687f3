"""Arrays of several axes on the command line: what a kernel is told beside their elements."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from vyre.cli import arrays
from vyre.cli.command import UsageError
from vyre.driver.grid import Grid
from vyre.ir import Program
from vyre.ir.buffer import SHAPE
from vyre.runtime.host_arrays import as_host_array, element_count
from vyre.runtime.kernel_grid import ArraySizes, has_kernel_rules, launch_grid

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


def extents_from(text: str, option: str) -> Shape:
    """Numbers along one to three axes, as `--grid` and `--elements` take them."""
    parts = text.replace("x", ",").split(",")
    if not 1 <= len(parts) <= 3:
        raise UsageError(f"{option} {text}: give one to three numbers, such as 64,8")
    if any(part.strip().startswith("-") for part in parts):
        raise UsageError(f"{option} {text}: give numbers that are not negative")
    return tuple(arrays.whole(part, option) for part in parts)


def launch_from(grid: str | None, elements: str | None) -> tuple[Shape | None, Shape | None]:
    """What `--grid` and `--elements` ask for."""
    if grid is not None and elements is not None:
        raise UsageError("give --grid (workgroups) or --elements (invocations), not both")
    return (
        None if grid is None else extents_from(grid, "--grid"),
        None if elements is None else extents_from(elements, "--elements"),
    )


def sizes_from(wanted: Mapping[str, str]) -> dict[str, int]:
    """How many elements outputs have; several extents are multiplied."""
    return {
        name: math.prod(arrays.whole(part, "--size") for part in text.split(","))
        for name, text in wanted.items()
    }


def told(shapes: Mapping[str, Shape]) -> dict[str, Any]:
    """Shapes as the small arrays that a program reads."""
    return {name + SHAPE: np.array(shape, np.uint32) for name, shape in shapes.items()}


def default_grid(
    program: Program,
    inputs: Mapping[str, Any],
    shapes: Mapping[str, Shape],
    sizes: Mapping[str, int],
) -> Grid | None:
    """The workgroups that a kernel needs; None for programs with a rule of their own."""
    if not has_kernel_rules(program):
        return None
    counts: dict[str, int] = {}
    for decl in program.buffers:
        if decl.name in inputs:
            counts[decl.name] = element_count(as_host_array(inputs[decl.name], decl), decl)
    longest = max(counts.values(), default=0)
    for decl in program.buffers:
        if decl.is_device_allocated and decl.name not in counts:
            counts[decl.name] = sizes.get(decl.name, decl.count) or longest
    return launch_grid(program, ArraySizes(counts, shapes, inputs), None, None)
