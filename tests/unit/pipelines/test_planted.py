"""Faults planted into the planning of pipelines: each differs from the stages apart."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import vyre as vy
from tests.unit.pipelines import suite
from tests.unit.pipelines.kernels import add, blur, clip, every_third, increase, scale
from vyre import ir
from vyre.diagnostics import PlanError
from vyre.front.parameters import Mode
from vyre.pipelines import execute, grouping, pipeline, planned, recording, window
from vyre.pipelines.steps import Launch
from vyre.plan import register_handoff

Plant = Callable[[pytest.MonkeyPatch], None]
AT = 2.0
FUSE = sys.modules["vyre.plan.fuse"]
"""The module; the package has a function of its name."""


@vy.pipeline
def overlapping(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    a, b, c = vy.scratch_like(x), vy.scratch_like(x), vy.scratch_like(x)
    blur(x, a)
    blur(a, b)
    blur(b, c)
    add(a, c, y)


@vy.pipeline
def partly_written(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    t = vy.scratch_like(x)
    every_third(x, t)
    blur(t, y)


@vy.pipeline
def begins_as_zeros(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    t = vy.scratch_like(x)
    increase(t)
    blur(t, y)


@vy.pipeline
def several_grids(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    t = vy.scratch_like(x)
    scale(2.0, x, t, elements=len(x) // 2)
    clip(t, y)


@vy.pipeline
def of_a_global(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    scale(AT, x, y)


@vy.pipeline
def output_is_added_to(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    increase(y)


@vy.pipeline
def zeros_again(x: vy.In[vy.f32], y: vy.InOut[vy.f32]):
    t = vy.scratch_like(x)
    scale(3.0, x, t)
    scale(1.0, t, y)
    every_third(x, t)
    scale(1.0, t, y)


OWN = (
    *(overlapping, partly_written, begins_as_zeros, several_grids, of_a_global),
    *(output_is_added_to, zeros_again),
)


def wrong() -> list[str]:
    """What differs from the stages apart."""
    suite.forget()
    found = [each for name in suite.PIPELINES for each in suite.differences(name, "cpu", (65, 130))]
    for each in OWN:
        each.forget()
        x = suite.floats(1000)
        for _ in range(2):
            y, z = suite.like(x), suite.like(x)
            each(x, y)
            each.apart(x, z)
            if y.tobytes() != z.tobytes():
                found.append(each.__name__)
    first = vy.array(suite.floats(100))
    kept = suite.chain(first)
    before = kept.numpy()
    suite.chain(vy.array(np.zeros(100, np.float32)))
    if not np.array_equal(kept.numpy(), before):
        found.append("returned scratch was used again")
    return found


def is_found() -> bool:
    """True if results differ, or a loop does not end because its flag is never cleared."""
    try:
        return wrong() != []
    except PlanError as error:
        return error.code == "P109"


def test_nothing_differs_without_a_fault() -> None:
    assert wrong() == []


def no_length_guard(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(register_handoff, "_length", lambda buffer: ir.Expr.u32(0xFFFF_FFFF))


def no_hazards(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(grouping, "hazards", lambda *args, **options: [])
    patch.setattr(FUSE, "hazards", lambda *args, **options: [])


def all_grids_alike(patch: pytest.MonkeyPatch) -> None:
    real = grouping._refusal_of_launches

    def joined(before: Sequence[Launch], step: Launch, most: int) -> str:
        return real(before, replace(step, grid=before[-1].grid), most)

    patch.setattr(grouping, "_refusal_of_launches", joined)


def no_zeroing(patch: pytest.MonkeyPatch) -> None:
    real = window.PlannedGroup

    def made(first: int, count: int, fused: Any, zeroed: Any, *more: Any) -> Any:
        return real(first, count, fused, (), *more)

    patch.setattr(window, "PlannedGroup", made)


def clears_dropped(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        planned,
        "without_needless_clears",
        lambda steps: [step for step in steps if not isinstance(step, window.Cleared)],
    )


def overwritten_by_any_use(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(window, "_is_overwritten", lambda buffer, later: True)


def one_slot_for_all(patch: pytest.MonkeyPatch) -> None:
    def share(sizes: dict[int, int], lives: dict[int, Any]) -> list[list[int]]:
        return [list(lives)] if lives else []

    patch.setattr(window, "share", share)


def results_from_the_pool(patch: pytest.MonkeyPatch) -> None:
    """Returned scratch is memory that the next call uses again."""
    real = execute.new_array
    made: dict[Any, Any] = {}

    def again(device: Any, buffer: Any, *, zeroed: bool) -> Any:
        key = (buffer.name, buffer.shape, buffer.dtype)
        return made.setdefault(key, real(device, buffer, zeroed=zeroed))

    patch.setattr(execute, "new_array", again)


def names_frozen(patch: pytest.MonkeyPatch) -> None:
    """A recorded call does not look at names from outside; the global then changes."""
    patch.setattr(recording.Recording, "is_current", lambda self: True)
    x, y = suite.floats(1000), np.zeros(1000, np.float32)
    of_a_global.forget()
    of_a_global(x, y)
    patch.setitem(of_a_global.__wrapped__.__globals__, "AT", 5.0)
    patch.setattr(type(of_a_global), "forget", lambda self: None)


def numbers_not_in_the_key(patch: pytest.MonkeyPatch) -> None:
    real = recording.key_of_call

    def key(args: Any, device: Any) -> Any:
        return real([each for each in args if not isinstance(each, int)], device)

    patch.setattr(pipeline, "key_of_call", key)


def one_iteration_too_many(patch: pytest.MonkeyPatch) -> None:
    real = planned.Planned.is_set
    last: list[bool] = [True]

    def late(self: Any, flag: Any) -> bool:
        found, last[0] = last[0] or bool(real(self, flag)), bool(real(self, flag))
        return found

    patch.setattr(planned.Planned, "is_set", late)
    patch.setattr(planned.Planned, "run_cycle", lambda *args: None)


def outputs_not_cleared_twice(patch: pytest.MonkeyPatch) -> None:
    """A stage whose output was used before joins the group, so it is not cleared."""
    real = grouping._hazard

    def hazard(one: Launch, two: Launch) -> str:
        why = real(one, two)
        return "" if "begins as zeros" in why else why

    patch.setattr(grouping, "_hazard", hazard)
    patch.setattr(FUSE, "with_clearing", lambda arms, buffers, fresh: arms)
    patch.setattr(FUSE, "hazards", lambda *args, **options: [])


def copies_dropped(patch: pytest.MonkeyPatch) -> None:
    """The parity of a swap is lost: the result stays in scratch."""
    patch.setattr(planned.Planned, "copy", lambda self, source, target: None)


def modes_mistaken(patch: pytest.MonkeyPatch) -> None:
    """Scratch that is read and changed counts as overwritten."""
    real = Launch.uses

    def uses(self: Launch) -> Any:
        return ((b, Mode.OUT if mode is Mode.INOUT else mode) for b, mode in real(self))

    patch.setattr(Launch, "uses", uses)


FAULTS = [
    no_length_guard,
    no_hazards,
    all_grids_alike,
    no_zeroing,
    clears_dropped,
    overwritten_by_any_use,
    one_slot_for_all,
    results_from_the_pool,
    names_frozen,
    numbers_not_in_the_key,
    one_iteration_too_many,
    outputs_not_cleared_twice,
    copies_dropped,
    modes_mistaken,
]


@pytest.mark.parametrize("plant", FAULTS, ids=lambda plant: plant.__name__)
def test_a_fault_is_found(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    try:
        assert is_found()
    finally:
        monkeypatch.undo()
        suite.forget()
        for each in OWN:
            each.forget()
