"""Safepoint polling: how many iterations run between two polls of the stop flag.

Loops are strip-mined. A loop with a small trip count has no poll, but its iterations count in the
enclosing loop: three nested loops, each of them short, take hours. A loop with a poll has one
before its first iteration, so the enclosing loop need not count it.
"""

from __future__ import annotations

from collections.abc import Mapping

from vyre import ir
from vyre.analysis import Ranges
from vyre.backends.llvm import heuristics
from vyre.ir.walk import bodies, walk_stmts


def max_trip_counts(program: ir.Program, types: Mapping[str, ir.DataType]) -> dict[str, int]:
    """Upper bounds of trip counts by induction variable, where below millions."""
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
            elif bits <= heuristics.MAX_BOUNDED_COUNTER_BITS:
                found[statement.var] = (1 << bits) - 1
    return found


def strips(program: ir.Program, trip_counts: Mapping[str, int]) -> dict[str, int]:
    """Iterations between two polls by induction variable; 0 for loops without a poll."""
    found: dict[str, int] = {}
    _unpolled(program.entry, trip_counts, found)
    return found


def _unpolled(body: ir.Body, trip_counts: Mapping[str, int], found: dict[str, int]) -> int:
    """Iterations of loops in a body that run without a poll."""
    total = 0
    for statement in body:
        inner = sum(_unpolled(nested, trip_counts, found) for nested in bodies(statement))
        if isinstance(statement, ir.While):
            continue
        if not isinstance(statement, ir.Loop):
            total += inner
            continue
        each = 1 + inner
        most = trip_counts.get(statement.var)
        polls = most is None or most * each > heuristics.SAFEPOINT_ITERATIONS
        found[statement.var] = max(heuristics.SAFEPOINT_ITERATIONS // each, 1) if polls else 0
        total += 0 if polls or most is None else most * each
    return total
