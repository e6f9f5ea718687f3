"""The plan of a call as data, and as text: launches, and where each array between stages is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vyre.front.parameters import Mode
from vyre.ir import DataType
from vyre.pipelines.execute import Counted, Run, Window
from vyre.pipelines.steps import Buffer, Copied, Launch
from vyre.record import dataclass
from vyre.runtime.kernel import Kernel


@dataclass(frozen=True, slots=True)
class PlannedLaunch:
    """One launch: a stage, or several that were fused."""

    name: str
    stages: tuple[str, ...]
    lines: tuple[int, ...]
    grid: tuple[int, int, int]
    apart: str
    """Why it did not join the launch before: the condition that failed."""
    bytes_moved: int
    """Bytes of device memory that it reads and writes, if it uses each array once."""
    kernel: Kernel[...]
    types: Mapping[str, Any]
    """What decides about the kernel's program."""


@dataclass(frozen=True, slots=True)
class Seam:
    """Scratch between stages."""

    name: str
    dtype: DataType
    elements: int
    where: str
    """`register`, `tile`, `written through` (a tile, and memory), `pooled` (memory that several
    scratch arrays share, or that an output has later) or `materialised`."""
    reason: str
    """Why it is in memory; empty for a register."""


@dataclass(frozen=True, slots=True)
class PipelinePlan:
    """What a call launches, and what it keeps in memory."""

    name: str
    device: str
    launches: tuple[PlannedLaunch, ...]
    seams: tuple[Seam, ...]
    copies: int
    host_reads: int
    """How often the host waits to read flags or counts; a loop is counted for one iteration."""
    scratch_bytes: int
    """Bytes of device memory for scratch."""
    bytes_moved: int
    bytes_apart: int
    """Bytes that the stages would read and write, each by itself."""
    is_settled: bool = False
    """True if calls have timed it against the second best plan; otherwise it is predicted."""

    def __str__(self) -> str:
        many = "launch" if len(self.launches) == 1 else "launches"
        lines = [
            f"{self.name} on {self.device}: {len(self.launches)} {many}, "
            f"{_counted(self.copies, 'copy', 'copies')}, "
            f"{_counted(self.host_reads, 'host read', 'host reads')}, "
            f"{self.scratch_bytes} bytes of scratch",
            f"  device memory: {self.bytes_moved} bytes read and written, "
            f"{self.bytes_apart} if its stages ran apart",
        ]
        if self.is_settled:
            lines.append("  settled: calls have timed this plan and the second best in turns")
        for number, launch in enumerate(self.launches):
            stages = " + ".join(
                f"{stage} (line {line})"
                for stage, line in zip(launch.stages, launch.lines, strict=True)
            )
            lines.append(f"  launch {number}: {stages}, grid {launch.grid[0]}")
            if launch.apart and number:
                lines.append(f"    not joined with the launch before: {launch.apart}")
        for seam in self.seams:
            shown = f"  {seam.name}: {seam.dtype}[{seam.elements}] {seam.where}"
            lines.append(f"{shown}: {seam.reason}" if seam.reason else shown)
        return "\n".join(lines)


def _counted(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


def plan_of(name: str, device: str, windows: Sequence[Window], counted: Counted) -> PipelinePlan:
    """The plan of a call from its windows."""
    launches: list[PlannedLaunch] = []
    seams: list[Seam] = []
    scratch = copies = 0
    for window in windows:
        plan = window.known.plan
        scratch += plan.slot_bytes + sum(window.buffers[n].nbytes for n in plan.own)
        for group, runs in zip(plan.groups, window.runs, strict=True):
            own = window.steps[group.first : group.first + group.count]
            steps = [step for step in own if isinstance(step, Launch)]
            copies += sum(isinstance(step, Copied) for step in own)
            for run in runs:
                if isinstance(run, Run):
                    is_joined = group.fused is not None or group.tiled is not None
                    used = _used(window.buffers, run) if is_joined else None
                    grid = None if group.tiled is None else (group.tiled.launch.grid, 1, 1)
                    launches.append(_launch(steps, run, group.apart, used, grid))
        seams += _seams(window)
    apart = sum(_bytes(step) for w in windows for step in w.steps if isinstance(step, Launch))
    moved = sum(launch.bytes_moved for launch in launches)
    return PipelinePlan(
        name,
        device,
        tuple(launches),
        tuple(seams),
        copies,
        counted.host_reads,
        scratch,
        moved,
        apart,
        any(window.known.is_settled for window in windows),
    )


def _launch(
    steps: Sequence[Launch],
    run: Run,
    apart: str,
    used: Sequence[Buffer] | None,
    grid: tuple[int, int, int] | None,
) -> PlannedLaunch:
    mine = [step for step in steps if step.site in run.sites] if used is None else list(steps)
    modes = run.kernel.source.parameters
    values = dict(zip(modes, run.values, strict=True))
    moved = _bytes_of(run.kernel, values)
    return PlannedLaunch(
        " + ".join(site.name for site in run.sites),
        tuple(site.name for site in run.sites),
        tuple(site.line for site in run.sites),
        mine[0].grid if grid is None else grid,
        apart,
        moved,
        run.kernel,
        {} if not run.kernel.source.is_open else _types(values),
    )


def _types(values: Mapping[str, Any]) -> dict[str, Any]:
    return {n: v.dtype if isinstance(v, Buffer) else v for n, v in values.items()}


def _used(buffers: Sequence[Buffer], run: Run) -> list[Buffer]:
    return [buffers[number] for _, number in run.places]


def _bytes(step: Launch) -> int:
    return _bytes_of(step.kernel, step.given)


def _bytes_of(kernel: Kernel[...], given: Mapping[str, Any]) -> int:
    total = 0
    for name, parameter in kernel.source.parameters.items():
        value = given[name]
        if isinstance(value, Buffer):
            both = getattr(parameter, "mode", None) is Mode.INOUT
            total += value.nbytes * (2 if both else 1)
    return total


def _seams(window: Window) -> list[Seam]:
    plan = window.known.plan
    registers = set(plan.registers)
    tiles = dict(plan.tiles)
    pooled = {number for slot in plan.slots for number in slot.buffers}
    pooled.update(number for number, _ in plan.lent)
    reasons = _reasons(window)
    found: list[Seam] = []
    for number, buffer in enumerate(window.buffers):
        if not buffer.is_scratch:
            continue
        if number in registers:
            where = "register"
        elif number in tiles:
            where = "written through" if tiles[number] else "tile"
        else:
            where = "pooled" if number in pooled else "materialised"
        in_memory = where in ("pooled", "materialised")
        reason = reasons.get(number, "it is used after these stages") if in_memory else ""
        found.append(Seam(buffer.name, buffer.dtype, buffer.size, where, reason))
    return found


def _reasons(window: Window) -> dict[int, str]:
    """Why scratch is in memory: what kept its next user from joining its first one."""
    order = {id(buffer): number for number, buffer in enumerate(window.buffers)}
    first: dict[int, int] = {}
    found: dict[int, str] = {}
    for position, group in enumerate(window.known.plan.groups):
        for step in window.steps[group.first : group.first + group.count]:
            for buffer, _ in step.uses():
                number = order[id(buffer)]
                begun = first.setdefault(number, position)
                if begun != position and group.apart:
                    found.setdefault(number, group.apart)
    return found
