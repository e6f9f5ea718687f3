"""Fifteen kinds of pipelines give what numpy and their stages apart give, on every device."""

from __future__ import annotations

import pytest

from benchmarks.pipelines import CASES
from tests.unit.backends.wgsl.drivers import DRIVERS, Driver, worker
from tests.unit.pipelines import fifteen

every = pytest.mark.parametrize("name", [case.name for case in CASES])


def test_all_fifteen_are_there() -> None:
    assert {case.number for case in CASES} == set(range(1, 16))


@every
def test_on_the_cpu(name: str) -> None:
    assert fifteen.wrong(fifteen.named(name), "cpu", fifteen.LENGTHS) == []


@every
def test_long_arrays(name: str) -> None:
    assert fifteen.wrong(fifteen.named(name), "cpu", (fifteen.LARGE,)) == []


@every
def test_on_the_reference(name: str) -> None:
    assert fifteen.wrong(fifteen.named(name), "reference", (0, 65)) == []


@every
def test_no_stage_has_a_race(name: str) -> None:
    case = fifteen.named(name)
    case.pipeline.reference(*case.make(65))


@pytest.mark.device
@pytest.mark.parametrize("driver", DRIVERS, ids=lambda driver: driver.name)
def test_on_a_driver(driver: Driver) -> None:
    found = worker(driver).call(fifteen.on_this_driver, fifteen.FEW, deadline=280.0)
    assert found == []
