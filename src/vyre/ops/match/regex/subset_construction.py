"""Subset construction (Rabin–Scott) of many automata at once, in numpy.

A state is a list of items (`item_tables`). One step takes the states found in the last one, pairs
each with every symbol, and computes all successors with a few array operations:

    items alive before the symbol -> cut behind a match -> items that consume the symbol
    -> items that follow them, first occurrence only -> cut behind a certain match

The automata of all patterns advance together, level by level: the levels of one small automaton
would be too short for numpy. An automaton that exceeds the limit of states gives None.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from vyre.ops.match.regex.boundaries import ANY_KIND, KINDS
from vyre.ops.match.regex.dfa import DEAD, MATCHED, Dfa
from vyre.ops.match.regex.item_tables import Ints, ItemTables, item_tables
from vyre.ops.match.regex.limits import MAX_STATES
from vyre.ops.match.regex.positions import PositionAutomaton
from vyre.record import dataclass

_MOST_EXPANDED = 1 << 20
"""Items of one step; larger frontiers are taken in parts, which bounds memory."""


def determinize(
    automata: Sequence[PositionAutomaton], most_states: int = MAX_STATES
) -> list[Dfa | None]:
    """The DFA of each automaton, or None for one with more than `most_states` states."""
    results: list[Dfa | None] = [None] * len(automata)
    # Whether a step cuts behind matches holds for all automata in it.
    for ordered in (True, False):
        chosen = [n for n, automaton in enumerate(automata) if automaton.is_ordered == ordered]
        if chosen:
            builder = _Builder([automata[n] for n in chosen], ordered, most_states)
            for n, dfa in zip(chosen, builder.run(), strict=True):
                results[n] = dfa
    return results


@dataclass(frozen=True, slots=True)
class _States:
    """States to be expanded: the automaton of each, and its items as rows of a flat array."""

    owners: Ints
    starts: Ints
    items: Ints

    def parts(self, widths: Ints) -> Iterator[_States]:
        """The states in parts that expand to a bounded number of items."""
        sizes = (np.diff(self.starts) + 1) * widths[self.owners]
        ends = np.cumsum(sizes)
        first = 0
        while first < len(self.owners):
            before = ends[first - 1] if first else 0
            last = int(np.searchsorted(ends, before + _MOST_EXPANDED))
            last = min(max(last, first + 1), len(self.owners))
            low, high = self.starts[first], self.starts[last]
            yield _States(
                self.owners[first:last],
                self.starts[first : last + 1] - low,
                self.items[low:high],
            )
            first = last


class _Builder:
    def __init__(
        self, automata: Sequence[PositionAutomaton], ordered: bool, most_states: int
    ) -> None:
        self._automata = automata
        self._tables: ItemTables = item_tables(automata)
        self._ordered = ordered
        self._most = min(most_states, MATCHED - 1)
        self._numbers: dict[bytes, int] = {}
        """State by the bytes of its items, which are different for every automaton."""
        self._counts = [1] * len(automata)
        self._entries: list[list[Ints]] = [[] for _ in automata]
        self._failed = np.zeros(len(automata), np.bool_)
        self._fresh: list[tuple[int, bytes]] = []
        items = len(self._tables.item_position)
        self._weights = np.random.default_rng(0).integers(1 << 63, size=items, dtype=np.uint64)

    def run(self) -> list[Dfa | None]:
        starts = [
            [self._number(n, self._start_items(n, kind)) for kind in range(KINDS)]
            for n in range(len(self._automata))
        ]
        while self._fresh:
            states = self._take_fresh()
            for part in states.parts(self._tables.widths):
                self._expand(part)
        return [self._dfa(n, starts[n]) for n in range(len(self._automata))]

    def _start_items(self, owner: int, kind: int) -> bytes:
        tables = self._tables
        row = int(tables.start_rows[owner] + tables.by_kind[owner] * kind)
        items = tables.follow[tables.follow_start[row] : tables.follow_start[row + 1]]
        return (items if self._ordered else np.sort(items)).tobytes()

    def _number(self, owner: int, items: bytes) -> int:
        """The state with these items; a new one is put down for expansion."""
        if not items:
            return DEAD
        number = self._numbers.get(items)
        if number is None:
            number = self._numbers[items] = self._counts[owner]
            self._counts[owner] += 1
            if number > self._most:
                self._failed[owner] = True
            self._fresh.append((owner, items))
        return number

    def _take_fresh(self) -> _States:
        fresh = [(owner, items) for owner, items in self._fresh if not self._failed[owner]]
        self._fresh = []
        lengths = [len(items) // 8 for _, items in fresh]
        return _States(
            np.array([owner for owner, _ in fresh], np.int64),
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            np.frombuffer(b"".join(items for _, items in fresh), np.int64),
        )

    def _expand(self, states: _States) -> None:
        """Compute the successors of some states for all symbols."""
        tables = self._tables
        widths = tables.widths[states.owners]
        pair_state = np.repeat(np.arange(len(widths)), widths)
        pair_symbol = _counters(widths)
        pair_owner = states.owners[pair_state]
        pair_kind = tables.kinds[pair_owner, pair_symbol]
        # The items of each pair's state, in order.
        lengths = np.diff(states.starts)[pair_state]
        pair = np.repeat(np.arange(len(pair_state)), lengths)
        item = states.items[np.repeat(states.starts[pair_state], lengths) + _counters(lengths)]
        alive = tables.item_kinds[item] >> pair_kind[pair] & 1 != 0
        ends = tables.item_is_end[item] & alive
        matched = np.zeros(len(pair_state), np.int64)
        matched[pair[ends]] = MATCHED
        alive &= tables.accepts[tables.item_position[item], pair_symbol[pair]]
        if self._ordered:
            alive &= ~_is_behind(ends, pair)
        pair, item = pair[alive], item[alive]
        rows = tables.first_row[tables.item_position[item]]
        rows = rows + tables.by_kind[pair_owner[pair]] * pair_kind[pair]
        pair, item = self._followers(pair, rows)
        self._record(states, pair_owner, matched, pair, item)

    def _followers(self, pair: Ints, rows: Ints) -> tuple[Ints, Ints]:
        """The items of rows, each once per pair."""
        tables = self._tables
        first = tables.follow_start[rows]
        lengths = tables.follow_start[rows + 1] - first
        item = tables.follow[np.repeat(first, lengths) + _counters(lengths)]
        pair = np.repeat(pair, lengths)
        keys, places = np.unique(pair * len(tables.item_position) + item, return_index=True)
        if not self._ordered:
            return np.divmod(keys, len(tables.item_position))
        places.sort()
        pair, item = pair[places], item[places]
        certain = tables.item_is_end[item] & (tables.item_kinds[item] == ANY_KIND)
        kept = ~_is_behind(certain, pair)
        return pair[kept], item[kept]

    def _record(
        self, states: _States, pair_owner: Ints, matched: Ints, pair: Ints, item: Ints
    ) -> None:
        """Number the successors and append the rows of the table."""
        lengths = np.bincount(pair, minlength=len(pair_owner))
        starts = np.cumsum(lengths) - lengths
        rows = np.flatnonzero(lengths)
        first, inverse = self._distinct(starts[rows], lengths[rows], item)
        numbers = np.empty(len(first), np.int64)
        for place in np.argsort(first).tolist():
            row = rows[first[place]]
            items = item[starts[row] : starts[row] + lengths[row]].tobytes()
            numbers[place] = self._number(int(pair_owner[row]), items)
        entries = matched.copy()
        entries[rows] |= numbers[inverse]
        begin = 0
        for owner in map(int, states.owners):
            width = int(self._tables.widths[owner])
            self._entries[owner].append(entries[begin : begin + width])
            begin += width

    def _distinct(self, starts: Ints, lengths: Ints, item: Ints) -> tuple[Ints, Ints]:
        """Rows that differ: the first of each, and for every row which of those it equals."""
        if not len(starts):
            return starts, starts
        place = _counters(lengths)
        weights = self._weights[item]
        mixed = (weights + place.astype(np.uint64)) * (weights ^ self._weights[place])
        hashes = np.add.reduceat(mixed, starts)
        _, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
        # A hash only proposes; equality is checked.
        like = first[inverse]
        is_exact = bool((lengths == lengths[like]).all())
        if is_exact and (item == item[np.repeat(starts[like], lengths) + place]).all():
            return first, inverse
        every = np.arange(len(starts))
        return every, every

    def _dfa(self, owner: int, starts: list[int]) -> Dfa | None:
        if self._failed[owner]:
            return None
        width = int(self._tables.widths[owner])
        rows = [np.zeros(width, np.int64), *self._entries[owner]]
        return Dfa(
            np.array(rows).astype(np.uint16),
            self._tables.classes[owner],
            np.array(starts, np.uint16),
            self._automata[owner].is_reversed,
            self._ordered,
        )


def _counters(lengths: Ints) -> Ints:
    """0, 1, ..., n - 1 for each length n, one after the other."""
    total = int(lengths.sum())
    return np.arange(total) - np.repeat(np.cumsum(lengths) - lengths, lengths)


def _is_behind(flags: NDArray[np.bool_], groups: Ints) -> NDArray[np.bool_]:
    """True for entries that come after a flagged one of the same group; groups are contiguous."""
    if not flags.any():
        return np.zeros(len(flags), np.bool_)
    before = np.cumsum(flags) - flags
    first = np.concatenate([[True], groups[1:] != groups[:-1]])
    at_start = before[first][np.cumsum(first) - 1]
    return before > at_start
