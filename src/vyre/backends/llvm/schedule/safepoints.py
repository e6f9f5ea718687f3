"""How long loops go on between two looks at the flag that tells a launch to stop.

A loop that is over soon need not look at all, but it counts in whatever repeats it: three loops
inside of one another, each of them short, take hours. A loop that looks does so before its first
round, and so whatever repeats it need not count it.
"""

from __future__ import annotations

from collections.abc import Mapping

from vyre import ir
from vyre.analysis import Ranges
from vyre.ir.walk import bodies, walk_stmts

STRIP = 1 << 16
"""Rounds of all loops together between two looks."""
NARROW = 16
"""Bits of counters that soon have no numbers left."""


def max_trip_counts(program: ir.Program, types: Mapping[str, ir.DataType]) -> dict[str, int]:
    """By counter, how many rounds loops have at most, where that is less than millions."""
    ranges = Ranges.of(program)
    found: dict[str, int] = {}
    for position, statement in enumerate(walk_stmts(program.entry)):
        if isinstance(statement, ir.Loop):
            first, last = statement.start, statement.stop
            start, stop = ranges.interval(first, position), ranges.interval(last, position)
            low = int(first.value) if isinstance(first, ir.Lit) else start and start.low
            high = int(last.value) if isinstance(last, ir.Lit) else stop and stop.high
            bits = types[statement.var].bits or 0
            if low is not None and high is not None:
                found[statement.var] = max(high - low, 0)
            elif bits <= NARROW:
                found[statement.var] = (1 << bits) - 1
    return found


def strips(program: ir.Program, rounds: Mapping[str, int]) -> dict[str, int]:
    """By counter, after how many rounds a loop looks again; 0 where it never does."""
    found: dict[str, int] = {}
    _unseen(program.entry, rounds, found)
    return found


def _unseen(body: ir.Body, rounds: Mapping[str, int], found: dict[str, int]) -> int:
    """Rounds of loops in a body that go by without a look."""
    total = 0
    for statement in body:
        inner = sum(_unseen(nested, rounds, found) for nested in bodies(statement))
        if isinstance(statement, ir.While):
            continue
        if not isinstance(statement, ir.Loop):
            total += inner
            continue
        each = 1 + inner
        most = rounds.get(statement.var)
        looks = most is None or most * each > STRIP
        found[statement.var] = max(STRIP // each, 1) if looks else 0
        total += 0 if looks or most is None else most * each
    return total
