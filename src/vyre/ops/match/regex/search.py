"""Matching with DFAs: ends by the forward DFA, starts by the reversed one.

The unanchored leftmost-first DFA runs to the end of the next match; the reversed longest-match DFA
runs from there to the leftmost start, which is the start of that match, as no match starts earlier.
"""

from __future__ import annotations

from collections.abc import Sequence

from vyre.ops.match.regex.boundaries import kinds_around
from vyre.ops.match.regex.definition import Span
from vyre.ops.match.regex.dfa import Dfa, run
from vyre.ops.match.regex.limits import MAX_STATES
from vyre.ops.match.regex.positions import position_automaton
from vyre.ops.match.regex.program import compile_program, compile_reversed
from vyre.ops.match.regex.subset_construction import determinize
from vyre.ops.match.regex.syntax import Node
from vyre.record import dataclass


@dataclass(frozen=True, slots=True)
class SearchDfas:
    """The DFAs of one tree; None where one has too many states."""

    anchored: Dfa | None
    """Leftmost-first, from a given start."""
    unanchored: Dfa | None
    """Leftmost-first, from any start at or after a given place."""
    all_ends: Dfa | None
    """Unanchored, and every end of a match."""
    backwards: Dfa | None
    """Reversed: every start of a match, from a given end."""

    def find(self, text: bytes) -> list[Span]:
        """The leftmost-first, non-overlapping matches."""
        assert self.unanchored is not None
        assert self.backwards is not None
        kinds = kinds_around(text)
        forward = self.unanchored.symbols(text)
        backward = self.backwards.symbols(text)
        found: list[Span] = []
        place = 0
        while True:
            ends = run(self.unanchored, forward, kinds, place, len(text))
            if not ends:
                return found
            starts = run(self.backwards, backward, kinds, ends[-1], place)
            found.append((starts[-1], ends[-1]))
            place = ends[-1]

    def match_at(self, text: bytes, start: int) -> Span | None:
        """The match that starts at `start`."""
        assert self.anchored is not None
        symbols, kinds = self.anchored.symbols(text), kinds_around(text)
        ends = run(self.anchored, symbols, kinds, start, len(text))
        return (start, ends[-1]) if ends else None

    def ends(self, text: bytes) -> list[Span]:
        """Every end of a match once, with the leftmost start that has it."""
        assert self.all_ends is not None
        assert self.backwards is not None
        kinds = kinds_around(text)
        ends = run(self.all_ends, self.all_ends.symbols(text), kinds, 0, len(text))
        backward = self.backwards.symbols(text)
        return [(run(self.backwards, backward, kinds, end, 0)[-1], end) for end in ends]


def search_dfas(roots: Sequence[Node], most_states: int = MAX_STATES) -> list[SearchDfas]:
    """Build the four DFAs of each tree, all of them together."""
    automata = [
        automaton
        for root in roots
        for automaton in (
            position_automaton(compile_program(root)),
            position_automaton(compile_program(root, unanchored=True)),
            position_automaton(compile_program(root, unanchored=True), ordered=False),
            position_automaton(compile_reversed(root), ordered=False),
        )
    ]
    built = iter(determinize([one for one in automata if one is not None], most_states))
    dfas = [None if one is None else next(built) for one in automata]
    return [SearchDfas(*dfas[place : place + 4]) for place in range(0, len(dfas), 4)]
