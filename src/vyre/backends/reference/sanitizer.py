"""The sanitizer watches a run and reports what a correct program does not do.

Data races, barriers that some invocations miss, accesses out of bounds, reads of memory that
nothing has written, integer divisions by zero. Order between invocations comes from barriers, and
from atomics that acquire: an acquire is taken to have seen everything before it, which may
hide a race but never invents one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vyre.backends.reference.findings import Findings
from vyre.backends.reference.shadow import Access, Conflict, Shadow, Use, clash
from vyre.diagnostics.codes import execution as codes
from vyre.record import dataclass
from vyre.semantics import Array

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.backends.reference.code import Code
    from vyre.backends.reference.copies import Copy
    from vyre.backends.reference.lanes import Lanes
    from vyre.backends.reference.memory import Cells
    from vyre.backends.reference.task import Task


@dataclass(frozen=True, slots=True)
class Limits:
    """Where the invocations that a caller asked for end, and what none after them should do."""

    elements: tuple[int, ...]
    """Along x, or along x, y and z."""
    guards: Mapping[int, str]
    """How to keep them from a statement, by its identity."""


class Sanitizer:
    """Watches one run."""

    def __init__(
        self,
        code: Code,
        cells: list[Cells],
        workgroups: int,
        invocations: int,
        limits: Limits | None = None,
    ) -> None:
        self.findings = Findings(code.places)
        self._limits: tuple[int, ...] = () if limits is None else limits.elements
        guards: Mapping[int, str] = {} if limits is None else limits.guards
        self._guards = {
            number: guards[id(place.statement)]
            for number, place in enumerate(code.places)
            if id(place.statement) in guards
        }
        self._cells = {item.decl.name: item for item in cells}
        # A workgroup has one number more than it has invocations: for what copies on its behalf.
        self._unit = invocations + 1
        self._interval = np.arange(workgroups, dtype=np.int64)
        self._next_interval = workgroups
        self._grid_interval = 0
        self._time = 0
        self._acquired = np.zeros(workgroups * self._unit, np.int64) if code.has_acquire else None
        self._copies: list[tuple[Task, str, Copy, int]] = []

    def loaded(self, task: Task, lanes: Lanes, buffer: int, at: Array, place: int) -> None:
        """Invocations load elements."""
        cells = task.cells[buffer]
        element, who = self._inside(task, lanes, cells, at, place, "reads")
        shadow = self._shadow(cells)
        if shadow.written is not None and element.size:
            fresh = np.flatnonzero(~shadow.written[element])
            if fresh.size:
                self._never_written(task, cells, element[fresh], who[fresh], place)
        self._use(Use.READ, task, cells, element, who, place)

    def stored(self, task: Task, lanes: Lanes, buffer: int, at: Array, place: int) -> None:
        """Invocations store elements."""
        cells = task.cells[buffer]
        element, who = self._inside(task, lanes, cells, at, place, "writes")
        self._use(Use.WRITE, task, cells, element, who, place)
        if place in self._guards:
            self._past(task, who, place)

    def exchanged(
        self,
        task: Task,
        lanes: Lanes,
        buffer: int,
        at: Array,
        place: int,
        *,
        acquires: bool,
        loads: bool,
    ) -> None:
        """Invocations change elements atomically, or only load them."""
        cells = task.cells[buffer]
        verb, use = ("reads", Use.LOAD) if loads else ("changes", Use.ATOMIC)
        element, who = self._inside(task, lanes, cells, at, place, verb)
        self._use(use, task, cells, element, who, place)
        if place in self._guards:
            self._past(task, who, place)
        if acquires and self._acquired is not None:
            self._acquired[who] = self._time

    def divided(self, task: Task, lanes: Lanes, divisor: Array, place: int) -> None:
        """Invocations divide integers."""
        zero = np.flatnonzero(np.broadcast_to(divisor == 0, lanes.size))
        if zero.size:
            slot, local = task.slots(lanes)[zero[0]], task.locals(lanes)[zero[0]]
            self.findings.add(
                codes.DIVISION_BY_ZERO,
                place,
                "",
                zero.size,
                invocation=task.cohort.invocation(int(slot), int(local)),
            )

    def wrapped(self, task: Task, lanes: Lanes, wrapped: Array, place: int) -> None:
        """Invocations take a difference of unsigned numbers for a number."""
        below = np.flatnonzero(np.broadcast_to(wrapped, lanes.size))
        if below.size:
            slot, local = task.slots(lanes)[below[0]], task.locals(lanes)[below[0]]
            self.findings.add(
                codes.WRAPPED_DIFFERENCE,
                place,
                "",
                below.size,
                invocation=task.cohort.invocation(int(slot), int(local)),
            )

    def barrier_missed(self, workgroup: int, arrived: int, place: int) -> None:
        """A barrier was passed by a part of a workgroup."""
        self.findings.add(
            codes.BARRIER_MISSED,
            place,
            "",
            1,
            arrived=arrived,
            invocations=self._unit - 1,
            workgroup=workgroup,
        )

    def workgroups_synchronized(self, workgroups: Array) -> None:
        """Workgroups have passed a barrier: what they did before is ordered."""
        self._interval[workgroups] = self._next_interval + np.arange(workgroups.size)
        self._next_interval += workgroups.size
        if self._acquired is not None:
            rows = self._acquired.reshape(-1, self._unit)
            rows[workgroups] = rows[workgroups].max(axis=1, keepdims=True)
        # A copy that is still under way goes on touching its elements.
        for task, _, copy, begun in self._copies:
            self._touch(task, copy, workgroups, lost=begun != self._grid_interval)

    def grid_synchronized(self) -> None:
        """The whole grid has passed a barrier."""
        self._grid_interval += 1
        self.workgroups_synchronized(np.arange(self._interval.size))

    def filled(self, name: str, count: int) -> None:
        """The host side has written the first elements of a buffer."""
        shadow = self._shadow(self._cells[name])
        if shadow.written is not None:
            shadow.written[:count] = True

    def copy_started(self, task: Task, tag: str, copy: Copy) -> None:
        """Workgroups have begun to copy."""
        if self._unit - 1 == 1:
            # One invocation is all of its workgroup: what it did before, it did before the copy.
            self.workgroups_synchronized(np.unique(task.cohort.workgroups[copy.workgroup]))
        self._copies.append((task, tag, copy, self._grid_interval))
        self._touch(task, copy, None)

    def copy_awaited(self, task: Task, tag: str) -> None:
        """The copies with a tag are complete."""
        self._copies = [c for c in self._copies if not (c[0] is task and c[1] == tag)]

    def _touch(self, task: Task, copy: Copy, only: Array | None, *, lost: bool = False) -> None:
        """What a copy reads and writes, by the number that stands for the copying workgroup.

        `lost` says that a grid sync has taken the workgroup memory away since the copy began.
        """
        groups = task.cohort.workgroups[copy.workgroup]
        who = groups * self._unit + self._unit - 1
        source, destination = task.cells[copy.source], task.cells[copy.destination]
        outside = source.outside(copy.origin) if copy.origin.size else None
        read = np.ones(who.size, np.bool_) if outside is None else ~outside
        wrote = np.ones(who.size, np.bool_)
        if only is not None:
            concerned = np.isin(groups, only)
            read, wrote = read & concerned, concerned
        origin = copy.origin + copy.workgroup * (source.length * source.decl.is_workgroup)
        into = copy.into + copy.workgroup * (destination.length * destination.decl.is_workgroup)
        if lost:
            read &= not source.decl.is_workgroup
            wrote &= not destination.decl.is_workgroup
        shadow = self._shadow(source)
        if shadow.written is not None and read.any():
            fresh = np.flatnonzero(read & ~shadow.written[np.where(read, origin, 0)])
            if fresh.size:
                self._never_written(task, source, origin[fresh], who[fresh], copy.place)
        self._use(Use.READ, task, source, origin[read], who[read], copy.place)
        self._use(Use.WRITE, task, destination, into[wrote], who[wrote], copy.place)

    def _past(self, task: Task, who: Array, place: int) -> None:
        """Invocations do something, of which some may lie past the elements of the launch."""
        world = task.cohort.world
        size = world.code.program.workgroup_size
        group, local = np.divmod(who, self._unit)
        x, y, _ = world.grid
        at = (group % x, group // x % y, group // (x * y))
        for axis, limit in enumerate(self._limits):
            ids = at[axis] * size[axis] + world.local_id(axis)[local]
            beyond = np.flatnonzero(ids >= limit)
            if beyond.size:
                shown = self._limits if len(self._limits) > 1 else limit
                self.findings.add(
                    codes.PAST_ELEMENTS,
                    place,
                    "",
                    beyond.size,
                    invocation=self._name(task, int(who[beyond[0]])),
                    elements=shown,
                    guard=self._guards[place],
                )
                return

    def _shadow(self, cells: Cells) -> Shadow:
        if cells.shadow is None:
            elements = cells.data.shape[0]
            cells.shadow = Shadow(elements, initialized=cells.decl.is_host_input)
        return cells.shadow

    def _inside(
        self, task: Task, lanes: Lanes, cells: Cells, at: Array, place: int, did: str
    ) -> tuple[Array, Array]:
        """The elements that are there, as positions in memory, and who uses them."""
        slots, local = task.slots(lanes), task.locals(lanes)
        who = task.cohort.workgroups[slots] * self._unit + local
        index = np.broadcast_to(at, lanes.size)
        outside = cells.outside(at)
        element = index
        if cells.decl.is_local:
            element = index + lanes.positions * cells.length
        elif cells.decl.is_workgroup:
            element = index + slots * cells.length
        if outside is None:
            return element, who
        outside = np.broadcast_to(outside, lanes.size)
        missed = np.flatnonzero(outside)
        if missed.size:
            first = int(missed[0])
            self.findings.add(
                codes.OUT_OF_BOUNDS,
                place,
                cells.decl.name + did,
                missed.size,
                invocation=task.cohort.invocation(int(slots[first]), int(local[first])),
                did=did,
                buffer=cells.decl.name,
                element=int(index[first]),
                length=cells.length,
            )
        return element[~outside], who[~outside]

    def _use(
        self, use: Use, task: Task, cells: Cells, element: Array, who: Array, place: int
    ) -> None:
        if not element.size:
            return
        self._time += 1
        shadow = self._shadow(cells)
        if cells.decl.is_writable and not cells.decl.is_local:
            group = who // self._unit
            access = Access(
                *(use, element, who, group, self._interval[group]),
                *(self._grid_interval, place, self._time),
            )
            if use is Use.WRITE and (conflict := clash(access)):
                self._race(task, cells, access, use, conflict)
            for earlier, conflict in shadow.conflicts(access, self._unit, self._acquired):
                self._race(task, cells, access, earlier, conflict)
            shadow.note(access)
        if use in (Use.WRITE, Use.ATOMIC) and shadow.written is not None:
            shadow.written[element] = True

    def _race(
        self, task: Task, cells: Cells, access: Access, earlier: Use, conflict: Conflict
    ) -> None:
        element = int(access.element[conflict.at])
        if conflict.same_workgroup:
            hint = "put a barrier between the two, or use atomics for both"
        else:
            hint = (
                "give each workgroup elements of its own, use atomics for both, "
                "or put a grid_sync barrier between the two"
            )
        self.findings.add(
            codes.DATA_RACE,
            access.place,
            cells.decl.name,
            conflict.count,
            other=conflict.place,
            buffer=cells.decl.name,
            element=element % cells.length,
            first=self._name(task, conflict.who),
            first_did=earlier.value,
            second=self._name(task, int(access.who[conflict.at])),
            second_did=access.use.value,
            hint=hint,
        )

    def _never_written(
        self, task: Task, cells: Cells, element: Array, who: Array, place: int
    ) -> None:
        self.findings.add(
            codes.NEVER_WRITTEN,
            place,
            cells.decl.name,
            element.size,
            invocation=self._name(task, int(who[0])),
            buffer=cells.decl.name,
            element=int(element[0]) % cells.length,
        )

    def _name(self, task: Task, who: int) -> object:
        """The global id of an invocation, or the copy that a workgroup makes."""
        world = task.cohort.world
        group, local = divmod(who, self._unit)
        x, y, _ = world.grid
        at = (group % x, group // x % y, group // (x * y))
        if local == self._unit - 1:
            return f"(the copy of workgroup {at})"
        size = world.code.program.workgroup_size
        return tuple(at[axis] * size[axis] + int(world.local_id(axis)[local]) for axis in range(3))
