"""Searches that divide run lane by lane; other loops that divide, and other searches, do not."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.backends.llvm.running import check
from tests.unit.backends.llvm.test_strategy import rows

BUFFERS = """
buffer a: read_only u32[] @0
buffer b: read_only u32[] @1
buffer out: read_write u32[] @2
"""
TRIAL = """
    let n = a[gid.x]
    let d = 2
    let ok = 1
    while (d * d <= n) & (d < 200) {
        if n % d == 0 { ok = 0 break }
        d = d + 1
    }
    out[gid.x] = ok
"""
COUNTED = """
    let f = 0
    for d in 2..b[gid.x] { if a[gid.x] % d == 0 { f = d break } }
    out[gid.x] = f
"""


@pytest.mark.parametrize("body", [TRIAL, COUNTED])
def test_searches_that_divide_run_lane_by_lane(body: str) -> None:
    assert rows(body, buffers=BUFFERS).tile.width == 0


OTHERS = {
    "one end": (
        "let x = a[gid.x] let y = b[gid.x] while y != 0 { let r = x % y x = y y = r }"
        " out[gid.x] = x"
    ),
    "one end within": (
        "let x = a[gid.x] let y = b[gid.x] while true { if y == 0 { break }"
        " let r = x % y x = y y = r } out[gid.x] = x"
    ),
    "a divisor known here": (
        "let x = a[gid.x] let k = 0 while x != 0 { if x % 10 == 7 { break } x = x / 10 k = k + 1 }"
        " out[gid.x] = k"
    ),
    "floats": (
        "let x = 0.0f32 let k = 0 while k < 50 { if x > 9.0f32 { break }"
        " x = x + f32(a[gid.x]) / f32(b[gid.x]) k = k + 1 } out[gid.x] = k"
    ),
    "a division before": (
        "let x = a[gid.x] % b[gid.x] let k = 0 while k < 50 { if x > 900 { break }"
        " x = x * 3 + 1 k = k + 1 } out[gid.x] = k"
    ),
}


@pytest.mark.parametrize("body", OTHERS.values(), ids=OTHERS.keys())
def test_other_loops_run_in_vectors(body: str) -> None:
    assert rows(body, buffers=BUFFERS).tile.width >= 8


@pytest.mark.parametrize("body", [TRIAL, COUNTED])
def test_what_they_find(body: str) -> None:
    numbers = np.concatenate([np.arange(120), [2**32 - 1, 65537, 65536]]).astype(np.uint32)
    given = {"a": numbers, "b": numbers[::-1] % 90, "out": np.zeros(140, np.uint32)}
    text = f'program workgroup(64, 1, 1)\n{BUFFERS}\nregion "r" {{\n{body}\n}}'
    check(text, given, (2, 1, 1))
