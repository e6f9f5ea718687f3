"""Structures in memory whose size is guessed: right for any size, quick for the guess."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest

import vyre as vy
from vyre.backends.llvm.analysis.struct_strides import speculated_strides
from vyre.ir import Body, DataType, Lit, Program
from vyre.ir.walk import walk_stmts

HEAD = """program workgroup(32, 1, 1)
buffer a: read_only u32[] @0
buffer o: read_write u32[] @1
buffer n: uniform u32[2] @2
region "r" {{
    {body}
}}
"""


def _guesses(body: str) -> list[int]:
    program = Program.parse(HEAD.format(body=body))
    inner: Body = program.entry
    assert list(walk_stmts(inner))
    found = speculated_strides(program, inner, {}, frozenset(), {"w": DataType.U32})
    assert all(isinstance(number, Lit) for number in found.values())
    return [int(number.value) for number in found.values()]


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("o[gid.x] = a[gid.x * n[0]] + a[gid.x * n[0] + 1u32]", [2]),
        ("o[gid.x] = a[gid.x * n[0]] + a[n[0] * gid.x + 1u32] + a[gid.x * n[0] + 2u32]", [3]),
        ("let w = n[0] o[gid.x * w] = a[gid.x * n[1]] o[gid.x * w + 3u32] = 1u32", [4]),
        ("o[gid.x] = a[gid.x * n[0] + 1u32]", [3]),
        ("o[gid.x] = a[gid.x * n[0]]", []),
        ("o[gid.x] = a[gid.x * n[0]] + a[gid.x * n[0] + 9u32]", []),
        ("o[gid.x] = a[gid.x * n[0]] + a[gid.x * n[0] + 1u32] + a[gid.x * n[0] + 7u32]", []),
        (
            "for k in 0..n[1] { o[gid.x] = a[gid.x * n[0]] + a[gid.x * n[0] + 1u32] "
            "+ a[gid.x * n[0] + k] }",
            [],
        ),
        ("o[gid.x] = a[gid.y * n[0]] + a[gid.y * n[0] + 1u32]", []),
        ("o[gid.x] = a[gid.x * a[gid.x]] + a[gid.x * a[gid.x] + 1u32]", []),
        ("o[gid.x] = a[gid.x * o[0]] + a[gid.x * o[0] + 1u32]", []),
    ],
)
def test_guesses(body: str, wanted: list[int]) -> None:
    assert _guesses(body) == wanted


@vy.kernel(workgroup=(16, 4))
def gray(x: vy.In[vy.u8, Literal[3]], y: vy.Out[vy.u8, Literal[2]]):
    i, j = vy.gid(1), vy.gid(0)
    if i < y.shape[0] and j < y.shape[1]:
        y[i, j] = x[i, j, 0] // 4 + x[i, j, 1] // 2 + x[i, j, 2] // 4


@vy.kernel(workgroup=(16, 4))
def swapped(x: vy.In[vy.u8, Literal[3]], y: vy.InOut[vy.u8, Literal[3]]):
    i, j = vy.gid(1), vy.gid(0)
    if i < y.shape[0] and j < x.shape[1]:
        y[i, j, 0] = x[i, j, 2]
        y[i, j, 1] = x[i, j, 1] + vy.u8(y.shape[2])
        y[i, j, 2] = x[i, j, 0]


@vy.kernel(workgroup=32)
def turned(x: vy.In[vy.f32, Literal[2]], y: vy.InOut[vy.f32, Literal[2]]):
    i = vy.gid()
    y[i, 0] = x[i, 1] * 2.0
    y[i, 1] = x[i, 0] - 1.0


@vy.kernel(workgroup=32)
def narrowed(x: vy.In[vy.f32, Literal[2]], y: vy.InOut[vy.f32]):
    i = vy.gid()
    if i < len(y) and i < 20 * x.shape[1]:
        y[i] = x[i, 0] + x[i, 1] * x[i, 2]


def _both(kernel: Any, x: np.ndarray, y: np.ndarray, grid: Any) -> None:
    found, wanted = y.copy(), y.copy()
    kernel(x, found, grid=grid, device="cpu")
    kernel(x, wanted, grid=grid, device="reference")
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("parts", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("others", [0, 2, 3, 4])
@pytest.mark.parametrize("shape", [(5, 70), (3, 33)])
def test_images_of_any_depth(parts: int, others: int, shape: tuple[int, int]) -> None:
    random = np.random.default_rng(parts)
    x = random.integers(0, 255, (4, 70, parts)).astype(np.uint8)
    grid = (5, 2)
    _both(gray, x, np.full(shape, 9, np.uint8), grid)
    _both(swapped, x, np.full((*shape, others), 9, np.uint8), grid)


@pytest.mark.parametrize("parts", [1, 2, 3, 4])
@pytest.mark.parametrize("others", [0, 1, 2, 3])
@pytest.mark.parametrize("rows", [0, 31, 200])
def test_points_of_any_size(parts: int, others: int, rows: int) -> None:
    x = np.random.default_rng(parts).random((150, parts), dtype=np.float32)
    _both(turned, x, np.full((rows, others), 9, np.float32), 6)
    _both(narrowed, x, np.full(rows, 9, np.float32), 6)


def test_whole_steps_are_read_at_once() -> None:
    code = gray.show("llvm")
    assert "load <96 x i8>" in code or "load <48 x i8>" in code


def test_a_part_that_nothing_touches_may_be_there() -> None:
    body = "o[gid.x] = a[gid.x * n[0]] + a[gid.x * n[0] + 1u32] + a[gid.x * n[0] + 2u32]"
    program = Program.parse(HEAD.format(body=body))
    found = speculated_strides(program, program.entry, {}, frozenset(), {}, more=1)
    assert [int(number.value) for number in found.values()] == [4]
    found = speculated_strides(program, program.entry, {}, frozenset(), {}, more=2)
    assert [int(number.value) for number in found.values()] == [3]
