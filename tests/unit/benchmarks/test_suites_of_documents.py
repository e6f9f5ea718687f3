"""The suites of cost reports and of grid barriers: what they measure is right, at tiny sizes."""

import os

import pytest

from benchmarks.pipelines.grid_barriers import BARRIER_CASES, BarrierCase
from benchmarks.report import Options
from benchmarks.suites import cost_reports, grid_barriers

TINY = Options(scale="tiny", rounds=1, budget=0.1)


def test_a_report_leaves_passes_out_and_leads_to_the_code_that_was_kept() -> None:
    before = os.sched_getaffinity(0)
    report = cost_reports.run(TINY)
    assert os.sched_getaffinity(0) == before
    for each in report.data["programs"]:
        assert 0 < each["changing"] < each["passes"]
        assert each["ready"]["kept"] < each["ready"]["cold"]
        assert set(each["launches"]) == {"cold", "reported", "kept"}


@pytest.mark.parametrize("case", BARRIER_CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("size", [64, 500, 4097])
def test_barriers_and_launches_give_the_same(case: BarrierCase, size: int) -> None:
    found = grid_barriers.measured(case, size, TINY)
    assert found.problem == ""
    assert found.barriers > 0
