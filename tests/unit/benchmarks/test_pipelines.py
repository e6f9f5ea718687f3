"""The suite of pipelines: both sides of each contest agree, and wrong results are not timed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.pipelines.automaton import automaton_data, define_automaton, scan_base64
from benchmarks.pipelines.case import disagreement
from benchmarks.pipelines.contests import CONTESTS, Contest, Side, compared
from benchmarks.report import Options
from benchmarks.suites import pipelines


@pytest.mark.parametrize("contest", CONTESTS, ids=lambda c: f"{c.name}, {c.against}")
def test_both_sides_agree(contest: Contest) -> None:
    _, _, problem = compared(contest, contest.data(contest.sizes["tiny"]))
    assert problem == ""


def test_the_automaton_is_as_defined() -> None:
    text, table, accepted = automaton_data(1000)
    expected = define_automaton(text, table, accepted)
    scan_base64(text, table, accepted)
    assert disagreement(expected, [accepted]) == ""
    assert accepted.sum() > 0


def test_a_wrong_result_is_reported_and_not_timed() -> None:
    def wrong(contest: Contest, given: tuple[object, ...]) -> Side:
        return Side(lambda: None, lambda _: [np.zeros(4, np.float32)])

    contest = replace(CONTESTS[-1], other=wrong)
    found = pipelines.measured(contest, Options(scale="tiny"))
    assert found.problem.startswith("wrong result")
    assert found.own == 0.0


def test_disagreements_are_found() -> None:
    one = np.arange(4, dtype=np.uint32)
    assert disagreement([one], [one.copy()]) == ""
    assert "element 2" in disagreement([one], [np.array([0, 1, 9, 3], np.uint32)])
    assert disagreement([one], []) == "0 arrays, not 1"
    assert "array 0 is" in disagreement([one], [one.astype(np.int32)])
