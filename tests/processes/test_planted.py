"""Mistakes planted in threads, processes and signals are found by the scenarios."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.processes.plants import PLANTS
from tests.processes.running import outcome

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="has no fork and no such signals")


@pytest.mark.parametrize("name", PLANTS)
def test_a_planted_mistake_is_found(name: str, cache: Path) -> None:
    plant = PLANTS[name]
    told = outcome(plant.found_by, cache, name)
    assert plant.said in told, told or "it was not found"
