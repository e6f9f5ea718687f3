"""The grid that a kernel needs, and the effects for which it cannot be derived."""

from __future__ import annotations

from collections.abc import Iterator

from vyre.analysis.default_grid.bounds import least
from vyre.analysis.default_grid.effects import Asked, Effect, Note, Search
from vyre.analysis.default_grid.plan import Need, Plan
from vyre.analysis.default_grid.shared_work import dependent_effects
from vyre.ir import Program
from vyre.record import dataclass


@dataclass(frozen=True, slots=True)
class Needs:
    """The effects of a kernel, and the axes of the grid that it asks about."""

    asked: Asked
    effects: tuple[Effect, ...]
    dependent: frozenset[int]
    """Identities of effects that depend on the number of workgroups."""

    @staticmethod
    def of(program: Program, note: Note | None = None) -> Needs:
        """The needs of a kernel; `note` is called for each of its statements."""
        asked = Asked.of(program)
        search = Search(program, asked, note).run()
        dependent = frozenset[int]()
        if asked.for_groups:
            dependent = dependent_effects(program, search.strides)
        return Needs(asked, tuple(search.found), dependent)

    @property
    def axes(self) -> tuple[int, ...]:
        """The axes of the grid that ids are asked of."""
        return self.asked.axes

    def unbounded(self, effect: Effect) -> tuple[int, ...]:
        """The axes along which nothing says how many invocations get to an effect."""
        return tuple(axis for axis in self.axes if not effect.ends(axis))

    def depends(self, effect: Effect) -> bool:
        """Whether an effect depends on the number of workgroups."""
        return id(effect.node) in self.dependent

    def refused(self) -> Iterator[Effect]:
        """The effects for which a call has to say how many workgroups there are."""
        return (e for e in self.effects if self.depends(e) or self.unbounded(e))

    def plan(self) -> Plan:
        """The same as data."""
        if not self.effects or any(self.refused()):
            return Plan(None)
        needs: list[Need] = []
        for effect in self.effects:
            ends = [
                least(effect.ends(axis)).extent if axis in self.axes else None for axis in range(3)
            ]
            needs.append((ends[0], ends[1], ends[2]))
        return Plan.of(needs)


def find_plan(program: Program) -> Plan:
    """What decides about the default grid of a kernel."""
    if not Asked.of(program).axes:
        return Plan.of(())
    return Needs.of(program).plan()


__all__ = ["Needs", "find_plan"]
