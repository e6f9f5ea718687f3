"""Signalling NaNs are NaNs like others, wherever they stand in an array."""

from __future__ import annotations

import numpy as np
import pytest

from vyre.ir import BinOp
from vyre.semantics import floats
from vyre.semantics.transcendentals import BINARY

_SIGNALLING = {"f2": 0x7C01, "f4": 0x7F80_0001, "f8": 0x7FF0_0000_0000_0001}


@pytest.mark.parametrize("kind", _SIGNALLING)
@pytest.mark.parametrize("choose", [floats.lesser_number, floats.greater_number])
@pytest.mark.parametrize("count", [1, 2, 7, 16, 61])
def test_min_and_max_ignore_them(kind: str, choose, count: int) -> None:
    nans = np.full(count, _SIGNALLING[kind], f"u{kind[1:]}").view(kind)
    numbers = np.arange(count).astype(kind)
    with np.errstate(invalid="ignore"):
        assert np.array_equal(choose(nans, numbers), numbers)
        assert np.array_equal(choose(numbers, nans), numbers)
        assert np.isnan(choose(nans, nans)).all()


@pytest.mark.parametrize("kind", _SIGNALLING)
@pytest.mark.parametrize("choose", [floats.minimum, floats.maximum])
@pytest.mark.parametrize("count", [1, 2, 7, 16, 61])
def test_minimum_and_maximum_keep_them(kind: str, choose, count: int) -> None:
    nans = np.full(count, _SIGNALLING[kind], f"u{kind[1:]}").view(kind)
    numbers = np.arange(count).astype(kind)
    with np.errstate(invalid="ignore"):
        assert np.isnan(choose(nans, numbers)).all()
        assert np.isnan(choose(numbers, nans)).all()
        assert np.isnan(choose(nans, nans)).all()


@pytest.mark.parametrize("kind", _SIGNALLING)
def test_powers_of_one_and_to_zero_are_one(kind: str) -> None:
    nans = np.full(5, _SIGNALLING[kind], f"u{kind[1:]}").view(kind)
    one, zero = np.ones(5, kind), np.zeros(5, kind)
    with np.errstate(invalid="ignore"):
        assert np.array_equal(BINARY[BinOp.POW](one, nans), one)
        assert np.array_equal(BINARY[BinOp.POW](nans, zero), one)
