"""Chance: the only source of randomness of the generator, fixed by the seed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Dice:
    """Random choices that are the same for the same seed, in every process."""

    __slots__ = ("_random", "below", "between")

    def __init__(self, seed: str) -> None:
        # A string is hashed by the standard library with SHA-512, not with the process's hash.
        self._random = random.Random(seed)
        self.below = self._random.randrange
        self.between = self._random.randint

    def chance(self, tenths: int) -> bool:
        """True in this many of ten cases."""
        return self._random.randrange(10) < tenths

    def pick(self, options: Sequence[T]) -> T:
        """One of the options."""
        return options[self._random.randrange(len(options))]

    def weighted(self, options: Sequence[tuple[int, T]]) -> T:
        """One of the options, as often as its weight says."""
        total = sum(weight for weight, _ in options)
        place = self._random.randrange(total)
        for weight, option in options:
            place -= weight
            if place < 0:
                return option
        raise AssertionError("weights add up")

    def bits(self, width: int) -> int:
        """A number of this many random bits."""
        return self._random.getrandbits(width)
