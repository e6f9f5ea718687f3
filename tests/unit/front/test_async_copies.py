"""Copies into and out of shared memory that a workgroup starts together."""

from __future__ import annotations

import numpy as np
import pytest

import vyre as vy
from tests.unit.front.devices import run
from vyre.diagnostics import CheckError, FrontError, SanitizerError

TILE = 64


@vy.kernel(workgroup=TILE)
def reverse_tiles(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    here = vy.shared(vy.f32, TILE)
    back = vy.shared(vy.f32, TILE)
    start = vy.wid() * TILE
    vy.async_load(here, 0, x, start, TILE, tag="in")
    vy.async_wait(tag="in")
    back[vy.lid()] = here[TILE - 1 - vy.lid()]
    vy.barrier()
    vy.async_store(y, start, back, 0, TILE)
    vy.async_wait()


def test_tiles_go_in_and_out() -> None:
    x = np.arange(4 * TILE, dtype=np.float32)
    y = run(reverse_tiles, x, np.zeros_like(x))[1]
    np.testing.assert_array_equal(y, x.reshape(4, TILE)[:, ::-1].reshape(-1))


def test_a_copy_past_the_end_stops_there() -> None:
    x = np.arange(1, TILE + 11, dtype=np.float32)
    y = run(reverse_tiles, x, np.zeros(2 * TILE, np.float32))[1]
    np.testing.assert_array_equal(y[:TILE], x[TILE - 1 :: -1])
    np.testing.assert_array_equal(y[-10:], x[: TILE - 1 : -1])
    assert not y[TILE:-10].any()


def test_views_with_strides_are_copied_first() -> None:
    x = np.arange(8 * TILE, dtype=np.float32)[::2]
    y = np.zeros(8 * TILE, np.float32)[::-2]
    reverse_tiles(x, y, device="cpu")
    np.testing.assert_array_equal(y, x.reshape(4, TILE)[:, ::-1].reshape(-1))


def test_a_look_before_the_wait_is_found() -> None:
    @vy.kernel(workgroup=TILE)
    def hasty(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
        tile = vy.shared(vy.f32, TILE)
        vy.async_load(tile, 0, x, 0, TILE)
        y[vy.lid()] = tile[vy.lid()]
        vy.async_wait()

    x = np.ones(TILE, np.float32)
    with pytest.raises(SanitizerError):
        hasty.reference(x, np.zeros_like(x))


def test_wrong_copies_are_refused() -> None:
    @vy.kernel(workgroup=TILE)
    def no_wait(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
        tile = vy.shared(vy.f32, TILE)
        vy.async_load(tile, 0, x, 0, TILE)
        y[vy.lid()] = 1.0

    with pytest.raises(CheckError, match="no async_wait with the tag 'copy'"):
        no_wait(np.ones(TILE, np.float32), np.zeros(TILE, np.float32), device="cpu")

    @vy.kernel(workgroup=TILE)
    def backwards(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
        tile = vy.shared(vy.f32, TILE)
        vy.async_store(x, 0, tile, 0, TILE)
        vy.async_wait()

    with pytest.raises(FrontError) as caught:
        backwards.program()
    assert caught.value.code == "F034"


@vy.kernel(workgroup=8)
def last_wins(y: vy.InOut[vy.u32]):
    y.atomic_exchange(0, vy.lid())


def test_another_schedule_shows_what_depends_on_the_order() -> None:
    found: set[int] = set()
    for schedule in range(8):
        y = np.zeros(1, np.uint32)
        last_wins.reference(y, elements=8, schedule=schedule)
        again = np.zeros(1, np.uint32)
        last_wins.reference(again, elements=8, schedule=schedule)
        assert y[0] == again[0]
        found.add(int(y[0]))
    assert len(found) > 1
