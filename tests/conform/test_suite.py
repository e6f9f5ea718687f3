"""The conformance suite holds on the reference and on the CPU, and can tell when it does not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conform.lowerings import clamped_load
from tests.conform.plants import Wrapped
from vyre import conform
from vyre.cli import main
from vyre.conform.fuzz.split_reference import SplitReference
from vyre.conform.report import from_json
from vyre.conform.suite import AREAS
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
