"""Which invocations of a task execute a statement.

Instead of computing everything for all invocations and throwing results away, statements run on
the active ones only: arrays of values have one entry per active invocation. `Lanes` is that set;
the same object means the same set, so a value knows by identity whether it fits as it is.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from vyre.semantics import Array


class Lanes:
    """Some invocations of a task, in the order of their positions; never none."""

    __slots__ = ("_within", "index", "size")

    def __init__(self, size: int, index: Array | None = None) -> None:
        self.size = size
        self.index = index
        """Positions in the task, ascending; None when it is all of them."""
        self._within: dict[int, tuple[Lanes, Array]] = {}

    @property
    def positions(self) -> Array:
        """Where in the task each invocation stands."""
        return np.arange(self.size) if self.index is None else self.index

    def part(self, mask: Array) -> Lanes | None:
        """Those for which `mask` holds; this very object if that is all of them."""
        if mask.size == 1:
            return self if mask[0] else None
        count = int(np.count_nonzero(mask))
        if count == self.size:
            return self
        if count == 0:
            return None
        index = np.flatnonzero(mask) if self.index is None else self.index[mask]
        return Lanes(count, index)

    def split(self, mask: Array) -> tuple[Lanes | None, Lanes | None]:
        """Those for which `mask` holds, and the others."""
        taken = self.part(mask)
        if taken is self:
            return self, None
        if taken is None:
            return None, self
        return taken, self.part(~mask)

    def within(self, owner: Lanes) -> Array:
        """Where these invocations stand among those of `owner`, of which they are a part."""
        if owner.index is None:
            return self.positions
        known = self._within.get(id(owner))
        if known is None:
            known = self._within[id(owner)] = (owner, np.searchsorted(owner.index, self.positions))
        return known[1]

    def join(self, parts: Iterable[Lanes | None]) -> Lanes | None:
        """The union of disjoint parts of these; this very object if that is all of them."""
        found = [part for part in parts if part is not None]
        if len(found) == 1:
            return found[0] if found[0].size < self.size else self
        total = sum(part.size for part in found)
        if total == self.size:
            return self
        if total == 0:
            return None
        return Lanes(total, np.sort(np.concatenate([part.positions for part in found])))
