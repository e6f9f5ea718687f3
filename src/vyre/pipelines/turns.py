"""Turns: a window runs by the plan whose turn it is, as long as it is open which one is faster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from time import perf_counter
from typing import TypeVar

from vyre.driver.backend import Device
from vyre.ir import Program
from vyre.pipelines.execute import Window, runs_of
from vyre.pipelines.settling import keep_verdict
from vyre.pipelines.steps import Launch, Step
from vyre.pipelines.window import WindowPlan
from vyre.runtime.compiling import is_improving

R = TypeVar("R")


def in_turn(window: Window, device: Device, run: Callable[[int], R]) -> R:
    """Run a window by its plan (0) or that of its rival (1), and note the time of an open contest.

    What an error ends is no turn: its time says nothing.
    """
    known = window.known
    rivalry = known.rivalry
    if rivalry is None:
        return run(0)
    contest = rivalry.contest
    turn = contest.turn()
    if contest.verdict is not None or not contest.is_timed:
        return run(turn)
    # What the caller submitted before is not part of the call.
    device.synchronize()
    started = perf_counter()
    found = run(turn)
    device.synchronize()
    spent = perf_counter() - started
    chosen = rivalry.rival if turn else known
    improves = any(map(is_improving, _programs(chosen.plan, window.steps)))
    if contest.took(turn, spent, is_improving=improves):
        is_rival = bool(contest.verdict)
        keep_verdict(rivalry.key, is_rival)
        plans = known, rivalry.rival
        plans[is_rival].is_settled = True
        plans[not is_rival].arenas.clear()
    return found


def _programs(plan: WindowPlan, steps: Sequence[Step]) -> Iterator[Program]:
    """The programs that a plan launches."""
    for group in plan.groups:
        joined = group.tiled or group.fused
        if joined is not None:
            yield joined.kernel.program()
            continue
        for step in steps[group.first : group.first + group.count]:
            if isinstance(step, Launch):
                yield step.program


def by_plan(window: Window, turn: int) -> Window:
    """The same steps by the plan with this number."""
    rivalry = window.known.rivalry
    if not turn or rivalry is None:
        return window
    runs = runs_of(rivalry.rival.plan, window.steps)
    return Window(rivalry.rival, window.steps, window.buffers, runs)


__all__ = ["by_plan", "in_turn"]
