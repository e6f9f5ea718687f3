"""Random programs give the same in every way they are run; failures are kept and replayed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from vyre.cli import main
from vyre.conform.fuzz import CHECKS, case_of, check_case
from vyre.conform.fuzz.checks import Finding, expected_outputs
from vyre.conform.fuzz.engine import fuzz
from vyre.conform.fuzz.failures import keep, shrunk

BATCH = 50
BATCHES = 10
SEED = 7_000_000


@pytest.mark.parametrize("batch", range(BATCHES))
def test_random_programs_agree(batch: int) -> None:
    """500 programs: the CPU and the optimizer, fusion, splitting and storing on the reference."""
    for number in range(SEED + batch * BATCH, SEED + (batch + 1) * BATCH):
        # Small programs mostly, and now and then one of another kind.
        case = case_of(number, "quick" if number % 25 == 0 else "tiny")
        found = check_case(case, number, ("cpu", "opt", ("fuse", "split")[number % 2], "wire"))
        assert found == [], f"number {number}: {case.label}"


def test_the_fuzzer_runs_in_processes_of_its_own(tmp_path: Path) -> None:
    report = fuzz(4.0, 3, ("wire",), processes=1, mixture="tiny", folder=tmp_path)
    assert report.failures == []
    assert report.programs > 0


def test_a_failure_is_shrunk_and_kept_for_replay(tmp_path: Path, monkeypatch, capsys) -> None:
    """A check that dislikes every program with a store leaves very little of one."""

    def dislike(case, number):
        if "= " in str(case.program).split("region", 1)[1]:
            yield Finding("dislike", "reference", None, "there is a store")

    monkeypatch.setitem(CHECKS, "dislike", dislike)
    case = case_of(1, "tiny")
    (finding,) = check_case(case, 1, ("dislike",))
    small, how = shrunk(case, 1, finding)
    assert len(str(small.program)) <= len(str(case.program))
    folder = keep(small, 1, how, tmp_path)
    notes = json.loads((folder / "failure.json").read_text())
    assert notes["problem"] == "there is a store"
    assert main(["run", str(folder)]) == 0
    assert "recorded: there is a store" in capsys.readouterr().out


def test_a_kept_failure_with_known_results_is_compared_with_them(tmp_path: Path, capsys) -> None:
    case = case_of(4, "tiny")
    known = {name: array.copy() for name, array in expected_outputs(case, 32).items()}
    name = next(iter(known))
    known[name].reshape(-1).view("u1")[0] ^= 1
    finding = Finding("wire", "reference", None, "changed by the test", known)
    folder = keep(case, 4, finding, tmp_path)
    assert main(["run", str(folder)]) == 1
    assert f"{name}[0]" in capsys.readouterr().out
