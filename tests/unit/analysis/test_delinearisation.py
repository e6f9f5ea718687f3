"""Outputs that are written in parts, by loops, or at a flat index: what is not written is zero."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pytest

import vyre as vy
from vyre.analysis.output_coverage import output_coverage


@vy.kernel(workgroup=8)
def pairs(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(x):
        y[2 * i] = x[i]
        y[i * 2 + 1] = 1.0


@vy.kernel(workgroup=8)
def one_of_two(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(x):
        y[2 * i] = x[i]


@vy.kernel(workgroup=8)
def rounds(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(x):
        for b in range(3):
            y[3 * i + b] = x[i]


@vy.kernel(workgroup=8)
def some_rounds(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(x):
        for b in range(3):
            if x[i] > 0.5:
                break
            y[3 * i + b] = 1.0


@vy.kernel(workgroup=8)
def flat(x: vy.In[vy.f32], y: vy.Out[vy.f32], h: vy.u32, w: vy.u32):
    j, i = vy.gid(0), vy.gid(1)
    if i < h and j < w:
        y[i * w + j] = x[j] + 1.0


@vy.kernel(workgroup=(8, 4))
def planes(x: vy.In[vy.f32, Literal[3]], y: vy.Out[vy.f32, Literal[3]]):
    j, i = vy.gid(0), vy.gid(1)
    if i < y.shape[1] and j < y.shape[2]:
        for c in range(x.shape[0]):
            y[c, i, j] = x[c, i, j] + 1.0


@vy.kernel(workgroup=(8, 4))
def channels(x: vy.In[vy.f32, Literal[3]], y: vy.Out[vy.f32, Literal[3]]):
    j, i = vy.gid(0), vy.gid(1)
    if i < y.shape[0] and j < y.shape[1]:
        for c in range(y.shape[2]):
            y[i, j, c] = x[i, j, c] + 1.0


@vy.kernel(workgroup=(8, 4))
def repeated(x: vy.In[vy.f32, Literal[3]], y: vy.Out[vy.f32, Literal[3]]):
    j, i = vy.gid(0), vy.gid(1)
    if i < y.shape[0] and j < y.shape[1]:
        for _ in range(x.shape[0]):
            for c in range(y.shape[2]):
                y[i, j, c] = 1.0


@vy.kernel(workgroup=(8, 4))
def diagonal(x: vy.In[vy.f32, Literal[3]], y: vy.Out[vy.f32, Literal[3]]):
    i = vy.gid(0)
    if i < y.shape[0] and i < y.shape[1]:
        for c in range(y.shape[2]):
            y[i, i, c] = 1.0


def both(call: Callable[[np.ndarray], None], shape: tuple[int, ...]) -> None:
    """Whatever was in the output before, the same is there after."""
    results: list[np.ndarray] = []
    for before in (0, 7):
        y = np.full(shape, before, np.float32)
        call(y)
        results.append(y)
    np.testing.assert_array_equal(results[0], results[1])


@pytest.mark.parametrize("kernel", [pairs, rounds, flat, planes, channels])
def test_kernels_that_write_all_of_an_output(kernel: Any) -> None:
    assert "y" in output_coverage(kernel.program())


@pytest.mark.parametrize("kernel", [some_rounds, repeated, diagonal])
def test_kernels_that_may_leave_elements_out(kernel: Any) -> None:
    assert "y" not in output_coverage(kernel.program())


@pytest.mark.parametrize("kernel", [pairs, one_of_two, rounds, some_rounds])
@pytest.mark.parametrize("count", [20, 30, 60, 61, 90, 200])
@pytest.mark.parametrize("elements", [10, 30, 100])
def test_parts_of_steps(kernel: Any, count: int, elements: int) -> None:
    x = np.random.default_rng(1).random(30, dtype=np.float32)
    both(lambda y: kernel(x, y, elements=elements), (count,))


@pytest.mark.parametrize(("h", "w"), [(5, 16), (5, 17), (0, 16), (5, 0), (9, 8), (300, 300)])
@pytest.mark.parametrize("count", [80, 85, 30_000])
@pytest.mark.parametrize("grid", [(2, 5), (3, 5), (2, 4), (40, 300)])
def test_flat_planes(h: int, w: int, count: int, grid: tuple[int, int]) -> None:
    x = np.zeros(400, np.float32)
    both(lambda y: flat(x, y, h, w, grid=grid), (count,))


def test_other_numbers_clear_other_elements() -> None:
    x = np.zeros(400, np.float32)
    y = np.full(30_000, 7, np.float32)
    for h, w in ((300, 100), (300, 100), (100, 100), (100, 100), (300, 100)) * 3:
        y[:] = 7
        flat(x, y, h, w, grid=(40, 300))
        assert y.tolist() == [1] * (h * w) + [0] * (30_000 - h * w)


@pytest.mark.parametrize("kernel", [planes, channels, repeated, diagonal])
@pytest.mark.parametrize("shape", [(3, 4, 8), (2, 4, 8), (0, 4, 8), (3, 5, 9), (4, 8, 2)])
@pytest.mark.parametrize("size", [(3, 4, 8), (4, 8, 3), (3, 5, 9)])
def test_loops_along_an_axis(
    kernel: Any, shape: tuple[int, int, int], size: tuple[int, int, int]
) -> None:
    x = np.random.default_rng(1).random(shape, dtype=np.float32)
    both(lambda y: kernel(x, y, grid=(1, 1)), size)
