"""Kernels with grid barriers, called on ever new lengths: their grid is an argument."""
# The number of axes stands among types.
# pyright: reportGeneralTypeIssues=false

from __future__ import annotations

import random
import threading
from typing import Any

import numpy as np
import pytest

import vyre as vy
from vyre.driver.grid_sync import dispatch
from vyre.runtime import cached_call


@vy.kernel
def turned(x: vy.InOut[vy.u32], y: vy.Out[vy.u32]):
    i = vy.gid()
    if i < len(x):
        x[i] = x[i] + 1
    vy.grid_sync()
    if i < len(y):
        y[i] = x[len(x) - 1 - i]


@vy.kernel
def kept(x: vy.InOut[vy.u32], y: vy.Out[vy.u32]):
    i = vy.gid()
    mine = vy.u32(0)
    if i < len(x):
        mine = 3 * x[i]
        x[i] = mine
    vy.grid_sync()
    if i < len(y):
        y[i] = x[len(x) - 1 - i] + mine


@vy.kernel
def left(x: vy.InOut[vy.u32], y: vy.Out[vy.u32]):
    i = vy.gid()
    mine = vy.u32(0)
    if i < len(x):
        if x[i] % 3 == 0:
            return
        mine = 3 * x[i]
        x[i] = mine
    vy.grid_sync()
    if i < len(y):
        y[i] = x[len(x) - 1 - i] + mine


def _expected(kernel: Any, x: Any) -> tuple[Any, Any]:
    if kernel is turned:
        return x + 1, (x + 1)[::-1]
    stays = (x % 3 == 0) if kernel is left else np.zeros(len(x), bool)
    new = np.where(stays, x, 3 * x)
    return new, np.where(stays, 0, new[::-1] + new)


def _checked(kernel: Any, x: Any, y: Any) -> None:
    y[...] = 7
    new, found = _expected(kernel, x.copy())
    kernel(x, y, device="cpu")
    assert np.array_equal(x, new)
    assert np.array_equal(y, found)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Grows with each sequence that is prepared."""
    found: list[object] = []
    real = dispatch._prepared

    def prepared(*given: Any) -> Any:
        found.append(given)
        return real(*given)

    monkeypatch.setattr(dispatch, "_prepared", prepared)
    # A busy machine can make a launch of a few elements look like one worth better code.
    monkeypatch.setattr(cached_call, "DEFAULT_HOT_THRESHOLD_NS", 1 << 62)
    return found


@pytest.mark.parametrize("kernel", [turned, kept, left], ids=lambda each: each.__name__)
def test_grids_of_about_one_size_share_what_is_prepared(kernel: Any, made: list[object]) -> None:
    draw = np.random.default_rng(2)
    for n in range(1, 2000, 23):
        _checked(kernel, draw.integers(0, 99, n, dtype=np.uint32), np.zeros(n, np.uint32))
    assert len(made) <= 8  # one for each power of two, and the first call
    before = len(made)
    for n in (9, 1900, 64, 65, 130, 700, 1, 1999):
        _checked(kernel, draw.integers(0, 99, n, dtype=np.uint32), np.zeros(n, np.uint32))
    assert len(made) == before


def test_each_grid_clears_what_it_uses_of_the_same_memory(made: list[object]) -> None:
    draw = np.random.default_rng(2)
    for n in (100_000, 130_000, 70_000, 100_000, 66_000, 131_000, 99_999):
        _checked(left, draw.integers(0, 99, n, dtype=np.uint32), np.zeros(n, np.uint32))
    assert len(made) <= 2


@pytest.mark.parametrize("kernel", [turned, kept, left], ids=lambda each: each.__name__)
def test_views_are_used_in_place(kernel: Any, made: list[object]) -> None:
    draw = random.Random(4)
    for _ in range(40):
        n = draw.randrange(2, 300)
        x = np.arange(5 * n, dtype=np.uint32).reshape(n, 5)
        whole = np.full((n, 3), 9, np.uint32)
        before = x.copy()
        column = x[:, 2] if draw.random() < 0.5 else x[::-1, 2]
        _checked(kernel, column, whole[:, 1])
        x[:, 2] = before[:, 2]
        assert np.array_equal(x, before)
        assert (whole[:, [0, 2]] == 9).all()
    assert len(made) <= 6


def test_threads_call_with_grids_of_their_own() -> None:
    problems: list[BaseException] = []

    def run(seed: int) -> None:
        draw = np.random.default_rng(seed)
        try:
            for _ in range(60):
                n = int(draw.integers(1, 3000))
                kernel = (turned, kept, left)[n % 3]
                _checked(kernel, draw.integers(0, 99, n, dtype=np.uint32), np.zeros(n, np.uint32))
        except BaseException as problem:
            problems.append(problem)
            raise

    threads = [threading.Thread(target=run, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
