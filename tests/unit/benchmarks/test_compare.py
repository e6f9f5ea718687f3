"""A comparison that accepts everything would let a wrong peer win."""

import numpy as np

from benchmarks.compare import close, exact, mostly, within_ulps


def f32(*values: float | np.floating) -> np.ndarray:
    return np.array(values, np.float32)


def test_exact_counts_what_differs() -> None:
    want = np.array([1, 2, 3], np.uint32)
    assert exact(want, want.copy()) is None
    assert exact(want, np.array([1, 5, 4], np.uint32)) == "2 of 3 elements differ"


def test_close_is_relative_to_the_largest_magnitude() -> None:
    compare = close(1e-3)
    assert compare(f32(1000, 1e-6), f32(1000.5, 0)) is None
    assert compare(f32(1000, 1e-6), f32(1002, 1e-6)) is not None


def test_close_refuses_nan() -> None:
    assert close(1e-3)(f32(1), f32(float("nan"))) is not None


def test_ulps_are_those_of_the_expected_value() -> None:
    one = np.float32(1)
    up = np.nextafter(one, np.float32(2), dtype=np.float32)
    compare = within_ulps(1)
    assert compare(f32(one), f32(up)) is None
    assert compare(f32(one), f32(np.nextafter(up, np.float32(2), dtype=np.float32))) is not None
    assert compare(f32(1), f32(float("nan"))) is not None


def test_ulps_below_a_power_of_two_are_half_as_large() -> None:
    below = np.nextafter(np.float32(1), np.float32(0), dtype=np.float32)
    two_down = np.nextafter(below, np.float32(0), dtype=np.float32)
    assert within_ulps(1)(f32(below), f32(two_down)) is None
    assert within_ulps(0.9)(f32(below), f32(two_down)) is not None


def test_mostly_tolerates_its_share_and_no_more() -> None:
    want = np.zeros(100, np.uint32)
    got = want.copy()
    got[0] = 1
    assert mostly(0.01)(want, got) is None
    got[1] = 1
    assert mostly(0.01)(want, got) == "2.00% of the elements differ"
