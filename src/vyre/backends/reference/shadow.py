"""What the sanitizer remembers of each element of memory: who used it how, and when.

Of all accesses of one kind between two barriers it is enough to know the invocations with the
least and the greatest number: if any of them was another one than the invocation that comes now,
one of these two was. The same is kept for the time between two grid-wide barriers, where what
counts is whether another workgroup used the element.
"""

from __future__ import annotations

from enum import Enum

import numpy as np

from vyre.record import dataclass
from vyre.semantics import Array


class Use(Enum):
    """How an element is used."""

    READ = "read"
    WRITE = "written"
    LOAD = "read atomically"
    ATOMIC = "changed atomically"


CONFLICTS = {
    Use.READ: (Use.WRITE, Use.ATOMIC),
    Use.WRITE: (Use.WRITE, Use.READ, Use.LOAD, Use.ATOMIC),
    Use.LOAD: (Use.WRITE,),
    Use.ATOMIC: (Use.WRITE, Use.READ),
}
"""Which earlier uses race with a use."""


@dataclass(frozen=True, slots=True)
class Access:
    """One statement's uses of a buffer, one entry per invocation that uses it."""

    use: Use
    element: Array
    who: Array
    """The invocation's number: ascending with its workgroup."""
    group: Array
    """The workgroup's number."""
    interval: Array
    """A number that no other workgroup and no other stretch between barriers has."""
    grid_interval: int
    place: int
    time: int


@dataclass(frozen=True, slots=True)
class Conflict:
    """An earlier use that races with a later one."""

    at: int
    """Which entry of the later access."""
    who: int
    place: int
    count: int
    same_workgroup: bool


class Extremes:
    """The least and the greatest invocation that used each element in its current interval."""

    __slots__ = ("interval", "place", "time", "who")

    def __init__(self, elements: int) -> None:
        self.interval = np.full(elements, -1, np.int64)
        self.who = np.zeros((2, elements), np.int64)
        self.place = np.zeros((2, elements), np.int32)
        self.time = np.zeros((2, elements), np.int64)

    def note(self, element: Array, interval: Array, ends: tuple[Array, Array], at: Access) -> None:
        """Distinct elements, used in these intervals by invocations between `ends`."""
        same = self.interval[element] == interval
        for side, (who, further) in enumerate(zip(ends, (np.less, np.greater), strict=True)):
            known = self.who[side, element]
            # Equal counts as further: the latest use by the same invocation is the one to keep.
            replace = ~same | further(who, known) | (who == known)
            chosen = element[replace]
            self.who[side, chosen] = who[replace]
            self.place[side, chosen] = at.place
            self.time[side, chosen] = at.time
        self.interval[element] = interval


class Record:
    """The uses of one kind of all elements of a buffer."""

    __slots__ = ("grid", "workgroup")

    def __init__(self, elements: int) -> None:
        self.workgroup = Extremes(elements)
        self.grid = Extremes(elements)

    def note(self, access: Access) -> None:
        """Remember an access."""
        order = np.lexsort((access.who, access.element))
        element, who = access.element[order], access.who[order]
        interval, group = access.interval[order], access.group[order]
        last = np.append(element[1:] != element[:-1], True)
        first = np.append(True, last[:-1])
        grid = np.full(int(last.sum()), access.grid_interval, np.int64)
        self.grid.note(element[last], grid, (who[first], who[last]), access)
        # Where several workgroups use an element, their own intervals matter little: whatever
        # conflicts at all then conflicts between workgroups. The last one is kept.
        begins = first | np.append(True, group[1:] != group[:-1])
        lowest = who[np.maximum.accumulate(np.where(begins, np.arange(who.size), 0))]
        self.workgroup.note(element[last], interval[last], (lowest[last], who[last]), access)


class Shadow:
    """All that is remembered of one buffer."""

    __slots__ = ("_elements", "_records", "written")

    def __init__(self, elements: int, *, initialized: bool) -> None:
        self._elements = elements
        self._records: dict[Use, Record] = {}
        self.written = None if initialized else np.zeros(elements, np.bool_)

    def note(self, access: Access) -> None:
        """Remember an access."""
        record = self._records.get(access.use)
        if record is None:
            record = self._records[access.use] = Record(self._elements)
        record.note(access)

    def conflicts(
        self, access: Access, invocations: int, acquired: Array | None
    ) -> list[tuple[Use, Conflict]]:
        """Earlier uses that race with an access; at most one of each kind is told."""
        found: list[tuple[Use, Conflict]] = []
        for use in CONFLICTS[access.use]:
            record = self._records.get(use)
            if record is None:
                continue
            conflict = _against(record.workgroup, access, access.interval, acquired, None)
            if conflict is None:
                whole = np.full(access.who.size, access.grid_interval, np.int64)
                conflict = _against(record.grid, access, whole, acquired, invocations)
            if conflict is not None:
                found.append((use, conflict))
        return found


def _against(
    known: Extremes, access: Access, interval: Array, acquired: Array | None, unit: int | None
) -> Conflict | None:
    """The first use that another invocation, or another workgroup of `unit`, has made."""
    element = access.element
    current = known.interval[element] == interval
    if not current.any():
        return None
    count, first, chosen = 0, -1, 0
    for side in range(2):
        other = known.who[side, element]
        differs = other != access.who if unit is None else other // unit != access.group
        racing = current & differs
        if acquired is not None:
            racing &= known.time[side, element] >= acquired[access.who]
        hits = np.flatnonzero(racing)
        count = max(count, hits.size)
        if hits.size and first < 0:
            first, chosen = int(hits[0]), side
    if first < 0:
        return None
    at = int(element[first])
    who, place = int(known.who[chosen, at]), int(known.place[chosen, at])
    return Conflict(first, who, place, count, unit is None)


def clash(access: Access) -> Conflict | None:
    """Two invocations that write the same element in one statement."""
    order = np.argsort(access.element, kind="stable")
    element = access.element[order]
    again = np.flatnonzero(element[1:] == element[:-1])
    if not again.size:
        return None
    earlier, later = int(order[again[0]]), int(order[again[0] + 1])
    same = bool(access.group[earlier] == access.group[later])
    return Conflict(later, int(access.who[earlier]), access.place, again.size, same)
