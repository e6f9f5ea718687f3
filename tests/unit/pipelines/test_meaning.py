"""A pipeline gives what its stages give one after another, on every device."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.backends.wgsl.drivers import DRIVERS, Driver, worker
from tests.unit.pipelines import suite
from tests.unit.pipelines.suite import PIPELINES, differences

every = pytest.mark.parametrize("name", PIPELINES)


@every
@pytest.mark.parametrize("device", ["cpu", "reference"])
def test_a_call_gives_what_the_stages_give(name: str, device: str) -> None:
    lengths = suite.LENGTHS if device == "cpu" else (0, 1, 65)
    assert differences(name, device, lengths) == []


@every
def test_long_arrays(name: str) -> None:
    if name == "sort_bits":  # one invocation does all the work
        assert differences(name, "cpu", (5000,)) == []
    else:
        assert differences(name, "cpu", (1_000_007,)) == []


@pytest.mark.device
@pytest.mark.parametrize("driver", DRIVERS, ids=lambda driver: driver.name)
def test_on_a_driver(driver: Driver) -> None:
    found = worker(driver).call(suite.on_this_driver, deadline=280.0)
    assert found == []


def test_apart_agrees_with_numpy() -> None:
    x = suite.floats(1000)
    y = np.zeros_like(x)
    suite.in_registers.apart(x, y)
    expected = np.clip(np.float32(3.0) * x, np.float32(0.25), np.float32(0.75)) * np.float32(0.5)
    np.testing.assert_array_equal(y, expected)
    t = suite.text(500)
    plain = np.frombuffer(bytes.fromhex(t.tobytes().decode()), np.uint8)
    counts = np.bincount(plain, minlength=256)
    np.testing.assert_array_equal(suite.histogram_of_hex(t), counts)
    keys = suite.words(300) % 16
    expected = np.sort(keys)
    suite.sort_bits(keys, 4)
    np.testing.assert_array_equal(keys, expected)


def test_a_loop_runs_as_often_as_if_the_flag_were_read_after_each_iteration() -> None:
    x = np.array([1, 5, 64], np.uint32)
    iterations = np.zeros(1, np.uint32)
    suite.settle(x, iterations)
    assert x.tolist() == [1, 1, 1]
    assert iterations.tolist() == [7]  # six that halve, and one that finds nothing to do
