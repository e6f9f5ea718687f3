"""The position automaton (Glushkov) of a program, with priorities and boundary relations.

A position is a BYTE instruction; one more, behind them all, stands for the end of a match. Position
q follows p if a match may go on with q after p without consuming a byte; each edge carries the
relation that the boundary between the two must satisfy. Edges are in order of priority. Edges that
an earlier one makes useless are left out: same position, weaker condition.
"""

from __future__ import annotations

from vyre.ops.match.regex.boundaries import ALWAYS
from vyre.ops.match.regex.limits import MAX_FOLLOW_EDGES
from vyre.ops.match.regex.program import ASSERT, BYTE, JUMP, MATCH, SAVE, SPLIT, Program
from vyre.record import dataclass

Edge = tuple[int, int]
"""Position and relation."""


@dataclass(frozen=True, slots=True)
class PositionAutomaton:
    """Positions, what they consume, and what follows them."""

    sets: tuple[int, ...]
    """The byte set of each position."""
    first: tuple[Edge, ...]
    """The positions that a match may start with; `len(sets)` is the end of a match."""
    follow: tuple[tuple[Edge, ...], ...]
    has_assertions: bool
    is_ordered: bool
    """True if an edge to the end of a match hides all later ones (leftmost-first)."""
    is_reversed: bool

    @property
    def end(self) -> int:
        """The position that stands for the end of a match."""
        return len(self.sets)


def position_automaton(
    program: Program, ordered: bool = True, most_edges: int = MAX_FOLLOW_EDGES
) -> PositionAutomaton | None:
    """The automaton of a program; None if it has too many edges."""
    code = program.code
    places = [pc for pc, (op, _, _) in enumerate(code) if op == BYTE]
    numbers = {pc: number for number, pc in enumerate(places)}
    numbers[len(code) - 1] = len(places)
    budget = most_edges
    lists: list[tuple[Edge, ...]] = []
    for start in (0, *(pc + 1 for pc in places)):
        edges, steps = _closure(program, start, ordered, budget)
        budget -= steps
        if budget < 0:
            return None
        lists.append(tuple((numbers[pc], relation) for pc, relation in edges))
    return PositionAutomaton(
        tuple(program.sets[code[pc][1]] for pc in places),
        lists[0],
        tuple(lists[1:]),
        program.has_assertions,
        ordered,
        program.is_reversed,
    )


def _closure(program: Program, start: int, ordered: bool, budget: int) -> tuple[list[Edge], int]:
    """The BYTE and MATCH instructions reached from one without consuming, and the steps taken."""
    code = program.code
    edges: list[Edge] = []
    reached: dict[int, list[int]] = {}
    pending = [(start, ALWAYS)]
    steps = 0
    while pending and steps <= budget:
        pc, relation = pending.pop()
        earlier = reached.setdefault(pc, [])
        if not relation or any(relation & ~one == 0 for one in earlier):
            continue
        earlier.append(relation)
        steps += 1
        op, x, y = code[pc]
        if op == BYTE:
            edges.append((pc, relation))
        elif op == SPLIT:
            pending += ((y, relation), (x, relation))
        elif op == JUMP:
            pending.append((x, relation))
        elif op == SAVE:
            pending.append((pc + 1, relation))
        elif op == ASSERT:
            pending.append((pc + 1, relation & x))
        elif op == MATCH:
            edges.append((pc, relation))
            if ordered and relation == ALWAYS:
                break
    return edges, steps
