"""Vectors that go down the columns of a matrix, several side by side."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.backends.llvm.running import WIDE, Array, check
from tests.unit.backends.llvm.test_contents import run_between_fences
from vyre.backends.llvm.emit.module import generate
from vyre.ir import Program

TEXT = """program workgroup(64, 1, 1)
buffer a: read_only f32[] @0
buffer out: read_write f32[] @1
buffer told: uniform u32[2] @2
region "columns" {{
    let h = told[0]
    let w = told[1]
    if gid.x < w {{
        let s = 0.5f32
        for k in 0..h {{
            {body}
        }}
        out[gid.x] = s
    }}
}}
"""
DOWN = "s = s + a[k * w + gid.x]"
KEPT = "s = s * 0.5f32 + a[k * told[1] + gid.x] out[k * w + gid.x] = s"


def given(width: int, height: int = 7) -> dict[str, Array]:
    return {
        "a": np.random.default_rng(2).random(width * height, np.float32),
        "out": np.zeros(width, np.float32),
        "told": np.array([height, width], np.uint32),
    }


def takes_several_vectors(body: str) -> bool:
    regions = generate(Program.parse(TEXT.format(body=body)), WIDE).regions
    return any("4 of them along columns" in region for region in regions)


@pytest.mark.parametrize("width", [1, 31, 64, 127, 128, 129, 200, 300])
def test_any_number_of_columns(width: int) -> None:
    text = TEXT.format(body=DOWN)
    check(text, given(width), (5, 1, 1))
    run_between_fences(text, given(width), (5, 1, 1))


@pytest.mark.parametrize("width", [1, 63, 64, 65, 130, 300])
def test_columns_that_are_stored(width: int) -> None:
    text, arrays = TEXT.format(body=KEPT), given(width)
    for count in (width * 7, width * 7 - 1, width * 3 + 2):
        arrays["out"] = np.zeros(count, np.float32)
        check(text, arrays, (5, 1, 1))
        run_between_fences(text, arrays, (5, 1, 1))


def test_more_columns_than_there_are() -> None:
    arrays = given(300)
    arrays["told"][1] = 320
    check(TEXT.format(body=DOWN), arrays, (5, 1, 1))
    run_between_fences(TEXT.format(body=DOWN), arrays, (5, 1, 1))


def test_only_plain_columns_take_several_vectors() -> None:
    assert takes_several_vectors(DOWN)
    assert takes_several_vectors(KEPT)
    assert not takes_several_vectors("s = s + a[k * 64 + gid.x]")
    assert not takes_several_vectors("s = s + a[k * w + gid.x] * a[k]")
    assert not takes_several_vectors("s = s + a[k * w + gid.x] if s > 9.0f32 { break }")
