"""Scratch in the memory of outputs, before these are written.

    blur(x, a); blur(a, b); blur(b, y)     ->     a in memory of its own, b nowhere: a, y, a ... y

What an output holds is lost when the first stage that uses it overwrites all of it. Until then it
serves as one more slot, as a register allocator coalesces a value with the result that it becomes.
Legal for scratch of the same type and shape that dies in a launch before that stage: no launch then
binds both. It never takes memory that the scratch would not have taken, and what a call touches
shrinks by as much.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from vyre.front.parameters import Mode
from vyre.pipelines.grouping import Group
from vyre.pipelines.steps import Buffer, Launch

Life = tuple[int, int]
"""The first group that uses a buffer, and the last."""


def lenders(groups: Sequence[Group], order: Mapping[int, int]) -> dict[int, int]:
    """Buffers whose first use overwrites them, by number, and the group that does."""
    found: dict[int, int] = {}
    seen: set[int] = set()
    for position, group in enumerate(groups):
        for step in group.steps:
            is_empty = isinstance(step, Launch) and 0 in step.grid
            modes: dict[int, list[Mode]] = {}
            for buffer, mode in step.uses():
                modes.setdefault(id(buffer), []).append(mode)
            for key, used in modes.items():
                if key not in seen and used == [Mode.OUT] and not is_empty:
                    found[order[key]] = position
                seen.add(key)
    return found


def lent(
    buffers: Sequence[Buffer],
    overwritten: Mapping[int, int],
    kept: AbstractSet[int],
    lives: Mapping[int, Life],
) -> dict[int, int]:
    """Scratch by number, and the output whose memory it has.

    `overwritten` has the groups that overwrite outputs, `kept` scratch that is used after the
    window, `lives` the scratch that is not. From the last life to the first, so that those that
    stay behind in the shared slots are as few at once as can be.
    """
    found: dict[int, int] = {}
    latest = sorted(lives, key=lambda number: (lives[number][1], number), reverse=True)
    for output, group in overwritten.items():
        lender = buffers[output]
        if not lender.is_plain or (lender.is_scratch and output not in kept):
            continue
        before = group
        for number in latest:
            is_same = (buffers[number].dtype, buffers[number].shape) == (lender.dtype, lender.shape)
            if is_same and number not in found and lives[number][1] < before:
                found[number] = output
                before = lives[number][0]
    return found


__all__ = ["lenders", "lent"]
