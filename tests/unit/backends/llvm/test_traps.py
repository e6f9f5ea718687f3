"""Traps and prints from vectors: the lane that speaks is the one reported."""

from __future__ import annotations

import numpy as np

from tests.unit.backends.llvm.running import Array, launch, load
from vyre.backends.llvm.outcome import Outcome, Status
from vyre.ir import Program

TEXT = """
program workgroup(64, 1, 1)
buffer a: read_only u32[] @0
buffer out: read_write u32[] @1
region "r" {
    let i = gid.x
    if i < len(out) {
        BODY
        out[i] = a[i] + 1
    }
}"""


def run(body: str, wrong: int) -> tuple[Outcome | None, Array]:
    program = Program.parse(TEXT.replace("BODY", body))
    a = np.zeros(200, np.uint32)
    a[wrong] = 7
    inputs = {"a": a, "out": np.zeros(200, np.uint32)}
    outputs, outcome = launch(load(program), program, inputs, (4, 1, 1), {})
    return outcome, outputs["out"]


def test_a_trap_names_its_lane() -> None:
    for wrong in (0, 37, 199):
        outcome, _ = run('if a[i] == 7 { trap "seven" }', wrong)
        assert outcome is not None
        assert (outcome.status, outcome.tag) == (Status.TRAP, "seven")
        assert outcome.invocation == (wrong, 0, 0)


def test_a_trap_that_is_not_reached_changes_nothing() -> None:
    outcome, out = run('if a[i] == 8 { trap "eight" }', 5)
    assert outcome is None
    assert int(out.sum()) == 200 + 7


def test_printed_lines_come_from_every_lane_that_prints() -> None:
    outcome, _ = run('if a[i] == 7 { print "at", i, a[i] }', 41)
    assert outcome is not None
    assert outcome.printed == ("(41, 0, 0) at: 41, 7",)
