"""Calls on views with strides, repeated: what the call cache makes of them."""
# The number of axes stands among types.
# pyright: reportGeneralTypeIssues=false

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import vyre as vy
from vyre.diagnostics import ArgumentError
from vyre.runtime import cached_call
from vyre.runtime.kernel_views import view_form

Host = np.ndarray[Any, Any]


@vy.kernel
def scaled(a: vy.u32, x: vy.In[vy.u32], y: vy.Out[vy.u32]):
    i = vy.gid()
    if i < len(y):
        y[i] = a * x[i]


@vy.kernel
def scaled_first(x: vy.In[vy.u32], y: vy.Out[vy.u32]):
    i = vy.gid()
    if i < 3:
        y[i] = x[i] + 1


@vy.kernel
def increased(x: vy.InOut[vy.u32, 2]):
    row, column = vy.gid(1), vy.gid(0)
    if row < x.shape[0] and column < x.shape[1]:
        x[row, column] += row + 1


@vy.kernel
def few(n: vy.u32, x: vy.In[vy.u32], y: vy.Out[vy.u32], z: vy.Out[vy.u32]):
    i = vy.gid()
    if i < n and i < len(x):
        y[i] = x[i]
    if i < len(x):
        z[i] = 1


@pytest.fixture
def misses(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """A list that grows with every uncached call."""
    found: list[object] = []
    real: Callable[..., None] = vy.Kernel._call

    def call(self: Any, *given: Any) -> None:
        found.append(self)
        real(self, *given)

    monkeypatch.setattr(vy.Kernel, "_call", call)
    # A busy machine can make a launch of a few elements look like one worth better code.
    monkeypatch.setattr(cached_call, "DEFAULT_HOT_THRESHOLD_NS", 1 << 62)
    return found


def cut(draw: random.Random, count: int) -> Host:
    """A view of `count` elements: with gaps, reversed, a column, or plain."""
    whole = np.arange(8 * count, dtype=np.uint32)
    first, step = draw.randrange(4), draw.choice([1, 2, 3, -1, -2])
    if draw.random() < 0.3:
        return whole.reshape(count, 8)[:, first]
    view = whole[first : first + abs(step) * count : abs(step)]
    return view[::-1] if step < 0 else view


@pytest.mark.parametrize("seed", range(30))
def test_repeated_calls_on_views_give_what_numpy_gives(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(12):
        count = draw.choice([1, 5, 5, 64, 64, 100])
        x, y = cut(draw, count), cut(draw, count)
        base: Any = y if y.base is None else y.base
        before = base.copy()
        scaled(draw.randrange(1, 9), x, y, device="cpu")
        factor = draw.randrange(1, 9)
        scaled(factor, x, y, device="cpu")
        assert np.array_equal(y, factor * x)
        now, kept = base.reshape(-1).copy(), before.reshape(-1).copy()
        place = (y.__array_interface__["data"][0] - base.__array_interface__["data"][0]) // 4
        positions = place + np.arange(count) * (y.strides[0] // 4)
        now[positions] = kept[positions] = 0
        assert np.array_equal(now, kept), "elements between those of the view have changed"


def test_views_of_one_form_share_an_entry(misses: list[object]) -> None:
    matrix = np.arange(64 * 64, dtype=np.uint32).reshape(64, 64)
    y = np.zeros(64, np.uint32)
    for column in range(64):
        scaled(2, matrix[:, column], y, device="cpu")
        assert np.array_equal(y, 2 * matrix[:, column])
    assert len(misses) <= 2


def test_views_of_ever_new_lengths_share_an_entry(misses: list[object]) -> None:
    matrix = np.arange(64 * 64, dtype=np.uint32).reshape(64, 64)
    gaps = np.zeros(200, np.uint32)
    for n in range(2, 64):
        y = gaps[3 : 3 + 3 * n : 3]
        gaps[...] = 7
        scaled(n, matrix[:n, n], y, device="cpu")
        assert np.array_equal(y, n * matrix[:n, n])
        assert (np.delete(gaps, np.arange(3, 3 + 3 * n, 3)) == 7).all()
    assert len(misses) <= 2


@pytest.mark.parametrize("out", ["plain", "gaps"])
def test_what_is_cleared_follows_the_lengths_of_views(misses: list[object], out: str) -> None:
    draw = random.Random(3)
    for _ in range(40):
        length, held, n = draw.randrange(2, 300), draw.randrange(2, 40_000), draw.randrange(300)
        x = np.arange(1, 2 * length + 1, dtype=np.uint32)[:: draw.choice([2, -2])]
        whole = np.full((held, 2), 9, np.uint32)
        y = whole[:, 0] if out == "gaps" else np.full(held, 9, np.uint32)
        z = np.full(held, 9, np.uint32)
        few(n, x, y, z, device="cpu")
        wanted = np.zeros(held, np.uint32)
        most = min(n, length, held)
        wanted[:most] = x[:most]
        assert np.array_equal(y, wanted)
        assert np.array_equal(z, np.arange(held) < length)
        assert (whole[:, 1] == 9).all()
    assert len(misses) <= 4


def test_what_a_kernel_leaves_of_an_output_view_is_zero(misses: list[object]) -> None:
    x = np.arange(10, dtype=np.uint32)
    whole = np.full((10, 4), 7, np.uint32)
    for column in (0, 1, 3):
        for _ in range(2):
            scaled_first(x, whole[:, column], device="cpu")
            assert whole[:, column].tolist() == [1, 2, 3, 0, 0, 0, 0, 0, 0, 0]
    assert (whole[:, 2] == 7).all()
    assert len(misses) <= 2


def test_rows_and_transposed_views_take_turns() -> None:
    whole = np.zeros((6, 10), np.uint32)
    for number in range(1, 8):
        increased(whole[:, 2:5], device="cpu")
        increased(whole.T[5:8, ::-1], device="cpu")
        expected = np.zeros((6, 10), np.uint32)
        expected[:, 2:5] = number * np.arange(1, 7)[:, None]
        expected[:, 5:8] = number * np.arange(1, 4)[None, :]
        assert np.array_equal(whole, expected)


def test_views_that_share_memory_are_still_copied_or_refused() -> None:
    whole = np.arange(40, dtype=np.uint32)
    for _ in range(3):
        scaled(1, np.arange(80, dtype=np.uint32)[::2][:10], whole[::2][:10], device="cpu")
    before = whole.copy()
    scaled(2, whole[1:20:2], whole[0:20:2], device="cpu")
    assert np.array_equal(whole[0:20:2], 2 * before[1:20:2])
    with pytest.raises(ArgumentError) as caught:
        scaled(2, whole[0:20:2], whole[2:22:2], device="cpu")
    assert caught.value.code == "D011"


def test_broadcast_outputs_are_refused_whatever_was_called_before() -> None:
    x, whole = np.arange(5, dtype=np.uint32), np.zeros(10, np.uint32)
    for _ in range(3):
        scaled(1, x, whole[::2], device="cpu")
    with pytest.raises(ArgumentError):
        scaled(1, x, np.lib.stride_tricks.as_strided(whole, (5,), (0,)), device="cpu")


def test_read_only_and_unaligned_views_do_not_use_the_entry() -> None:
    x, whole = np.arange(5, dtype=np.uint32), np.zeros(10, np.uint32)
    for _ in range(3):
        scaled(1, x, whole[::2], device="cpu")
    fixed = np.zeros(10, np.uint32)
    fixed.flags.writeable = False
    with pytest.raises(ArgumentError):
        scaled(1, x, fixed[::2], device="cpu")
    odd = np.zeros(81, np.uint8)[1:].view(np.uint32)[::2]
    odd[:5] = x
    y = np.zeros(5, np.uint32)
    for _ in range(3):
        scaled(3, odd[:5], y, device="cpu")
        assert np.array_equal(y, 3 * x)


@pytest.mark.parametrize("seed", range(40))
def test_the_pieces_of_a_view_are_its_bytes(seed: int) -> None:
    draw = random.Random(seed)
    whole = np.arange(2 * 3 * 4 * 5, dtype=np.uint16).reshape(2, 3, 4, 5)
    index = tuple(
        draw.choice([slice(None), slice(None, None, 2), slice(1, None), slice(None, None, -1)])
        for _ in range(4)
    )
    view = whole[index].transpose(draw.sample(range(4), 4))
    form = view_form(view.shape, view.strides, 2)
    assert form is not None
    assert form.pieces is not None
    places = [
        first + k * distance + at
        for first, length, often, distance in form.pieces
        for k in range(often)
        for at in range(length)
    ]
    low = min(n for n in view.reshape(-1).tolist())
    assert sorted(places) == sorted(
        2 * (n - low) + at for n in view.reshape(-1).tolist() for at in (0, 1)
    )
