"""Conditionals of whole rows: asked once for each row, and the same results anyhow."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.backends.llvm.running import differences
from vyre.ir import Program

HEAD = """program workgroup({size}, 1)
buffer a: read_only f32[] @0
buffer o: read_write f32[] @1
buffer n: uniform u32[3] @2
region "r" {{
    let x = gid.x
    let y = gid.y
    {body}
}}
"""
BY_ROW = {
    "midst": (
        "if (y > 0u32) & (y < n[1] - 1u32) & (x > 0u32) & (x < n[2] - 1u32)"
        " { o[y * n[2] + x] = a[(y - 1u32) * n[2] + x] + a[y * n[2] + x + 1u32] }"
        " else { o[select((y < n[1]) & (x < n[2]), y * n[2] + x, 4294967295u32)] = 0.0f32 }"
    ),
    "rows only": (
        "if y % 3u32 == 1u32 { o[y * n[2] + x] = a[x] } else { o[y * n[2] + x] = 1.0f32 }"
    ),
    "names": (
        "let top = y < n[0] if top & (x + 2u32 < n[2])"
        " { o[y * n[2] + x] = a[x] } else { o[y * n[2] + x] = a[x + y] * 2.0f32 }"
    ),
    "loops": (
        "if (y > 1u32) & (x >= 3u32) { let s = 0.0f32 for k in 0u32..n[0] { s = s + a[x + k] }"
        " o[y * n[2] + x] = s } else { o[y * n[2] + x] = a[y] }"
    ),
}
BY_LANE = {
    "any of both": (
        "if (y > 0u32) | (x > 0u32) { o[y * n[2] + x] = a[x] } else { o[y * n[2] + x] = 1.0f32 }"
    ),
    "what is there": (
        "if a[y * n[2] + x] > 0.5f32 { o[y * n[2] + x] = a[x] } else { o[y * n[2] + x] = 1.0f32 }"
    ),
    "more to do": (
        "if y > 0u32 { o[y * n[2] + x] = a[x] } else { o[y * n[2] + x] = 1.0f32 }"
        " o[y * n[2] + x] = 2.0f32"
    ),
}


def program_of(body: str, size: str = "16, 4") -> Program:
    return Program.parse(HEAD.format(body=body, size=size))


@pytest.mark.parametrize("name", [*BY_ROW, *BY_LANE])
@pytest.mark.parametrize("size", ["16, 4", "64, 1", "3, 5"])
@pytest.mark.parametrize("sizes", [(3, 9, 64), (5, 1, 64), (0, 2, 80), (9, 12, 1000)])
@pytest.mark.parametrize("count", [0, 700, 20000])
def test_results(name: str, size: str, sizes: tuple[int, int, int], count: int) -> None:
    program = program_of({**BY_ROW, **BY_LANE}[name], size)
    random = np.random.default_rng(3)
    inputs = {
        "a": random.random(3000, dtype=np.float32),
        "o": random.random(count, dtype=np.float32),
        "n": np.array(sizes, np.uint32),
    }
    lanes, rows = map(int, size.split(","))
    # Elements of one row are not those of another one.
    grid = (-(-min(sizes[2], 64) // lanes) if sizes[2] % lanes == 0 else 1, -(-11 // rows), 1)
    assert not differences(program, inputs, grid)
