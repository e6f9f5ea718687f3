"""Workgroups of many rows: one test tells that all of them lie inside, and it is never wrong."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.backends.llvm.running import check, source
from vyre.ir import Program

TEXT = """
program workgroup(16, 8, {depth})
buffer a: read_only u32[] @0
buffer out: read_write u32[] @1
buffer n: uniform u32[2] @2
buffer t: workgroup u32[128]
region "r" {{
{body}
}}"""

TILE = (
    "t[lid.y * 16 + lid.x] = a[gid.y * n[0] + gid.x] barrier acq_rel"
    " out[gid.y * n[0] + gid.x] = t[lid.x * 8 + lid.y]"
)
GUARDED = "if (gid.y < n[1]) & (gid.x < n[0]) { out[gid.y * n[0] + gid.x] = a[gid.y + gid.x] }"
GREATER = "if (gid.y > n[1]) & (gid.x > 2) { out[gid.y * n[0] + gid.x] = a[gid.y * n[0] - gid.x] }"
STRIDED = "out[gid.y * n[0] + 2 * gid.x + 1] = a[gid.y * n[0] + 2 * gid.x]"
SUMS = (
    "let s = 0 for k in 0..n[1] { s = s + a[gid.y * n[0] + k] * a[k * n[0] + gid.x] }"
    " out[gid.y * n[0] + gid.x] = s"
)
DEEP = "out[(gid.z * n[1] + gid.y) * n[0] + gid.x] = a[gid.z * 100 + gid.y * n[0] + gid.x]"


@pytest.mark.parametrize("body", [TILE, GUARDED, GREATER, STRIDED, SUMS, DEEP])
@pytest.mark.parametrize(
    "size", [(32, 16), (40, 20), (31, 15), (0, 0), (1 << 31, 2), ((1 << 32) - 1, 3)]
)
def test_agrees_with_the_reference(body: str, size: tuple[int, int]) -> None:
    values = np.random.default_rng(3).integers(0, 1000, 700, np.uint32)
    if body is SUMS:
        # Rows do not overlap: workgroups that take their time run in any order.
        size = (33 if size[0] == 31 else size[0], min(size[1], 20))
    inputs = {"a": values, "out": np.zeros(600, np.uint32), "n": np.array(size, np.uint32)}
    depth = 2 if body is DEEP else 1
    check(TEXT.format(body=body, depth=depth), inputs, (2, 2, 1))


def test_limits_of_rows_are_computed_only_where_the_test_fails() -> None:
    text = source(Program.parse(TEXT.format(body=TILE, depth=1)), "llvm-raw")
    assert "limits." in text
    assert "part." in text
