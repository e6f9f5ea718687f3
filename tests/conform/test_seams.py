"""Seams: what lives across grid barriers and collectives, and lists of kernels that are fused."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from vyre.backends.reference import execute
from vyre.cli import main
from vyre.conform.compare import compare_outputs
from vyre.conform.fuzz import CHECKS, case_of, check_case
from vyre.conform.fuzz.checks import Finding, Tally
from vyre.conform.fuzz.failures import keep, shrunk
from vyre.conform.lists import ListCase, fused, list_case, one_after_the_other
from vyre.conform.lists.run import on_reference, together
from vyre.diagnostics import Severity
from vyre.examples import decode_scan, histogram, prefix_sum, reduction, saxpy

SEED = 9_000_000
BATCH = 12


@pytest.mark.parametrize("batch", range(4))
def test_programs_that_are_all_seams_agree(batch: int) -> None:
    for number in range(SEED + batch * BATCH, SEED + (batch + 1) * BATCH):
        checks = ("split", "cpu" if number % 4 == 0 else "wire", ("opt", "fuse")[number % 2])
        assert check_case(case_of(number, "seams"), number, checks) == [], number


def test_programs_that_are_all_seams_are_valid_and_free_of_races() -> None:
    seen = dict.fromkeys(("barrier grid_sync", "all_gather", "return", "while", "local"), 0)
    for number in range(100):
        case = case_of(number, "seams")
        assert not [d for d in case.program.check() if d.severity is Severity.ERROR]
        if number % 4 == 0:
            run = execute(case.program, case.inputs, case.grid, sanitize=True)
            assert not [f for f in run.findings if f.code in ("X101", "X102")], number
        for word in seen:
            seen[word] += word in str(case.program)
    assert all(count >= 5 for count in seen.values()), seen


@pytest.mark.parametrize("batch", range(3))
def test_lists_of_kernels_fused_agree_with_one_after_the_other(batch: int) -> None:
    tally = Tally()
    numbers = range(SEED + batch * BATCH, SEED + (batch + 1) * BATCH)
    for number in numbers:
        # All of them on the reference, some on the CPU, too.
        check = "lists" if number % 5 == 0 else "lists@reference"
        assert check_case(case_of(number, "lists"), number, (check,), tally) == [], number
    assert len(tally.refused) <= len(numbers) // 4


def test_lists_have_everything_that_fusing_must_keep() -> None:
    seen = dict.fromkeys(FEATURES, 0)
    for number in range(100):
        case = list_case(number)
        written = "\n".join(str(arm) for arm in case.arms)
        for word in seen:
            seen[word] += word in written
        seen["the same program twice"] += len(set(case.arms)) < len(case.arms)
        seen["counts"] += any(decl.count > 1 for decl in case.program.buffers if decl.is_output)
    assert all(count >= 5 for count in seen.values()), seen


FEATURES = (
    *("workgroup", "local", "output", "atomic", "return", "for ", "while", "f32", "u8"),
    *("barrier grid_sync", "the same program twice", "counts"),
)


PLANS = """
from vyre.conform.lists import fused, list_case
from vyre.diagnostics import PlanError
import hashlib
made = hashlib.sha256()
for number in range(12):
    try:
        made.update(str(fused(list_case(number))).encode())
    except PlanError as refusal:
        made.update(refusal.code.encode())
print(made.hexdigest())
"""


def test_plans_are_the_same_in_every_process() -> None:
    found: set[str] = set()
    for seed in ("0", "1", "77"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", PLANS]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        found.add(done.stdout)
    assert len(found) == 1, found


EXAMPLES = (
    *(saxpy.saxpy, histogram.histogram, prefix_sum.prefix_sum, reduction.total),
    *(decode_scan.decode, decode_scan.scan),
)
"""Those whose workgroups have 256 invocations."""


def test_lists_of_examples_fused_agree_with_one_after_the_other() -> None:
    pool = [kernel.program() for kernel in EXAMPLES]
    for seed in range(12):
        case = list_case(seed, pool)
        program = fused(case)
        expected = one_after_the_other(case, on_reference(case))
        found = together(case, program, on_reference(case))
        wanted = {name: expected[name] for name in found}
        assert compare_outputs(program, wanted, found) == [], seed


def test_a_failing_list_is_shrunk_and_kept_for_replay(tmp_path: Path, monkeypatch, capsys) -> None:
    """A check that dislikes one kernel leaves a list of that kernel alone."""

    def dislike(case, number):
        assert isinstance(case, ListCase)
        if any("squares" in (arm.entry_op_id or "") for arm in case.arms):
            program = fused(case)
            expected = together(case, program, on_reference(case))
            yield Finding("dislike", "cpu", None, "there are squares", expected, program=program)

    monkeypatch.setitem(CHECKS, "dislike", dislike)
    number = next(n for n in range(200) if check_case(case_of(n, "lists"), n, ("dislike",)))
    (finding,) = check_case(case_of(number, "lists"), number, ("dislike",))
    small, how = shrunk(case_of(number, "lists"), number, finding)
    assert isinstance(small, ListCase)
    assert len(small.arms) == 1
    folder = keep(small, number, how, tmp_path)
    assert (folder / "arm0.vy").is_file()
    assert main(["run", str(folder)]) == 0
    assert "recorded: there are squares" in capsys.readouterr().out
