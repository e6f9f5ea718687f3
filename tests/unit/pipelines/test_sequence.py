"""Recorded windows as sequences: the same arrays as apart, and the same errors."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import vyre as vy
from vyre.diagnostics import ArgumentError, DeadlineError, TrapError
from vyre.pipelines.sequence import WindowSequence


@vy.kernel
def raised(a: vy.f32, x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(y):
        y[i] = x[i] + a


@vy.kernel
def turned(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(y):
        y[i] = x[len(x) - 1 - i]


@vy.kernel
def first_half(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(y) // 2:
        y[i] = x[i]


@vy.kernel
def added(x: vy.In[vy.f32], total: vy.InOut[vy.f32]):
    i = vy.gid()
    if i < len(total):
        total[i] += x[i]


@vy.kernel
def checked(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(y):
        assert x[i] < 1000.0, "large"
        y[i] = x[i]


@vy.kernel
def churned(rounds: vy.u32, x: vy.InOut[vy.f32]):
    i = vy.gid()
    if i < len(x):
        value = x[i]
        for _ in range(rounds):
            value = value * 0.5 + 1.0
        x[i] = value


@vy.pipeline(fuse=False)
def chain(a: vy.f32, x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    t = vy.scratch_like(x)
    u = vy.scratch_like(x)
    raised(a, x, t)
    turned(t, u)
    raised(2.0, u, y)


@vy.pipeline(fuse=False)
def returning(x: vy.In[vy.f32]) -> vy.Array[vy.f32]:
    t = vy.scratch_like(x)
    u = vy.scratch_like(x)
    first_half(x, t)
    turned(t, u)
    added(x, u)
    return u


@vy.pipeline(fuse=False)
def copying(x: vy.In[vy.f32], y: vy.InOut[vy.f32]):
    t = vy.scratch_like(x)
    added(x, t)
    vy.copy(t, y)
    added(x, y)


@vy.pipeline(fuse=False)
def failing(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    t = vy.scratch_like(x)
    turned(x, t)
    checked(t, y)


@vy.pipeline(fuse=False)
def long(rounds: vy.u32, x: vy.InOut[vy.f32]):
    churned(3, x)
    churned(rounds, x)


@pytest.fixture
def native(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Grows with each replay: whether it ran as a sequence."""
    found: list[bool] = []
    real = WindowSequence.run

    def run(self: Any, *given: Any) -> Any:
        done = real(self, *given)
        found.append(done is not None)
        return done

    monkeypatch.setattr(WindowSequence, "run", run)
    return found


def numbers(count: int) -> Any:
    return (np.arange(count) * 7 % 50).astype(np.float32)


@pytest.mark.parametrize("resident", [False, True])
def test_replays_run_as_sequences_and_agree_with_apart(native: list[bool], resident: bool) -> None:
    for count in (1, 64, 1000, 70_000):
        for number in range(6):
            x, y = numbers(count) + number, np.full(count, 9, np.float32)
            expected = np.zeros_like(y)
            chain.apart(1.5, x, expected, device="cpu")
            given = (vy.array(x, device="cpu"), vy.array(y, device="cpu")) if resident else (x, y)
            chain(1.5, *given, device="cpu")
            assert np.array_equal(np.asarray(given[1]), expected)
    assert native.count(True) >= 12


def test_returned_scratch_is_new_every_time(native: list[bool]) -> None:
    x = numbers(999)
    expected = returning.apart(x, device="cpu")
    found: list[Any] = [returning(x, device="cpu") for _ in range(6)]
    for each in found:
        assert np.array_equal(each, expected)
        each[:] = -1
    assert any(native)


def test_copies_and_scratch_that_begins_as_zeros(native: list[bool]) -> None:
    for number in range(6):
        x, y = numbers(300) + number, np.full(300, 5, np.float32)
        copying(x, y, device="cpu")
        assert np.array_equal(y, 2 * x)
    assert any(native)


def test_bound_pipelines(native: list[bool]) -> None:
    x, y = numbers(500), np.zeros(500, np.float32)
    bound = chain.bind(1.0, x, y, device="cpu")
    for number in range(6):
        x += number
        bound()
        assert np.array_equal(y, x[::-1] + np.float32(3))
    assert any(native)


def test_a_trap_names_its_stage(native: list[bool]) -> None:
    for number in range(4):
        failing(numbers(100) + number, np.zeros(100, np.float32), device="cpu")
    with pytest.raises(TrapError) as apart:
        failing.apart(numbers(100) + 1000, np.zeros(100, np.float32), device="cpu")
    with pytest.raises(TrapError) as caught:
        failing(numbers(100) + 1000, np.zeros(100, np.float32), device="cpu")
    assert "checked" in str(caught.value)
    assert caught.value.tag == apart.value.tag
    assert native[-2:] == [True, True] or len(native) == 3
    failing(numbers(100), np.zeros(100, np.float32), device="cpu")


def test_a_deadline_holds_for_the_whole(native: list[bool]) -> None:
    x = numbers(1000)
    for _ in range(4):
        long(5, x, device="cpu", deadline=60.0)
    bound = long.bind(4_000_000_000, x, device="cpu")
    for _ in range(2):
        with pytest.raises(DeadlineError):
            bound(deadline=0.05)
    assert any(native)


def test_aliased_arguments_are_refused_after_replays(native: list[bool]) -> None:
    x, y = numbers(100), np.zeros(100, np.float32)
    for _ in range(4):
        chain(1.0, x, y, device="cpu")
    with pytest.raises(ArgumentError) as caught:
        chain(1.0, x, x, device="cpu")
    assert caught.value.code == "D011"


def test_several_threads_replay_one_recording(native: list[bool]) -> None:
    x = numbers(2000)
    expected = np.zeros_like(x)
    chain.apart(1.0, x, expected, device="cpu")
    failures: list[int] = []

    def work(number: int) -> None:
        for _ in range(50):
            y = np.zeros_like(x)
            chain(1.0, x, y, device="cpu")
            if not np.array_equal(y, expected):
                failures.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert any(native)


def test_a_sequence_is_made_anew_every_so_often(native: list[bool]) -> None:
    x, y = numbers(10), np.zeros(10, np.float32)
    for _ in range(600):
        chain(1.0, x, y, device="cpu")
    assert native.count(True) > 590
    assert native.count(False) >= 2
