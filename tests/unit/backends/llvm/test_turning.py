"""Lanes along the axis that memory lies along, where that is not x."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.backends.llvm.running import Array, check
from tests.unit.backends.llvm.test_contents import run_between_fences
from vyre.backends.llvm.passes.interchange_axes import contiguous_axis
from vyre.ir import Program

TEXT = """program workgroup{size}
buffer a: read_only f32[] @0
buffer out: read_write f32[] @1
buffer told: uniform u32[3] @2
buffer counts: read_write u32[4] @3
buffer mine: local f32[4]
buffer ours: workgroup f32[4]
region "turning" {{
    let d = told[0]
    let h = told[1]
    let w = told[2]
    {body}
}}
"""
PLAIN = "if (gid.x < h) & (gid.y < w) { out[gid.x * w + gid.y] = a[gid.x * w + gid.y] + 1.0f32 }"
EDGES = """if (gid.x < h) & (gid.y < w) {
        let near = select((gid.y + 1 < w) & (gid.x < h), gid.x * w + gid.y + 1, 4294967295u32)
        out[gid.x * w + gid.y] = a[near] + a[max(gid.x, 1u32) * w - w + gid.y]
    }"""
PRODUCT = """if (gid.x < h) & (gid.y < w) {
        let s = 0.0f32
        for k in 0..w {
            s = s + a[gid.x * w + k] * a[k * w + gid.y]
        }
        out[gid.x * w + gid.y] = s
    }"""
DEEP = """if (gid.x < d) & (gid.y < h) & (gid.z < w) {
        out[(gid.x * h + gid.y) * w + gid.z] = a[(gid.x * h + gid.y) * w + gid.z] * 2.0f32
    }"""
LEAVING = """if gid.x >= h { return }
    for k in 0..2 {
        if (gid.y + k) % 3 == 0 { continue }
        if gid.y * 2 + k < w { out[gid.x * w + gid.y * 2 + k] = a[gid.x * w + gid.y] }
        if gid.y == 7 { break }
    }"""


def given(depth: int, height: int, width: int) -> dict[str, Array]:
    count = depth * height * width
    return {
        "a": np.random.default_rng(4).random(count, np.float32),
        "out": np.zeros(count, np.float32),
        "told": np.array([depth, height, width], np.uint32),
        "counts": np.zeros(4, np.uint32),
    }


def axis(body: str) -> int:
    return contiguous_axis(Program.parse(TEXT.format(size="(16, 4, 1)", body=body)))


@pytest.mark.parametrize("size", [(16, 4, 1), (64, 1, 1), (1, 8, 2), (3, 5, 1)])
@pytest.mark.parametrize("body", [PLAIN, EDGES, PRODUCT, LEAVING])
def test_rows_along_x(body: str, size: tuple[int, int, int]) -> None:
    text = TEXT.format(size=size, body=body)
    for height, width in ((19, 37), (1, 64), (33, 3)):
        grid = (-(-height // size[0]), -(-width // size[1]), 1)
        check(text, given(1, height, width), grid)
        run_between_fences(text, given(1, height, width), grid)


def test_three_axes() -> None:
    text = TEXT.format(size=(4, 2, 3), body=DEEP)
    check(text, given(9, 5, 37), (3, 3, 13))
    run_between_fences(text, given(9, 5, 37), (3, 3, 13))


def test_beyond_the_end() -> None:
    arrays = given(1, 19, 37)
    arrays["told"][1:] += 2
    check(TEXT.format(size=(16, 4, 1), body=PLAIN), arrays, (2, 10, 1))
    run_between_fences(TEXT.format(size=(16, 4, 1), body=PLAIN), arrays, (2, 10, 1))


def test_when() -> None:
    assert [axis(body) for body in (PLAIN, EDGES, PRODUCT)] == [1, 1, 1]
    assert axis(DEEP) == 2
    # Memory lies along x, or is read along one axis and written along the other.
    assert axis("out[gid.y * w + gid.x] = a[gid.y * w + gid.x]") == 0
    assert axis("out[gid.x * w + gid.y] = a[gid.y * h + gid.x]") == 0
    assert axis("out[gid.x * w] = a[gid.x * w + 1]") == 0


@pytest.mark.parametrize(
    "more",
    [
        'if gid.x > 900 { trap "far" }',
        "eval atomic_add(counts[0], 1)",
        "barrier acq_rel",
        "ours[lid.x & 3] = 1.0f32",
        "counts[wid.y & 3] = 1u32",
    ],
)
def test_what_knows_its_place_stays(more: str) -> None:
    assert axis(f"{more}\n    {PLAIN}") == 0
