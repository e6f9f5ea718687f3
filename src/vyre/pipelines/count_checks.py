"""Counts of one call: which of them the host has not looked at, and room that does not suffice.

A count above the room of its scratch means that elements are lost. The host looks at every count
before a call ends, and before it raises an error or reads a flag; then the call begins again with
more room. Until then no result is handed out, and arguments that were changed are restored.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from vyre.front.parameters import Mode
from vyre.pipelines import tree
from vyre.pipelines.actions import Size
from vyre.pipelines.counts import CountedScratch
from vyre.pipelines.hidden import note_count
from vyre.pipelines.stages import PipelineSource, Staged, decision_site, resolve
from vyre.pipelines.steps import Buffer, Launch, Step, launch_of
from vyre.record import dataclass

Room = tuple[str, tree.Scratch, int]
"""Counted scratch of a pipeline: the device, the statement that makes it, its limit."""


class Rooms:
    """How much room each counted scratch of a pipeline has: it grows from call to call."""

    def __init__(self) -> None:
        self._known: dict[Room, int] = {}
        self._is_full = False
        self._lock = threading.Lock()

    def of(self, room: Room, size: Size) -> int:
        """Elements to make room for."""
        if self._is_full:
            return size.most
        return min(size.most, max(self._known.get(room, 0), size.start, 1))

    def grow(self, room: Room, count: int) -> None:
        """Make room for a count, and for some more."""
        with self._lock:
            wanted = min(room[2], count + count // 4)
            self._known[room] = max(self._known.get(room, 0), wanted)

    def fill(self) -> bool:
        """Make room for all that there may be, as a call prints; False if there was."""
        changes, self._is_full = not self._is_full, True
        return changes


class RunAgain(Exception):
    """Room did not suffice: the call begins again, with more."""


@dataclass(slots=True)
class _Known:
    """A count, and the scratch that it counts."""

    scratch: list[tuple[CountedScratch, Room, int]]
    is_unread: bool = False
    worst: Buffer | None = None
    """The highest of the counts before, where there were several."""


class CountChecks:
    """The counts of one call."""

    def __init__(self, rooms: Rooms, device: str) -> None:
        self._rooms = rooms
        self._device = device
        self._counts: dict[int, tuple[Buffer, _Known]] = {}
        self._written: set[int] = set()
        """Arrays of one number that some step has written, by id."""

    def make(
        self, made: tree.Scratch, buffer: Callable[[int], Buffer], size: Size, count: Buffer
    ) -> CountedScratch:
        """Counted scratch with as much room as there is for it."""
        room = (self._device, made, size.most)
        capacity = self._rooms.of(room, size)
        found = CountedScratch(made.name, buffer(capacity), count, size.most, made.span, size.start)
        known = self._counts.setdefault(id(count), (count, _Known([])))[1]
        known.scratch.append((found, room, capacity))
        known.is_unread = known.is_unread or not count.is_scratch or id(count) in self._written
        return found

    def before(self, step: Step) -> list[Launch]:
        """The launches that have to come before a step that overwrites counts."""
        notes: list[Launch] = []
        for buffer in written_by(step):
            if buffer.size != 1:
                continue
            self._written.add(id(buffer))
            found = self._counts.get(id(buffer))
            if found is None:
                continue
            count, known = found
            if known.is_unread:
                if known.worst is None:
                    known.worst = Buffer("worst", count.dtype, (1,), True)
                site = decision_site("vy.at_most", known.scratch[0][0].span)
                given = {"count": count, "worst": known.worst}
                notes.append(launch_of(note_count(), given, (1,), None, site))
            known.is_unread = True
        return notes

    @property
    def has_counts(self) -> bool:
        """True if the call has made counted scratch."""
        return bool(self._counts)

    @property
    def alive(self) -> list[Buffer]:
        """Buffers that the host is going to look at."""
        found: list[Buffer] = []
        for count, known in self._counts.values():
            if known.is_unread:
                found.append(count)
            if known.worst is not None:
                found.append(known.worst)
        return found

    def look(self, read: Callable[[Sequence[Buffer]], Sequence[int]]) -> dict[int, int]:
        """Look at all counts that were written since: counts by the ids of their buffers."""
        unread = self.alive
        found = dict(zip(map(id, unread), read(unread), strict=True))
        grows = False
        for count, known in self._counts.values():
            values = [found.get(id(each), 0) for each in (count, known.worst) if each is not None]
            highest = max(values)
            known.is_unread, known.worst = False, None
            for scratch, room, capacity in known.scratch:
                if scratch.checked(highest) > capacity:
                    self._rooms.grow(room, highest)
                    grows = True
        if grows:
            raise RunAgain
        return found


def written_by(step: Step) -> list[Buffer]:
    """The buffers that a step writes."""
    return [buffer for buffer, mode in step.uses() if mode is not Mode.IN]


def may_run_again(written: PipelineSource) -> bool:
    """True if a pipeline, or one that it calls, has scratch that may grow."""
    return _may(written, set())


def _may(written: PipelineSource, seen: set[int]) -> bool:
    if id(written) in seen:
        return False
    seen.add(id(written))
    for each in tree.statements(written.body):
        counted = each.counted if isinstance(each, tree.Scratch) else None
        if counted is not None and counted.start is not None:
            return True
        if isinstance(each, tree.Stage):
            callee = resolve(written.source, each.callee)
            if isinstance(callee, Staged) and _may(callee.written, seen):
                return True
    return False
