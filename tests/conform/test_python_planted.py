"""Each bug that is planted in the front end is seen by random kernels that CPython runs, too."""

from __future__ import annotations

from functools import cache

import pytest

from tests.conform.front_plants import PLANTS, FrontPlant
from vyre.conform.fuzz import case_of, check_case

MOST = 36
"""Kernels that are tried; a plant that needs more has found a hole in the net."""
CHECK = ("python@reference",)


def found_by(plant: FrontPlant) -> int | None:
    """The number of the first kernel that shows the bug."""
    for number in range(MOST):
        case = case_of(number, "python")
        with plant.planted():
            wrong = check_case(case, number, CHECK)
        if any("unlike Python" in one.problem for one in wrong):
            return number
    return None


@cache
def is_right(number: int) -> bool:
    """Whether a kernel shows nothing without a bug."""
    return check_case(case_of(number, "python"), number, CHECK) == []


def test_there_are_enough_plants() -> None:
    assert len({plant.name for plant in PLANTS}) == len(PLANTS) >= 16


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.name)
def test_a_planted_bug_is_found(plant: FrontPlant) -> None:
    number = found_by(plant)
    assert number is not None
    # It is the plant that is wrong with that kernel, and nothing else.
    assert is_right(number)
