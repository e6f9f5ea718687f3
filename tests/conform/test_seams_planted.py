"""Each bug that is planted at a seam is seen by the programs that are made for it."""

from __future__ import annotations

import pytest

from tests.conform.seam_plants import PLANTS, SeamPlant
from vyre.conform.fuzz import case_of, check_case

MOST = 300
"""Programs that are tried; a plant that needs more has found a hole in the net."""


def found_by(plant: SeamPlant) -> int | None:
    """The number of the first program that shows the bug."""
    mixture, check = plant.where
    for number in range(MOST):
        case = case_of(number, mixture)
        with plant.planted():
            wrong = check_case(case, number, (check,))
        if wrong:
            return number
    return None


def test_there_are_enough_plants() -> None:
    assert len({plant.name for plant in PLANTS}) == len(PLANTS) >= 12


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.name)
def test_a_planted_bug_is_found(plant: SeamPlant) -> None:
    number = found_by(plant)
    assert number is not None
    # It is the plant that is wrong with that program, and nothing else.
    mixture, check = plant.where
    assert check_case(case_of(number, mixture), number, (check,)) == []
