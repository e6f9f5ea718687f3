"""Barriers over the whole grid, on devices that have none: split programs, exactly."""

from __future__ import annotations

from vyre.driver.grid_sync.dispatch import SplitExecutable, run_split
from vyre.driver.grid_sync.outline import contains_collective, contains_grid_sync
from vyre.driver.grid_sync.plan import SplitPlan
from vyre.driver.grid_sync.slots import DispatchConfig, dispatch_with_grid_sync_split
from vyre.driver.grid_sync.split import split
from vyre.ir import Program

__all__ = [
    "DispatchConfig",
    "SplitExecutable",
    "SplitPlan",
    "contains_collective",
    "contains_grid_sync",
    "dispatch_with_grid_sync_split",
    "run_split",
    "split",
    "split_on_grid_sync",
]


def split_on_grid_sync(program: Program) -> list[Program]:
    """The segments of a program in order; the program itself if it has no grid barrier."""
    return list(split(program).segments) if contains_grid_sync(program) else [program]
