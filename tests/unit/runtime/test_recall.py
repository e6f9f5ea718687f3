"""Calls like one before: what is remembered of them, and what must be looked at anew."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest

import vyre as vy
from vyre.diagnostics import ArgumentError, TrapError


def _kernel() -> Any:
    @vy.kernel
    def scaled(k: vy.f32, x: vy.In[vy.f32], y: vy.Out[vy.f32]):
        i = vy.gid()
        if i > 0 and i < len(x):
            y[i] = k * x[i]

    return scaled


def _called(kernel: Any, *args: Any, **said: Any) -> np.ndarray:
    args[-1].fill(7)
    kernel(*args, device="cpu", **said)
    return args[-1].copy()


def test_outputs_are_cleared_every_time() -> None:
    kernel = _kernel()
    x, y = np.ones(100, np.float32), np.empty(100, np.float32)
    results = [_called(kernel, 2.0, x, y) for _ in range(150)]
    wanted = np.full(100, 2, np.float32)
    wanted[0] = 0
    for result in results:
        np.testing.assert_array_equal(result, wanted)


def test_numbers_are_looked_at() -> None:
    kernel = _kernel()
    x, y = np.ones(10, np.float32), np.empty(10, np.float32)
    for value in (2.0, 2.0, 2.0, 3.0, 0.0, 0.0, 0.0, -0.0, True, True, True, 1, 1.0, float("nan")):
        found = _called(kernel, value, x, y)
        assert found[0] == 0
        np.testing.assert_array_equal(found[1:], np.full(9, np.float32(value)))
        assert np.signbit(found[1]) == np.signbit(np.float32(value))


def test_arrays_and_grids_are_looked_at() -> None:
    kernel = _kernel()
    x, y, z = (np.full(400, n, np.float32) for n in (1, 2, 3))
    for _ in range(4):
        for first, second in ((x, y), (z, y), (z, x), (x[:100], y), (x, y[:50])):
            first.fill(5)
            found = _called(kernel, 2.0, first, second)
            n = min(len(first), len(second))
            wanted = np.zeros(len(second), np.float32)
            wanted[1:n] = 10
            np.testing.assert_array_equal(found, wanted)
        assert _called(kernel, 2.0, x, y, grid=1)[100:].max() == 0
        assert _called(kernel, 2.0, x, y, elements=64)[64:].max() == 0


def test_other_types_and_read_only_arrays_are_refused() -> None:
    kernel = _kernel()
    x, y = np.ones(100, np.float32), np.empty(100, np.float32)
    for _ in range(4):
        _called(kernel, 2.0, x, y)
    with pytest.raises(ArgumentError):
        kernel(2.0, x.view(np.int32), y, device="cpu")
    with pytest.raises(ArgumentError):
        kernel(2.0, y, y, device="cpu")
    y.flags.writeable = False
    with pytest.raises(ArgumentError):
        kernel(2.0, x, y, device="cpu")


def test_arrays_in_turns() -> None:
    @vy.kernel
    def step(x: vy.In[vy.u32, Literal[2]], y: vy.Out[vy.u32, Literal[2]]):
        i = vy.gid()
        if i < x.shape[0]:
            y[i, 0] = x[i, 0] + 1
            y[i, 1] = x[i, 1] + 2

    x, y = np.zeros((50, 2), np.uint32), np.zeros((50, 2), np.uint32)
    for _ in range(100):
        step(x, y, elements=50, device="cpu")
        x, y = y, x
    assert x.tolist() == [[100, 200]] * 50


def test_traps_tell_where_every_time() -> None:
    @vy.kernel
    def checked(x: vy.In[vy.f32], y: vy.InOut[vy.f32]):
        i = vy.gid()
        if i < len(x):
            assert x[i] < 1.0
            y[i] = x[i]

    x, y = np.zeros(10, np.float32), np.zeros(10, np.float32)
    for _ in range(4):
        checked(x, y, device="cpu")
    x[3] = 2
    messages = set[str]()
    for _ in range(3):
        with pytest.raises(TrapError) as found:
            checked(x, y, device="cpu")
        messages.add(str(found.value))
    assert len(messages) == 1
    assert "test_recall.py" in messages.pop()
