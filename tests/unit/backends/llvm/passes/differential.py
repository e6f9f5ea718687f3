"""Programs before and after CPU passes on the reference: both must compute the same.

The programs are those of the text tests in tests/files/cpu; their launches are made as the facts of
the rewritten program demand, and their inputs so that trip counts end early, late and never begin.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.files.textfile import read as read_file
from tests.files.verbs import AVX512
from vyre.backends.llvm.abi import SUBGROUP_LANES
from vyre.backends.llvm.pass_context import CpuContext, CpuPass, LaunchFacts
from vyre.backends.llvm.pipeline import CPU_PASSES
from vyre.backends.reference import execute
from vyre.ir import BufferDecl, Program
from vyre.rewrite.unique_names import with_unique_names
from vyre.runtime.host_types import numpy_type

FOLDER = Path(__file__).parents[5] / "tests" / "files" / "cpu"
Grid = tuple[int, int, int]
Arrays = dict[str, NDArray[Any]]
GRIDS: Mapping[str, Sequence[Grid]] = {
    "if_convert_exchanges": ((1, 1, 1),),  # more workgroups would race in its cases
    "interchange_axes": ((2, 3, 1),),
    "retile_workgroups": ((1, 4, 1),),
}
TOLD = (
    (150, 128, 3, 70),
    (7, 64, 2, 5),
    (0, 1, 0, 9),
    (50, 70, 4, 64),
    (9, 3, 3, 11),
    (5000, 128, 1, 2),
)
"""Small numbers that programs read: extents, steps and trip counts."""


def programs(name: str) -> Iterator[tuple[str, Program]]:
    """The cases of the text test of a pass."""
    content = read_file((FOLDER / f"{name}.vy").read_text())
    for case in content.cases:
        yield case.name, with_unique_names(Program.parse(case.source + "\n"))


def words(name: str) -> Sequence[str]:
    """The passes that the text test of a pass runs, in order."""
    return read_file((FOLDER / f"{name}.vy").read_text()).words


def differences(name: str, replaced: Mapping[str, CpuPass] | None = None) -> list[str]:
    """Cases of a pass whose program computes something else afterwards."""
    passes = {each.metadata.name: each for each in CPU_PASSES} | dict(replaced or {})
    found: list[str] = []
    grids = GRIDS.get(name, ((2, 1, 1),))
    for case, program in programs(name):
        context, after = CpuContext(AVX512), program
        for word in words(name):
            if passes[word].analyze(after, context).runs:
                after = passes[word].transform(after, context).program
        if after is not program:
            found += [
                f"{case}: {problem}" for problem in compared(program, after, context.facts, grids)
            ]
    return found


def compared(
    before: Program, after: Program, facts: LaunchFacts, grids: Sequence[Grid]
) -> Iterator[str]:
    """The launches in which two programs differ."""
    for grid in grids:
        other = relaunched(grid, facts, after)
        if other is None:
            continue
        for told in TOLD:
            inputs = {d.name: data_for(d, told) for d in before.buffers if not d.is_on_chip}
            first = execute(
                before, inputs, grid, subgroup_width=SUBGROUP_LANES, deadline=10
            ).outputs
            second = execute(after, inputs, other, deadline=10).outputs
            for name, want in first.items():
                if want.tobytes() != second[name].tobytes():
                    yield f"grid {grid}, {told}: {name}"


def relaunched(grid: Grid, facts: LaunchFacts, after: Program) -> Grid | None:
    """The grid of the rewritten program; None where its rows do not divide into tiles."""
    groups = list(grid)
    axis = facts.interchanged_axis
    groups[0], groups[axis] = groups[axis], groups[0]
    if facts.tiling is not None:
        lanes = [count * size for count, size in zip(groups, facts.tiling.size, strict=True)]
        if lanes[1] % facts.tiling.rows:
            return None
        groups = [lanes[0], lanes[1] // facts.tiling.rows, lanes[2]]
    return groups[0], groups[1], groups[2]


def data_for(decl: BufferDecl, told: Sequence[int]) -> NDArray[Any]:
    """Numbers for a buffer: the small ones, row starts that rise, or anything."""
    dtype = numpy_type(decl.element)
    if decl.name == "told":
        return np.array(told, dtype)
    if decl.name == "starts":
        return (np.arange(300) * 2 % 257).astype(dtype)
    count = decl.count or 6000
    return np.random.default_rng(len(decl.name)).integers(1, 40, count).astype(dtype)
