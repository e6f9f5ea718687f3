"""Failures of the fuzzer: shrunk, and kept in a folder that `vyre run` replays."""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import time
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from vyre.conform.fuzz.checks import Finding, check_case, granted
from vyre.conform.fuzz.fusion import fused_pair
from vyre.conform.generate import GeneratedCase
from vyre.conform.lists import ListCase
from vyre.conform.lists.shrink import shrink_list
from vyre.conform.python.case import PythonCase, shrink_python
from vyre.conform.shrink import shrink
from vyre.runtime.reproducer import save_reproducer

_ATTEMPTS = 1500
_PATIENCE = 60.0
"""Seconds that shrinking may take."""


def shrunk(case: GeneratedCase, number: int, finding: Finding) -> tuple[GeneratedCase, Finding]:
    """The smallest program found that fails in the same check, and how it fails."""
    latest = finding
    started = time.monotonic()

    def fails(smaller: GeneratedCase) -> bool:
        nonlocal latest
        if time.monotonic() - started > _PATIENCE:
            return False
        found = check_case(smaller, number, (finding.check,))
        same = [each for each in found if _kind(each) == _kind(finding)]
        if same:
            latest = same[0]
        return bool(same)

    if isinstance(case, ListCase):
        return shrink_list(case, fails), latest
    if isinstance(case, PythonCase):
        return shrink_python(case, fails), latest
    return shrink(case, fails, _ATTEMPTS), latest


def shrunk_fault(case: GeneratedCase, number: int, check: str) -> GeneratedCase:
    """The smallest program found that still ends the process it runs in."""
    started = time.monotonic()

    def faults(smaller: GeneratedCase) -> bool:
        return time.monotonic() - started < _PATIENCE and ends_process(smaller, number, check)

    if isinstance(case, ListCase):
        return shrink_list(case, faults)
    if isinstance(case, PythonCase):
        return shrink_python(case, faults)
    return shrink(case, faults, _ATTEMPTS)


def ends_process(case: GeneratedCase, number: int, check: str) -> bool:
    """Whether a check of a program ends the process, tried in one of its own."""
    child = os.fork()
    if child == 0:
        faulthandler.disable()
        signal.alarm(int(_PATIENCE))
        try:
            check_case(case, number, (check,))
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) != signal.SIGALRM


def _kind(finding: Finding) -> tuple[str, str]:
    """What makes two failures alike: an exception's name, or that results differ."""
    head = finding.problem.split(":")[0]
    return finding.check, head if head.isidentifier() else "differs"


def keep(case: GeneratedCase, number: int, finding: Finding, folder: Path) -> Path:
    """Write a failure down; gives its folder."""
    program, inputs = finding.program or case.program, case.inputs
    tolerances = granted(case, flushed=finding.device.startswith("wgpu"))
    if finding.check == "fuse":
        pair = fused_pair(case, number)
        if pair is not None:
            program, inputs = pair.program, pair.inputs
            tolerances = pair.tolerances
            finding = replace(finding, expected=pair.expected)
    if isinstance(case, PythonCase):
        inputs = case.given(program)
    if isinstance(case, ListCase):
        # Who replays it has the inputs to go by, and no other sizes.
        program = program.with_rewritten_buffers(
            decl if decl.count or decl.binding is None else decl.with_count(len(inputs[decl.name]))
            for decl in program.buffers
        )
        given = {decl.name for decl in program.buffers if decl.is_host_input}
        inputs = {name: array for name, array in inputs.items() if name in given}
    kept = save_reproducer(program, inputs, case.grid, folder)
    notes = {
        "check": finding.check,
        "device": finding.device,
        "profile": finding.profile,
        "tier": finding.tier,
        "side": finding.side,
        "granted": {name: asdict(each) for name, each in tolerances.items()},
        "problem": finding.problem,
        "program": case.label,
        "number": number,
    }
    (kept / "failure.json").write_text(json.dumps(notes, indent=2) + "\n", encoding="utf-8")
    if isinstance(case, ListCase):
        for position, arm in enumerate(case.arms):
            (kept / f"arm{position}.vy").write_text(str(arm), encoding="utf-8")
    elif isinstance(case, PythonCase):
        (kept / "kernel.py").write_text(str(case), encoding="utf-8")
    elif program is not case.program:
        (kept / "before.vy").write_text(str(case.program), encoding="utf-8")
    if finding.expected is not None:
        (kept / "expected").mkdir(exist_ok=True)
        for name, array in finding.expected.items():
            np.save(kept / "expected" / f"{name}.npy", array, allow_pickle=False)
    return kept
