"""Runs a pipeline by plan: steps are collected to windows, planned once, and launched."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from vyre.driver.routing import Route
from vyre.ir import DataType
from vyre.pipelines.apart import Host, OneByOne
from vyre.pipelines.contract import Contract
from vyre.pipelines.execute import (
    Counted,
    Remembered,
    Window,
    count_launches,
    new_array,
    run_window,
    runs_of,
)
from vyre.pipelines.stages import Site
from vyre.pipelines.steps import Buffer, Cleared, Copied, Step, launch_of
from vyre.pipelines.tile_kernels import GroupKernels, planning_device
from vyre.pipelines.window import buffers_of, key_of, plan_window, without_needless_clears
from vyre.runtime.device_array import DeviceArray
from vyre.runtime.kernel import Kernel

_LONGEST_WINDOW = 512
"""Steps that are collected before they run: a loop on the host may have any number."""
_MOST_PLANS = 64
"""Plans that a pipeline remembers."""


class Plans:
    """The plans of one pipeline, by what they depend on."""

    def __init__(self, *, fuse: bool) -> None:
        self._kernels = GroupKernels() if fuse else None
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
            device = planning_device(route.backend.target(route.device), info.kind)
            plan = plan_window(steps, buffers, live, kernels=self._kernels, device=device)
            with self._lock:
                while len(self._known) >= _MOST_PLANS:
                    self._known.pop(next(iter(self._known)))
                found = self._known.setdefault(key, Remembered(plan, []))
        return found

    def forget(self) -> None:
        """Drop the plans, and the memory that they hold."""
        with self._lock:
            self._known.clear()
            if self._kernels is not None:
                self._kernels = GroupKernels()


class Planned:
    """Collects the steps of one call, and runs them when a window ends."""

    def __init__(
        self,
        plans: Plans,
        route: Route,
        deadline: float | None,
        contract: Contract,
        *,
        is_dry: bool = False,
    ) -> None:
        self._plans = plans
        self._contract = contract
        self.route = route
        self.is_dry = is_dry
        """True if steps are planned and not run."""
        self._simple = OneByOne(route.device, deadline)
        self._steps: list[Step] = []
        self._memory: dict[int, Host | DeviceArray] = {}
        self._referenced: Callable[[], Iterable[object]] = tuple
        self.windows: list[Window] = []
        self.kept: dict[str, Buffer] = {}
        self.results: tuple[Buffer, ...] = ()
        self.counted = Counted()

    def take(self, name: str, array: Host | DeviceArray, dtype: DataType) -> Buffer:
        """An argument as a buffer."""
        plain = isinstance(array, DeviceArray) or array.flags.c_contiguous
        buffer = Buffer(name, dtype, tuple(array.shape), False, plain, False)
        self._memory[id(buffer)] = array
        return buffer

    def scratch(self, name: str, dtype: DataType, shape: tuple[int, ...]) -> Buffer:
        """Scratch, without memory as yet."""
        return Buffer(name, dtype, shape, True)

    def launch(
        self,
        kernel: Kernel[...],
        given: Mapping[str, Any],
        grid: tuple[int, ...] | None,
        elements: tuple[int, ...] | None,
        site: Site,
    ) -> None:
        """Note a launch."""
        self._add(launch_of(kernel, given, grid, elements, site))

    def copy(self, source: Buffer, target: Buffer) -> None:
        """Note a copy."""
        self._add(Copied(source, target))

    def clear(self, array: Buffer) -> None:
        """Note a clear."""
        if not (array.is_scratch and array.is_fresh):
            self._add(Cleared(array))

    def keep(self, name: str, array: Buffer) -> None:
        """Note an array that stays readable."""
        self.kept[name] = array

    def is_set(self, flag: Buffer) -> bool | None:
        """Run what was collected, and read a flag; None if nothing runs."""
        self.flush(self._referenced())
        memory = self._memory.get(id(flag))
        self.counted.host_reads += 1
        self._contract.check("host_reads", self.counted.host_reads, "it decides by a flag")
        if self.is_dry:
            return None
        return memory is not None and self._simple.is_set(memory)

    def watch(self, referenced: Callable[[], Iterable[object]]) -> None:
        """Say how the buffers are found that names of the pipeline stand for."""
        self._referenced = referenced

    def _add(self, step: Step) -> None:
        self._steps.append(step)
        if len(self._steps) >= _LONGEST_WINDOW:
            self.flush(self._referenced())

    def memory_of(self, buffer: Buffer) -> Host | DeviceArray:
        """The array of a buffer that has one; zeros for scratch that was never used."""
        found = self._memory.get(id(buffer))
        if found is None:
            found = self._memory[id(buffer)] = new_array(self.route.device, buffer, zeroed=True)
        return found

    def flush(self, live: Iterable[object]) -> None:
        """Run the steps that were collected; `live` are the buffers that are used afterwards."""
        steps, self._steps = without_needless_clears(self._steps), []
        if not steps:
            return
        buffers = buffers_of(steps)
        alive = {id(each) for each in (*live, *self.kept.values())}
        known = self._plans.find(steps, buffers, alive, self.route)
        window = Window(known, steps, buffers, runs_of(known.plan, steps))
        self.windows.append(window)
        self._check_contract(window)
        if self.is_dry:
            self.counted.launches += count_launches(window)
            return
        memory = [self._memory.get(id(buffer)) for buffer in buffers]
        run_window(window, memory, self.route.device, self._simple, self.counted)
        for number, buffer in enumerate(buffers):
            buffer.is_fresh = False
            array = memory[number]
            if array is not None:
                self._memory[id(buffer)] = array

    def _check_contract(self, window: Window) -> None:
        plan = window.known.plan
        total = self.counted.launches + count_launches(window)
        why = next((each.apart for each in plan.groups if each.apart), "these are its stages")
        self._contract.check("launches", total, why)
        own = sum(window.buffers[number].nbytes for number in plan.own)
        self._contract.check("scratch_bytes", plan.slot_bytes + own, why)
