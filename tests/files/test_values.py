"""Arrays written as a line of text."""

from __future__ import annotations

import numpy as np
import pytest

from tests.files.values import read_values, show_values


@pytest.mark.parametrize(
    ("text", "dtype", "values"),
    [
        ("", "u4", []),
        ("1 2 0xFF", "u4", [1, 2, 255]),
        ("0..4 9", "i4", [0, 1, 2, 3, 9]),
        ("-1*3 7", "i1", [-1, -1, -1, 7]),
        ("true false*2", "?", [True, False, False]),
        ("0.5 -0.0 inf", "f4", [0.5, -0.0, np.inf]),
    ],
)
def test_a_line_is_read(text: str, dtype: str, values: list[float]) -> None:
    assert read_values(text, np.dtype(dtype)).tolist() == values


@pytest.mark.parametrize("dtype", ["u1", "i8", "u8", "f2", "f4", "f8", "?"])
def test_what_is_shown_reads_back_the_same(dtype: str) -> None:
    raw = np.random.default_rng(7).integers(0, 256, 64 * 8, np.uint8)
    array = (raw > 127) if dtype == "?" else raw.view(dtype)
    array = np.concatenate([array, np.repeat(array[:1], 100)])
    back = read_values(show_values(array), array.dtype)
    assert np.array_equal(back, array, equal_nan=array.dtype.kind == "f")


def test_runs_are_written_short() -> None:
    assert show_values(np.array([1, 7, 7, 7, 7, 7, 2, 2])) == "1 7*5 2 2"
