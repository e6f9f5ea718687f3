"""Short ways to write, run and compare programs in these tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.unit.backends.reference import scalar
from tests.unit.semantics import exact
from vyre import semantics
from vyre.backends.reference import ReferenceResult, execute
from vyre.ir import DataType, Program

Grid = tuple[int, int, int]


def program(body: str, *buffers: str, workgroup: Grid = (8, 1, 1)) -> Program:
    """A program from the text of its body and of its buffers, without the word `buffer`."""
    x, y, z = workgroup
    head = [f"program workgroup({x}, {y}, {z})", ""]
    return Program.parse("\n".join([*head, *(f"buffer {b}" for b in buffers), "", body, ""]))


def run(source: Program, grid: int | Grid = 1, **options: Any) -> ReferenceResult:
    """Run a program; arrays among the options are inputs."""
    inputs = {name: value for name, value in options.items() if isinstance(value, np.ndarray)}
    rest = {name: value for name, value in options.items() if name not in inputs}
    return execute(source, inputs, (grid, 1, 1) if isinstance(grid, int) else grid, **rest)


def u32(*values: int) -> semantics.Array:
    return np.array(values, np.uint32)


def zeros(count: int, dtype: Any = np.uint32) -> semantics.Array:
    return np.zeros(count, dtype)


def codes(result: ReferenceResult) -> list[str]:
    """What the sanitizer found."""
    return [finding.code for finding in result.findings]


def difference(
    source: Program, inputs: dict[str, semantics.Array], grid: Grid, **options: Any
) -> str | None:
    """Where the reference and the second interpreter disagree."""
    found = execute(source, inputs, grid, **options).outputs
    width = options.get("subgroup_width", 32)
    for name, bits in scalar.execute(source, inputs, grid, width).items():
        decl = source.buffer(name)
        assert decl is not None
        stored = found[name].view(semantics.storage_dtype(decl.element))
        ours = [_one_nan(decl.element, b) for b in scalar.loaded(decl.element, stored)]
        theirs = [_one_nan(decl.element, b) for b in bits]
        for at, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            if one != other:
                return f"{name}[{at}] is {one} on the reference and {other} by hand"
    return None


def _one_nan(element: DataType, bits: Any) -> Any:
    if isinstance(bits, tuple):
        assert element.element is not None
        return tuple(_one_nan(element.element, lane) for lane in bits)
    form = exact.FORMATS.get(element.value_type)
    return form.nan if form is not None and exact.is_nan(form, bits) else bits
