"""Workgroups of another shape than the launch says, where no invocation can tell."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.backends.llvm.running import Array, check
from tests.unit.backends.llvm.test_contents import run_between_fences
from vyre.backends.llvm.passes.retile_workgroups import tiling_of
from vyre.ir import Program

TEXT = """program workgroup{size}
buffer a: read_only f32[] @0
buffer b: read_only f32[] @1
buffer out: read_write f32[] @2
buffer told: uniform u32[3] @3
buffer mine: local f32[4]
region "regrouping" {{
    let d = told[0]
    let h = told[1]
    let w = told[2]
    {body}
}}
"""
PRODUCT = """if (gid.x < w) & (gid.y < h) & (gid.z < d) {
        let s = 0.5f32
        for k in 0..w {
            s = s + a[(gid.z * h + gid.y) * w + k] * b[k * w + gid.x]
        }
        out[(gid.z * h + gid.y) * w + gid.x] = s
    }"""
ALL = """let s = 0.5f32
    for k in 0..7 { s = s + a[gid.y * w + k] * b[k * w + gid.x] }
    if gid.x < w { out[gid.y * w + gid.x] = s }"""
TURNED = "if (gid.x < h) & (gid.y < w) { out[gid.x * w + gid.y] = a[gid.x * w + gid.y] + 1.0f32 }"
SIZES = [(64, 1, 1), (32, 2, 1), (1, 1, 1), (5, 3, 2), (1, 64, 1)]


def given(depth: int, height: int, width: int) -> dict[str, Array]:
    rng = np.random.default_rng(4)
    count = depth * height * width
    return {
        "a": rng.random(count, np.float32),
        "b": rng.random(width * width, np.float32),
        "out": np.zeros(count, np.float32),
        "told": np.array([depth, height, width], np.uint32),
    }


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("height", [1, 3, 4, 6, 9])
def test_any_number_of_rows(size: tuple[int, int, int], height: int) -> None:
    depth, width = 2, 37
    text = TEXT.format(size=size, body=PRODUCT)
    grid = (-(-width // size[0]), -(-height // size[1]), -(-depth // size[2]))
    check(text, given(depth, height, width), grid)
    run_between_fences(text, given(depth, height, width), grid)


@pytest.mark.parametrize("size", SIZES)
def test_fewer_and_more_than_there_are(size: tuple[int, int, int]) -> None:
    for body in (ALL, TURNED):
        text = TEXT.format(size=size, body=body)
        for grid in ((1, 1, 1), (2, 3, 1), (3, 2, 1)):
            arrays = given(1, 13, 37)
            if size[2] == 1:
                check(text, arrays, grid)
                run_between_fences(text, arrays, grid)


def rows(body: str, size: tuple[int, int, int] = (64, 1, 1), *, turned: bool = False) -> int:
    tiling = tiling_of(Program.parse(TEXT.format(size=size, body=body)), interchanged=turned)
    return tiling.rows if tiling is not None else 0


def test_when() -> None:
    assert rows(PRODUCT) == rows(ALL) == 4
    assert rows(PRODUCT, (16, 16, 1)) == 0
    assert rows(TURNED) == 0
    assert rows(TURNED.replace("gid.x", "gid.z"), turned=True) == 0
    assert rows(TURNED, (1, 64, 1), turned=True) == 1
    # Rows that know their place, or may not run twice.
    assert rows(PRODUCT.replace("s + a", "f32(lid.x) + a")) == 0
    assert rows(PRODUCT.replace("s + a", "f32(num_workgroups.y) + a")) == 0
    assert rows(PRODUCT.replace("] = s", "] = s + out[gid.x]")) == 0
    assert rows(PRODUCT.replace("s + a", "mine[k & 3] + a")) == 0
