"""Nothing that a program does touches memory outside its buffers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.backends.llvm.running import source
from vyre.conform.fuzz.engine import fuzz
from vyre.ir import Program


@pytest.mark.parametrize(("mixture", "seed"), [("hostile", 11), ("hostile", 12), ("kernels", 13)])
def test_random_programs_between_forbidden_pages(mixture: str, seed: int, tmp_path: Path) -> None:
    """A stray access would kill the process that runs them."""
    report = fuzz(300, seed, ("cpu",), processes=1, mixture=mixture, programs=100, folder=tmp_path)
    assert report.failures == []
    assert report.counted["cpu guard pages"] > 80


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
