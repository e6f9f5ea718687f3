"""Bugs of three kinds are planted and found; `python -m tests.conform` plants all of them."""

from __future__ import annotations

import pytest

from tests.conform.hunt import hunt
from tests.conform.plants import PLANTS, Plant

QUICK = (
    "optimizer: shifts merged without masks",
    "instruction: float minimum picks NaN",
    "lowering: shift amount not masked",
    "lowering: load outside clamped",
    "lowering: first round lost",
    "driver: missing grid barrier",
)


def test_there_are_enough_plants() -> None:
    assert len({plant.name for plant in PLANTS}) == len(PLANTS) >= 30


@pytest.mark.parametrize("plant", [p for p in PLANTS if p.name in QUICK], ids=lambda p: p.name)
def test_a_planted_bug_is_found(plant: Plant) -> None:
    assert hunt(plant) is not None
