"""Loops that the device ends have exactly the iterations that reading each flag gives."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

import vyre as vy
from tests.unit.backends.wgsl.drivers import DRIVERS, Driver, worker
from tests.unit.pipelines import loops
from tests.unit.pipelines.kernels import count, halve, trap_at
from tests.unit.pipelines.loops import number
from vyre.diagnostics import PlanError, TrapError
from vyre.runtime.memory_pool import pool_of


@pytest.mark.parametrize("device", ["cpu", "reference"])
def test_a_call_gives_what_the_stages_give(device: str) -> None:
    assert loops.differences(device) == []


@pytest.mark.device
@pytest.mark.parametrize("driver", DRIVERS, ids=lambda driver: driver.name)
def test_on_a_driver(driver: Driver) -> None:
    assert worker(driver).call(loops.on_this_driver, deadline=200.0) == []


@pytest.mark.device
@pytest.mark.parametrize("driver", DRIVERS, ids=lambda driver: driver.name)
def test_the_host_waits_once_in_64_iterations(driver: Driver) -> None:
    found = worker(driver).call(loops.waits, deadline=200.0)
    assert found == [("ping_pong", 100, 2), ("branches", 60, 1)]


@vy.pipeline
def few(x: vy.InOut[vy.u32], ran: vy.InOut[vy.u32], most: vy.u32):
    moved = vy.flag()
    while vy.again(moved, most=most):
        halve(x, moved)
        count(ran, elements=1)


@vy.pipeline
def shrinking(x: vy.InOut[vy.u32], ran: vy.InOut[vy.u32]):
    moved = vy.flag()
    n = 5
    while vy.again(moved, most=30):
        n -= 1
        t = vy.scratch(vy.u32, n)  # negative in iteration 6
        count(t, elements=1)
        halve(x, moved)
        count(ran, elements=1)


@vy.pipeline
def climb(x: vy.InOut[vy.u32]):
    going = vy.flag()
    while vy.again(going, most=30):
        trap_at(x, 3)
        count(going, elements=1)


def most_reached(device: str) -> list[Any]:
    """What arrays hold after `most` iterations, for several of them."""
    found: list[Any] = []
    for most in (1, 3, 64, 65):
        x = np.full(2, 1 << 20, np.uint32)
        x[1] = 1
        ran = number(0)
        try:
            few(x, ran, most, device=device)
            code = ""
        except PlanError as error:
            code = error.code
        found.append((most, code, int(ran[0]), x.tolist()))
    few(x, ran, 0, device=device)
    return [*found, int(ran[0])]


EXPECTED = [
    (1, "P109", 1, [1 << 19, 1]),
    (3, "P109", 3, [1 << 17, 1]),
    (64, "", 21, [1, 1]),
    (65, "", 21, [1, 1]),
    21,
]


def problems(device: str) -> list[Any]:
    """Errors of iterations: those after the end are none."""
    ran = number(0)
    shrinking(np.array([8], np.uint32), ran, device=device)
    found: list[Any] = [int(ran[0])]
    for run, error, arguments in (
        (shrinking, PlanError, (np.array([1 << 20], np.uint32), number(0))),
        (climb, TrapError, (np.zeros(4, np.uint32),)),
    ):
        try:
            run(*arguments, device=device)
        except error as caught:
            found.append((caught.code, "iteration 4 of while vy.again(going)" in str(caught)))
    return found


PROBLEMS = [4, ("P108", False), ("X001", True)]


@pytest.mark.parametrize("device", ["cpu", "reference"])
def test_most_iterations(device: str) -> None:
    assert most_reached(device) == EXPECTED
    assert problems(device)[:2] == PROBLEMS[:2]
    assert problems(device)[2][1]


@pytest.mark.device
@pytest.mark.parametrize("driver", DRIVERS, ids=lambda driver: driver.name)
def test_most_iterations_on_a_driver(driver: Driver) -> None:
    assert worker(driver).call(most_reached, "wgpu:0", deadline=100.0) == EXPECTED
    found = worker(driver).call(problems, "wgpu:0", deadline=100.0)
    assert found[:2] == PROBLEMS[:2]
    assert found[2][1]


def test_errors_in_a_loop_give_memory_back() -> None:
    pool = pool_of(vy.array(np.zeros(1)).device)
    problems("cpu")
    gc.collect()
    before = pool.counters.in_use
    for _ in range(3):
        problems("cpu")
        most_reached("cpu")
    gc.collect()
    assert pool.counters.in_use == before


@vy.pipeline
def twice_few(x: vy.InOut[vy.u32], ran: vy.InOut[vy.u32]):
    for _ in range(2):
        few(x, ran, 3)


def test_the_limit_of_a_loop_in_a_loop_names_the_iteration_around_it() -> None:
    for run in (twice_few, twice_few.apart):
        with pytest.raises(PlanError) as caught:
            run(np.array([1 << 5], np.uint32), number(0))
        first = str(caught.value).splitlines()[0]
        assert "iteration 1 of for _" in first
        assert "after 3 iterations of while vy.again(moved)" in first
