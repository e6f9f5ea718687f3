"""Barriers of the workgroups of a cohort: which invocations wait, and which are released."""

from __future__ import annotations

import numpy as np

from vyre.backends.reference.task import Arrival, Task
from vyre.record import dataclass
from vyre.semantics import Array


@dataclass(frozen=True, slots=True)
class Released:
    """Who goes on."""

    tasks: list[Task]
    workgroups: Array
    """Those that have passed a barrier, as numbers in the cohort."""
    missed: list[tuple[int, int, int]]
    """Those that passed it in part: number, invocations that came, and the statement."""


class Gate:
    """Tasks wait here until all invocations of all their workgroups have arrived."""

    def __init__(self, workgroups: int, invocations: int) -> None:
        self._invocations = invocations
        self._arrived = np.zeros(workgroups, np.int64)
        self._awaited: dict[Task, Array] = {}
        self._places: dict[Task, int] = {}

    def arrive(self, task: Task, arrival: Arrival) -> None:
        """A task has come to a barrier with some of its invocations."""
        slots = task.slots(arrival.lanes)
        counts = np.bincount(slots, minlength=self._arrived.size)
        self._arrived += counts
        self._awaited[task] = np.flatnonzero(counts)
        self._places[task] = arrival.place

    def release(self) -> Released:
        """Release invocations whose barrier is complete; on deadlock release all waiting ones."""
        passed = self._pass(self._arrived == self._invocations)
        ready = [task for task, slots in self._awaited.items() if not slots.size]
        missed: list[tuple[int, int, int]] = []
        if not ready and self._awaited:
            # The missing ones have returned, or will never arrive: those that are here go on.
            here = {
                int(slot): self._places[task]
                for task, slots in self._awaited.items()
                for slot in slots
            }
            missed = [(slot, int(self._arrived[slot]), place) for slot, place in here.items()]
            passed |= self._pass(self._arrived > 0)
            ready = list(self._awaited)
        for task in ready:
            del self._awaited[task]
        return Released(ready, np.flatnonzero(passed), missed)

    def _pass(self, passed: Array) -> Array:
        self._arrived[passed] = 0
        for task, slots in self._awaited.items():
            self._awaited[task] = slots[~passed[slots]]
        return passed
