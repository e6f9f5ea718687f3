"""What optimising costs: per statement, as programs grow, and when there is nothing to do.

Counted here, in calls; measured in seconds by the benchmark suite `optimizer`.
"""

from __future__ import annotations

import cProfile

from benchmarks.synthetic import stages
from vyre.ir import Program
from vyre.opt import OptimizerRunReport, optimize

MOST_CALLS_PER_STATEMENT = 2_000
MOST_GROWTH = 11.5
"""From 200 to 2 000 statements."""


def work(program: Program) -> tuple[int, OptimizerRunReport]:
    """How many calls optimising takes: the same on every machine, whatever else it does."""
    profile = cProfile.Profile()
    report = profile.runcall(optimize, program)
    return sum(row.callcount for row in profile.getstats()), report


def test_the_price_of_a_statement_and_how_it_grows() -> None:
    assert stages(1_000).stats().node_count == 1_001
    work(stages(100))
    small, _ = work(stages(200))
    large, _ = work(stages(2_000))
    assert small / 200 <= MOST_CALLS_PER_STATEMENT
    assert large / small <= MOST_GROWTH


def test_a_program_that_nothing_can_improve_costs_one_cheap_round() -> None:
    first, report = work(stages(1_000))
    optimised = report.program
    again = Program(optimised.buffers, optimised.workgroup_size, optimised.entry)
    second, report = work(again)
    assert report.iterations == 1
    assert report.program is again
    assert second <= first / 3
