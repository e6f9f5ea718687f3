"""Deterministic automata with one byte of look-ahead.

A DFA reads symbols: the classes of bytes, then `final newline` (a newline that ends the text), then
`edge` (the end that the DFA runs into). An entry of the table is the next state; its top bit says
that a match ends just *before* the symbol, which is how assertions see the byte behind a match.
State 0 is dead. There is a start state for each kind of byte before the start.

    match ends at i  <=>  table[state before i, symbol i] & MATCHED

A leftmost-first DFA has states that are ordered lists, cut off behind a match (as RE2 builds them),
so that the last match on the way to the dead state is the preferred one. A longest-match DFA has
plain sets; reversed, it finds the leftmost start of a match from its end.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vyre.ops.match.regex.boundaries import Kind
from vyre.record import dataclass

MATCHED = 0x8000
DEAD = 0


@dataclass(frozen=True, slots=True, eq=False)
class Dfa:
    """A table of states × symbols, and the map from bytes to symbols."""

    table: NDArray[np.uint16]
    classes: NDArray[np.uint8]
    """The symbol of every byte."""
    starts: NDArray[np.uint16]
    """The start state by the kind of byte that stands before (`Kind`)."""
    is_reversed: bool
    is_ordered: bool

    @property
    def states(self) -> int:
        """The number of states, the dead one included."""
        return self.table.shape[0]

    @property
    def final_newline(self) -> int:
        """The symbol of a newline that ends the text."""
        return self.table.shape[1] - 2

    @property
    def edge(self) -> int:
        """The symbol of the end of the text."""
        return self.table.shape[1] - 1

    def symbols(self, text: bytes) -> bytes:
        """The text as symbols, with an edge on each side: [i + 1] is that of byte i."""
        read = bytearray(text.translate(self.classes.tobytes()))
        if text.endswith(b"\n"):
            read[-1] = self.final_newline
        return bytes([self.edge, *read, self.edge])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Dfa):
            return NotImplemented
        return (
            self.is_reversed == other.is_reversed
            and self.is_ordered == other.is_ordered
            and np.array_equal(self.table, other.table)
            and np.array_equal(self.classes, other.classes)
            and np.array_equal(self.starts, other.starts)
        )

    __hash__ = None  # pyright: ignore[reportAssignmentType]


def run(dfa: Dfa, symbols: bytes, kinds: bytes, place: int, limit: int) -> list[int]:
    """The boundaries at which a match ends, in reading order, from `place` to `limit`.

    `symbols` and `kinds` have an edge on each side of the text. A reversed DFA reads towards the
    start of the text.
    """
    table = dfa.table
    found: list[int] = []
    step, ahead, behind = (-1, 0, 1) if dfa.is_reversed else (1, 1, 0)
    state = int(dfa.starts[kinds[place + behind]])
    while state != DEAD:
        entry = int(table[state, symbols[place + ahead]])
        if entry & MATCHED:
            found.append(place)
        if place == limit:
            break
        state = entry & ~MATCHED
        place += step
    return found


def kind_of_symbols(classes: NDArray[np.uint8], kinds: bytes) -> list[int]:
    """The kind of each symbol; classes must not mix kinds."""
    count = int(classes.max()) + 1
    found = [int(Kind.OTHER)] * count + [int(Kind.FINAL_NEWLINE), int(Kind.EDGE)]
    for byte in range(256):
        found[int(classes[byte])] = kinds[byte]
    return found
