"""Hunting a planted bug: trials of the suite and random programs by turns until one fails."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

from tests.conform.plants import Plant
from vyre import conform
from vyre.conform.compare import compare_outputs
from vyre.conform.fuzz.checks import expected_outputs, granted
from vyre.conform.fuzz.seed_distribution import case_of
from vyre.conform.subject import Subject
from vyre.conform.suite import AREAS, Trial
from vyre.driver.backend import Backend


@dataclass(frozen=True)
class Catch:
    """How a planted bug was found."""

    by: str
    seconds: float
    tried: int


def hunt(plant: Plant, seconds: float = 60.0) -> Catch | None:
    """What shows the bug, or None when time is up."""
    with plant.planted() as backend:
        started = time.monotonic()
        for tried, (what, wrong) in enumerate(_attempts(backend, plant.profile), 1):
            spent = time.monotonic() - started
            if wrong:
                return Catch(what, spent, tried)
            if spent > seconds:
                return None
    return None


def _attempts(backend: Backend, profile: str | None) -> Iterator[tuple[str, bool]]:
    subject = Subject.of(backend)
    number = 0
    for trial in _in_turn(subject):
        yield f"suite: {trial.area}", _trial_fails(backend, trial, profile)
        yield f"fuzzing: program {number}", _program_fails(subject, number, profile)
        number += 1
    while True:
        yield f"fuzzing: program {number}", _program_fails(subject, number, profile)
        number += 1


def _in_turn(subject: Subject) -> Iterator[Trial]:
    """The trials of all areas, one of each area after the other, in an order of no meaning."""
    areas = [list(area(subject.target)) for area in AREAS.values()]
    for trials in areas:
        random.Random(1).shuffle(trials)
    for round_ in zip_longest(*areas):
        yield from (trial for trial in round_ if trial is not None)


def _trial_fails(backend: Backend, trial: Trial, profile: str | None) -> bool:
    return bool(conform.run(backend, ["opcodes"], profile=profile, trials=[trial]).failures)


def _program_fails(subject: Subject, number: int, profile: str | None) -> bool:
    case = case_of(number, "quick")
    expected = expected_outputs(case, subject.target.subgroup_width)
    actual = subject.run(case.program, case.inputs, case.grid, profile, None, 20.0)
    return bool(compare_outputs(case.program, expected, actual, granted(case)))
