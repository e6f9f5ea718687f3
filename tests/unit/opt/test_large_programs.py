"""Large programs do not grow before it is known to pay."""

from __future__ import annotations

from benchmarks.synthetic import program_of_size
from vyre.ir import Loop, Program
from vyre.ir.walk import walk_stmts
from vyre.opt import HotPathHints, OptimizerRunReport, optimize
from vyre.opt.hot_paths import hint_keys
from vyre.opt.passes.unroll import LARGE_PROGRAM


def loops(program: Program) -> int:
    """How many loops a program has."""
    return sum(isinstance(statement, Loop) for statement in walk_stmts(program.entry))


def unroll_notes(report: OptimizerRunReport) -> list[str]:
    """What the pass that writes out loops said."""
    rows = [row for row in report.passes if row.pass_name == "unroll"]
    return [note for row in rows for note in row.research_trace or ()]


def test_loops_of_a_small_program_are_written_out() -> None:
    assert loops(optimize(program_of_size(100)).program) == 0


def test_a_large_program_keeps_its_loops() -> None:
    program = program_of_size(LARGE_PROGRAM + 100)
    report = optimize(program)
    assert loops(report.program) == loops(program)
    assert "a large program keeps its loops unless it is hot" in unroll_notes(report)


def test_a_program_is_written_out_as_far_as_there_is_room() -> None:
    program = program_of_size(LARGE_PROGRAM - 50)
    report = optimize(program)
    assert 0 < loops(report.program) < loops(program)
    assert report.program.stats().node_count <= LARGE_PROGRAM


def test_loops_of_a_large_program_are_written_out_when_it_is_hot() -> None:
    program = program_of_size(LARGE_PROGRAM + 100)
    hints = HotPathHints()
    for key in hint_keys(program):
        hints.record(key, kernel_ns=1_000_000, bytes_touched=0)
    assert loops(optimize(program, hints=hints).program) == 0
