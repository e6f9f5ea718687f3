"""Times of the stages of a fused kernel, from calls that run them apart.

A dispatch of a fused kernel has one time, which says nothing of its stages. So some calls of a
window run by the plan that launches each stage by itself, which gives the same results, and the
time of each launch is recorded under the region that the stage is in the fused program.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter_ns

from vyre.driver.backend import Device
from vyre.opt.hot_paths import region_keys
from vyre.pipelines.apart import Clock, OneByOne
from vyre.pipelines.execute import Run, Window
from vyre.pipelines.steps import Launch
from vyre.pipelines.window import WindowPlan
from vyre.record import dataclass
from vyre.runtime import telemetry
from vyre.runtime.kernel import Kernel

SAMPLED_CALLS = frozenset({3, 5, 7})
"""Calls that run apart, by number: before the plans of a window are timed against each other."""
_UNTIMED = frozenset({3})
"""The first of them compiles the stages."""


@dataclass(slots=True)
class Sampling:
    """How many calls a window has had."""

    calls: int = 0

    def next(self) -> int:
        """The number of a call, from 1 on; a few that threads count twice do no harm."""
        self.calls += 1
        return self.calls


def is_apart(window: Window) -> bool:
    """True if a window launches each stage by itself."""
    return not window.known.plan.is_fused


class TimedLaunches(OneByOne):
    """Launches one by one, and notes their times."""

    def __init__(self, device: Device, clock: Clock) -> None:
        super().__init__(device, clock)
        self.times: list[int] = []
        """Nanoseconds of each launch, in order."""

    def call(
        self,
        kernel: Kernel[...],
        values: Sequence[object],
        grid: tuple[int, ...] | None,
        elements: tuple[int, ...] | None,
    ) -> None:
        """Call the kernel, and wait for its end."""
        started = perf_counter_ns()
        super().call(kernel, values, grid, elements)
        self._device.synchronize()
        self.times.append(perf_counter_ns() - started)


def note_stages(fused: WindowPlan, apart: Window, times: Sequence[int], number: int) -> None:
    """Record the times of a call that ran apart under the regions of the fused kernels."""
    runs = [run for group in apart.runs for run in group if isinstance(run, Run)]
    if number in _UNTIMED or len(runs) != len(times):
        return
    launched = [n for n, step in enumerate(apart.steps) if isinstance(step, Launch)]
    spent = dict(zip(launched, times, strict=True))
    for group in fused.groups:
        if group.fused is None:
            continue
        keys = region_keys(group.fused.kernel.program())
        stages = [n for n in range(group.first, group.first + group.count) if n in spent]
        if len(keys) != len(stages):
            continue
        for key, stage in zip(keys, stages, strict=True):
            telemetry.hints().record(key, spent[stage], 0)


__all__ = ["SAMPLED_CALLS", "Sampling", "TimedLaunches", "is_apart", "note_stages"]
