"""The conformance suite holds on the reference and on the CPU, and can tell when it does not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conform.lowerings import clamped_load
from tests.conform.plants import Wrapped
from vyre import conform
from vyre.cli import main
from vyre.conform.fuzz.split_reference import SplitReference
from vyre.conform.report import from_json
from vyre.conform.suite import AREAS
from vyre.diagnostics import VyreError
from vyre.driver import registry, routing
from vyre.target import Feature


@pytest.mark.parametrize("area", AREAS)
@pytest.mark.parametrize("device", ["reference", "cpu"])
def test_a_device_conforms(device: str, area: str) -> None:
    report = conform.run(device, [area])
    assert report.failures == []
    assert report.ok


def test_there_are_enough_cases() -> None:
    target = routing.choose("reference").backend.target(routing.choose("reference").device)
    counts = {name: sum(t.cases for t in area(target)) for name, area in AREAS.items()}
    assert all(counts.values())
    assert sum(counts.values()) >= 20_000


def test_a_backend_that_nobody_registered_can_be_tested() -> None:
    report = conform.run(SplitReference(), ["grid sync", "endings"])
    assert report.ok
    assert Feature.GRID_SYNC not in report.features


def test_what_a_device_lacks_is_not_counted_as_passed() -> None:
    class Poor(SplitReference):
        def target(self, device):
            whole = super().target(device)
            lacking = whole.features - {Feature.SUBGROUPS, Feature.F64}
            return type(whole)(whole.name, lacking, whole.limits, whole.subgroup_width)

    report = conform.run(Poor(), ["subgroups", "conversions"])
    assert report.ok
    assert report.areas["subgroups"].cases == 0
    assert report.areas["subgroups"].not_offered > 1000
    assert report.areas["conversions"].not_offered > 0
    assert any("subgroups" in what for what in report.missing)
    assert "not offered" in report.table()


def test_a_wrong_backend_fails_with_something_to_replay(tmp_path: Path, capsys) -> None:
    wrong = Wrapped(registry.backend("reference"), clamped_load)
    report = conform.run(wrong, ["memory"], profile=None, reproducers=tmp_path)
    assert not report.ok
    failure = report.failures[0]
    assert "should be" in failure.problem
    # On a device that is right the reproducer shows nothing wrong.
    assert main(["run", failure.reproducer, "--device", "reference"]) == 0
    assert "the same as the reference" in capsys.readouterr().out


def test_a_report_can_be_read_back() -> None:
    report = conform.run("reference", ["endings"])
    again = from_json(json.loads(json.dumps(report.to_json())))
    assert again.to_json() == report.to_json()


_THIRD_PARTY = """
import pytest
from vyre import conform

@pytest.mark.parametrize("area", ["grid sync", "endings", "refusals"])
@pytest.mark.parametrize("device", ["split", "wrong"])
def test_conforms(device: str, area: str) -> None:
    assert area in conform.AREAS
    report = conform.run(device, [area], profile=None)
    assert not report.failures, report.table()
"""
_WRONG = """
import dataclasses
import vyre_split_example as right

class WrongDevice(right.SplitDevice):
    info = dataclasses.replace(right.SplitDevice.info, id="wrong", backend="wrong")

class WrongBackend(right.SplitBackend):
    name = "wrong"

    def probe(self):
        return (WrongDevice(self.device),)

    def emit(self, program, target, options):
        return super().emit(program.with_rewritten_entry(program.entry[:1]), target, options)
"""


def test_a_third_party_tests_its_backend_with_pytest(tmp_path: Path) -> None:
    (tmp_path / "test_conformance.py").write_text(_THIRD_PARTY)
    (tmp_path / "wrong.py").write_text(_WRONG)
    info = tmp_path / "wrong-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: wrong\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[vyre.backends]\nwrong = wrong:WrongBackend\n")
    example = Path(__file__).parents[1] / "example_backend"
    paths = [str(example), str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-rA"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    said = done.stdout
    assert "2 failed, 4 passed" in said, said + done.stderr
    assert "FAILED test_conformance.py::test_conforms[wrong-endings]" in said
    assert "FAILED test_conformance.py::test_conforms[wrong-grid sync]" in said
    assert "the reference, segment by segment" in said


@pytest.mark.parametrize(
    ("subject", "area", "profile", "code"),
    [
        ("cpu", "arithmetic", "release", "D018"),
        ("gpu99", "endings", "release", "D001"),
        (42, "endings", "release", "D019"),
        ("cpu", "endings", "quick", "O012"),
    ],
)
def test_mistakes_of_the_caller_are_not_failures_of_the_device(
    subject: object, area: str, profile: str, code: str
) -> None:
    with pytest.raises(VyreError) as found:
        conform.run(subject, [area], profile=profile)  # pyright: ignore[reportArgumentType]
    assert found.value.code == code


def test_a_report_that_cannot_be_written_is_said_before_anything_runs(
    tmp_path: Path, capsys
) -> None:
    missing = tmp_path / "nowhere" / "out.json"
    assert main(["conform", "--device", "reference", "--report", str(missing)]) == 2
    assert "there is no folder" in capsys.readouterr().err


def test_the_command_writes_its_report_and_prints_the_counts(tmp_path: Path, capsys) -> None:
    out = tmp_path / "out.json"
    asked = ["conform", "--device", "reference", "--areas", "endings,grid sync"]
    assert main([*asked, "--report", str(out)]) == 0
    report = from_json(json.loads(out.read_text()))
    assert report.ok
    assert list(report.areas) == ["endings", "grid sync"]
    shown = capsys.readouterr().out
    for name, area in report.areas.items():
        assert any(
            line.split()[-6:-5] == [f"{area.cases}"]
            for line in shown.splitlines()
            if line.startswith(name)
        )
