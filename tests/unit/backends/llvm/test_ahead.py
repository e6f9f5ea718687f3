"""Memory is asked for ahead of long rows that stream through it, and nowhere else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.unit.backends.llvm.running import check
from tests.unit.backends.llvm.test_strategy import AVX2
from vyre.backends.llvm.emit.module import generate
from vyre.backends.llvm.host import Host
from vyre.ir import Program

TEXT = """
program workgroup({size}, 1)
buffer a: read_only u32[] @0
buffer out: read_write u32[] @1
buffer t: workgroup u32[256]
region "r" {{
{body}
}}"""
COPY = "if gid.x < len(out) {{ out[gid.x] = a[gid.x{plus}] }}"


def asked(body: str, size: str = "256, 1", target: Host = AVX2) -> int:
    text = generate(Program.parse(TEXT.format(body=body, size=size)), target).text
    return text.count("call void @llvm.prefetch")


def test_long_rows_ask_once_for_every_line_that_they_move_along() -> None:
    once = asked(COPY.format(plus=""))
    assert once > 0
    neighbours = "if gid.x < len(out) { out[gid.x] = a[gid.x] + a[gid.x + 1] + a[gid.x + 2] }"
    assert asked(neighbours) == once


def test_machines_that_look_far_ahead_are_not_asked() -> None:
    wide = replace(AVX2, features=f"{AVX2.features},+avx512f,+avx512vl")
    assert asked(COPY.format(plus=""), target=wide) == 0


@pytest.mark.parametrize(
    ("body", "size"),
    [
        (COPY.format(plus=""), "16, 16"),
        ("if gid.x < len(out) { out[gid.x] = a[gid.x * 3] }", "256, 1"),
        ("if gid.x < len(out) { out[gid.x] = a[a[gid.x] & 7] + t[lid.x] }", "16, 1"),
        ("out[gid.x] = t[lid.x]", "256, 1"),
        ("let s = 0 for k in 0..9 { s = s + a[gid.x + k * 9] } out[gid.x] = s", "256, 1"),
    ],
)
def test_nothing_is_asked_for_elsewhere(body: str, size: str) -> None:
    assert asked(body, size) == 0


@pytest.mark.parametrize("plus", ["", " + 4294967000", " + 900"])
@pytest.mark.parametrize("length", [0, 1, 255, 1000])
def test_asking_beyond_the_end_changes_nothing(plus: str, length: int) -> None:
    values = np.arange(length, dtype=np.uint32)
    inputs = {"a": values, "out": np.full(1100, 7, np.uint32)}
    check(TEXT.format(body=COPY.format(plus=plus), size="256, 1"), inputs, (5, 1, 1))
