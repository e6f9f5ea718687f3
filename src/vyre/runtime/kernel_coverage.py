"""What the sanitizer says of a grid that a call of a kernel gives."""

from __future__ import annotations

from collections.abc import Mapping

from vyre.analysis.default_grid.extents import Sizes
from vyre.diagnostics import Diagnostic
from vyre.driver import grid as grids
from vyre.driver.grid import Extents, Grid
from vyre.front.grid.coverage import done_by_all, not_reached
from vyre.ir import Program

Limits = tuple[tuple[int, ...], Mapping[int, str]]


def limits_of(program: Program, sizes: Sizes, elements: Extents) -> Limits | None:
    """The invocations that were asked for, and what none after them should do: how to guard it."""
    if elements is None:
        return None
    wanted = grids.invocations(elements)
    axes = zip(wanted, program.workgroup_size, strict=False)
    if all(extent % size == 0 for extent, size in axes):
        return None
    return wanted, done_by_all(program, sizes, wanted)


def left_out(written: Program, sizes: Sizes, shape: Grid) -> list[Diagnostic]:
    """The guards of a kernel, as it is written, that a given grid does not reach."""
    x, y, z = (many * each for many, each in zip(shape, written.workgroup_size, strict=True))
    return not_reached(written, sizes, (x, y, z))


__all__ = ["left_out", "limits_of"]
