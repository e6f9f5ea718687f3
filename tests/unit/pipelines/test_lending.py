"""Scratch in the memory of outputs: who lends to whom, and that results stay the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vyre as vy
from tests.unit.pipelines import suite
from tests.unit.pipelines.kernels import clip, scale

N = 1003


@vy.kernel
def even(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    """Stores every other element; the rest stays zero."""
    i = vy.gid()
    if i < len(y) and i % 2 == 0:
        y[i] = x[i] + 1.0


@vy.kernel
def add(x: vy.In[vy.f32], y: vy.InOut[vy.f32]):
    i = vy.gid()
    if i < len(y):
        y[i] += x[i]


@vy.pipeline(fuse=False)
def through_four(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    a, b, c = vy.scratch_like(x), vy.scratch_like(x), vy.scratch_like(x)
    scale(2.0, x, a)
    even(a, b)
    add(b, c)
    even(c, y)


@vy.pipeline(fuse=False)
def adds_at_last(x: vy.In[vy.f32], y: vy.InOut[vy.f32]):
    a, b = vy.scratch_like(x), vy.scratch_like(x)
    scale(2.0, x, a)
    clip(a, b)
    add(b, y)


@vy.pipeline(fuse=False)
def reads_it_early(x: vy.In[vy.f32], y: vy.InOut[vy.f32]):
    a, b, c = vy.scratch_like(x), vy.scratch_like(x), vy.scratch_like(x)
    add(y, a)
    clip(a, b)
    scale(3.0, b, c)
    even(c, y)


@vy.pipeline(fuse=False)
def returned(x: vy.In[vy.f32]) -> vy.Array[vy.f32]:
    a, b, y = vy.scratch_like(x), vy.scratch_like(x), vy.scratch_like(x)
    scale(2.0, x, a)
    clip(a, b)
    even(b, y)
    return y


def test_an_output_is_one_of_two_arrays_of_a_chain() -> None:
    plan = through_four.plan(suite.floats(N), np.zeros(N, np.float32), device="cpu")
    assert plan.scratch_bytes <= 1.15 * 4 * N
    assert [seam.where for seam in plan.seams] == ["pooled"] * 3


def test_what_is_read_or_added_to_lends_nothing() -> None:
    x, y = suite.floats(N), np.zeros(N, np.float32)
    assert adds_at_last.plan(x, y, device="cpu").scratch_bytes >= 2 * 4 * N
    assert reads_it_early.plan(x, y, device="cpu").scratch_bytes >= 2 * 4 * N


def test_returned_scratch_lends_too() -> None:
    plan = returned.plan(suite.floats(N), device="cpu")
    assert plan.scratch_bytes <= 4 * N + 1.15 * 4 * N


def outcome(call: Any, n: int, device: str, *, resident: bool) -> bytes:
    """What a call on an output that is not zero leaves in it."""
    x, y = suite.floats(n), np.full(n, 7, np.float32)
    if not resident:
        call(x, y, device=device)
        return y.tobytes()
    on_device = vy.array(y, device)
    call(vy.array(x, device), on_device, device=device)
    return on_device.numpy().tobytes()


@pytest.mark.parametrize("device", ["cpu", "reference"])
@pytest.mark.parametrize("resident", [False, True])
def test_results_are_those_of_the_stages_apart(device: str, resident: bool) -> None:
    for n in (0, 1, N):
        for pipeline in (through_four, adds_at_last, reads_it_early):
            expected = outcome(pipeline.apart, n, device, resident=resident)
            for _ in range(3):
                assert outcome(pipeline, n, device, resident=resident) == expected
        x = suite.floats(n)
        assert np.array_equal(returned(x, device=device), returned.apart(x, device=device))


def test_a_repeated_call_runs_in_lent_memory_too() -> None:
    x, y = suite.floats(N), np.zeros(N, np.float32)
    expected = np.zeros_like(y)
    through_four.apart(x, expected, device="cpu")
    bound = through_four.bind(x, y, device="cpu")
    for _ in range(20):
        y[:] = 7
        bound()
        assert np.array_equal(y, expected)
        z = np.full(N, 9, np.float32)
        through_four(x, z, device="cpu")
        assert np.array_equal(z, expected)
