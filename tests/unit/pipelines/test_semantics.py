"""What is easy to get wrong at the seams of a pipeline: each rule is a test."""

from __future__ import annotations

import gc
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
import pytest

import vyre as vy
from tests.unit.pipelines import suite
from tests.unit.pipelines.kernels import (
    add,
    blur,
    clip,
    digit_of,
    every_third,
    halve,
    increase,
    scale,
    trap_at,
)
from vyre.diagnostics import ArgumentError, DeadlineError, PlanError, TrapError
from vyre.runtime.memory_pool import pool_of

FACTOR = 2.0


T = TypeVar("T", int, float)


@vy.kernel
def double(x: vy.In[T], y: vy.Out[T]):
    i = vy.gid()
    if i < len(y):
        y[i] = x[i] + x[i]  # pyright: ignore[reportArgumentType]


@vy.pipeline
def four_times(x: vy.In[T]) -> vy.Array[T]:
    t = vy.scratch(T, len(x))
    u = vy.scratch_like(x)
    double(x, t)
    double(t, u)
    return u


@vy.pipeline
def by_factor(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    t = vy.scratch_like(x)
    scale(FACTOR, x, t)
    clip(t, y)


def test_a_changed_global_is_seen_by_the_next_call(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = suite.floats(100), np.zeros(100, np.float32)
    for _ in range(3):
        by_factor(x, y)
    before = y.copy()
    monkeypatch.setitem(by_factor.__wrapped__.__globals__, "FACTOR", 0.5)
    by_factor(x, y)
    assert not np.array_equal(before, y)
    np.testing.assert_array_equal(y, np.clip(x * np.float32(0.5), 0.25, 0.75))


def test_a_changed_kernel_is_seen_by_the_next_call(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = suite.floats(100), np.zeros(100, np.float32)
    by_factor(x, y)
    by_factor(x, y)
    monkeypatch.setitem(by_factor.__wrapped__.__globals__, "clip", blur)
    z = y.copy()
    by_factor(x, y)
    by_factor.apart(x, z)
    np.testing.assert_array_equal(y, z)


def test_zero_and_minus_zero_are_two_numbers() -> None:
    @vy.pipeline
    def scaled(a: vy.f32, x: vy.In[vy.f32], y: vy.Out[vy.f32]):
        scale(a, x, y)

    x, y = np.ones(4, np.float32), np.zeros(4, np.float32)
    for a in (0.0, -0.0, 0.0, -0.0):
        scaled(a, x, y)
        assert np.signbit(y).all() == (str(a) == "-0.0")


def test_out_of_a_stage_begins_as_zeros_in_each_iteration() -> None:
    @vy.pipeline
    def twice(x: vy.InOut[vy.f32], y: vy.InOut[vy.f32]):
        t = vy.scratch_like(x)
        for _ in range(2):
            every_third(x, t)
            scale(1.0, t, y)
            increase(x)
            blur(y, t)

    x, y = suite.floats(100), suite.floats(100)
    u, v = x.copy(), y.copy()
    twice(x, y)
    twice.apart(u, v)
    np.testing.assert_array_equal(x, u)
    np.testing.assert_array_equal(y, v)


def test_out_of_a_pipeline_begins_as_zeros() -> None:
    @vy.pipeline
    def partly(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
        increase(y)

    y = np.full(10, 7, np.float32)
    partly(np.zeros(1, np.float32), y)
    assert y.tolist() == [1.0] * 10


def test_neighbours_in_place_are_not_fused() -> None:
    plan = suite.in_place.plan(suite.floats(1000))
    assert [launch.stages for launch in plan.launches] == [("blur",), ("scale", "increase")]
    assert "L7" in plan.launches[1].apart


def test_own_elements_are_fused_to_one_launch_without_scratch() -> None:
    plan = suite.in_registers.plan(suite.floats(1000), np.zeros(1000, np.float32))
    assert [launch.stages for launch in plan.launches] == [("scale", "clip", "scale")]
    assert [(seam.name, seam.where) for seam in plan.seams] == [
        ("t", "register"),
        ("u", "register"),
    ]
    assert plan.scratch_bytes == 0
    assert plan.bytes_moved * 3 == plan.bytes_apart


def test_scratch_of_disjoint_lives_shares_memory() -> None:
    plan = vy.pipeline(fuse=False)(suite.chain.__wrapped__).plan(suite.floats(100_000))
    assert len(plan.launches) == 4
    result = 400_000
    assert plan.scratch_bytes <= result + 2 * 1.15 * 400_000


@vy.kernel
def note_first(x: vy.In[vy.f32], n: vy.InOut[vy.u32]):
    if vy.gid() == 0:
        n[0] += vy.u32(x[0] > 0.5)


@vy.pipeline(fuse=False)
def noted(x: vy.InOut[vy.f32], steps: vy.u32):
    n = vy.scratch(vy.u32, 1)
    for _ in range(steps):
        a, b, c = vy.scratch_like(x), vy.scratch_like(x), vy.scratch_like(x)
        blur(x, a)
        blur(a, b)
        note_first(b, n)
        blur(b, c)
        vy.copy(c, x)


def test_small_scratch_that_lives_long_has_no_place_of_large_scratch() -> None:
    x = suite.floats(10_000)
    plan = noted.plan(x, 5, device="cpu")
    assert [seam.where for seam in plan.seams] == ["pooled"] * 16
    assert plan.scratch_bytes < 2.5 * x.nbytes


def test_a_chain_of_stencils_is_one_launch_without_scratch() -> None:
    x = suite.floats(100_000)
    plan = suite.chain.plan(x, device="cpu")
    assert [launch.stages for launch in plan.launches] == [("blur",) * 4]
    assert [seam.where for seam in plan.seams] == ["tile", "tile", "tile", "materialised"]
    assert plan.bytes_moved * 4 == plan.bytes_apart


def test_returned_scratch_is_new_in_every_call() -> None:
    x = vy.array(suite.floats(100))
    first = suite.chain(x)
    before = first.numpy()
    second = suite.chain(vy.array(np.zeros(100, np.float32)))
    assert first is not second
    np.testing.assert_array_equal(first.numpy(), before)
    assert second.numpy().max() == 0.0


def test_results_live_where_the_arguments_live() -> None:
    x = suite.floats(10)
    assert isinstance(suite.chain(x), np.ndarray)
    assert isinstance(suite.chain(vy.array(x)), vy.DeviceArray)


def test_views_with_strides_are_used_as_they_are() -> None:
    wide = suite.floats(200)
    x, y = wide[::2], np.zeros(200, np.float32)
    suite.in_registers(x, y[1::2])
    z = np.zeros(100, np.float32)
    suite.in_registers.apart(x.copy(), z)
    np.testing.assert_array_equal(y[1::2], z)
    assert y[::2].max() == 0.0


def test_aliased_arguments_are_refused() -> None:
    x = suite.floats(100)
    for pair in ((x, x), (x[:60], x[40:])):
        with pytest.raises(ArgumentError) as caught:
            suite.in_registers(*pair)
        assert caught.value.code == "D011"


def test_a_swap_can_not_smuggle_one_array_into_two_parameters() -> None:
    @vy.pipeline
    def same(x: vy.InOut[vy.f32]):
        a, b = x, x
        blur(a, b)

    for run in (same, same.apart):
        with pytest.raises(PlanError) as caught:
            run(suite.floats(4))
        assert caught.value.code == "P106"


def test_a_trap_names_stage_line_and_iteration() -> None:
    @vy.pipeline
    def climb(x: vy.InOut[vy.u32]):
        for _ in range(5):
            trap_at(x, 3)

    for run in (climb, climb.apart):
        with pytest.raises(TrapError) as caught:
            run(np.zeros(4, np.uint32))
        message = str(caught.value)
        assert "in the stage trap_at" in message
        assert "iteration 4 of for _" in message


def test_a_loop_that_does_not_end_is_an_error() -> None:
    @vy.pipeline
    def few(x: vy.InOut[vy.u32]):
        moved = vy.flag()
        while vy.again(moved, most=3):
            halve(x, moved)

    x = np.array([1 << 20], np.uint32)
    with pytest.raises(PlanError) as caught:
        few(x)
    assert caught.value.code == "P109"
    assert x.tolist() == [1 << 17]
    few(np.array([4], np.uint32))


def test_one_deadline_for_the_whole_call() -> None:
    @vy.pipeline
    def forever(x: vy.InOut[vy.f32], moved: vy.InOut[vy.u32]):
        going = vy.flag()
        while vy.again(going, most=1_000_000_000):
            increase(x)
            suite.count(going, elements=1)

    with pytest.raises(DeadlineError):
        forever(np.zeros(10, np.float32), np.zeros(1, np.uint32), deadline=0.2)


def test_contracts_are_kept_or_errors() -> None:
    @vy.pipeline(require={"launches": 1, "host_reads": 0, "scratch_bytes": 0})
    def kept(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
        t = vy.scratch_like(x)
        scale(2.0, x, t)
        clip(t, y)

    kept(suite.floats(100), np.zeros(100, np.float32))

    @vy.pipeline(require={"launches": 1})
    def broken(x: vy.In[vy.f32], y: vy.InOut[vy.f32]):
        t = vy.scratch_like(x)
        blur(y, t)
        add(x, t, y)

    y = np.full(100, 5, np.float32)
    with pytest.raises(PlanError) as caught:
        broken(suite.floats(100), y)
    assert caught.value.code == "P113"
    assert "L7" in str(caught.value)
    assert y.min() == 5  # nothing ran


@vy.pipeline(require={"host_reads": 0})
def reads(x: vy.InOut[vy.u32]):
    moved = vy.flag()
    while vy.again(moved, most=40):
        halve(x, moved)


@pytest.mark.device
def test_a_flag_in_memory_that_the_host_shares_is_no_host_read() -> None:
    reads(np.ones(4, np.uint32), device="cpu")
    with pytest.raises(PlanError) as caught:
        reads(np.ones(4, np.uint32), device="wgpu:0")
    assert caught.value.code == "P113"


def test_threads_may_call_at_once() -> None:
    x = suite.floats(5000)
    expected = suite.chain.apart(x)
    barrier = threading.Barrier(4)

    def work(seed: int) -> bool:
        barrier.wait()
        own = np.roll(x, 0)
        return all(np.array_equal(suite.chain(own), expected) for _ in range(30))

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(4))) == [True] * 4


def test_new_lengths_make_no_new_programs() -> None:
    for n in (100, 101, 5000, 77):
        suite.in_registers(suite.floats(n), np.zeros(n, np.float32))
    assert len({id(group.fused.kernel) for group in _groups(suite.in_registers)}) == 1


def _groups(pipeline: Any) -> list[Any]:
    plans = pipeline._plans._known.values()
    return [group for known in plans for group in known.plan.groups if group.fused]


def test_memory_comes_back() -> None:
    pool = pool_of(vy.array(np.zeros(1)).device)
    x = vy.array(suite.floats(2_000_000))
    for _ in range(3):  # a repeated call keeps its numbers in device memory
        suite.chain(x)
    gc.collect()
    before = pool.counters.in_use
    for _ in range(5):
        suite.chain(x)
    gc.collect()
    assert pool.counters.in_use == before


def test_an_error_in_the_middle_gives_memory_back() -> None:
    @vy.pipeline
    def failing(x: vy.InOut[vy.u32]):
        t = vy.scratch(vy.u32, 4_000_000)
        digit_of(x, 0, t)
        trap_at(t, 0)

    pool = pool_of(vy.array(np.zeros(1)).device)
    gc.collect()
    before = pool.counters.in_use
    for _ in range(3):
        with pytest.raises(TrapError):
            failing(np.zeros(4_000_000, np.uint32))
    gc.collect()
    assert pool.counters.in_use == before


def test_generic_types_and_scratch_of_them() -> None:
    for dtype in (np.float32, np.uint32, np.int64):
        x = np.arange(10, dtype=dtype)
        found = four_times(x)
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, 4 * x)


def test_a_bound_pipeline_runs_on_its_arrays_whatever_they_hold() -> None:
    x, y = suite.floats(100), np.zeros(100, np.float32)
    bound = by_factor.bind(x, y)
    for _ in range(4):
        x[:] = np.roll(x, 1)
        bound()
        np.testing.assert_array_equal(y, np.clip(x * np.float32(2), 0.25, 0.75))


def test_a_bound_pipeline_sees_changed_names_and_shapes(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = suite.floats(100), np.zeros(100, np.float32)
    bound = by_factor.bind(x, y)
    bound()
    bound()
    monkeypatch.setitem(by_factor.__wrapped__.__globals__, "FACTOR", 0.5)
    bound()
    np.testing.assert_array_equal(y, np.clip(x * np.float32(0.5), 0.25, 0.75))
    x.resize(200, refcheck=False)
    y.resize(200, refcheck=False)
    x[:] = 1.0
    bound()
    np.testing.assert_array_equal(y, np.full(200, 0.5, np.float32))


def test_a_bound_pipeline_returns_fresh_arrays() -> None:
    bound = four_times.bind(np.arange(5, dtype=np.float32))
    first, second = bound(), bound()
    np.asarray(first)[:] = 0
    assert second.tolist() == [0, 4, 8, 12, 16]
    assert bound().tolist() == [0, 4, 8, 12, 16]


def test_bind_refuses_what_a_call_refuses() -> None:
    x = suite.floats(10)
    with pytest.raises(ArgumentError):
        by_factor.bind(x, x)
    with pytest.raises(ArgumentError):
        by_factor.bind(x)


def test_compile_runs_nothing_and_leaves_nothing_to_compile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from vyre.runtime import compiling

    @vy.pipeline
    def twice_clipped(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
        t = vy.scratch_like(x)
        scale(3.25, x, t)
        clip(t, y)

    x, y = suite.floats(100), np.full(100, 7, np.float32)
    assert len(twice_clipped.compile(x, y).launches) == 1
    assert y.tolist() == [7] * 100
    made: list[object] = []
    real = compiling.compile_now
    monkeypatch.setattr(compiling, "compile_now", lambda *a, **k: made.append(a) or real(*a, **k))
    twice_clipped(x, y)
    assert made == []
    np.testing.assert_array_equal(y, np.clip(x * np.float32(3.25), 0.25, 0.75))


@pytest.mark.device
def test_a_repeated_call_on_a_gpu_returns_arrays_of_the_host() -> None:
    x = np.arange(5, dtype=np.float32)
    for _ in range(3):
        found = four_times(x, device="wgpu:0")
        assert isinstance(found, np.ndarray)
        assert found.tolist() == [0, 4, 8, 12, 16]
