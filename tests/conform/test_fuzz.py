"""Random programs give the same in every way they are run; failures are kept and replayed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.conform.plants import PLANTS
from tests.share import share
from vyre import compiler
from vyre.cli import main
from vyre.conform import __main__ as conform
from vyre.conform.fuzz import CHECKS, case_of, check_case
from vyre.conform.fuzz.checks import Finding, expected_outputs, finding_of
from vyre.conform.fuzz.engine import fuzz
from vyre.conform.fuzz.failures import ends_process, keep, shrunk, shrunk_fault
from vyre.conform.fuzz.guard_pages import run_between_fences
from vyre.conform.fuzz.run_configuration import way_of
from vyre.conform.fuzz.worker import Assignment, batches
from vyre.conform.subject import Subject
from vyre.driver.backend import EmitOptions
from vyre.driver.compilation import CompileOptions
from vyre.runtime import CompiledProgram

BATCH = 50
BATCHES = share(10)
SEED = 7_000_000


@pytest.mark.parametrize("batch", range(BATCHES))
def test_random_programs_agree(batch: int) -> None:
    """The CPU and the optimizer, fusion, splitting and storing on the reference."""
    for number in range(SEED + batch * BATCH, SEED + (batch + 1) * BATCH):
        # Small programs mostly, and now and then one of another kind.
        case = case_of(number, "quick" if number % 25 == 0 else "tiny")
        found = check_case(case, number, ("cpu", "opt", ("fuse", "split")[number % 2], "wire"))
        assert found == [], f"number {number}: {case.label}"


def test_the_fuzzer_runs_in_processes_of_its_own(tmp_path: Path) -> None:
    report = fuzz(60, 3, ("wire",), processes=2, mixture="tiny", programs=40, folder=tmp_path)
    assert report.failures == []
    assert report.programs == 40


def test_a_check_that_compared_nothing_is_no_success(tmp_path: Path) -> None:
    report = fuzz(60, 3, ("lists",), processes=1, mixture="tiny", programs=5, folder=tmp_path)
    assert report.programs == 5
    assert report.failures == []
    assert report.idle == ("lists",)
    assert not report.ok


@pytest.mark.parametrize("what", ["lists", "python"])
def test_checks_get_the_programs_that_they_are_about(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["fuzz", "--what", what, "--programs", "3", "--processes", "1"]
    monkeypatch.setattr(sys, "argv", ["vyre.conform", *given, "--folder", str(tmp_path)])
    assert conform.main() == 0
    assert f"compared: {what} 0;" not in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", [*sys.argv, "--mixture", "tiny"])
    assert conform.main() == 1
    assert f"FAILED {what} had nothing to compare" in capsys.readouterr().out


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


def _unchecked(case, number):
    """The CPU as it would be without tests of bounds, between forbidden pages."""
    subject = Subject.of("cpu")
    options = CompileOptions("release", EmitOptions("quick", {"bounds": "unchecked"}))
    route = subject.route
    made = compiler.compile_program(case.program, route.backend, subject.target, options)
    compiled = CompiledProgram(route, made, options, from_cache=False)
    run_between_fences(compiled, case.inputs, case.grid, "behind")
    yield from ()


def test_an_access_outside_of_a_buffer_is_found_and_shrunk(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setitem(CHECKS, "unchecked", _unchecked)
    number = next(n for n in range(50) if ends_process(case_of(n, "hostile"), n, "unchecked"))
    case = case_of(number, "hostile")
    small = shrunk_fault(case, number, "unchecked")
    assert len(str(small.program)) < len(str(case.program))
    assert ends_process(small, number, "unchecked")
    finding = finding_of("unchecked", number, "the process was ended by SIGSEGV")
    kept = keep(small, number, replace(finding, device="cpu", side="behind"), tmp_path)
    assert main(["run", str(kept)]) == 0


def test_ways_meet_each_other() -> None:
    """Every profile is run at every effort of the backend, with and without forbidden pages."""
    ways = {(way.profile, way.tier, way.side) for way in map(way_of, range(10_000))}
    assert len(ways) == 5 * 6 * 3


@pytest.mark.parametrize("tell", [os.kill, os.killpg])
def test_a_run_that_is_told_to_end_tells_its_counts(
    tell: Callable[[int, int], None], tmp_path: Path
) -> None:
    """Also when all processes of the job are told, as a shell does: no program ended them."""
    command = [sys.executable, "-m", "vyre.conform", "fuzz", "--what", "wire", "--mixture", "tiny"]
    with subprocess.Popen(
        [*command, "--processes", "1", "--seconds", "60", "--folder", str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as run:
        time.sleep(3.0)
        tell(run.pid, signal.SIGTERM)
        out, _ = run.communicate(timeout=30)
    assert "interrupted" in out
    assert "FAILED" not in out
    assert run.returncode == 130


def test_a_planted_bug_is_found_shrunk_and_replayed(tmp_path: Path, capsys) -> None:
    """The whole way: from a wrong instruction to a few lines that show it, and not without it."""
    task = Assignment(5_000_000, 1, 60.0, ("cpu",), "tiny", tmp_path, 5_000_200)
    (plant,) = (p for p in PLANTS if p.name == "instruction: atomic addition made subtraction")
    with plant.planted():
        next(news for news in batches(task) if news.failures)
        folder = next(tmp_path.iterdir())
        assert len((folder / "program.vy").read_text().splitlines()) < 10
        assert main(["run", str(folder)]) == 1
        assert "differs from the reference" in capsys.readouterr().out
    assert main(["run", str(folder)]) == 0
