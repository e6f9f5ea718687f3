"""Nothing that a program does touches memory outside its buffers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.backends.llvm.running import source
from vyre.ir import Program

ROOT = Path(__file__).resolve().parents[4]


@pytest.mark.parametrize(("first", "last", "tier"), [(11000, 11200, "quick"), (2000, 2012, "full")])
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
    assert done.returncode == 0, done.stdout + done.stderr
    assert "programs between fences" in done.stdout


def test_a_float_is_read_alone() -> None:
    """Quick instruction selection would read a whole register at the place of one element."""
    text = """program workgroup(1, 1, 1)
buffer data: read_only f32[] @0
buffer out: read_write f32[] @1
region "r" {
    let x = data[gid.x]
    out[gid.x] = select(x == x, x, 1.5f32)
}
"""
    raw = source(Program.parse(text))
    assert "load float" not in raw
