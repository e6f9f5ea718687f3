"""Reports: kept between compilations, and told in words."""

from __future__ import annotations

import pytest

from vyre.diagnostics import OptimizerError
from vyre.ir import Program
from vyre.opt import (
    HotPathHints,
    OptimizerProfile,
    OptimizerRunReport,
    PassSelectionReason,
    explain,
    optimize,
    summarize,
    total_savings,
)
from vyre.target import Feature, Target

SOURCE = """
program workgroup(64, 1, 1) op "demo"

buffer a: read_only u32[] @0
buffer out: read_write u32[64] @1

let x = gid.x * 1u32 + 0u32
let unused = x * 17u32
if true {
    out[x] = a[x] + a[x]
}
"""


@pytest.fixture
def program() -> Program:
    return Program.parse(SOURCE)


def test_optimize_tells_what_it_did(program: Program) -> None:
    report = optimize(program)
    assert report.changed
    assert report.profile == "release"
    assert report.iterations >= 2
    figures = total_savings(report)
    assert figures["memory_op_count"] == 1
    assert figures["instruction_count"] > 0
    by_name = {summary.name: summary for summary in summarize(report)}
    assert by_name["redundant_loads"].saved["memory_op_count"] == 1
    assert by_name["dce"].rewrites > 0


def test_explain_speaks_of_every_pass(program: Program) -> None:
    report = optimize(program)
    text = explain(report)
    for decision in report.decisions:
        assert decision.metadata.name in text
    assert "too small" in text
    assert "always on" in text
    assert "-1 memory operations" in text
    assert "it needs to know the target" in text


def test_explain_names_the_target_and_its_lack(program: Program) -> None:
    text = explain(optimize(program, target=Target("toaster")))
    assert "toaster" in text
    assert "the target lacks what it needs" in text


def test_a_report_survives_a_file(program: Program, tmp_path) -> None:
    report = optimize(program)
    path = tmp_path / "deep" / "report.json"
    report.save(path)
    again = OptimizerRunReport.load(path)
    assert again == report
    assert again.program == report.program
    assert again.cost_reducing_passes() == report.cost_reducing_passes()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        '{"format": "vyre-optimizer-report-1"}',
        '{"format": "vyre-optimizer-report-1", "program": "nonsense", "passes": [], '
        '"profile": "", "target": ""}',
        '{"format": "vyre-optimizer-report-1", "program": "program workgroup(1, 1, 1)\\n", '
        '"passes": [{"decision": 1}], "profile": "", "target": ""}',
    ],
)
def test_what_is_no_report_is_refused(text: str) -> None:
    with pytest.raises(OptimizerError) as error:
        OptimizerRunReport.from_json(text)
    assert error.value.code == "O007"


def test_a_missing_report_is_an_error(tmp_path) -> None:
    with pytest.raises(OptimizerError) as error:
        OptimizerRunReport.load(tmp_path / "none.json")
    assert error.value.code == "O007"


HANDOFF = """
program workgroup(64, 1, 1) op "scan"

buffer a: read_only u32[] @0
buffer out: read_write u32[] @1
buffer decoded: scratch u32[256]

decoded[gid.x] = a[gid.x] * 3u32
barrier seq_cst
out[gid.x] = decoded[wid.x * 64u32 + (63u32 - lid.x)]
"""


def reason_for(report: OptimizerRunReport, name: str) -> PassSelectionReason:
    return next(d.reason for d in report.decisions if d.metadata.name == name)


def test_a_pass_that_runs_only_after_the_program_became_hot() -> None:
    program = Program.parse(HANDOFF)
    hints = HotPathHints()
    cold = optimize(program, hints=hints)
    assert reason_for(cold, "decode_scan_fuse") is PassSelectionReason.BELOW_THRESHOLD
    assert not cold.rows_of("decode_scan_fuse")
    for _ in range(3):
        hints.record("scan", 250_000, 4096)
    hot = optimize(program, hints=hints)
    assert reason_for(hot, "decode_scan_fuse") is PassSelectionReason.HOT_PATH_TELEMETRY
    assert any(row.changed for row in hot.rows_of("decode_scan_fuse"))
    decl = hot.program.buffer("decoded")
    assert decl is not None
    assert decl.is_workgroup


def test_a_report_brings_the_pass_back_when_the_program_is_cold_again(tmp_path) -> None:
    program = Program.parse(HANDOFF)
    hints = HotPathHints()
    hints.record("scan", 250_000, 4096)
    path = tmp_path / "report.json"
    first = optimize(program, hints=hints)
    first.save(path)
    paid = OptimizerRunReport.load(path)
    assert "simplify" not in paid.cost_reducing_passes() or paid.changed
    again = optimize(program, report=paid)
    for name in paid.cost_reducing_passes():
        assert reason_for(again, name) is PassSelectionReason.PASS_COST_REPORT


def test_off_means_off(program: Program) -> None:
    report = optimize(program, OptimizerProfile.OFF)
    assert report.program is program
    assert report.passes == ()
    assert total_savings(report)["nodes"] == 0


def test_refusals_of_rewrites_are_explained() -> None:
    program = Program.parse(HANDOFF.replace("63u32 - lid.x", "64u32 - lid.x"))
    hints = HotPathHints()
    hints.record("scan", 250_000, 4096)
    assert "decoded stays in device memory" in explain(optimize(program, hints=hints))


def test_verified_runs_pass_the_checker(program: Program) -> None:
    everything = Target("everything", frozenset(Feature), subgroup_width=8)
    optimize(program, OptimizerProfile.MEGAKERNEL, everything, verify=True)
