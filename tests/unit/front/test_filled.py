"""Outputs that need not be zeros before a kernel runs, and those that must."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest

import vyre as vy
from vyre.front.filled import filled_buffers


@vy.kernel
def own(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(y):
        y[i] = x[i]


@vy.kernel
def returns(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i >= len(x):
        return
    y[i] = x[i]


@vy.kernel(workgroup=(8, 4))
def plane(x: vy.In[vy.f32, Literal[2]], y: vy.Out[vy.f32, Literal[2]]):
    i, j = vy.gid(1), vy.gid(0)
    if i < x.shape[0] and j < x.shape[1]:
        y[i, j] = x[i, j]


@vy.kernel
def some(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(y) and x[i] > 0.5:
        y[i] = x[i]


@vy.kernel
def inner(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i > 0 and i < len(y):
        y[i] = x[i]


@vy.kernel
def leaves(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    for k in range(4):
        if x[k] > 0.5:
            return
    y[i] = x[i]


@vy.kernel
def reads(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(y):
        y[i] = y[i] + x[i]


@vy.kernel
def elsewhere(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(y):
        y[i + 1] = x[i]


@pytest.mark.parametrize("kernel", [own, returns, plane])
def test_kernels_that_write_all_of_an_output(kernel: Any) -> None:
    assert "y" in filled_buffers(kernel.program())


@pytest.mark.parametrize("kernel", [some, inner, leaves, reads, elsewhere])
def test_kernels_that_may_leave_elements_out(kernel: Any) -> None:
    assert filled_buffers(kernel.program()) == {}


@pytest.mark.parametrize("kernel", [own, returns, some, inner, leaves, reads, elsewhere])
@pytest.mark.parametrize("length", [100, 60])
@pytest.mark.parametrize("grid", [None, 1, (2,)])
def test_what_is_not_written_is_zero(kernel: Any, length: int, grid: Any) -> None:
    x = np.random.default_rng(1).random(length, dtype=np.float32)
    results: list[np.ndarray] = []
    for before in (0, 7):
        y = np.full(100, before, np.float32)
        kernel(x, y, grid=grid)
        results.append(y)
    np.testing.assert_array_equal(results[0], results[1])


@pytest.mark.parametrize("shape", [(9, 20), (12, 20), (9, 30), (12, 31)])
@pytest.mark.parametrize("grid", [None, (4, 3), (2, 3), (4, 2)])
def test_planes_of_other_sizes_are_zero_outside(shape: tuple[int, int], grid: Any) -> None:
    x = np.random.default_rng(1).random(shape, dtype=np.float32)
    results: list[np.ndarray] = []
    for before in (0, 7):
        y = np.full((12, 30), before, np.float32)
        plane(x, y, grid=grid)
        results.append(y)
    np.testing.assert_array_equal(results[0], results[1])
