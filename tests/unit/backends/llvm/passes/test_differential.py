"""CPU passes keep the meaning of programs, and the test that says so sees planted mistakes."""

from __future__ import annotations

import pytest

from tests.unit.backends.llvm.passes.differential import differences
from tests.unit.backends.llvm.passes.plants import PLANTS, Plant
from vyre.backends.llvm.pipeline import CPU_PASSES

NAMES = [each.metadata.name for each in CPU_PASSES]


@pytest.mark.parametrize("name", NAMES)
def test_programs_compute_the_same_after_a_pass(name: str) -> None:
    assert differences(name) == []


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: f"{plant.name}: {plant.what}")
def test_a_planted_mistake_shows(plant: Plant) -> None:
    assert differences(plant.name, {plant.name: plant.planted()})


def test_every_pass_has_a_plant() -> None:
    assert {plant.name for plant in PLANTS} == set(NAMES)
