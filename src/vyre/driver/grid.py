"""How many workgroups a dispatch runs."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, SupportsIndex, cast

from vyre.diagnostics import DispatchError
from vyre.diagnostics.codes import driver as codes
from vyre.signals import is_from_handler

if TYPE_CHECKING:
    from vyre.ir import IndirectDispatch, Program

Grid = tuple[int, int, int]
Extents = Sequence[int] | int | None
"""What callers give for `grid` or `elements`: along x, or along x, y and z, or nothing."""

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
    grid: Extents,
    elements: Extents,
) -> Grid:
    """The grid of a program: given, or from the longest buffer that the program writes."""
    found = given(program, grid, elements)
    return over_longest(program, counts) if found is None else found


def over_longest(program: Program, counts: Mapping[str, int]) -> Grid:
    """The grid that covers the longest buffer that a program writes, along x."""
    longest = longest_written(program, counts)
    if longest is None:
        why, fix = "", "pass grid=(x, y, z) or elements=n"
        raise DispatchError(codes.NO_GRID.at(why=why, fix=fix))
    return covering(program, (longest,))


def given(program: Program, grid: Extents, elements: Extents) -> Grid | None:
    """The grid that a caller gives, in workgroups or in invocations; None for neither."""
    if grid is None:
        return None if elements is None else covering(program, invocations(elements))
    if elements is not None:
        raise DispatchError(codes.GRID_AND_ELEMENTS.at(grid=grid, elements=elements))
    x, y, z = (*_extents(grid, ""), 1, 1)[:3]
    return checked(program, (x, y, z))


def invocations(elements: Sequence[int] | int) -> tuple[int, ...]:
    """The invocations along one to three axes that `elements` asks for."""
    found = _extents(elements, " elements")
    if any(extent < 0 for extent in found):
        raise DispatchError(codes.BAD_GRID.at(grid=f"{elements} elements", problem="is negative"))
    return found


def covering(program: Program, wanted: Sequence[int]) -> Grid:
    """The workgroups that have at least these numbers of invocations along each axis."""
    x, y, z = (*wanted, 1, 1)[:3]
    sx, sy, sz = program.workgroup_size
    return checked(program, (-(-x // sx), -(-y // sy), -(-z // sz)))


def longest_written(program: Program, counts: Mapping[str, int]) -> int | None:
    """The length of the longest device buffer that the program writes."""
    lengths = [counts[name] for name in written_buffers(program) if name in counts]
    return max(lengths, default=None)


def written_buffers(program: Program) -> tuple[str, ...]:
    """The device buffers that a program writes."""
    return program.memo("driver.written", _find_written_buffers)


def checked(program: Program, grid: Grid) -> Grid:
    """`grid`, if every invocation's id fits in 32 bits."""
    x, y, z = grid
    sx, sy, sz = program.workgroup_size
    if x < 0 or y < 0 or z < 0:
        raise DispatchError(codes.BAD_GRID.at(grid=grid, problem="has a negative extent"))
    if x * sx >= _U32 or y * sy >= _U32 or z * sz >= _U32:
        problem = "has more than 2**32 - 1 invocations in a row"
        raise DispatchError(codes.BAD_GRID.at(grid=grid, problem=problem))
    if x * y * z * sx * sy * sz >= 1 << 63:
        raise DispatchError(codes.BAD_GRID.at(grid=grid, problem="has too many invocations"))
    return grid


def _extents(given: Sequence[int] | int, unit: str) -> tuple[int, ...]:
    """One to three whole numbers, of Python's own."""
    extents: tuple[object, ...] = (given,)
    # Not what has no order, or no end, or holds the codes of characters.
    if isinstance(given, (list, tuple, range)) or _is_row(given):
        extents = tuple(cast("Iterable[object]", given))
    if not 1 <= len(extents) <= 3:
        raise _no_grid(given, unit, "is not one to three integers")
    try:
        return tuple(_whole(extent) for extent in extents)
    except TypeError as problem:
        if is_from_handler(problem):
            raise
        raise _no_grid(given, unit, "is not made of whole numbers") from problem


def _is_row(given: object) -> bool:
    """Whether something is an array with axes."""
    return type(given) is not int and hasattr(given, "dtype") and getattr(given, "ndim", 0) > 0


def _no_grid(given: object, unit: str, problem: str) -> DispatchError:
    return DispatchError(codes.BAD_GRID.at(grid=f"{given!r}{unit}", problem=problem))


def _whole(number: object) -> int:
    """A number as Python's own; those of numpy will do, floats and truth values will not."""
    if isinstance(number, bool):
        raise TypeError(f"{number} is a truth value")
    return operator.index(cast("SupportsIndex", number))
