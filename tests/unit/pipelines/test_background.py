"""Calls that are submitted: they run in order, give what a call gives, and fail like one."""

from __future__ import annotations

import os
import threading

import numpy as np
import pytest

import vyre as vy
from tests.unit.pipelines.kernels import increase, scale, trap_at
from vyre.diagnostics import ArgumentError, TrapError
from vyre.pipelines import background


@vy.pipeline
def doubled(x: vy.In[vy.f32]) -> vy.Array[vy.f32]:
    t = vy.scratch_like(x)
    scale(2.0, x, t)
    return t


@vy.pipeline
def in_place(x: vy.InOut[vy.f32]):
    increase(x)


@vy.pipeline
def trapping(x: vy.InOut[vy.u32]):
    trap_at(x, 0)


def test_a_submitted_call_gives_what_a_call_gives() -> None:
    x = np.arange(1000, dtype=np.float32)
    pending = [doubled.submit(x + k) for k in range(8)]
    for k, each in enumerate(pending):
        assert np.array_equal(each.result(60), 2 * (x + k))


def test_calls_on_a_device_run_in_the_order_of_submission() -> None:
    x = np.zeros(1, np.float32)
    last = [in_place.submit(x) for _ in range(50)][-1]
    last.result(60)
    assert x[0] == 50


def test_arguments_are_checked_at_once() -> None:
    with pytest.raises(ArgumentError):
        doubled.submit(np.zeros(3, np.int64))


def test_a_failure_is_raised_by_result_and_the_next_call_runs() -> None:
    x = np.zeros(4, np.uint32)
    bad, good = trapping.submit(x), in_place.submit(np.zeros(1, np.float32))
    with pytest.raises(TrapError, match="in the stage trap_at"):
        bad.result(60)
    good.result(60)


def test_the_caller_goes_on_while_a_call_runs() -> None:
    started, release = threading.Event(), threading.Event()

    def wait() -> None:
        started.set()
        assert release.wait(60)

    waiting = background.submit("cpu", wait)
    assert started.wait(60)
    x = np.zeros(1, np.float32)
    pending = in_place.submit(x, device="cpu")
    assert not pending.done()
    release.set()
    waiting.result(60)
    pending.result(60)
    assert x[0] == 1


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_child_has_a_thread_of_its_own() -> None:
    assert background.submit("somewhere", lambda: 1).result(60) == 1
    child = os.fork()
    if child == 0:
        ok = background.submit("somewhere", lambda: 2).result(60) == 2
        os._exit(0 if ok else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
