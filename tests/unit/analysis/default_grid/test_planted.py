"""Every planted mistake in finding a grid is found, and nothing is without one."""

from __future__ import annotations

import pytest

from tests.unit.analysis.default_grid.nets import reaches_all_elements, wrong_ones
from tests.unit.analysis.default_grid.plants import PLANTS, Plant

SEEDS = range(150)


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.name)
def test_a_planted_mistake_is_found(plant: Plant) -> None:
    with plant.planted():
        assert next(iter(wrong_ones(SEEDS)), None) is not None


def test_elements_that_are_rounded_down_are_not_reached() -> None:
    [floor] = [plant for plant in PLANTS if plant.name == "elements rounded down"]
    for elements in ((9, 5, 7), (1, 1, 1), (4, 2, 3), (8, 3, 1)):
        assert reaches_all_elements(elements)
    with floor.planted():
        assert not reaches_all_elements((9, 5, 7))
