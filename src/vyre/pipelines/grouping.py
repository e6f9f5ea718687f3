"""Which launches of a window become one: one legality function, in the order of the stages.

A launch joins the group before it when each invocation can run both, one after the other:

L2   both have one grid, of one row
L6   not both can print or trap: the host has to learn of the first one's first
L7   what one writes and the other uses is, for both, an element of the invocation's own
L10  both have one workgroup size, the same float semantics, and arrays without strides
L11  the group has no more buffers than the device binds
Profitable when both use a buffer: otherwise a group saves a launch and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence

from vyre.front.parameters import Mode
from vyre.ir import Program
from vyre.ir.buffer import SHAPE
from vyre.pipelines.steps import Buffer, Launch, Step
from vyre.plan.arms import with_buffer_names
from vyre.plan.hazards import Separation, hazards
from vyre.record import dataclass

MOST_STAGES = 16
"""Launches of one group: compile time grows with them."""


@dataclass(frozen=True, slots=True)
class Group:
    """Steps that run as one."""

    steps: tuple[Step, ...]
    apart: str
    """Why it did not join the group before: the condition that failed; empty for the first."""


def grouped(steps: Sequence[Step], *, fuse: bool, most_buffers: int) -> list[Group]:
    """Join steps to groups, greedily."""
    found: list[Group] = []
    current: list[Step] = []
    apart = ""
    for step in steps:
        refusal = "fuse=False" if not fuse else _refusal(current, step, most_buffers)
        if current and refusal:
            found.append(Group(tuple(current), apart))
            current, apart = [], refusal
        current.append(step)
    return [*found, Group(tuple(current), apart)] if current else found


def _refusal(group: Sequence[Step], step: Step, most_buffers: int) -> str:
    """Why a step cannot join a group; empty if it can."""
    if not group:
        return ""
    if not isinstance(step, Launch):
        return "a copy or a clear is a step of its own"
    before = [each for each in group if isinstance(each, Launch)]
    if len(before) < len(group):
        return "it follows a copy or a clear"
    return _refusal_of_launches(before, step, most_buffers)


def _refusal_of_launches(before: Sequence[Launch], step: Launch, most_buffers: int) -> str:
    last = before[-1]
    if step.grid != last.grid or step.grid[1:] != (1, 1) or 0 in step.grid:
        return f"L2: its grid is {_shown(step.grid)}, that of {last.site.name} {_shown(last.grid)}"
    if step.program.workgroup_size != last.program.workgroup_size:
        return f"L10: its workgroups have another size than those of {last.site.name}"
    if step.program.fast_math != last.program.fast_math:
        return f"L10: only one of it and {last.site.name} has fast_math"
    if not (step.is_typed and all(each.is_typed for each in before)):
        return "L10: an array is a view with strides"
    if len(before) >= MOST_STAGES:
        return f"L11: a launch has at most {MOST_STAGES} stages"
    buffers = {id(b) for each in (*before, step) for b, _ in each.uses()}
    if len(buffers) > most_buffers:
        return f"L11: the device binds {most_buffers} buffers, the launch would have {len(buffers)}"
    if not any(b is c for b, _ in step.uses() for each in before for c, _ in each.uses()):
        return "it uses no buffer of the group before"
    return next((why for each in reversed(before) if (why := _hazard(each, step))), "")


def _hazard(one: Launch, two: Launch) -> str:
    """What keeps two launches from being one; empty if nothing does."""
    touched = {id(buffer) for buffer, _ in one.uses()}
    for buffer, mode in two.uses():
        if mode is Mode.OUT and id(buffer) in touched:
            return f"L7: {buffer.name!r} begins as zeros in {two.site.name}, and was used before"
    first, second = _named_alike(one, two)
    for hazard in hazards(first, second, flat_grid=True):
        if hazard.separation is not Separation.NONE:
            shown = hazard.buffer if "." not in hazard.buffer else hazard.buffer.split(".", 1)[1]
            number = "L6" if "what the host" in hazard.buffer else "L7"
            line = f"{two.site.name}, line {two.site.line}"
            return f"{number}: {hazard.kind} of {shown} in {line}"
    return ""


def _named_alike(one: Launch, two: Launch) -> tuple[Program, Program]:
    """The programs of two launches with one name for a buffer that both use."""
    names: dict[int, str] = {}

    def renamed(launch: Launch, prefix: str) -> Program:
        changes: dict[str, str] = {}
        for decl in launch.program.buffers:
            base = decl.name.removesuffix(SHAPE)
            given = launch.given.get(base)
            if isinstance(given, Buffer):
                name = names.setdefault(id(given), f"b{len(names)}.{given.name}")
                changes[decl.name] = name + decl.name[len(base) :]
            else:
                changes[decl.name] = f"{prefix}.{decl.name}"
        return with_buffer_names(launch.program, changes)

    return renamed(one, "one"), renamed(two, "two")


def _shown(grid: tuple[int, int, int]) -> str:
    x, y, z = grid
    return str(x) if (y, z) == (1, 1) else f"{x} x {y} x {z}"
