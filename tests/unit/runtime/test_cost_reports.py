"""Cost reports: what a full compilation of a hot program found out serves its next ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from vyre.cache import DiskCache
from vyre.driver.compilation import CompileOptions
from vyre.ir import Program
from vyre.opt import HotPathHints, OptimizerProfile, optimize
from vyre.opt.cost_report import CostReport
from vyre.opt.hot_paths import hint_keys
from vyre.runtime import cost_reports
from vyre.runtime.compiling import compile
from vyre.target import Target

PLAIN = Path(__file__).parents[3] / "benchmarks" / "plain"
KERNELS = PLAIN.parent / "kernels"
SHIPPED = sorted([*PLAIN.glob("*.vy"), *KERNELS.glob("*.vy")])


def shipped(path: Path) -> Program:
    return Program.parse(path.read_text("utf-8"))


def hot(program: Program) -> HotPathHints:
    hints = HotPathHints()
    hints.record(hint_keys(program)[0], hints.hot_threshold_ns, 0)
    return hints


def reported(program: Program, target: Target) -> CostReport:
    full = optimize(program, OptimizerProfile.RELEASE, target, hot(program))
    report = CostReport.of(full, program, target)
    assert report is not None
    return report


@pytest.fixture
def cache(tmp_path: Path) -> DiskCache:
    return DiskCache(tmp_path, 1 << 26)


@pytest.fixture(scope="module")
def target() -> Target:
    return compile(shipped(SHIPPED[0]), device="cpu").target


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_the_passes_that_changed_something_give_the_same_text(path: Path, target: Target) -> None:
    program = shipped(path)
    full = optimize(program, OptimizerProfile.RELEASE, target, hot(program))
    report = CostReport.of(full, program, target)
    assert report is not None
    again = optimize(program, OptimizerProfile.RELEASE, target, report=report)
    assert str(again.program) == str(full.program)
    reasons = {each.metadata.name: each.reason.name for each in again.decisions}
    ran = {row.pass_name for row in again.passes}
    assert report.changing <= ran
    assert all(reasons[name] == "PASS_COST_REPORT" for name in report.changing)
    assert all(reasons[name] == "REQUIRED_DEPENDENCY" for name in ran - report.changing)
    assert "CHANGES_NOTHING" in reasons.values()


def test_the_next_compilation_runs_them_at_once(cache: DiskCache) -> None:
    program = shipped(PLAIN / "reduction.vy")
    full = compile(program, device="cpu", hints=hot(program), cache=cache)
    # Another process: nothing in memory, no hints, and other options than those of the artifact.
    other = shipped(PLAIN / "reduction.vy")
    cold = HotPathHints()
    again = compile(other, device="cpu", hints=cold, cache=cache)
    assert again.from_cache
    assert again.is_for_hot
    assert str(again.program) == str(full.program)
    options = CompileOptions(verify=True)
    made = compile(shipped(PLAIN / "reduction.vy"), device="cpu", options=options, cache=cache)
    assert not made.from_cache
    assert str(made.program) == str(full.program)
    assert "an earlier report shows that it changes nothing" in made.explain()


def test_without_a_report_nothing_is_left_out(cache: DiskCache) -> None:
    program = shipped(PLAIN / "reduction.vy")
    made = compile(program, device="cpu", hints=HotPathHints(), cache=cache)
    assert not made.is_for_hot
    assert "changes nothing" not in made.explain()
    assert cost_reports.saved_report(program, made.target, CompileOptions(), cache) is None


FOREIGN = {
    "another program": {"source": "0" * 32},
    "another compiler": {"made_by": "0"},
    "another target": {"target": "cpu of another kind"},
    "another profile": {"profile": "debug"},
    "another result": {"result": "0" * 32},
    "no passes": {"passes": ()},
}


@pytest.mark.parametrize("changed", FOREIGN.values(), ids=FOREIGN)
def test_a_report_of_something_else_decides_nothing(
    changed: dict[str, str], target: Target
) -> None:
    program = shipped(PLAIN / "stencil.vy")
    wrong = replace(reported(program, target), **changed)
    made = optimize(program, OptimizerProfile.RELEASE, target, report=wrong)
    plain = optimize(program, OptimizerProfile.RELEASE, target)
    assert str(made.program) == str(plain.program)
    assert made.decisions == plain.decisions


HEAD = b'{"format": "vyre-cost-report-1", "passes": '


@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"{}", b"[1]", b"\xff", HEAD + b"[[1]]}", HEAD + b'{"cse": 1}}', HEAD + b"7}"),
        *(HEAD + b'[["cse", Infinity, 0, 0]]}', HEAD + b'[["cse", 1e999, 0, 0]]}', b"[" * 100_000),
    ],
    ids=range(10),
)
def test_damaged_reports_are_ignored(data: bytes, cache: DiskCache) -> None:
    assert CostReport.from_bytes(data) is None
    program = shipped(PLAIN / "stencil.vy")
    full = compile(program, device="cpu", hints=hot(program), cache=cache)
    key = cost_reports._key(program, full.target, "release")
    assert key in cache
    cache.put(key, data)
    again = compile(shipped(PLAIN / "stencil.vy"), device="cpu", hints=HotPathHints(), cache=cache)
    assert not again.is_for_hot


def test_a_report_survives_as_bytes(target: Target) -> None:
    report = reported(shipped(PLAIN / "stencil.vy"), target)
    assert CostReport.from_bytes(report.to_bytes()) == report
