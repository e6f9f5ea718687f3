"""The plans that a pipeline remembers, by what they depend on."""

from __future__ import annotations

import threading
from dataclasses import replace

from vyre.driver.backend import DeviceKind
from vyre.driver.routing import Route
from vyre.pipelines import tree
from vyre.pipelines.ahead import PredicatedKernels
from vyre.pipelines.count_checks import Rooms
from vyre.pipelines.counted_launch import CountedKernels
from vyre.pipelines.execute import Remembered, Rivalry
from vyre.pipelines.settling import Contest, known_verdict, verdict_key
from vyre.pipelines.steps import Buffer, Step
from vyre.pipelines.tile_kernels import GroupKernels, PlanningDevice, planning_device
from vyre.pipelines.window import WindowPlan, key_of, plan_window
from vyre.target import Target

DOUBTFUL = 1.5
"""Tiles that are predicted to take up to this part of the time apart are given a chance."""
_MOST_PLANS = 64
"""Plans that a pipeline remembers."""


class Plans:
    """The plans of one pipeline, by what they depend on."""

    def __init__(self, *, fuse: bool, settle: bool = True, target: Target | None = None) -> None:
        self._target = target
        """What plans are for; None for the device that runs them."""
        self._settles = settle and target is None
        """True if plans may be timed against others: those of a contract may not."""
        self._kernels = GroupKernels() if fuse else None
        self.counted = CountedKernels()
        self.predicated = PredicatedKernels()
        self.rooms = Rooms()
        self.ahead: dict[tree.Again, int] = {}
        """How many iterations each loop had in the latest call."""
        self._known: dict[tuple[object, ...], Remembered] = {}
        self._lock = threading.Lock()

    def find(
        self, steps: list[Step], buffers: list[Buffer], live: set[int], route: Route
    ) -> Remembered:
        """The plan of a window, made if there is none."""
        key = (route.device.info.id, *key_of(steps, buffers, live))
        found = self._known.get(key)
        if found is None:
            info = route.device.info
            device = (
                planning_device(route.backend.target(route.device), info.kind)
                if self._target is None
                else planning_device(self._target, DeviceKind.GPU)
            )
            plan = plan_window(steps, buffers, live, kernels=self._kernels, device=device)
            made = Remembered(plan, [])
            rival = self._rival(plan, steps, buffers, live, device) if self._settles else None
            if rival is not None:
                plans = plan.shape, rival.shape
                key_of_verdict = verdict_key(f"{info.id} {info.name}", steps, buffers, plans)
                made = _settled(plan, rival, key_of_verdict)
            with self._lock:
                while len(self._known) >= _MOST_PLANS:
                    self._known.pop(next(iter(self._known)))
                found = self._known.setdefault(key, made)
        rivalry = found.rivalry
        return found if rivalry is None or not rivalry.contest.verdict else rivalry.rival

    def _rival(
        self,
        plan: WindowPlan,
        steps: list[Step],
        buffers: list[Buffer],
        live: set[int],
        device: PlanningDevice,
    ) -> WindowPlan | None:
        """The second best plan: one whose tiles are doubtful, or what is left without fusing."""
        if self._kernels is None:
            return None
        if not plan.has_tiles:
            doubtful = replace(device, costs=replace(device.costs, most=DOUBTFUL))
            other = plan_window(steps, buffers, live, kernels=self._kernels, device=doubtful)
            if other.has_tiles:
                return other
            if not plan.is_fused:
                return None
        kernels = self._kernels if plan.has_tiles else None
        return plan_window(steps, buffers, live, kernels=kernels, device=device, tiles=False)

    def forget(self) -> None:
        """Drop the plans, and the memory that they hold."""
        with self._lock:
            self._known.clear()
            self.counted, self.rooms = CountedKernels(), Rooms()
            self.predicated = PredicatedKernels()
            self.ahead.clear()
            if self._kernels is not None:
                self._kernels = GroupKernels()


def _settled(plan: WindowPlan, rival: WindowPlan, key: str) -> Remembered:
    """A plan with its rival, or the better of both if that is known."""
    verdict = known_verdict(key)
    if verdict is None:
        return Remembered(plan, [], Rivalry(Remembered(rival, []), Contest(), key))
    return Remembered(rival if verdict else plan, [], is_settled=True)
