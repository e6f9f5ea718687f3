"""The order in which invocations and workgroups are scheduled.

`LockStep` is the order that defines results where the order shows: workgroups one after the other
by linear number, invocations of a workgroup in lock-step by linear index. `Shuffled` is another
legal one: workgroups in any order, invocations in random batches from barrier to barrier.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

import numpy as np

from vyre.record import dataclass
from vyre.semantics import Array

T = TypeVar("T")

_LANES_AT_ONCE = 1 << 15
"""Invocations in lock-step: enough to make numpy's calls cheap, few enough for the caches."""
_BYTES_AT_ONCE = 1 << 27
"""Workgroup memory and private arrays of those invocations."""
_BATCHES = 7
_SHUFFLED_WHOLE = 1 << 20
"""In larger grids, neighbouring workgroups stay together and only stretches of them move."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What decides how many workgroups can run together."""

    invocations: int
    """Of one workgroup."""
    workgroup_bytes: int
    """On-chip memory of one workgroup, private arrays included."""
    subgroup_width: int
    has_subgroups: bool

    @property
    def workgroups_at_once(self) -> int:
        """Whole workgroups that run together."""
        by_lanes = _LANES_AT_ONCE // self.invocations
        by_bytes = _BYTES_AT_ONCE // max(self.workgroup_bytes, 1)
        return max(1, min(by_lanes, by_bytes))


class Order(Protocol):
    """Who runs when."""

    def cohorts(self, workgroups: int) -> Iterator[Array]:
        """The workgroups of a grid, cut into those that run together."""
        ...

    def tasks(self, workgroups: int) -> Iterable[tuple[Array, Array]]:
        """The invocations of a cohort, cut into tasks: workgroup number and local index."""
        ...

    def shuffled(self, items: Sequence[T]) -> Sequence[T]:
        """In which order equals take their turn."""
        ...

    def copies_at_once(self) -> bool:
        """Whether an asynchronous copy happens when it is started, or when it is waited for."""
        ...


class LockStep:
    """The defining order."""

    def __init__(self, shape: Shape) -> None:
        self._shape = shape

    def cohorts(self, workgroups: int) -> Iterator[Array]:
        step = self._shape.workgroups_at_once
        for first in range(0, workgroups, step):
            yield np.arange(first, min(first + step, workgroups))

    def tasks(self, workgroups: int) -> Iterable[tuple[Array, Array]]:
        invocations = self._shape.invocations
        slot = np.repeat(np.arange(workgroups), invocations)
        yield slot, np.tile(np.arange(invocations), workgroups)

    def shuffled(self, items: Sequence[T]) -> Sequence[T]:
        return items

    def copies_at_once(self) -> bool:
        return True


class Shuffled:
    """Another legal order, the same one for the same seed."""

    def __init__(self, shape: Shape, seed: int) -> None:
        self._shape = shape
        self._random = np.random.default_rng(seed)

    def cohorts(self, workgroups: int) -> Iterator[Array]:
        # Fewer together than could be, so that their order shows in small grids too.
        step = max(1, min(self._shape.workgroups_at_once, workgroups // 3))
        if workgroups <= _SHUFFLED_WHOLE:
            order = self._random.permutation(workgroups)
            for first in range(0, workgroups, step):
                yield order[first : first + step]
            return
        stretches: list[int] = self._random.permutation(-(-workgroups // step)).tolist()
        for first in (number * step for number in stretches):
            yield self._random.permutation(np.arange(first, min(first + step, workgroups)))

    def tasks(self, workgroups: int) -> Iterable[tuple[Array, Array]]:
        shape = self._shape
        # Subgroup operations need their subgroup together; other invocations go where they like.
        unit = shape.subgroup_width if shape.has_subgroups else 1
        units = -(-shape.invocations // unit)
        batch = self._random.integers(_BATCHES, size=(workgroups, units))
        batch = np.repeat(batch, unit, axis=1)[:, : shape.invocations].reshape(-1)
        order = self._random.permutation(batch.size)
        order = order[np.argsort(batch[order], kind="stable")]
        cuts = np.flatnonzero(np.diff(batch[order])) + 1
        for members in np.split(order, cuts):
            yield members // shape.invocations, members % shape.invocations

    def shuffled(self, items: Sequence[T]) -> Sequence[T]:
        order: list[int] = self._random.permutation(len(items)).tolist()
        return [items[at] for at in order]

    def copies_at_once(self) -> bool:
        return bool(self._random.integers(2))
