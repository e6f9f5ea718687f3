"""Differences of unsigned data that wrapped around and are then taken for numbers are reported."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.unit.front.as_python import kernel_of

HEAD = (
    "@vy.kernel(workgroup=4)\n"
    "def k(a: vy.In[vy.u32], b: vy.In[vy.u32], y: vy.Out[vy.f32]):\n"
    "    i = vy.gid()\n"
)


def found(body: str, a: list[int], b: list[int], dtype: Any = np.uint32) -> list[str]:
    text = HEAD.replace("u32", np.dtype(dtype).name.replace("uint", "u"))
    kernel = kernel_of(text + "".join(f"    {line}\n" for line in body.splitlines()))
    arrays = np.array(a, dtype), np.array(b, dtype), np.zeros(len(a), np.float32)
    return [one.code for one in kernel.reference(*arrays, sanitize=True)]


@pytest.mark.parametrize(
    "body",
    [
        "y[i] = vy.f32(a[i] - b[i])",
        "y[i] = vy.f32((a[i] - b[i]) // 2)",
        "y[i] = vy.f32(7 % (a[i] - b[i]))",
        "y[i] = vy.f32((a[i] - b[i]) >> 1)",
        "if a[i] - b[i] < 100:\n    y[i] = 1.0",
        "if a[i] - b[i] > b[i]:\n    y[i] = 1.0",
        "d = a[i] - b[i]\ny[i] = vy.f32(d)",
        "for k in range(a[i] - b[i]):\n    if k > 3:\n        break\n    y[i] += 1.0",
    ],
)
def test_a_difference_that_wrapped_is_reported_where_it_counts_as_a_number(body: str) -> None:
    assert "X112" in found(body, [1, 5, 5, 5], [2, 2, 2, 2])
    assert "X112" not in found(body, [9, 5, 5, 5], [2, 2, 2, 2])


def test_eight_bytes_are_watched_too() -> None:
    assert "X112" in found("y[i] = vy.f32(a[i] - b[i])", [1] * 4, [2] * 4, np.uint64)


@pytest.mark.parametrize(
    "body",
    [
        "y[i] = vy.f32(a[i] - b[i] + b[i])",
        "if a[i] - b[i] == 3:\n    y[i] = 1.0",
        "if a[i] - 48 < 10:\n    y[i] = 1.0",
        "d = a[i] - b[i]\nif a[i] >= b[i]:\n    y[i] = vy.f32(d)",
        "y[i] = vy.f32((a[i] - b[i]) & 3)",
        "if i - 2 >= 0 and b[i] < len(a) - 7:\n    y[i] = vy.f32(i - len(a))",
        "y[i] = vy.f32(max(i - 9, 0)) + vy.f32((i - 9) // 2)",
    ],
)
def test_what_is_right_modulo_the_range_is_not(body: str) -> None:
    assert "X112" not in found(body, [1, 5, 5, 5], [2, 2, 2, 2])


def test_a_negative_index_of_an_axis_is_out_of_bounds_and_no_difference() -> None:
    kernel = kernel_of(
        "@vy.kernel(workgroup=(4, 4))\n"
        "def k(x: vy.In[vy.f32, 2], y: vy.Out[vy.f32, 2]):\n"
        "    i, j = vy.gid(1), vy.gid(0)\n"
        "    if i < y.shape[0] and j < y.shape[1]:\n"
        "        y[i, j] = x[i - 1, j] + x[i, j - 1]\n"
    )
    arrays = np.ones((4, 4), np.float32), np.zeros((4, 4), np.float32)
    assert "X112" not in [one.code for one in kernel.reference(*arrays, sanitize=True)]
