"""Which launches of a window become one with tiles between them.

Decided on the stages of a window before anything is joined. Launches that keep to their own
elements are one stage already; from each stage on, the longest row of stages is taken that is legal
and predicted to be faster than apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from vyre.pipelines.grouping import MOST_STAGES, Group
from vyre.pipelines.tile_kernels import PlanningDevice, TiledGroup, TileKernels
from vyre.pipelines.tile_planning import Candidate, TilePlanning, too_many_stages

_MAY_PASS = frozenset({"cost", "L7", "L8"})
"""Conditions that a longer row of stages may keep, though a shorter one does not."""


def tiled_groups(
    groups: Sequence[Group],
    live: AbstractSet[int],
    fresh: AbstractSet[int],
    device: PlanningDevice,
    kernels: TileKernels,
) -> list[tuple[Group, TiledGroup | None]]:
    """Join groups to tiled ones; `fresh` are buffers that are all zeros at first."""
    found: list[tuple[Group, TiledGroup | None]] = []
    steps = [step for group in groups for step in group.steps]
    at = done = 0
    while at < len(groups):
        best: tuple[int, TilePlanning, Candidate] | None = None
        why = ""
        end = at + 1
        while end < len(groups):
            if end - at == MOST_STAGES:
                why = why or str(too_many_stages())
                break
            row = groups[at : end + 1]
            planning = TilePlanning(row, steps, done, live, fresh)
            made = planning.candidate(device, kernels)
            if isinstance(made, Candidate):
                best, why = (end + 1, planning, made), ""
            else:
                why = why or str(made)
                if made.condition not in _MAY_PASS:
                    break
            end += 1
        taken = groups[at] if best is None else _merged(groups[at : best[0]])
        found.append((taken, None if best is None else best[1].group(best[2], kernels)))
        at = at + 1 if best is None else best[0]
        done += len(taken.steps)
        if at < len(groups) and why and _is_about_tiles(groups[at]):
            groups = [*groups[:at], Group(groups[at].steps, why), *groups[at + 1 :]]
    return found


def _is_about_tiles(group: Group) -> bool:
    return group.apart.startswith("L")


def _merged(groups: Sequence[Group]) -> Group:
    return Group(tuple(step for group in groups for step in group.steps), groups[0].apart)
