"""Vectors that begin where lines of the cache do, in rows whose lanes may run twice."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.backends.llvm.running import Array, check
from tests.unit.backends.llvm.test_contents import run_between_fences

TEXT = """program workgroup(16, 4, 1)
buffer a: read_only f32[] @0
buffer b: read_only f32[] @1
buffer out: read_write f32[] @2
buffer told: uniform u32[2] @3
region "product" {{
    let w = told[0]
    let h = told[1]
    if (gid.x < w) & (gid.y < 4) {{
        let s = 0.5f32
        for k in 0..h {{
            {body}
        }}
        {end}
    }}
}}
"""
DOWN = "s = s + a[gid.y * h + k] * b[k * w + gid.x]"
END = "out[gid.y * w + gid.x] = s"


def text_of(body: str = DOWN, end: str = END) -> str:
    return TEXT.format(body=body, end=end)


def given(width: int, height: int) -> dict[str, Array]:
    rng = np.random.default_rng(3)
    return {
        "a": rng.random(4 * height, np.float32),
        "b": rng.random(width * height, np.float32),
        "out": np.zeros(4 * width, np.float32),
        "told": np.array([width, height], np.uint32),
    }


@pytest.mark.parametrize("height", [1, 4, 5])
@pytest.mark.parametrize("width", [255, 256, 257, 263, 272, 300])
def test_any_begin_and_any_width(width: int, height: int) -> None:
    # Between fences, what lies behind an array is fixed, and where it begins depends on its size.
    arrays = given(width, height)
    check(text_of(), arrays, (-(-width // 16), 1, 1))
    run_between_fences(text_of(), arrays, (-(-width // 16), 1, 1))


def test_more_columns_than_there_are() -> None:
    arrays = given(300, 5)
    arrays["told"][0] = 310
    check(text_of(), arrays, (20, 1, 1))
    run_between_fences(text_of(), arrays, (20, 1, 1))
