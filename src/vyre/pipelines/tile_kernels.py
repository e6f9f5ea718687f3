"""The kernels of tiled groups, and what a plan needs to know of stages and devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vyre.driver.backend import DeviceKind
from vyre.front.parameters import Mode
from vyre.pipelines.fused import FusedKernels, arguments_of, kernel_of
from vyre.pipelines.steps import Buffer, Launch
from vyre.plan.access_forms import Access
from vyre.plan.interior import Interior, interior_of
from vyre.plan.linear_forms import Span
from vyre.plan.tile_cost import COSTS, Costs
from vyre.plan.tile_kernel import COUNT, FIRST, TOTAL, tiled_program
from vyre.plan.tile_plan import MOST_TILE_BYTES, Machine, Stage, TileLaunch, Tiling
from vyre.plan.tile_seams import accesses_of_stage, is_guarded, stage_refusal
from vyre.record import dataclass
from vyre.runtime.kernel import Kernel
from vyre.target import Feature, Target

_MOST_KERNELS = 64
_MOST_STAGES_KNOWN = 256


@dataclass(frozen=True, slots=True)
class PlanningDevice:
    """What a plan needs to know of the device."""

    machine: Machine
    costs: Costs
    most_buffers: int


@dataclass(frozen=True, slots=True)
class TiledGroup:
    """Launches that are one, and the numbers of a call."""

    kernel: Kernel[...]
    launch: TileLaunch
    buffers: tuple[int, ...]
    """By value: its buffer among those of the launches, in the order of their first use."""
    in_tiles: tuple[tuple[int, bool], ...]
    """Values that are in tiles, and whether they are in memory too."""
    in_registers: tuple[int, ...]
    workgroup_bytes: int
    gain: float
    """The predicted time, as a part of that of the stages apart."""

    def arguments(self, launches: Sequence[Launch]) -> list[Buffer | Any]:
        """What the kernel is called with."""
        values, _ = values_of(launches)
        numbers = {FIRST: self.launch.first, COUNT: self.launch.count}
        for number, total in enumerate(self.launch.totals):
            numbers[f"{TOTAL}{number}"] = total
        return arguments_of(self.kernel, launches, values, numbers)


def values_of(launches: Sequence[Launch]) -> tuple[list[Buffer], list[dict[int, int]]]:
    """The values of launches, by number: a buffer that begins as zeros anew is another value.

    The second result is, for each launch, the number of each of its buffers.
    """
    values: list[Buffer] = []
    current: dict[int, int] = {}
    orders: list[dict[int, int]] = []
    for launch in launches:
        for buffer, mode in launch.uses():
            if mode is Mode.OUT or id(buffer) not in current:
                current[id(buffer)] = len(values)
                values.append(buffer)
        orders.append({id(b): current[id(b)] for b, _ in launch.uses()})
    return values, orders


class GroupKernels:
    """The kernels of a pipeline's groups, whatever the lengths of arrays are."""

    def __init__(self) -> None:
        self.registers = FusedKernels()
        self.tiles = TileKernels()


def planning_device(target: Target, kind: DeviceKind) -> PlanningDevice:
    """What a plan needs to know of a device."""
    limits = target.limits
    is_host = target.has(Feature.HOST_MEMORY)
    machine = Machine(
        limits.max_invocations,
        min(MOST_TILE_BYTES, limits.max_workgroup_bytes),
        limits.max_workgroups[0],
        is_host,
        1 if is_host else 4,
    )
    costs = "gpu" if kind is DeviceKind.GPU else "cpu" if is_host else "software"
    return PlanningDevice(machine, COSTS[costs], limits.max_storage_buffers)


class TileKernels:
    """The kernels of a pipeline's tiled groups, and what is known of its stages."""

    def __init__(self) -> None:
        self._kernels: dict[tuple[object, ...], Kernel[...]] = {}
        self._stages: dict[tuple[object, ...], KnownStage] = {}

    def kernel(self, tiling: Tiling, like: Launch, values: Sequence[Buffer]) -> Kernel[...]:
        """The kernel of a plan, made if there is none."""
        programs = tuple(stage.program for stage in tiling.stages)
        bodies = tuple(each.body for each in tiling.interiors)
        ranks = tuple(len(each.shape) for each in values)
        key = (programs, bodies, ranks, tiling.plan.key)
        found = self._kernels.get(key)
        if found is None:
            while len(self._kernels) >= _MOST_KERNELS:
                self._kernels.pop(next(iter(self._kernels)), None)
            program = tiled_program(tiling.stages, tiling.interiors, tiling.plan)
            found = self._kernels[key] = kernel_of(program, like, values)
        return found

    def known(self, stage: Stage) -> KnownStage:
        """What is known of a stage, computed once for its lengths."""
        numbers = (stage.launched.invocations, tuple(stage.launched.lengths.items()))
        key = (stage.program, stage.name, stage.line, numbers)
        found = self._stages.get(key)
        if found is None:
            while len(self._stages) >= _MOST_STAGES_KNOWN:
                self._stages.pop(next(iter(self._stages)), None)
            found = self._stages[key] = KnownStage(stage)
        return found


class KnownStage:
    """The analyses of one stage."""

    def __init__(self, stage: Stage) -> None:
        self.refusal = stage_refusal(stage)
        self.accesses: list[Access] = []
        self.interior = Interior((), Span(1, 0), {})
        self.is_guarded = False
        if self.refusal is None:
            self.accesses = accesses_of_stage(stage)
            self.interior = interior_of(stage.program, stage.launched)
            self.is_guarded = is_guarded(stage)
