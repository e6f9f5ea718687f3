"""A cohort: workgroups that run together, their shared memory, and the tasks they are cut into."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vyre.backends.reference.barrier import Gate, Released
from vyre.backends.reference.lanes import Lanes
from vyre.backends.reference.memory import Cells
from vyre.backends.reference.task import Arrival, Run, Sync, Task
from vyre.semantics import Array

if TYPE_CHECKING:
    from vyre.backends.reference.machine import World
    from vyre.backends.reference.sanitizer import Sanitizer


class Cohort:
    """Some workgroups of the grid, from their start to their end."""

    def __init__(self, world: World, workgroups: Array) -> None:
        self.world = world
        self.workgroups = workgroups
        """Linear numbers in the grid, x fastest."""
        self.barriers = np.zeros(workgroups.size, np.int64)
        """How many barriers each workgroup has passed since the last grid-wide one."""
        self.arrival: Arrival | None = None
        """The grid-wide barrier that the cohort waits at."""
        self._gate = Gate(workgroups.size, world.workgroup_invocations)
        self._runs: dict[Task, Run] = {}
        for slot, local in world.order.tasks(workgroups.size):
            task = Task(self, slot, local, list(world.cells))
            self._runs[task] = world.code.entry(task, Lanes(task.size))
        self._allocate(private=True)

    def workgroup_id(self, axis: int) -> Array:
        """The position in the grid of each workgroup."""
        x, y, _ = self.world.grid
        divisor = (1, x, x * y)[axis]
        return self.workgroups // divisor % self.world.grid[axis]

    def invocation(self, slot: int, local: int) -> tuple[int, int, int]:
        """The global id of an invocation."""
        size = self.world.code.program.workgroup_size

        def along(axis: int) -> int:
            first = int(self.workgroup_id(axis)[slot]) * size[axis]
            return first + int(self.world.local_id(axis)[local])

        return along(0), along(1), along(2)

    def advance(self) -> bool:
        """Run until every task has ended or waits for the grid; whether there is more to do."""
        self._allocate(private=False)
        self.barriers[:] = 0
        self.arrival = None
        ready = list(self._runs)
        while ready:
            for task in self.world.order.shuffled(ready):
                self._resume(task)
            released = self._gate.release()
            ready = released.tasks
            self.barriers[released.workgroups] += 1
            if self.world.watch is not None:
                self._tell(self.world.watch, released)
        self._drop_shared()
        return bool(self._runs)

    def _tell(self, watch: Sanitizer, released: Released) -> None:
        for slot, arrived, place in released.missed:
            watch.barrier_missed(int(self.workgroups[slot]), arrived, place)
        if released.workgroups.size:
            watch.workgroups_synchronized(self.workgroups[released.workgroups])

    def _resume(self, task: Task) -> None:
        try:
            arrival = next(self._runs[task])
        except StopIteration:
            del self._runs[task]
            return
        if arrival.sync is Sync.GRID:
            self.arrival = arrival
        else:
            self._gate.arrive(task, arrival)

    def _allocate(self, *, private: bool) -> None:
        """Zeroed memory: for the workgroups, or for the invocations' own arrays."""
        for buffer, decl in enumerate(self.world.code.program.buffers):
            if decl.is_local and private:
                for task in self._runs:
                    task.cells[buffer] = Cells.zeros(decl, task.size, decl.count)
            elif decl.is_workgroup and not private:
                cells = Cells.zeros(decl, self.workgroups.size, decl.count)
                for task in self._runs:
                    task.cells[buffer] = cells

    def _drop_shared(self) -> None:
        """Workgroup memory does not outlive a grid-wide barrier, so it need not be kept."""
        for buffer, decl in enumerate(self.world.code.program.buffers):
            if decl.is_workgroup:
                for task in self._runs:
                    task.cells[buffer] = self.world.cells[buffer]
