"""Mistakes planted at the border of the host are found by the test of its table."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from docs.border import CONVERSIONS, KINDS, LAYOUTS
from tests.unit.runtime import border_plants as plants
from tests.unit.runtime import test_host_border as table
from tests.unit.runtime.border_plants import PLANTS, Plant
from vyre.ir import DataType

TYPES = (DataType.U8, DataType.F32, DataType.BF16, DataType.F8E4M3)


def _tried(found_by: str) -> Iterator[Callable[[], None]]:
    """The cases of a test of the table, as far as they are needed here."""
    if found_by == plants.KINDS:
        for name in (*LAYOUTS, *KINDS):
            yield lambda name=name: table.test_values_of_every_kind(name, "cpu")
    elif found_by == plants.CONTENTS:
        for target in CONVERSIONS:
            yield lambda target=target: table.test_contents_of_device_arrays(target)
    else:
        for element in TYPES:
            yield lambda element=element: getattr(table, found_by)(element)


def _is_found(found_by: str) -> bool:
    table.copying.cache_clear()
    table.storing.cache_clear()
    for case in _tried(found_by):
        try:
            case()
        except AssertionError:
            return True
    return False


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.name)
def test_a_planted_mistake_is_found(plant: Plant) -> None:
    with plant.planted():
        assert _is_found(plant.found_by)
