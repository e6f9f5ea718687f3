"""Plans one row of groups as a single launch: its stages, its seams, and the first refusal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from vyre.analysis import body_effects
from vyre.analysis.cost import program_cost
from vyre.front.parameters import Mode
from vyre.pipelines.fused import array_name
from vyre.pipelines.grouping import MOST_STAGES, Group
from vyre.pipelines.steps import Launch, Step
from vyre.pipelines.tile_kernels import (
    KnownStage,
    PlanningDevice,
    TiledGroup,
    TileKernels,
    values_of,
)
from vyre.plan.access_forms import Access, Launched
from vyre.plan.register_handoff import LENGTH
from vyre.plan.tile_bounds import bounded, launched
from vyre.plan.tile_cost import StageCost, predicted
from vyre.plan.tile_plan import Refusal, Seam, Stage, Tiling, Value
from vyre.plan.tile_seams import memory_refusal, seam_of
from vyre.record import dataclass


@dataclass(frozen=True, slots=True)
class Candidate:
    """A plan that is legal and predicted to be faster, without its kernel."""

    tiling: Tiling
    in_tiles: tuple[tuple[int, bool], ...]
    in_registers: tuple[int, ...]
    gain: float


def too_many_stages() -> Refusal:
    """Why no more stages become one launch."""
    return Refusal("L11", f"a launch has at most {MOST_STAGES} stages")


class TilePlanning:
    """Plans one row of groups as one launch."""

    def __init__(
        self,
        row: Sequence[Group],
        steps: Sequence[Step],
        done: int,
        live: AbstractSet[int],
        fresh: AbstractSet[int],
    ) -> None:
        self._row = row
        self._launches = [s for group in row for s in group.steps if isinstance(s, Launch)]
        self._count = sum(len(group.steps) for group in row)
        self._values, self._orders = values_of(self._launches)
        self._earlier = steps[:done]
        self._later = steps[done + self._count :]
        self._live = live
        self._fresh = fresh

    def candidate(self, device: PlanningDevice, kernels: TileKernels) -> Candidate | Refusal:
        """The plan of the row, or why there is none."""
        refusal = self._refusal(device)
        if refusal is not None:
            return refusal
        stages, registers = self._stages(kernels)
        known = [kernels.known(stage) for stage in stages]
        for each in known:
            if each.refusal is not None:
                return each.refusal
        return self._tiled(stages, known, registers, device)

    def _refusal(self, device: PlanningDevice) -> Refusal | None:
        if len(self._launches) < self._count:
            return Refusal("L2", "a copy or a clear is a step of its own")
        first = self._launches[0]
        for launch in self._launches:
            at = f"{launch.site.name}, line {launch.site.line}"
            if 0 in launch.grid:
                return Refusal("L2", f"the grid of {at}, has no workgroups")
            if launch.grid[1:] != (1, 1):
                return Refusal("L2", f"the grid of {at}, has several rows")
            if not launch.is_typed:
                return Refusal("L10", f"an array of {at}, is a view with strides")
            if launch.program.fast_math != first.program.fast_math:
                return Refusal("L10", f"only one of {at}, and {first.site.name} has fast_math")
        if len(self._launches) > MOST_STAGES:
            return too_many_stages()
        return None

    def _stages(self, kernels: TileKernels) -> tuple[list[Stage], list[int]]:
        """The stages, and the values that are in registers of one of them."""
        stages: list[Stage] = []
        registers: list[int] = []
        at = 0
        for own in self._parts():
            orders = self._orders[at : at + len(own)]
            used = sorted({n for order in orders for n in order.values()})
            dead = tuple(n for n in used if self._is_own(n, at, own))
            program, promoted = kernels.program(own, at, orders, dead)
            registers += promoted
            lengths = {array_name(n): self._values[n].size for n in used}
            contents = {array_name(n) + LENGTH: self._values[n].size for n in used}
            invocations = own[0].grid[0] * program.workgroup_size[0]
            name = " + ".join(each.site.name for each in own)
            stages.append(
                Stage(name, own[0].site.line, program, Launched(invocations, lengths, contents))
            )
            at += len(own)
        return stages, registers

    def _parts(self) -> list[list[Launch]]:
        """The launches of each stage: those of a group, but for what would not be vectors there.

        Atomics go one after the other: what computes their operands is a stage of its own.
        """
        parts: list[list[Launch]] = []
        for group in self._row:
            own = [step for step in group.steps if isinstance(step, Launch)]
            first = 0
            for number, launch in enumerate(own):
                if number and body_effects(launch.program.entry).atomics:
                    parts.append(own[first:number])
                    first = number
            parts.append(own[first:])
        return parts

    def _is_own(self, number: int, at: int, own: Sequence[Launch]) -> bool:
        """Whether a value is used by launches of one stage only."""
        users = [n for n, order in enumerate(self._orders) if number in order.values()]
        return (
            all(at <= user < at + len(own) for user in users)
            and not self._is_wanted(number)
            and self._begins_as_zeros(number)
        )

    def _begins_as_zeros(self, number: int) -> bool:
        """Whether a value is all zeros when its first launch begins."""
        buffer = self._values[number]
        user = next(n for n, order in enumerate(self._orders) if number in order.values())
        modes = [mode for b, mode in self._launches[user].uses() if b is buffer]
        if Mode.OUT in modes:
            return True
        before = any(b is buffer for step in self._earlier for b, _ in step.uses())
        return id(buffer) in self._fresh and not before and number == self._values.index(buffer)

    def _is_wanted(self, number: int) -> bool:
        """Whether a value is used after the group."""
        buffer = self._values[number]
        if any(b is buffer for b in self._values[number + 1 :]):
            return False
        for step in self._later:
            for used, mode in step.uses():
                if used is buffer:
                    empty = isinstance(step, Launch) and 0 in step.grid
                    return mode is not Mode.OUT or empty
        return not buffer.is_scratch or id(buffer) in self._live

    def _tiled(
        self,
        stages: list[Stage],
        known: list[KnownStage],
        registers: list[int],
        device: PlanningDevice,
    ) -> Candidate | Refusal:
        accesses = [each.accesses for each in known]
        interiors = [each.interior for each in known]
        seams = self._seams(stages, known)
        if isinstance(seams, Refusal):
            return seams
        owner_of = {array_name(n): id(b) for n, b in enumerate(self._values)}
        refusal = memory_refusal(stages, accesses, seams, owner_of)
        if refusal is not None:
            return refusal
        if not seams:
            return Refusal("cost", "it uses nothing that the launch before writes")
        memory = {
            array_name(n): b.size
            for n, b in enumerate(self._values)
            if n not in registers
            and (array_name(n) not in seams or seams[array_name(n)].value.is_wanted)
        }
        if len(memory) > device.most_buffers:
            why = f"the device binds {device.most_buffers} buffers"
            return Refusal("L11", f"{why}, the launch would have {len(memory)}")
        owners = frozenset(
            n
            for n, own in enumerate(accesses)
            if any(each.is_store and each.buffer in memory for each in own)
        )
        row = tuple(seams.values())
        useful = owners | {seam.producer for seam in row}
        for number, stage in enumerate(stages):
            if number not in useful:
                return Refusal(
                    "L8", f"{stage.name}, line {stage.line}, writes nothing that is used"
                )
        guarded = [each.is_guarded for each in known]
        plan = bounded(stages, row, guarded, owners, memory, device.machine)
        if isinstance(plan, Refusal):
            return plan
        launch = launched(stages, interiors, row, owners, plan)
        if not 0 < launch.grid <= device.machine.most_groups:
            return Refusal("L11", f"it would have {launch.grid} workgroups")
        tiling = Tiling(tuple(stages), tuple(interiors), row, plan, launch)
        gain = predicted(self._costs(stages, seams, memory), tiling, device.costs)
        if gain >= device.costs.most:
            why = f"one launch is predicted to take {gain:.2f} of the time of two"
            return Refusal("cost", why)
        places = tuple((int(name[1:]), seam.value.is_wanted) for name, seam in seams.items())
        return Candidate(tiling, places, tuple(registers), gain)

    def group(self, chosen: Candidate, kernels: TileKernels) -> TiledGroup:
        """The group of a plan, with its kernel."""
        first = _first_uses(self._launches)
        return TiledGroup(
            kernels.kernel(chosen.tiling, self._launches[0], self._values),
            chosen.tiling.launch,
            tuple(first.index(id(buffer)) for buffer in self._values),
            chosen.in_tiles,
            chosen.in_registers,
            chosen.tiling.plan.nbytes,
            chosen.gain,
        )

    def _seams(
        self, stages: Sequence[Stage], known: Sequence[KnownStage]
    ) -> dict[str, Seam] | Refusal:
        """The seams by the names of their values."""
        accesses = [each.accesses for each in known]
        interiors = [each.interior for each in known]
        found: dict[str, Seam] = {}
        for number in self._handed_over(accesses):
            made = seam_of(self._value(number), stages, accesses, interiors)
            if isinstance(made, Refusal):
                return made
            found[array_name(number)] = made
        return found

    def _handed_over(self, accesses: Sequence[Sequence[Access]]) -> list[int]:
        """The values that one stage writes and a later one reads."""
        found: list[int] = []
        for number in range(len(self._values)):
            name = array_name(number)
            writers = [
                n for n, own in enumerate(accesses) for e in own if e.buffer == name and e.is_store
            ]
            readers = [
                n
                for n, own in enumerate(accesses)
                for e in own
                if e.buffer == name and not e.is_store
            ]
            if (
                writers
                and readers
                and max(readers) > min(writers)
                and self._begins_as_zeros(number)
            ):
                found.append(number)
        return found

    def _value(self, number: int) -> Value:
        buffer = self._values[number]
        return Value(
            array_name(number), buffer.name, buffer.dtype, buffer.size, self._is_wanted(number)
        )

    def _costs(
        self, stages: Sequence[Stage], seams: Mapping[str, Seam], memory: Mapping[str, int]
    ) -> list[StageCost]:
        found: list[StageCost] = []
        for stage in stages:
            apart = fused = 0
            for decl in stage.program.buffers:
                if decl.name not in stage.launched.lengths:
                    continue
                nbytes = stage.launched.lengths[decl.name] * (decl.element.size_bytes or 1)
                apart += nbytes
                reads_tile = decl.name in seams and not decl.is_writable
                fused += nbytes if decl.name in memory and not reads_tile else 0
            work = program_cost(stage.program) * stage.launched.invocations
            found.append(StageCost(apart, fused, work))
        return found


def _first_uses(launches: Sequence[Launch]) -> list[int]:
    found: dict[int, None] = {}
    for launch in launches:
        for buffer, _ in launch.uses():
            found.setdefault(id(buffer))
    return list(found)
