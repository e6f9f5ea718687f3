"""The definition of matching: a Pike virtual machine with ordered threads.

For one pattern by itself, the matches are the leftmost-first, non-overlapping ones over the whole
text: the next match starts at the least possible offset at or after the end of the last one, and
among the matches that start there the first in priority order is taken. All threads advance in
lockstep, one byte at a time, so a search takes time proportional to text × program.

Everything faster is compared with this.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from vyre.ops.match.regex import byte_sets
from vyre.ops.match.regex.boundaries import kinds_around, pair
from vyre.ops.match.regex.first_bytes import first_bytes
from vyre.ops.match.regex.program import BYTE, JUMP, MATCH, SAVE, SPLIT, Program

Span = tuple[int, int]


class Match(NamedTuple):
    """One match: offsets into the text, and those of each group that took part."""

    start: int
    end: int
    groups: tuple[Span | None, ...] = ()


_ENDS = (BYTE, MATCH)
"""Instructions at which a closure ends."""
Slots = tuple[int | None, ...]
Thread = tuple[int, Slots]


class Definition:
    """A slow exact matcher of one program."""

    def __init__(self, program: Program) -> None:
        self._code = program.code
        self._slots = 2 * (program.groups + 1)
        self._members = tuple(map(byte_sets.flags, program.sets))
        self._can_start = first_bytes(program)

    def find(self, text: bytes) -> list[Match]:
        """The leftmost-first, non-overlapping matches with their captures, in order."""
        return list(self._matches(text))

    def _matches(self, text: bytes) -> Iterator[Match]:
        kinds = kinds_around(text)
        start = 0
        while True:
            slots = self._search(text, kinds, start)
            if slots is None:
                return
            match = _match(slots)
            yield match
            start = match.end

    def match_at(self, text: bytes, start: int) -> Match | None:
        """The first match in priority order that starts at `start`."""
        slots = self._search(text, kinds_around(text), start, anchored=True)
        return None if slots is None else _match(slots)

    def ends(self, text: bytes) -> list[Span]:
        """Overlapping matches: every end of a match once, with the leftmost start that has it."""
        kinds = kinds_around(text)
        seeds: list[Thread] = []
        found: list[Span] = []
        for place in range(len(text) + 1):
            # Threads are in order of their starts: the first to reach an instruction is leftmost.
            seeds.append((0, (place,)))
            threads = self._closure(seeds, place, kinds)
            seeds = []
            for pc, slots in threads:
                op, x, _ = self._code[pc]
                if op == MATCH:
                    found.append((slots[0] or 0, place))
                elif place < len(text) and self._members[x][text[place]]:
                    seeds.append((pc + 1, slots))
        return found

    def _search(
        self, text: bytes, kinds: bytes, start: int, anchored: bool = False
    ) -> Slots | None:
        """The slots of the leftmost-first match that starts at or after `start`."""
        best: Slots | None = None
        seeds: list[Thread] = []
        blank = (None,) * (self._slots - 1)
        place = start
        while place <= len(text):
            if best is None and not seeds and not anchored:
                while place < len(text) and not self._can_start[text[place]]:
                    place += 1
            if best is None and (not anchored or place == start):
                seeds.append((0, (place, *blank)))
            threads = self._closure(seeds, place, kinds)
            seeds = []
            for pc, slots in threads:
                op, x, _ = self._code[pc]
                if op == MATCH:
                    best = (slots[0], place, *slots[2:])
                    # Threads behind this one have lower priority.
                    break
                if place < len(text) and self._members[x][text[place]]:
                    seeds.append((pc + 1, slots))
            if not seeds and (best is not None or anchored):
                break
            place += 1
        return best

    def _closure(self, seeds: list[Thread], place: int, kinds: bytes) -> list[Thread]:
        """The BYTE and MATCH instructions reached without consuming, in order of priority."""
        code, boundary = self._code, pair(kinds[place], kinds[place + 1])
        reached: set[int] = set()
        threads: list[Thread] = []
        pending = seeds[::-1]
        while pending:
            pc, slots = pending.pop()
            if pc in reached:
                continue
            reached.add(pc)
            op, x, y = code[pc]
            if op in _ENDS:
                threads.append((pc, slots))
            elif op == SPLIT:
                pending += ((y, slots), (x, slots))
            elif op == JUMP:
                pending.append((x, slots))
            elif op == SAVE:
                if x < len(slots):
                    slots = (*slots[:x], place, *slots[x + 1 :])
                pending.append((pc + 1, slots))
            elif x & boundary:
                pending.append((pc + 1, slots))
        return threads


def _match(slots: Slots) -> Match:
    start, end = slots[0], slots[1]
    assert start is not None
    assert end is not None
    spans = zip(slots[2::2], slots[3::2], strict=True)
    return Match(start, end, tuple(_span(first, last) for first, last in spans))


def _span(first: int | None, last: int | None) -> Span | None:
    return None if first is None or last is None else (first, last)
