"""What a grid that a caller gives leaves out, and which effects are done by too many."""

from __future__ import annotations

from vyre.analysis.default_grid.bounds import least, trusted
from vyre.analysis.default_grid.extents import Sizes
from vyre.analysis.default_grid.needs import Needs
from vyre.diagnostics import Diagnostic, Location
from vyre.diagnostics.codes import execution as codes
from vyre.front.grid.advice import Clues, ends_of, guard, shown_id, work_together
from vyre.ir import Program


def not_reached(program: Program, sizes: Sizes, launched: tuple[int, int, int]) -> list[Diagnostic]:
    """The guards that let more invocations through than a launch has along an axis.

    A kernel that asks for the number of workgroups shares its work among any number of them.
    """
    needs = Needs.of(program)
    if needs.asked.for_groups:
        return []
    found: list[Diagnostic] = []
    for effect in needs.effects:
        try:
            needed = {
                axis: least(ends).extent.of(sizes)
                for axis, ends in ((axis, trusted(e)) for axis, e in effect.guards.items())
                if ends
            }
        except ZeroDivisionError:
            continue
        if any(need <= 0 for need in needed.values()):
            continue
        axes = range(max(needs.axes, default=0) + 1)
        wanted = [max(needed.get(axis, 1), launched[axis]) for axis in axes]
        for axis, need in needed.items():
            if need > launched[axis]:
                found.append(
                    codes.GUARD_NOT_REACHED.at(
                        Location(span=effect.statement.span),
                        needed=need,
                        launched=launched[axis],
                        id=shown_id(axis),
                        elements=wanted[0] if len(wanted) == 1 else tuple(wanted),
                    )
                )
    return list(dict.fromkeys(found))


def done_by_all(program: Program, sizes: Sizes, elements: tuple[int, ...]) -> dict[int, str]:
    """Statements whose effects nothing keeps from invocations past the end, and what would.

    By the identity of the statement. Where the invocations of a workgroup work together, they do so
    whole, and none of them counts by itself.
    """
    if work_together(program):
        return {}
    clues = Clues()
    needs = Needs.of(program, clues.note)
    wanted = (*elements, 1, 1)
    found: dict[int, str] = {}
    for effect in needs.effects:
        missing = needs.unbounded(effect)
        if missing:
            # An array that is longer than what was asked for does not end it.
            ends = {
                axis: end if end is not None and end.of(sizes) == wanted[axis] else None
                for axis, end in ends_of(program, effect, missing, clues).items()
            }
            found[id(effect.statement)] = guard(ends, clues, effect, program)
    return found


__all__ = ["done_by_all", "not_reached"]
