"""How many workgroups a call of a kernel runs: as the caller says, or as its effects need."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.analysis.default_grid.extents import Constant, compiled
from vyre.analysis.default_grid.plan import NoGrid, Plan, plan_of
from vyre.diagnostics import DispatchError
from vyre.diagnostics.codes import driver as codes
from vyre.driver import grid as grids
from vyre.driver.grid import Extents, Grid
from vyre.front.extent_limit import HALF, NO_LIMIT, extents, extents_below
from vyre.record import dataclass

if TYPE_CHECKING:
    from vyre.analysis.default_grid.extents import Compiled, Sizes
    from vyre.ir import Program

_MANY = 1 << 20
"""Along three axes, fewer invocations than this surely have ids."""


def launch_grid(program: Program, sizes: Sizes, grid: Extents, elements: Extents) -> Grid:
    """The workgroups of a launch of a kernel.

    The one place where that is decided: for calls, also those like one before, for the clearing of
    outputs, the reference, checks against it, the command line, and pages for browsers.
    """
    if grid is not None or elements is not None:
        found = grids.given(program, grid, elements)
        assert found is not None
    else:
        found = _default_grid(program, _plan(program), sizes)
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


def _plan(program: Program) -> Plan:
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


class ByNumbers:
    """The grid of calls on arrays of the same shapes, where numbers have a say in it."""

    __slots__ = (
        *("_axes", "_first", "_grid", "_names", "_plan", "_positions", "_program", "_sizes"),
        *("_value", "_values"),
    )

    def __init__(self, program: Program, sizes: Sizes, positions: Mapping[str, int]) -> None:
        plan = plan_of(program)
        assert plan is not None
        self._program = program
        self._plan = plan
        self._sizes = sizes
        self._names = sorted(plan.numbers)
        self._positions = [positions[name] for name in self._names]
        self._values: list[Any] | None = None
        self._first = self._positions[0] if len(self._positions) == 1 else None
        self._value: Any = None
        self._grid: Grid = (0, 0, 0)
        self._axes: list[Compiled] | None = None
        """What is needed along x, y and z, if one effect decides."""
        if plan.needs is not None and len(plan.needs) == 1:
            [need] = plan.needs
            extents = [Constant(1) if extent is None else extent for extent in need]
            with suppress(ZeroDivisionError):
                self._axes = [compiled(extent, sizes, positions) for extent in extents]

    def grid(self, args: tuple[Any, ...]) -> Grid:
        """The grid for the numbers of a call; those of the call before are likely."""
        first = self._first
        if first is not None:
            # One number, as most have: a list would cost more than all else here.
            value = args[first]
            if value == self._value:
                return self._grid
            self._grid = self._quickly(args) or self._surely([value])
            self._value = value
            return self._grid
        values = [args[position] for position in self._positions]
        if values != self._values:
            self._grid = self._quickly(args) or self._surely(values)
            self._values = values
        return self._grid

    def _quickly(self, args: tuple[Any, ...]) -> Grid | None:
        """The grid where that takes no thought: some invocations, and not too many."""
        if self._axes is None:
            return None
        along_x, along_y, along_z = self._axes
        try:
            x, y, z = along_x(args), along_y(args), along_z(args)
        except ZeroDivisionError:
            return None
        if not (0 < x < _MANY and 0 < y < _MANY and 0 < z < _MANY):
            return None
        sx, sy, sz = self._program.workgroup_size
        return -(-x // sx), -(-y // sy), -(-z // sz)

    def _surely(self, values: list[Any]) -> Grid:
        sizes = _WithNumbers(self._sizes, dict(zip(self._names, values, strict=True)))
        return _default_grid(self._program, self._plan, sizes)


class _WithNumbers:
    """The sizes of a call with other numbers."""

    __slots__ = ("_numbers", "extent", "length")

    def __init__(self, sizes: Sizes, numbers: Mapping[str, Any]) -> None:
        self.length = sizes.length
        self.extent = sizes.extent
        self._numbers = numbers

    def number(self, name: str) -> int:
        """The value of a parameter that is one integer."""
        return int(self._numbers[name])


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


__all__ = ["ArraySizes", "ByNumbers", "deciding_numbers", "has_kernel_rules", "launch_grid"]
