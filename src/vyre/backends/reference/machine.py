"""Running a grid: global memory, cohorts one after the other, and what stops them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

import numpy as np

from vyre import ir
from vyre.backends.reference.cohort import Cohort
from vyre.backends.reference.lanes import Lanes
from vyre.backends.reference.task import Collective, Task
from vyre.diagnostics import DeadlineError, TrapError
from vyre.diagnostics.codes import execution as codes
from vyre.semantics import Array

if TYPE_CHECKING:
    from vyre.backends.reference.code import Code
    from vyre.backends.reference.fuel import Meter
    from vyre.backends.reference.memory import Cells
    from vyre.backends.reference.sanitizer import Sanitizer
    from vyre.backends.reference.scheduler import Order

Value = int | float | bool | tuple[int | float | bool, ...]


@dataclass(frozen=True, slots=True)
class Printed:
    """What one invocation printed."""

    label: str
    invocation: tuple[int, int, int]
    values: tuple[Value, ...]

    def __str__(self) -> str:
        x, y, z = self.invocation
        shown = ", ".join(str(value) for value in self.values)
        return f"({x}, {y}, {z}) {self.label}{': ' if shown else ''}{shown}"


@dataclass(frozen=True, slots=True, order=True)
class Raised:
    """A trap, ordered by who comes first."""

    grid_syncs: int
    barriers: int
    workgroup: int
    local: int
    place: int
    invocation: tuple[int, int, int]


class World:
    """One run of one program over one grid."""

    def __init__(
        self,
        code: Code,
        cells: list[Cells],
        grid: tuple[int, int, int],
        *,
        subgroup_width: int,
        order: Order,
        meter: Meter,
        watch: Sanitizer | None,
    ) -> None:
        self.code = code
        self.cells = cells
        self.grid = grid
        self.subgroup_width = subgroup_width
        self.order = order
        self.meter = meter
        self.watch = watch
        self.printed: list[Printed] = []
        x, y, z = code.program.workgroup_size
        self.workgroup_invocations = x * y * z
        index = np.arange(self.workgroup_invocations)
        self._local_ids = (index % x, index // x % y, index // (x * y))
        self._raised: Raised | None = None
        self._grid_syncs = 0
        self._collectives_done = 0

    def local_id(self, axis: int) -> Array:
        """The position along an axis of each linear local index."""
        return self._local_ids[axis]

    def run(self) -> None:
        """Run the whole grid; raises what the kernel ended with."""
        workgroups = self.grid[0] * self.grid[1] * self.grid[2]
        cohorts = (Cohort(self, part) for part in self.order.cohorts(workgroups))
        try:
            with np.errstate(all="ignore"):
                waiting = [cohort for cohort in cohorts if cohort.advance()]
                while waiting and self._raised is None:
                    self._synchronize(waiting)
                    waiting = [c for c in self.order.shuffled(waiting) if c.advance()]
        except DeadlineError:
            # An invocation may wait forever for one that has trapped: the trap is the reason.
            if self._raised is None:
                raise
        if self._raised is not None:
            raise self._trap_error(self._raised)
        for collective in self.code.collectives[self._collectives_done :]:
            self._perform(collective)

    def _synchronize(self, waiting: list[Cohort]) -> None:
        self._grid_syncs += 1
        for cohort in waiting:
            arrival = cohort.arrival
            if arrival is not None and arrival.collective is not None:
                self._perform(arrival.collective)
                self._collectives_done += 1
                break
        if self.watch is not None:
            self.watch.grid_synchronized()

    def _perform(self, collective: Collective) -> None:
        """A collective over the one device that there is."""
        match collective:
            case ir.AllReduce() | ir.Broadcast():
                return
            case ir.AllGather(source, destination) | ir.ReduceScatter(source, destination):
                found, into = self._named(source), self._named(destination)
                count = min(found.length, into.length)
                into.data[:count] = found.data[:count]
                if self.watch is not None:
                    self.watch.filled(destination, count)
            case _:
                assert_never(collective)

    def _named(self, name: str) -> Cells:
        return next(cells for cells in self.cells if cells.decl.name == name)

    def trap(self, task: Task, lanes: Lanes, place: int) -> None:
        """Some invocations have trapped; the first of all is reported in the end."""
        cohort = task.cohort
        slots, local = task.slots(lanes), task.locals(lanes)
        workgroups, barriers = cohort.workgroups[slots], cohort.barriers[slots]
        first = np.lexsort((local, workgroups, barriers))[0]
        raised = Raised(
            self._grid_syncs,
            int(barriers[first]),
            int(workgroups[first]),
            int(local[first]),
            place,
            cohort.invocation(int(slots[first]), int(local[first])),
        )
        if self._raised is None or raised < self._raised:
            self._raised = raised

    def survivors(self, task: Task, lanes: Lanes) -> Lanes | None:
        """Those who go on after a barrier: after a trap, none that is past it."""
        if self._raised is None:
            return lanes
        passed = task.cohort.barriers[task.slots(lanes)]
        return lanes.part(passed <= self._raised.barriers)

    def _trap_error(self, raised: Raised) -> TrapError:
        place = self.code.places[raised.place]
        tag = getattr(place.statement, "tag", "")
        problem = codes.TRAP.at(place.location, tag=tag, invocation=raised.invocation)
        return TrapError(problem, tag, raised.invocation)
