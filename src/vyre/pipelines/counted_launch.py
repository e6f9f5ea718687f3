"""Stages that use counted scratch: their kernels with lengths on the device, and their grids."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from vyre import ir
from vyre.analysis.default_grid.extents import Constant, Extent, Length, Number, Operation
from vyre.analysis.default_grid.plan import END
from vyre.diagnostics import Location, PlanError
from vyre.diagnostics.codes import pipeline as codes
from vyre.driver import grid as grids
from vyre.front.parameters import ArrayParameter, Mode, Parameter, ScalarParameter
from vyre.ir import DataType, Program
from vyre.pipelines.counts import CountedScratch, plain, writes_count
from vyre.pipelines.rewritten import further_name, rewritten
from vyre.pipelines.stages import Site
from vyre.pipelines.steps import Launch, Sizes, launch_of, specialisation
from vyre.plan.counted import other_use, reads, with_counts, with_lengths
from vyre.plan.strided import asks_for_grid, can_stride, strided
from vyre.record import dataclass
from vyre.runtime.kernel import Kernel
from vyre.runtime.kernel_grid import grid_plan

MOST_WORKGROUPS = 4096
"""Workgroups along x of a stage whose grid follows from a count: the rest is done by a loop."""
_MOST_KERNELS = 64
Extents = tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class Roles:
    """What the counted parameters of a stage are."""

    counts: tuple[tuple[str, str], ...]
    """Parameters whose length is a count, and the parameters that hold it."""
    limits: tuple[tuple[str, str], ...]
    """Parameters whose count the stage writes, and the parameters that hold the upper limit."""


class CountedKernels:
    """The changed kernels of a pipeline's stages, whatever the lengths are."""

    def __init__(self) -> None:
        self._known: dict[tuple[Kernel[...], Roles, bool], Kernel[...]] = {}

    def launch(
        self,
        kernel: Kernel[...],
        given: Mapping[str, Any],
        grid: Extents,
        elements: Extents,
        site: Site,
    ) -> Launch:
        """The launch of a stage; `given` has counted scratch among its arrays."""
        roles, values = _roles(kernel, given, site)
        program = kernel.source.program(specialisation(kernel, values))
        _refuse(program, roles, site)
        is_capped = False
        if grid is None and elements is None:
            grid, is_capped = _capped_grid(program, roles, values, site)
        changed = self._kernel(kernel, roles, is_capped)
        return launch_of(changed, values, grid, elements, site)

    def _kernel(self, kernel: Kernel[...], roles: Roles, is_capped: bool) -> Kernel[...]:
        key = (kernel, roles, is_capped)
        found = self._known.get(key)
        if found is None:
            while len(self._known) >= _MOST_KERNELS:
                self._known.pop(next(iter(self._known)), None)
            found = self._known[key] = _changed(kernel, roles, is_capped)
        return found


def _changed(kernel: Kernel[...], roles: Roles, is_capped: bool) -> Kernel[...]:
    own = kernel.source.parameters
    further: dict[str, Parameter] = {}
    for _, name in roles.counts:
        if name not in own:
            further[name] = ArrayParameter(Mode.IN, DataType.U32, 1)
    for _, name in roles.limits:
        further[name] = ScalarParameter(DataType.U32)

    def change(program: Program) -> Program:
        found = with_counts(program, dict(roles.counts))
        found = with_lengths(found, dict(roles.limits))
        if is_capped:
            needed = _needed(program, dict(roles.counts))
            assert needed is not None
            found = strided(found, needed)
        return found

    return rewritten(kernel, further, change)


def _roles(
    kernel: Kernel[...], given: Mapping[str, Any], site: Site
) -> tuple[Roles, dict[str, Any]]:
    """What counted scratch a stage has, and its arguments with what it needs besides."""
    parameters = kernel.source.parameters
    values = {name: plain(value) for name, value in given.items()}
    counts: list[tuple[str, str]] = []
    limits: list[tuple[str, str]] = []
    holders = {
        id(value): name
        for name, value in given.items()
        if isinstance(parameter := parameters[name], ArrayParameter)
        and parameter.mode is Mode.IN
        and parameter.rank == 1
    }
    for name, value in given.items():
        if not isinstance(value, CountedScratch):
            continue
        if writes_count(value, parameters, given):
            limit = further_name(kernel, f"{name}_most")
            limits.append((name, limit))
            values[limit] = value.most
        else:
            holder = holders.setdefault(id(value.count), further_name(kernel, f"{name}_count"))
            counts.append((name, holder))
            values[holder] = value.count
    return Roles(tuple(counts), tuple(limits)), values


def _refuse(program: Program, roles: Roles, site: Site) -> None:
    for name, _ in (*roles.counts, *roles.limits):
        if other_use(program, name):
            raise _problem(
                site,
                f"copies stretches of {name!r}, which is counted",
                "load and store its elements, or pass scratch without count=",
            )
    for name, _ in roles.limits:
        if reads(program, name):
            raise _problem(
                site,
                f"reads {name!r} and writes its count",
                "count in another array, or write the elements in one stage and read them in the "
                "next",
            )


def _problem(site: Site, problem: str, fix: str) -> PlanError:
    location = Location(span=site.stage.span)
    return PlanError(codes.ARGUMENT.at(location, (), stage=site.name, problem=problem, fix=fix))


