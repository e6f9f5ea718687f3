"""Calls that differ from one before in the lengths of their arrays."""
# The number of axes stands among types.
# pyright: reportGeneralTypeIssues=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vyre as vy
from vyre.diagnostics import ArgumentError, TrapError
from vyre.runtime import cached_call
from vyre.runtime.kernel import Kernel


@vy.kernel
def scaled(k: vy.f32, x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i > 0 and i < len(x):
        y[i] = k * x[i]


@vy.kernel
def first_ones(n: vy.u32, y: vy.Out[vy.u32]):
    i = vy.gid()
    if i < n:
        y[i] = 1


@vy.kernel
def transposed(x: vy.In[vy.i32, 2], y: vy.Out[vy.i32, 2]):
    column, row = vy.gid(0), vy.gid(1)
    if row < y.shape[0] and column < y.shape[1]:
        y[row, column] = x[column, row]


@vy.kernel
def grown(by: vy.static[int], y: vy.InOut[vy.i32]):
    i = vy.gid()
    if i < len(y):
        y[i] += by


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Grows with each call that looks at everything; that launches take long is no reason to."""
    seen: list[object] = []
    look = Kernel._call

    def counted(self: Any, *args: Any) -> None:
        seen.append(args)
        look(self, *args)

    monkeypatch.setattr(Kernel, "_call", counted)
    # A busy machine can make a launch of a few elements look like one worth better code.
    monkeypatch.setattr(cached_call, "DEFAULT_HOT_THRESHOLD_NS", 1 << 62)
    return seen


def _scaled(k: Any, many: int, out: int) -> None:
    x, y = np.arange(many, dtype=np.float32), np.full(out, 7, np.float32)
    scaled(k, x, y, device="cpu")
    wanted = np.zeros(out, np.float32)
    wanted[1 : min(many, out)] = np.float32(k) * x[1:out]
    np.testing.assert_array_equal(y, wanted)


def test_arrays_of_any_length_are_like_those_before(looks: list[object]) -> None:
    for n in range(2, 90):
        _scaled(2.0, n * 3, n * 3)
    assert len(looks) <= 1
    for n in range(2, 300, 7):
        _scaled(3.0, n, 2 * n)
        _scaled(0.5, 2 * n, n)
    assert len(looks) <= 2


def test_many_calls_look_for_better_code_now_and_then(looks: list[object]) -> None:
    for n in range(2, 600):
        _scaled(2.0, n, n)
    assert 2 <= len(looks) <= 6


def test_empty_arrays_and_long_grids() -> None:
    for many, out in ((5, 5), (0, 5), (5, 0), (0, 0), (1, 1), (70, 1), (1, 70), (64, 65)):
        _scaled(2.0, many, out)


def test_calls_that_run_nothing_are_like_those_before(looks: list[object]) -> None:
    x, y = np.arange(100, dtype=np.float32), np.full(100, 7, np.float32)
    ones = np.full(50, 7, np.uint32)
    for n in (0, 5, 0, 70, 0, 100):
        scaled(2.0, x[:n], y[:n], device="cpu")
        wanted = np.where(np.arange(100) < n, 2 * x, 7)
        wanted[0] = 0 if n else 7
        np.testing.assert_array_equal(y, wanted)
        y[...] = 7
        first_ones(n, ones, device="cpu")
        np.testing.assert_array_equal(ones, np.arange(50) < n)
    first_ones(50, ones, elements=0, device="cpu")
    assert not ones.any()
    assert len(looks) <= 3  # an empty array has nothing to be bound to the first time
    for _ in range(600):
        first_ones(0, ones, device="cpu")
    assert len(looks) <= 6


def test_what_is_cleared_follows_numbers_and_lengths() -> None:
    random = np.random.default_rng(5)
    for _ in range(200):
        length = int(random.choice([1, 5, 300, 20_000, 70_000]))
        n = int(random.integers(0, length + 9))
        y = np.full(length, 9, np.uint32)
        first_ones(n, y, device="cpu")
        np.testing.assert_array_equal(y, np.arange(length) < n)


def test_shapes_of_two_axes_go_along() -> None:
    random = np.random.default_rng(6)
    for _ in range(60):
        high, wide = (int(n) for n in random.integers(1, 90, 2))
        x = random.integers(-9, 9, (high, wide), dtype=np.int32)
        y = np.full((wide, high), 99, np.int32)
        transposed(x, y, device="cpu")
        np.testing.assert_array_equal(y, x.T)


def test_a_given_grid_stays_as_it_is() -> None:
    for n in (100, 90, 300, 301, 64, 63):
        y = np.zeros(n, np.int32)
        grown(3, y, grid=1, device="cpu")
        grown(3, y, elements=65, device="cpu")
        wanted = np.where(np.arange(n) < 64, 6, np.where(np.arange(n) < 128, 3, 0))
        np.testing.assert_array_equal(y, wanted)


def test_values_the_program_is_made_for_are_told_apart() -> None:
    for by, n in ((1, 10), (1, 11), (2, 12), (1, 13), (2, 14), (3, 10)):
        y = np.zeros(n, np.int32)
        grown(by, y, device="cpu")
        assert set(y.tolist()) == {by}


def test_other_types_axes_and_orders_are_looked_at() -> None:
    x, y = np.ones(100, np.float32), np.empty(100, np.float32)
    scaled(2.0, x, y, device="cpu")
    with pytest.raises(ArgumentError):
        scaled(2.0, np.ones(90, np.int32), y, device="cpu")
    with pytest.raises(ArgumentError):
        scaled(2.0, np.ones((9, 10), np.float32), y, device="cpu")
    with pytest.raises(ArgumentError):
        scaled(2.0, y[:50], y[10:], device="cpu")
    with pytest.raises(ArgumentError):
        scaled("2", x[:50], y[:50], device="cpu")
    locked = np.zeros(50, np.float32)
    locked.flags.writeable = False
    with pytest.raises(ArgumentError):
        scaled(2.0, x, locked, device="cpu")
    y.fill(7)
    scaled(2.0, x[::2], y[::2], device="cpu")
    np.testing.assert_array_equal(y, np.r_[0, 7, [2, 7] * 49])


def test_traps_tell_where() -> None:
    @vy.kernel
    def checked(x: vy.In[vy.f32], y: vy.InOut[vy.f32]):
        i = vy.gid()
        if i < len(x):
            assert x[i] < 1.0
            y[i] = x[i]

    for n in (10, 20, 30):
        checked(np.zeros(n, np.float32), np.zeros(n, np.float32), device="cpu")
    with pytest.raises(TrapError, match="test_other_lengths"):
        checked(np.ones(40, np.float32), np.zeros(40, np.float32), device="cpu")
