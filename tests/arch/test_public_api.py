"""What `import vyre` offers, and what it costs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import vyre

SNAPSHOT = Path(__file__).with_name("public_api.txt")
IMPORT_SECONDS = 0.120
TRIES = 20
HEAVY = ("llvmlite", "wgpu", "rich", "pyopencl", "cuda", "z3", "hypothesis")


def test_public_names_are_those_of_the_snapshot(bless: bool) -> None:
    """A name more or less is a decision; `--bless` writes it down."""
    names = "".join(f"{name}\n" for name in sorted(vyre.__all__))
    if bless:
        SNAPSHOT.write_text(names, encoding="utf-8")
    assert names == SNAPSHOT.read_text(encoding="utf-8")


def test_every_public_name_is_there_and_documented() -> None:
    for name in vyre.__all__:
        value = getattr(vyre, name)
        assert not callable(value) or value.__doc__, f"vyre.{name} has no docstring"


def test_parts_need_no_import_of_their_own() -> None:
    code = "import vyre; vyre.plan.fuse; vyre.analysis.ProgramFacts; vyre.conform.run; vyre.ir.Expr"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_import_loads_no_backend_library() -> None:
    code = f"import sys, vyre; print(*[m for m in {HEAVY} if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []


def test_import_is_quick() -> None:
    """Processor time, and the best of several tries: other processes are not our business."""
    code = "import time; t = time.process_time(); import vyre; print(time.process_time() - t)"
    command = [sys.executable, "-c", code]
    best = 1.0
    for _ in range(TRIES):
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        best = min(best, float(run.stdout))
        if best < IMPORT_SECONDS:
            break
    assert best < IMPORT_SECONDS
