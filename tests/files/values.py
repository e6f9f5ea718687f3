"""Arrays as a line of text: `1 2 3`, `7*64` for sixty-four sevens, `0..8` for a half-open range."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

REPEAT_FROM = 5
"""Runs of at least this many equal values are written as `value*count`."""


def read_values(text: str, dtype: np.dtype[Any]) -> NDArray[Any]:
    """The array that a line stands for."""
    return np.array(list(_numbers(text, dtype)), dtype)


def _numbers(text: str, dtype: np.dtype[Any]) -> Iterator[int | float | bool]:
    for word in text.split():
        start, dots, stop = word.partition("..")
        if dots:
            yield from range(int(start), int(stop))
            continue
        value, _, count = word.partition("*")
        yield from [_number(value, dtype)] * int(count or 1)


def _number(word: str, dtype: np.dtype[Any]) -> int | float | bool:
    if dtype.kind == "b":
        return {"true": True, "false": False}[word]
    return float(word) if dtype.kind == "f" else int(word, 0)


def show_values(array: NDArray[Any]) -> str:
    """The array as a line; reading it back gives the same values."""
    words: list[str] = []
    for word, equal in groupby(_word(value) for value in array.ravel()):
        count = sum(1 for _ in equal)
        words += [f"{word}*{count}"] if count >= REPEAT_FROM else [word] * count
    return " ".join(words)


def _word(value: np.generic) -> str:
    return str(bool(value)).lower() if value.dtype.kind == "b" else str(value)
