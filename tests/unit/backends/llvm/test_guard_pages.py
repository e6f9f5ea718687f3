"""Nothing that a program does touches memory outside its buffers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[4]


@pytest.mark.parametrize(("first", "last", "tier"), [(1000, 1100, "quick"), (2000, 2008, "full")])
def test_random_programs_between_forbidden_pages(first: int, last: int, tier: str) -> None:
    """A stray access would kill the process that runs them."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.unit.backends.llvm.guarded", str(first), str(last), tier],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "programs between fences" in done.stdout