def _capped_grid(
    program: Program, roles: Roles, values: Mapping[str, Any], site: Site
) -> tuple[Extents, bool]:
    """The default grid for the longest that counted scratch can be, and if a loop does part of it.

    More invocations than needed have no effect: that is what a default grid follows from.
    """
    counted = {name for name, _ in roles.counts}
    plan = grid_plan(program)
    if plan.needs is None:
        return None, False
    longest = {name: replace(values[name], shape=(values[most],)) for name, most in roles.limits}
    sizes = Sizes({**values, **longest})
    wanted = [0, 0, 0]
    for need in plan.needs or ((None, None, None),):
        try:
            ends = [1 if each is None else _range(each, sizes, counted)[1] for each in need]
        except _Unknown:
            fix = "say how many invocations there are: elements=n"
            raise _problem(site, "has a grid that a count does not bound", fix) from None
        if min(ends) > 0:
            wanted = [max(pair) for pair in zip(wanted, ends, strict=True)]
    if not plan.needs:
        wanted = [1, 1, 1]
    x, y, z = grids.covering(program, tuple(min(each, END - 1) for each in wanted))
    depends = any(_names(each) & counted for need in plan.needs for each in need if each)
    if depends and asks_for_grid(program):
        fix = "say how many workgroups there are: grid=n"
        raise _problem(site, "asks for the number of workgroups, which depends on a count", fix)
    is_capped = (
        depends
        and x > MOST_WORKGROUPS
        and can_stride(program)
        and _needed(program, dict(roles.counts)) is not None
    )
    return (min(x, MOST_WORKGROUPS) if is_capped else x, y, z), is_capped


class _Unknown(Exception):
    """An extent that is not bounded by the bounds of what it follows from."""


def _range(extent: Extent, sizes: Sizes, counted: set[str]) -> tuple[int, int]:
    """The least and the greatest that an extent can be."""
    match extent:
        case Length(buffer) if buffer in counted:
            return 0, sizes.length(buffer)
        case Operation("min" | "least" as op, left, right):
            try:
                one = _range(left, sizes, counted)
            except (_Unknown, ZeroDivisionError):
                if op == "min":
                    raise
                return _range(right, sizes, counted)
            two = _range(right, sizes, counted)
            return min(one[0], two[0]), min(one[1], two[1])
        case Operation(op, left, right):
            one, two = _range(left, sizes, counted), _range(right, sizes, counted)
            return _combined(op, one, two)
        case _:
            found = extent.of(sizes)
            return found, found


def _combined(op: str, one: tuple[int, int], two: tuple[int, int]) -> tuple[int, int]:
    match op:
        case "+":
            return one[0] + two[0], one[1] + two[1]
        case "-":
            return one[0] - two[1], one[1] - two[0]
        case "max":
            return max(one[0], two[0]), max(one[1], two[1])
        case "*":
            corners = [a * b for a in one for b in two]
            return min(corners), max(corners)
        case "//" if two[0] == two[1] > 0:
            return one[0] // two[0], one[1] // two[0]
        case "ceil" if two[0] == two[1] > 0:
            return max(-(-one[0] // two[0]), 0), max(-(-one[1] // two[0]), 0)
        case "past" if one[1] <= two[0]:
            return 0, 0
        case _:
            raise _Unknown


def _names(extent: Extent) -> set[str]:
    match extent:
        case Length(buffer):
            return {buffer}
        case Operation(_, left, right):
            return _names(left) | _names(right)
        case _:
            return set()


def _needed(program: Program, counts: Mapping[str, str]) -> ir.AnyExpr | None:
    """The workgroups along x that are needed, computed on the device; None if it cannot be."""
    types = {decl.name: decl.element for decl in program.buffers}
    found: ir.AnyExpr | None = None
    for need in grid_plan(program).needs or ():
        along = need[0]
        value = None if along is None else _on_device(along, counts, types)
        if value is None:
            return None
        found = value if found is None else ir.Expr.max_(found, value)
    if found is None:
        return None
    width = ir.Expr.u32(program.workgroup_size[0])
    rest = ir.Expr.select((found % width).eq(ir.Expr.u32(0)), ir.Expr.u32(0), ir.Expr.u32(1))
    return found / width + rest


def _on_device(
    extent: Extent, counts: Mapping[str, str], types: Mapping[str, DataType]
) -> ir.AnyExpr | None:
    match extent:
        case Constant(value) if 0 <= value < END:
            return ir.Expr.u32(value)
        case Length(buffer) if buffer in counts:
            count = ir.Expr.load(counts[buffer], 0)
            return ir.Expr.min_(count, ir.Expr.buf_len(buffer))
        case Length(buffer):
            return ir.Expr.buf_len(buffer)
        case Number(name) if types.get(name) is DataType.U32:
            return ir.Expr.load(name, 0)
        case Operation("min" | "least" | "max" as op, left, right):
            one, two = _on_device(left, counts, types), _on_device(right, counts, types)
            if one is None or two is None:
                return None
            return ir.Expr.max_(one, two) if op == "max" else ir.Expr.min_(one, two)
        case _:
            return None
