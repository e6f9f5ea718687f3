"""The default grid as data: what each effect of a kernel needs along the axes of the grid.

Found once per kernel, remembered with its translation, and computed anew for the arguments of a
call. An effect needs invocations up to the least of its bounds; the grid is what the neediest
effect needs along each axis.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from vyre.analysis.default_grid.extents import Extent, Number, Sizes, from_row, parts, to_row
from vyre.record import dataclass

if TYPE_CHECKING:
    from vyre.ir import Program

Need = tuple[Extent | None, Extent | None, Extent | None]
"""How many invocations along x, y and z; None along axes that no id is asked of."""
Invocations = tuple[int, int, int]

PLAN = "analysis.default_grid"
"""The memo key under which the program of a kernel holds its plan."""
LEAST, END = -(1 << 31), 1 << 32
"""Extents that a kernel can compare ids with lie between these."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What decides about the default grid of a kernel."""

    needs: tuple[Need, ...] | None
    """Of each effect; None if a call has to say how many workgroups there are."""
    numbers: frozenset[str] = frozenset()
    """The parameters whose values have a say."""

    @staticmethod
    def of(needs: Iterable[Need]) -> Plan:
        """The plan of a kernel whose effects need this much."""
        each = tuple(dict.fromkeys(needs))
        extents = [extent for need in each for extent in need if extent is not None]
        every = [part for extent in extents for part in parts(extent)]
        return Plan(each, frozenset(part.name for part in every if isinstance(part, Number)))

    def invocations(self, sizes: Sizes) -> Invocations:
        """How many invocations along each axis are needed; at least one where no id is asked."""
        needs = self.needs
        assert needs is not None
        if not needs:
            return 1, 1, 1
        if len(needs) == 1:
            return _needed(needs[0], sizes)
        found = [each for each in [_needed(need, sizes) for need in needs] if 0 not in each]
        if not found:
            return 0, 0, 0
        x, y, z = (max(along) for along in zip(*found, strict=True))
        return x, y, z


class NoGrid(Exception):
    """What guards ask for is no number of invocations."""

    def __init__(self, axis: int, found: str) -> None:
        super().__init__(axis, found)
        self.axis = axis
        self.found = found


def _needed(need: Need, sizes: Sizes) -> Invocations:
    """What one effect needs; nothing along an axis is nothing at all, whatever others say."""
    x, y, z = need
    try:
        found = (
            1 if x is None else x.of(sizes),
            1 if y is None else y.of(sizes),
            1 if z is None else z.of(sizes),
        )
    except ZeroDivisionError:
        return _explained(need, sizes)
    low, high = min(found), max(found)
    if low > 0 and high < END:
        return found
    return (0, 0, 0) if LEAST <= low <= 0 and high < END else _explained(need, sizes)


def _explained(need: Need, sizes: Sizes) -> Invocations:
    """The same where some extent is no number of invocations: nothing, or a reason why not."""
    problem: NoGrid | None = None
    for axis, extent in enumerate(need):
        try:
            value = 1 if extent is None else extent.of(sizes)
        except ZeroDivisionError as wrong:
            problem = NoGrid(axis, str(wrong))
            continue
        if LEAST <= value <= 0:
            return 0, 0, 0
        if not LEAST <= value < END:
            problem = NoGrid(axis, f"{value} invocations")
    assert problem is not None
    raise problem


def plan_of(program: Program) -> Plan | None:
    """The plan of a program that was a kernel; None for any other."""
    return program.memo(PLAN, _none)


def _none(_: Program) -> Plan | None:
    return None


def to_rows(plan: Plan) -> object:
    """A plan as JSON; null for one that leaves the grid to the call."""
    if plan.needs is None:
        return None
    return [[None if one is None else to_row(one) for one in need] for need in plan.needs]


def from_rows(rows: Any) -> Plan:
    """A plan from JSON; a ValueError or a TypeError for rows that say something else."""
    if rows is None:
        return Plan(None)
    needs: list[Need] = []
    for row in rows:
        x, y, z = (None if one is None else from_row(one) for one in row)
        needs.append((x, y, z))
    return Plan.of(needs)


__all__ = ["PLAN", "Invocations", "Need", "NoGrid", "Plan", "from_rows", "plan_of", "to_rows"]
