"""Outputs that invocations write whether or not the kernel has a value for them."""

# ruff: noqa: SIM102  # conditions within others are what this is about
from __future__ import annotations

from functools import partial
from typing import Any, Literal

import numpy as np
import pytest

import vyre as vy
from vyre.analysis.output_coverage import output_coverage


@vy.kernel
def positive(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(x):
        if x[i] > 0.5:
            y[i] = x[i] * 2.0


@vy.kernel
def several(x: vy.In[vy.f32], y: vy.Out[vy.i32], z: vy.Out[vy.f32]):
    i = vy.gid()
    if i >= len(x):
        return
    for k in range(5):
        if x[i] > 0.2 * vy.f32(k):
            y[i] = vy.i32(k)
        elif x[i] < 0.1:
            z[i] = x[i]
    if x[i] > 0.9:
        z[i] = 1.0


@vy.kernel
def flags(x: vy.In[vy.f32], y: vy.Out[vy.bool_]):
    i = vy.gid()
    if i < len(x) and x[i] > 0.5:
        y[i] = True


@vy.kernel(workgroup=(8, 4))
def plane(x: vy.In[vy.f32, Literal[2]], y: vy.Out[vy.f32, Literal[2]]):
    i, j = vy.gid(1), vy.gid(0)
    if i < x.shape[0] and j < x.shape[1]:
        if x[i, j] > 0.5:
            y[i, j] = x[i, j]


@vy.kernel
def by_row(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(x) and vy.gid(1) == 1:
        y[i] = x[i]


@vy.kernel
def leaves(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(x):
        if x[i] > 0.5:
            y[i] = x[i]
            return
        if x[i] > 0.25:
            y[i] = 1.0


@vy.kernel
def takes(x: vy.In[vy.f32], y: vy.Out[vy.f32], z: vy.InOut[vy.f32]):
    i = vy.gid()
    if i < len(x):
        if z[i] > 0.5:
            y[i] = x[i]
            z[i] = 0.0


@vy.kernel
def counts(x: vy.In[vy.f32], y: vy.Out[vy.u32], z: vy.InOut[vy.u32]):
    i = vy.gid()
    if i < len(x):
        if x[i] > 0.5:
            y[i] = z.atomic_add(0, 1)


@vy.kernel
def scattered(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(x):
        if x[i] > 0.5:
            y[i] = x[i]
        else:
            y[i + 1] = x[i]


WRITTEN: list[tuple[Any, list[str]]] = [
    (positive, ["y"]),
    (several, ["y", "z"]),
    (flags, ["y"]),
    (plane, ["y"]),
]
LEFT = [by_row, leaves, takes, counts, scattered]


@pytest.mark.parametrize(("kernel", "outputs"), WRITTEN)
def test_invocations_write_zeros_themselves(kernel: Any, outputs: list[str]) -> None:
    assert sorted(output_coverage(kernel.program())) == outputs


@pytest.mark.parametrize("kernel", LEFT)
def test_others_are_left_as_they_are(kernel: Any) -> None:
    text = str(kernel.program())
    assert ".value" not in text
    assert "y" not in output_coverage(kernel.program())


@pytest.mark.parametrize("kernel", [positive, several, flags, by_row, leaves, takes])
@pytest.mark.parametrize("grid", [None, (2,), (3, 2)])
def test_what_has_no_value_is_zero(kernel: Any, grid: Any) -> None:
    x = np.random.default_rng(3).random(150, dtype=np.float32)
    found: list[list[Any]] = []
    for run in (kernel, partial(kernel.reference, sanitize=False)):
        names = list(kernel.source.parameters)[1:]
        dtypes = {"several": [np.int32, np.float32], "flags": [np.bool_]}
        kinds = dtypes.get(kernel.source.source.tree.name, [np.float32, np.float32])
        arrays = [np.ones(150, kind) for kind in kinds[: len(names)]]
        run(x, *arrays, grid=grid)
        found.append([array.tolist() for array in arrays])
    assert found[0] == found[1]


@pytest.mark.parametrize("shape", [(9, 30), (30, 9), (1, 1)])
def test_planes(shape: tuple[int, int]) -> None:
    x = np.random.default_rng(4).random((12, 20), dtype=np.float32)
    y = np.ones(shape, np.float32)
    plane(x, y, grid=(5, 9))
    wanted = np.zeros(shape, np.float32)
    rows, columns = min(12, shape[0]), min(20, shape[1])
    wanted[:rows, :columns] = np.where(x > 0.5, x, 0)[:rows, :columns]
    assert np.array_equal(y, wanted)
