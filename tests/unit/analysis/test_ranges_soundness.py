"""Ranges against an oracle: every value of every run of random programs is inside its interval."""

from __future__ import annotations

from itertools import chain

import pytest

from tests.unit.analysis.lanes import GROUPS, Lane, Maker, TooLong, element, run_all
from vyre.analysis import Ranges
from vyre.ir import Atomic, Load, Program, Store

PROGRAMS = 800
BLOCKS = 8
LENGTHS = (
    {"ro": 3, "rw": 5, "tile": 8},
    {"ro": 0, "rw": 1, "tile": 8},
    {"ro": 7, "rw": 0, "tile": 8},
)


def violations(ranges: Ranges, lane: Lane) -> list[str]:
    found: list[str] = []
    for position, expr, value in lane.values:
        known = ranges.interval(expr, position)
        if known is not None and value not in known:
            found.append(f"{value} is not in {known} at {position}: {expr!r}")
    for position, access, index in lane.accesses:
        assert isinstance(access, (Load, Store, Atomic))
        if ranges.is_in_bounds(access, position) and index >= lane.lengths[access.buffer]:
            found.append(f"index {index} is outside of {access.buffer} at {position}")
    return found


def knowledge(program: Program, lanes: list[Lane]) -> tuple[int, int]:
    """How many accesses were executed, and how many of them are proven."""
    ranges = Ranges.of(program)
    proven = 0
    for lane in lanes:
        for position, access, _ in lane.accesses:
            assert isinstance(access, (Load, Store, Atomic))
            proven += ranges.is_in_bounds(access, position)
    return sum(len(lane.accesses) for lane in lanes), proven


@pytest.mark.parametrize("block", range(BLOCKS))
def test_every_value_is_inside(block: int) -> None:
    executed = proven = 0
    for seed in range(block, PROGRAMS, BLOCKS):
        program = Maker(seed).program()
        lengths = LENGTHS[seed % len(LENGTHS)]
        try:
            lanes = list(chain.from_iterable(run_all(program, seed, lengths)))
        except TooLong:
            continue
        contents = {"ro": [element(index) for index in range(lengths["ro"])]}
        known = Ranges.under(program, (GROUPS, 1, 1), lengths, contents)
        for lane in lanes:
            assert violations(Ranges.of(program), lane) == [], f"seed {seed}\n{program}"
            assert violations(known, lane) == [], f"seed {seed}, known launch\n{program}"
        counts = knowledge(program, lanes)
        executed, proven = executed + counts[0], proven + counts[1]
    assert executed > 500
    assert proven > executed // 20
