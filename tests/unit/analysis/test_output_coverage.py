"""Outputs that need not be zeros before a kernel runs, and those that must."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest

import vyre as vy
from vyre.analysis.output_coverage import output_coverage


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


@vy.kernel
def one_place(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i != 3 and i < len(y):
        y[i] = x[i]


@vy.kernel(workgroup=(8, 4))
def midst(x: vy.In[vy.f32, Literal[2]], y: vy.Out[vy.f32, Literal[2]]):
    i, j = vy.gid(1), vy.gid(0)
    if i > 0 and j != 0 and i + 1 < x.shape[0] and j <= x.shape[1] - 3:
        y[i, j] = x[i, j]


@vy.kernel(workgroup=(8, 4))
def midst_or_leave(x: vy.In[vy.f32, Literal[2]], y: vy.Out[vy.f32, Literal[2]]):
    i, j = vy.gid(1), vy.gid(0)
    if i < 1 or j < 2 or i >= x.shape[0] - 1 or j - 1 >= x.shape[1] - 2:
        return
    y[i, j] = x[i, j]


@vy.kernel(workgroup=(8, 4))
def midst_signed(x: vy.In[vy.f32, Literal[2]], y: vy.Out[vy.f32, Literal[2]]):
    i, j = vy.i32(vy.gid(1)), vy.i32(vy.gid(0))
    if i >= 1 and j >= 1 and i < vy.i32(x.shape[0]) - 1 and j + 1 < vy.i32(x.shape[1]):
        y[vy.gid(1), vy.gid(0)] = x[i, j]


@vy.kernel(workgroup=8)
def parts(x: vy.In[vy.f32, Literal[2]], y: vy.Out[vy.f32, Literal[2]]):
    i = vy.gid()
    if i < x.shape[0]:
        y[i, 1] = x[i, 0]
        y[i, 0] = x[i, 1]
        if i > 1:
            y[i, 2] = 1.0


@pytest.mark.parametrize("kernel", [own, returns, plane, some, one_place])
def test_kernels_that_write_all_of_an_output(kernel: Any) -> None:
    assert "y" in output_coverage(kernel.program())


@pytest.mark.parametrize("kernel", [leaves, reads, elsewhere])
def test_kernels_that_may_leave_elements_out(kernel: Any) -> None:
    assert output_coverage(kernel.program()) == {}


@pytest.mark.parametrize("kernel", [own, returns, some, inner, leaves, reads, elsewhere, one_place])
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


@pytest.mark.parametrize("kernel", [parts])
def test_kernels_that_write_all_but_the_edges(kernel: Any) -> None:
    found = output_coverage(kernel.program())["y"]
    assert any(limit.is_edge for limit in found.limits)


@pytest.mark.parametrize("kernel", [inner, midst, midst_or_leave, midst_signed])
def test_invocations_at_the_edges_write_zeros(kernel: Any) -> None:
    found = output_coverage(kernel.program())["y"]
    assert not any(limit.is_edge for limit in found.limits)


@pytest.mark.parametrize("kernel", [midst, midst_or_leave, midst_signed])
@pytest.mark.parametrize("shape", [(12, 30), (9, 40), (1, 30), (2, 3), (0, 2), (12, 1)])
@pytest.mark.parametrize("size", [(12, 30), (2, 3), (3, 1), (9, 36)])
@pytest.mark.parametrize("grid", [None, (2, 3), (9, 9)])
def test_edges_are_zero(
    kernel: Any, shape: tuple[int, int], size: tuple[int, int], grid: Any
) -> None:
    x = np.random.default_rng(1).random(shape, dtype=np.float32)
    results: list[np.ndarray] = []
    for before in (0, 7):
        y = np.full(size, before, np.float32)
        kernel(x, y, grid=grid)
        results.append(y)
    np.testing.assert_array_equal(results[0], results[1])


@pytest.mark.parametrize("width", [1, 2, 3, 4])
@pytest.mark.parametrize("rows", [3, 20])
@pytest.mark.parametrize("device", [None, "cpu", "reference"])
def test_parts_of_a_last_axis(width: int, rows: int, device: str | None) -> None:
    x = np.random.default_rng(1).random((9, 2), dtype=np.float32)
    wanted = np.zeros((rows, width), np.float32)
    n = min(9, rows)
    wanted[:n, :2] = x[:n, ::-1][:, :width]
    wanted[2:n, 2:3] = 1
    y = np.full((rows, width), 7, np.float32)
    if device is None:
        parts(x, y, elements=rows)
    else:
        out = vy.array(y, device)
        parts(vy.array(x, device), out, elements=rows)
        y = out.numpy()
    np.testing.assert_array_equal(y, wanted)


@pytest.mark.parametrize("form", ["flat", "every other", "backwards"])
def test_large_outputs_are_zeroed(form: str) -> None:
    base = np.ones(1_200_000, np.float32)
    y = {"flat": base[7:-7], "every other": base[::2], "backwards": base[::-1]}[form]
    elsewhere(np.full(100, 2, np.float32), y, elements=100)
    assert y[1:101].tolist() == [2] * 100
    assert not y[0]
    assert not y[101:].any()
    if form == "flat":
        assert base[:7].tolist() == base[-7:].tolist() == [1] * 7
    if form == "every other":
        assert base[1::2].all()
