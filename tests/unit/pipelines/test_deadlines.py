"""One deadline for a whole call: whatever it interrupts is named, and the device lives on."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import vyre as vy
from tests.unit.pipelines.kernels import count, halve
from vyre.diagnostics import DeadlineError

MOST = 2_000_000_000


@vy.kernel
def add_one(x: vy.InOut[vy.u32]):
    i = vy.gid()
    if i < len(x):
        x[i] += vy.u32(1)


@vy.pipeline
def until_zero(x: vy.InOut[vy.u32]):
    going = vy.flag()
    while vy.again(going, most=MOST):
        add_one(x)
        count(going, elements=1)


@vy.pipeline
def many_steps(x: vy.InOut[vy.u32], steps: vy.u32):
    for _ in range(steps):
        add_one(x)


@vy.pipeline
def loops_in_loops(x: vy.InOut[vy.u32], y: vy.InOut[vy.u32]):
    going, moved = vy.flag(), vy.flag()
    while vy.again(going, most=MOST):
        while vy.again(moved, most=3):
            halve(y, moved)
        count(going, elements=1)
        if vy.when(going):
            add_one(x)


def arguments(pipeline: Any) -> tuple[Any, ...]:
    x = np.zeros(100, np.uint32)
    if pipeline is many_steps:
        return x, MOST
    return (x, x.copy()) if pipeline is loops_in_loops else (x,)


def said(run: Any) -> str:
    with pytest.raises(DeadlineError) as caught:
        run()
    return str(caught.value)


WHERE = {until_zero: "while vy.again(going)", many_steps: "for _", loops_in_loops: "while vy.again"}


@pytest.mark.parametrize("pipeline", WHERE)
def test_a_deadline_names_stage_line_and_iteration(pipeline: Any) -> None:
    given = arguments(pipeline)
    for _ in range(3):
        for run in (pipeline, pipeline.apart):
            found = said(lambda run=run: run(*given, device="cpu", deadline=0.1))
            first = found.splitlines()[0]
            assert first.startswith("error[X002]: in the stage"), first
            assert ", line" in first
            assert ", iteration" in first
            assert f"of {WHERE[pipeline]}" in first
            assert first.endswith("still running after 0.1 s and was stopped"), first


def test_stages_that_are_one_launch_are_named_once() -> None:
    """A deadline may also pass between launches: then one iteration is named."""
    for _ in range(20):
        run = said(lambda: many_steps(np.zeros(100, np.uint32), MOST, device="cpu", deadline=0.1))
        first = run.splitlines()[0]
        assert first.count("add_one") == 1
        assert "in the stage add_one, line" in first
        if ", iterations " in first:
            assert re.search(r", iterations \d+ to \d+ of for _: ", first)
            return
    pytest.fail("no launch of several stages was late")


@pytest.mark.device
@pytest.mark.parametrize("pipeline", WHERE)
def test_short_launches_that_are_late_cost_no_device(pipeline: Any) -> None:
    given = arguments(pipeline)
    for _ in range(4):
        said(lambda: pipeline(*given, device="wgpu:0", deadline=0.05))
    x = np.array([8], np.uint32)
    many_steps(x, 3, device="wgpu:0")
    assert x.tolist() == [11]
