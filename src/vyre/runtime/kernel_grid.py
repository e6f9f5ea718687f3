"""How many workgroups a call of a kernel runs: as the caller says, or as its effects need."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.analysis.default_grid.plan import NoGrid, Plan, plan_of
from vyre.diagnostics import DispatchError
from vyre.diagnostics.codes import driver as codes
from vyre.driver import grid as grids
from vyre.driver.grid import Extents, Grid
from vyre.front.extent_limit import HALF, NO_LIMIT, extents, extents_below
from vyre.record import dataclass

if TYPE_CHECKING:
    from vyre.analysis.default_grid.extents import Sizes
    from vyre.ir import Program


def launch_grid(program: Program, sizes: Sizes, grid: Extents, elements: Extents) -> Grid:
    """The workgroups of a launch of a kernel.

    The one place where that is decided: for calls, for the clearing of outputs, the reference,
    checks against it, the command line, and pages for browsers. `launch_sizes` compiles the same
    for calls like one before.
    """
    if grid is not None or elements is not None:
        found = grids.given(program, grid, elements)
        assert found is not None
    else:
        found = _default_grid(program, grid_plan(program), sizes)
    below = extents_below(program)
    if below < NO_LIMIT:
        _refuse_long(program, sizes, found, below)
    return found


def _refuse_long(program: Program, sizes: Sizes, grid: Grid, below: int) -> None:
    """Refuse ids and lengths that a kernel would read wrongly."""
    for axis, (many, each) in enumerate(zip(grid, program.workgroup_size, strict=True)):
        if many * each >= below:
            found = f"vy.gid({axis})" if axis else "vy.gid()"
            raise _too_long(found, f"goes up to {many * each - 1}", below)
    for found, extent in extents(program, sizes):
        if extent >= below:
            raise _too_long(found, f"is {extent}", below)


def _too_long(text: str, found: str, below: int) -> DispatchError:
    shown = "2**31" if below == HALF else f"2**32 - {NO_LIMIT - below}"
    return DispatchError(codes.LONG_INDEX.at(text=text, found=found, below=shown))


def grid_plan(program: Program) -> Plan:
    """What decides about the default grid of a program."""
    found = plan_of(program)
    return program.memo("runtime.grid", _find_plan) if found is None else found


def _find_plan(program: Program) -> Plan:
    from vyre.analysis.default_grid.needs import find_plan  # a kernel that is remembered knows

    return find_plan(program)


def has_kernel_rules(program: Program) -> bool:
    """Whether the default grid follows from effects: that of kernels, and of several axes.

    A program that was no kernel has a rule of its own, for one axis; see `vyre.driver.grid`.
    """
    if plan_of(program) is not None:
        return True
    from vyre.analysis.default_grid.effects import Asked

    return any(axis > 0 for axis in Asked.of(program).axes)


def deciding_numbers(program: Program, grid: Extents, elements: Extents) -> frozenset[str]:
    """The parameters whose values decide about the grid of a call."""
    plan = plan_of(program) if grid is None and elements is None else None
    return frozenset[str]() if plan is None else plan.numbers


def _default_grid(program: Program, plan: Plan, sizes: Sizes) -> Grid:
    """The workgroups that a kernel needs for arguments of these sizes."""
    if plan.needs is None:
        from vyre.front.grid.advice import refusal

        raise DispatchError(refusal(program, sizes))
    try:
        wanted = plan.invocations(sizes)
    except NoGrid as problem:
        raise _no_such_grid(plan, sizes, problem) from None
    return grids.covering(program, wanted)


def _no_such_grid(plan: Plan, sizes: Sizes, problem: NoGrid) -> DispatchError:
    numbers = ", ".join(f"{name}: {sizes.number(name)}" for name in sorted(plan.numbers))
    axis = problem.axis
    return DispatchError(
        codes.NO_SUCH_GRID.at(
            id=f"vy.gid({axis})" if axis else "vy.gid()",
            found=problem.found,
            what=f"the numbers that the call passes ({numbers})" if numbers else "the bounds",
        )
    )


@dataclass(frozen=True, slots=True)
class ArraySizes:
    """The sizes of arrays that were not given by a call."""

    counts: Mapping[str, int]
    """How many elements buffers have."""
    shapes: Mapping[str, tuple[int, ...]]
    """Those of arrays of several axes."""
    arrays: Mapping[str, Any]
    """Contents; those of numbers are looked at."""

    def length(self, buffer: str) -> int:
        """How many elements a buffer has."""
        return self.counts[buffer]

    def extent(self, buffer: str, axis: int) -> int:
        """How long an array is along an axis."""
        return self.shapes[buffer][axis]

    def number(self, name: str) -> int:
        """The value of a parameter that is one integer."""
        return int(np.asarray(self.arrays[name]).reshape(-1)[0])


__all__ = ["ArraySizes", "deciding_numbers", "grid_plan", "has_kernel_rules", "launch_grid"]
