"""Random pipelines give what Python does with their text, on every device and way to call them."""

from __future__ import annotations

import pytest

from tests.unit.backends.wgsl.drivers import DRIVERS, Driver, worker
from tests.unit.pipelines.random_pipelines import (
    ALL,
    RandomPipeline,
    arguments,
    differences,
    on_this_driver,
)
from tests.unit.pipelines.suite import whatever_it_costs

HAS = {
    **dict.fromkeys(("while vy.again", "if vy.when", "vy.at_most", "inner(", "vy.keep"), 5),
    **dict.fromkeys(("vy.copy", "vy.barrier", "atomic_add", "elements=", "grid=2"), 5),
}
SEEN = 80


@pytest.mark.parametrize("first", range(0, 16, 4))
def test_on_the_reference(first: int) -> None:
    for seed in range(first, first + 4):
        assert differences(seed, "reference", kinds=ALL, short=seed % 2 == 0) == []


@pytest.mark.parametrize("seed", range(100, 104))
def test_on_the_cpu(seed: int) -> None:
    assert differences(seed, "cpu", kinds=ALL) == []


@pytest.mark.device
@pytest.mark.parametrize("driver", DRIVERS, ids=lambda driver: driver.name)
def test_on_a_driver(driver: Driver) -> None:
    assert worker(driver).call(on_this_driver, range(200, 203), deadline=200.0) == []


def test_they_have_what_pipelines_have() -> None:
    texts = [RandomPipeline(seed).text for seed in range(SEEN)]
    for word, least in HAS.items():
        assert sum(word in text for text in texts) >= least, word


def test_their_plans_use_registers_and_tiles() -> None:
    places = dict.fromkeys(("register", "tile", "written through", "pooled", "materialised"), 0)
    with whatever_it_costs():
        for seed in range(8):
            pipeline = RandomPipeline(seed).made()
            for seam in pipeline.plan(*arguments(pipeline, 700, seed), device="cpu").seams:
                places[seam.where] += 1
    assert min(places.values()) > 0, places
