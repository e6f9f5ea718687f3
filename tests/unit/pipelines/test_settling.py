"""Hot pipelines are settled by timing: two plans in turns, then the faster one, also later."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import vyre as vy
from tests.unit.pipelines import suite
from tests.unit.pipelines.kernels import clip, scale
from vyre.cache import default_cache
from vyre.pipelines import plans
from vyre.pipelines.settling import (
    CALLS_BEFORE,
    TIMED,
    UNTIMED,
    Contest,
    known_verdict,
    verdict_key,
)
from vyre.plan import tile_cost

CALLS = CALLS_BEFORE + 2 * (UNTIMED + TIMED)
MOST_CALLS = 20_000
"""Until better code is there, which other processes make, turns do not count."""


def fight(cost: Callable[[int], float]) -> tuple[Contest, list[int]]:
    """A contest whose turns take `cost(plan)`, and the plans in the order of the calls."""
    contest, plans = Contest(), list[int]()
    for _ in range(CALLS + 4):
        plan = contest.turn()
        plans.append(plan)
        contest.took(plan, cost(plan))
    return contest, plans


def test_the_faster_plan_wins() -> None:
    for costs in ((1.0, 2.0), (2.0, 1.0)):
        contest, plans = fight(lambda plan, costs=costs: costs[plan])
        winner = costs.index(1.0)
        assert contest.verdict == winner
        assert plans[:CALLS_BEFORE] == [0] * CALLS_BEFORE
        assert plans[CALLS:] == [winner] * 4


def test_each_plan_has_as_many_turns_and_neither_always_comes_first() -> None:
    _, plans = fight(lambda plan: 1.0)
    turns = plans[CALLS_BEFORE:CALLS]
    assert sum(turns) == UNTIMED + TIMED
    pairs = {tuple(turns[at : at + 2]) for at in range(0, len(turns), 2)}
    assert {(0, 1), (1, 0)} <= pairs


def test_first_turns_do_not_count() -> None:
    seen = [0, 0]

    def cost(plan: int) -> float:
        seen[plan] += 1
        compiles = plan == 1 and seen[1] <= UNTIMED
        return 100.0 if compiles else (2.0, 1.0)[plan]

    assert fight(cost)[0].verdict == 1


def test_turns_in_code_that_is_being_replaced_do_not_count() -> None:
    contest, turns = Contest(), [0, 0]
    for _ in range(4 * CALLS):
        plan = contest.turn()
        turns[plan] += 1
        is_improving = plan == 1 and turns[1] <= 30
        cost = 100.0 if is_improving else (2.0, 1.0)[plan]
        if contest.took(plan, cost, is_improving=is_improving):
            break
    assert contest.verdict == 1
    assert turns[1] == 30 + UNTIMED + TIMED


def test_one_slow_turn_decides_nothing() -> None:
    spike = iter([50.0] + [1.0] * 100)
    assert fight(lambda plan: 1.5 if plan else next(spike))[0].verdict == 0


@pytest.fixture
def fused() -> vy.Pipeline[..., None]:
    @vy.pipeline
    def both(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
        t = vy.scratch_like(x)
        scale(2.0, x, t)
        clip(t, y)

    return both


@pytest.mark.parametrize(("ratio", "launches", "n"), [(0.5, 1, 1003), (2.0, 2, 2003)])
def test_a_verdict_holds_for_later_calls_and_processes(
    fused: vy.Pipeline[..., None],
    monkeypatch: pytest.MonkeyPatch,
    ratio: float,
    launches: int,
    n: int,
) -> None:
    monkeypatch.setattr(Contest, "ratio", ratio)
    x = suite.floats(n)
    expected, y = np.zeros_like(x), np.zeros_like(x)
    fused.apart(x, expected, device="cpu")
    for _ in range(MOST_CALLS):
        y = np.zeros_like(x)
        fused(x, y, device="cpu")
        assert np.array_equal(y, expected)
        if fused.plan(x, y, device="cpu").is_settled:
            break
    assert len(fused.plan(x, y, device="cpu").launches) == launches
    assert "settled" in fused.explain(x, y, device="cpu")
    fused.forget()  # as another process: only the disk has the verdict
    assert len(fused.plan(x, y, device="cpu").launches) == launches


@vy.kernel
def lower(x: vy.InOut[vy.f32], far: vy.InOut[vy.u32]):
    i = vy.gid()
    if i < len(x) and x[i] > 0.5:
        x[i] *= 0.5
        far.atomic_or(0, 1)


@vy.pipeline
def lowered(x: vy.InOut[vy.f32], y: vy.Out[vy.f32]):
    far = vy.flag()
    while vy.again(far, most=100):
        t = vy.scratch_like(x)
        scale(2.0, x, t)
        clip(t, y)
        lower(x, far)


@pytest.mark.parametrize("ratio", [0.5, 2.0])
def test_stages_in_a_loop_that_the_device_ends_are_settled(
    monkeypatch: pytest.MonkeyPatch, ratio: float
) -> None:
    monkeypatch.setattr(Contest, "ratio", ratio)
    n = 3001 if ratio < 1 else 7001  # verdicts are kept by the order of magnitude
    x, y = suite.floats(n), np.zeros(n, np.float32)
    before = len(lowered.plan(x, y, device="cpu").launches)
    for _ in range(MOST_CALLS):
        x, y, z = suite.floats(n), np.zeros(n, np.float32), np.zeros(n, np.float32)
        own = x.copy()
        lowered(own, y, device="cpu")
        lowered.apart(x, z, device="cpu")
        assert np.array_equal(own, x)
        assert np.array_equal(y, z)
        if lowered.plan(x, y, device="cpu").is_settled:
            break
    plan = lowered.plan(x, y, device="cpu")
    assert plan.is_settled
    assert len(plan.launches) == (before if ratio < 1 else 3)


def test_arrays_that_are_copied_to_the_device_are_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Contest, "ratio", 0.5)

    @vy.pipeline
    def copied(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
        t = vy.scratch_like(x)
        scale(3.5, x, t)
        clip(t, y)

    x = suite.floats(905)
    for _ in range(MOST_CALLS):
        copied(x, np.zeros_like(x), device="wgpu:0")
        if copied.plan(x, np.zeros_like(x), device="wgpu:0").is_settled:
            break
    assert copied.plan(x, np.zeros_like(x), device="wgpu:0").is_settled


@vy.kernel
def smooth(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(y):
        y[i] = (x[max(i, 1) - 1] + x[i] + x[min(i + 1, len(x) - 1)]) / 3.0


@vy.pipeline
def smoothed(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    t = vy.scratch_like(x)
    scale(4.0, x, t)
    smooth(t, y)


@pytest.mark.parametrize(("most", "has_rival"), [(0.1, True), (0.01, False)])
def test_tiles_that_are_doubtful_are_given_a_chance(
    monkeypatch: pytest.MonkeyPatch, most: float, has_rival: bool
) -> None:
    """The prediction errs in both directions: here it refuses all tiles."""
    monkeypatch.setattr(Contest, "ratio", 2.0)
    refusing = replace(tile_cost.COSTS["cpu"], most=most)
    monkeypatch.setitem(tile_cost.COSTS, "cpu", refusing)
    monkeypatch.setattr(plans, "DOUBTFUL", 20 * most)
    smoothed.forget()
    x = suite.floats(8003)
    assert len(smoothed.plan(x, np.zeros_like(x), device="cpu").launches) == 2
    for _ in range(MOST_CALLS if has_rival else CALLS + 8):
        smoothed(x, np.zeros_like(x), device="cpu")
        if smoothed.plan(x, np.zeros_like(x), device="cpu").is_settled:
            break
    found = smoothed.plan(x, np.zeros_like(x), device="cpu")
    assert found.is_settled == has_rival
    assert len(found.launches) == (1 if has_rival else 2)
    smoothed.forget()


def test_a_verdict_is_about_the_two_plans() -> None:
    """Lengths of one order of magnitude may have their plans the other way round."""
    keys = {verdict_key("cpu", [], [], each) for each in (("t2", "s1 s1"), ("s1 s1", "t2"))}
    assert len(keys) == 2


def test_a_contract_is_not_broken_to_find_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Contest, "ratio", 2.0)

    @vy.pipeline(require={"launches": 1})
    def strict(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
        t = vy.scratch_like(x)
        scale(3.0, x, t)
        clip(t, y)

    x = suite.floats(501)
    for _ in range(CALLS + 8):
        strict(x, np.zeros_like(x), device="cpu")
    assert len(strict.plan(x, np.zeros_like(x), device="cpu").launches) == 1


def test_a_foreign_verdict_is_none() -> None:
    default_cache().put("verdict-of-something-else", b"2")
    assert known_verdict("verdict-of-something-else") is None
    assert known_verdict("verdict-of-nothing") is None
