"""Make a failing list short: arms go, and what fusing is told, while the failure stays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from vyre.conform.lists.case import ListCase


def shrink_list(case: ListCase, fails: Callable[[ListCase], bool]) -> ListCase:
    """The shortest list found for which `fails` still says yes."""
    while True:
        smaller = next((each for each in _steps(case) if fails(each)), None)
        if smaller is None:
            return case
        case = smaller


def _steps(case: ListCase) -> Iterator[ListCase]:
    for position in range(len(case.arms)):
        arms = case.arms[:position] + case.arms[position + 1 :]
        if not arms:
            return
        names = case.names
        if names is not None:
            names = names[:position] + names[position + 1 :]
        there = {decl.name for arm in arms for decl in arm.buffers}
        scratch = tuple(name for name in case.scratch if name in there)
        yield replace(case, program=arms[0], arms=arms, names=names, scratch=scratch)
    if case.scratch:
        yield replace(case, scratch=())
    if case.names is not None:
        yield replace(case, names=None)
    if case.flat_grid:
        yield replace(case, flat_grid=False)
