"""How many workgroups a dispatch runs."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from vyre.diagnostics import DispatchError
from vyre.diagnostics.codes import driver as codes

if TYPE_CHECKING:
    from vyre.ir import IndirectDispatch, Program

Grid = tuple[int, int, int]

_U32 = 1 << 32


def indirect_dispatch(program: Program) -> IndirectDispatch | None:
    """The statement by which a program reads its grid from a buffer; it can only come first."""
    return program.memo("indirect_dispatch", _find_indirect_dispatch)


# Programs that are remembered know both, and need no statements.


def _find_indirect_dispatch(program: Program) -> IndirectDispatch | None:
    from vyre.driver.grid_facts import find_indirect_dispatch

    return find_indirect_dispatch(program)


def _find_written_buffers(program: Program) -> tuple[str, ...]:
    from vyre.driver.grid_facts import find_written_buffers

    return find_written_buffers(program)


def resolve(
    program: Program,
    counts: Mapping[str, int],
    grid: Sequence[int] | int | None,
    elements: int | None,
) -> Grid:
    """The grid: given, or from `elements`, or from the longest buffer the program writes."""
    if grid is not None:
        return checked(program, _as_triple(grid))
    if elements is None:
        elements = longest_written(program, counts)
    if elements is None:
        raise DispatchError(codes.NO_GRID.at())
    elements = _whole(elements, f"{elements!r} elements")
    if elements < 0:
        raise DispatchError(codes.BAD_GRID.at(grid=f"{elements} elements", problem="is negative"))
    return checked(program, (-(-elements // program.workgroup_size[0]), 1, 1))


def longest_written(program: Program, counts: Mapping[str, int]) -> int | None:
    """The length of the longest device buffer that the program writes."""
    lengths = [counts[name] for name in written_buffers(program) if name in counts]
    return max(lengths, default=None)


def written_buffers(program: Program) -> tuple[str, ...]:
    """The device buffers that a program writes."""
    return program.memo("driver.written", _find_written_buffers)


def checked(program: Program, grid: Grid) -> Grid:
    """`grid`, if every invocation's id fits in 32 bits."""
    for extent, size in zip(grid, program.workgroup_size, strict=True):
        if extent < 0:
            raise DispatchError(codes.BAD_GRID.at(grid=grid, problem="has a negative extent"))
        if extent * size >= _U32:
            raise DispatchError(
                codes.BAD_GRID.at(grid=grid, problem="has more than 2**32 - 1 invocations in a row")
            )
    x, y, z = grid
    sx, sy, sz = program.workgroup_size
    if x * y * z * sx * sy * sz >= 1 << 63:
        raise DispatchError(codes.BAD_GRID.at(grid=grid, problem="has too many invocations"))
    return grid


def _as_triple(grid: Sequence[int] | int) -> Grid:
    extents = tuple(grid) if isinstance(grid, Iterable) else (grid,)
    if not 1 <= len(extents) <= 3:
        raise DispatchError(
            codes.BAD_GRID.at(grid=repr(grid), problem="is not one to three integers")
        )
    x, y, z = (_whole(extent, repr(grid)) for extent in (*extents, 1, 1)[:3])
    return (x, y, z)


def _whole(number: int, shown: str) -> int:
    """A number as Python's own; those of numpy will do, floats will not."""
    try:
        return operator.index(number)
    except TypeError as problem:
        wrong = codes.BAD_GRID.at(grid=shown, problem="is not made of whole numbers")
        raise DispatchError(wrong) from problem
