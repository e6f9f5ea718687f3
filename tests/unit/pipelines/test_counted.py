"""Counted scratch gives what arrays of exactly that length give, on every device."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import vyre as vy
from tests.unit.backends.wgsl.drivers import DRIVERS, Driver, worker
from tests.unit.pipelines import counted
from tests.unit.pipelines.counted import add_one, fill_all, histogram, mark, select, twice, words
from vyre.diagnostics import PlanError, TrapError
from vyre.runtime.memory_pool import pool_of


@pytest.mark.parametrize("device", ["cpu", "reference"])
def test_a_call_gives_what_the_stages_give(device: str) -> None:
    assert counted.differences(device, is_long=False) == []


def test_more_workgroups_than_a_capped_grid_has() -> None:
    assert counted.differences("cpu", is_long=True) == []


@pytest.mark.device
@pytest.mark.parametrize("driver", DRIVERS, ids=lambda driver: driver.name)
def test_on_a_driver(driver: Driver) -> None:
    assert worker(driver).call(counted.on_this_driver, deadline=280.0) == []


def test_a_result_is_trimmed_to_its_count() -> None:
    x = words(300)
    for device in ("cpu", "reference"):
        found = counted.selected(x, 20, 1, device=device)
        np.testing.assert_array_equal(found, 2 * x[x < 20] + 1)
    resident = counted.selected(vy.array(x), 20, 1)
    assert isinstance(resident, vy.DeviceArray)
    assert resident.shape == (int((x < 20).sum()),)


def test_elements_beyond_the_count_do_not_exist() -> None:
    out = np.zeros(150, np.uint32)
    found = counted.beyond_the_count(5, 100, out)
    assert found.tolist() == [7, 8, 9, 10, 11]
    assert out.tolist() == [5007, 5008, 5009, 5010, 5011] + [5000] * 145


def test_a_count_above_the_limit_is_an_error() -> None:
    for run in (counted.beyond_the_count, counted.beyond_the_count.apart):
        with pytest.raises(PlanError) as caught:
            run(101, 100, np.zeros(150, np.uint32))
        assert caught.value.code == "P118"


def test_room_that_has_grown_is_kept() -> None:
    counted.counts_of_counts.forget()
    x, counts = words(500), counted.sixteen()
    counted.counts_of_counts(x, 30, counts)
    before = counted.counts_of_counts.plan(x, 30, counts)
    assert any(seam.name == "found" and seam.elements >= 300 for seam in before.seams)


def test_arguments_are_restored_before_a_call_begins_again() -> None:
    counted.counts_of_counts.forget()
    x = words(500)
    for _ in range(2):
        one, two = counted.sixteen(), counted.sixteen()
        counted.counts_of_counts(x, 30, one)
        counted.counts_of_counts.apart(x, 30, two)
        np.testing.assert_array_equal(one, two)


@vy.kernel
def all_below(x: vy.In[vy.u32], limit: vy.u32, out: vy.InOut[vy.u32]):
    i = vy.gid()
    if i < len(x):
        assert x[i] > limit, "too small"
        out.atomic_add(0, 1)


@vy.pipeline
def strict(many: vy.u32, limit: vy.u32, out: vy.InOut[vy.u32]):
    n = vy.scratch(vy.u32, 1)
    x = vy.scratch(vy.u32, vy.at_most(100, start=4), count=n)
    fill_all(x, n, many)
    all_below(x, limit, out)


def test_a_trap_for_want_of_room_is_none() -> None:
    strict.forget()
    out = np.zeros(1, np.uint32)
    strict(50, 6, out, device="cpu")
    assert out.tolist() == [50]
    strict.forget()
    with pytest.raises(TrapError) as caught:
        strict(50, 7, out, device="cpu")
    assert "in the stage all_below" in str(caught.value)


@vy.kernel
def shown(x: vy.In[vy.u32]):
    if vy.gid() == 0:
        vy.print("seen", len(x))


@vy.pipeline
def printing(many: vy.u32):
    n = vy.scratch(vy.u32, 1)
    x = vy.scratch(vy.u32, vy.at_most(100, start=4), count=n)
    fill_all(x, n, 2)
    shown(x, grid=1)
    fill_all(x, n, many)
    add_one(x)


def test_prints_appear_once(capfd: pytest.CaptureFixture[str]) -> None:
    printing(50, device="cpu")
    assert capfd.readouterr().out.count("seen") == 1


def test_a_stage_that_counts_does_not_read() -> None:
    @vy.kernel
    def compact_in_place(x: vy.InOut[vy.u32], n: vy.InOut[vy.u32]):
        i = vy.gid()
        if i < len(x) and x[i] > 5:
            x[i] = vy.u32(0)
            n[0] = vy.u32(1)

    @vy.pipeline
    def wrong(out: vy.Out[vy.u32]):
        n = vy.scratch(vy.u32, 1)
        x = vy.scratch(vy.u32, vy.at_most(100), count=n)
        compact_in_place(x, n)
        histogram(x, out)

    with pytest.raises(PlanError) as caught:
        wrong(np.zeros(16, np.uint32))
    assert caught.value.code == "P105"
    assert "writes its count" in str(caught.value)


def test_a_length_on_the_device_is_no_host_value() -> None:
    @vy.pipeline
    def wrong(x: vy.In[vy.u32]) -> vy.Array[vy.u32]:
        n = vy.scratch(vy.u32, 1)
        found = vy.scratch(vy.u32, vy.at_most(len(x)), count=n)
        kept = vy.scratch_like(x)
        mark(x, 5, kept)
        select(x, kept, found, n, grid=1)
        doubled = vy.scratch(vy.u32, len(found))
        twice(found, doubled)
        return doubled

    with pytest.raises(PlanError) as caught:
        wrong(words(10))
    assert caught.value.code == "P103"


@pytest.mark.parametrize("size", [-1, 1 << 32])
def test_impossible_limits(size: int) -> None:
    @vy.pipeline
    def sized(n: vy.i64, out: vy.Out[vy.u32]):
        c = vy.scratch(vy.u32, 1)
        x = vy.scratch(vy.u32, vy.at_most(n), count=c)
        fill_all(x, c, 1)
        histogram(x, out)

    for run in (sized, sized.apart):
        with pytest.raises(PlanError) as caught:
            run(size, np.zeros(16, np.uint32))
        assert caught.value.code == "P108"


def test_a_count_is_one_number() -> None:
    @vy.pipeline
    def wrong(x: vy.In[vy.u32], out: vy.Out[vy.u32]):
        n = vy.scratch(vy.u32, 2)
        found = vy.scratch(vy.u32, vy.at_most(len(x)), count=n)
        fill_all(found, n, 1)
        histogram(found, out)

    with pytest.raises(PlanError) as caught:
        wrong(words(3), np.zeros(16, np.uint32))
    assert caught.value.code == "P105"


@pytest.mark.device
def test_the_plan_counts_the_read_of_the_count() -> None:
    x = words(100)
    assert counted.selected.plan(x, 20, 1, device="wgpu:0").host_reads == 1
    assert counted.selected.plan(x, 20, 1, device="cpu").host_reads == 0


def test_memory_comes_back_when_scratch_grows() -> None:
    pool = pool_of(vy.array(np.zeros(1)).device)
    x = vy.array(words(100_000))
    counted.selected.forget()
    counted.selected(x, 50, 1)
    gc.collect()
    before = pool.counters.in_use
    for _ in range(3):
        counted.selected(x, 50, 1)
        with pytest.raises(PlanError):
            counted.beyond_the_count(101, 100, np.zeros(150, np.uint32))
    gc.collect()
    assert pool.counters.in_use == before
