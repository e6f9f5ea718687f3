"""Many atomics at once, with the result of doing them one after the other in lane order.

Accesses are sorted by element; what stands together is one element's history, in lane order.
Integer sums are prefix sums, other associative operations are scans by doubling, and what must be
done strictly in order (float sums, compare-exchange) goes in rounds: the first access of every
element, then the second of every element, and so on.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from vyre.ir import AtomicOp, DataType
from vyre.semantics import Array, atomic_function

_IN_PLACE: dict[AtomicOp, np.ufunc] = {
    AtomicOp.ADD: np.add,
    AtomicOp.SUB: np.subtract,
    AtomicOp.AND: np.bitwise_and,
    AtomicOp.OR: np.bitwise_or,
    AtomicOp.XOR: np.bitwise_xor,
    AtomicOp.MIN: np.minimum,
    AtomicOp.MAX: np.maximum,
}
_FEW = 16
"""With so few long histories left, one after the other is faster than in rounds."""


def update(op: AtomicOp, dtype: DataType, data: Array, at: Array, value: Array) -> bool:
    """Change memory without giving old values, if that can be done at once."""
    ufunc = _IN_PLACE.get(op)
    if ufunc is None or (dtype.is_float and op is not AtomicOp.ADD):
        return False
    ufunc.at(data, at, value)
    return True


def exchange(
    op: AtomicOp, dtype: DataType, data: Array, at: Array, value: Array, expected: Array | None
) -> Array:
    """Change memory element by element in the order of the entries; gives the old values."""
    history = History(at)
    value = np.broadcast_to(value, at.shape)[history.order]
    first = data[history.elements]
    if op is AtomicOp.COMPARE_EXCHANGE:
        assert expected is not None
        expected = np.broadcast_to(expected, at.shape)[history.order]
        old, last = _compare_exchange(history, first, value, expected)
    elif op is AtomicOp.EXCHANGE:
        old, last = history.shifted(first, value), value[history.ends]
    elif dtype.is_integer and op in (AtomicOp.ADD, AtomicOp.SUB):
        old, last = _sums(history, first, value if op is AtomicOp.ADD else np.negative(value))
    elif op is AtomicOp.ADD:
        old, last = _in_order(history, first, value, np.add)
    else:
        after = _scan(history, first, value, atomic_function(op, dtype))
        old, last = history.shifted(first, after), after[history.ends]
    data[history.elements] = last
    result = np.empty_like(old)
    result[history.order] = old
    return result


class History:
    """Accesses grouped by element: each group in lane order, one group behind the other."""

    __slots__ = ("elements", "ends", "order", "sizes", "starts")

    def __init__(self, at: Array) -> None:
        if int(at.min()) == int(at.max()):
            self.order = np.arange(at.size)
            self.starts = np.zeros(1, np.int64)
            self.elements = at[:1]
        else:
            self.order = np.argsort(at, kind="stable")
            ordered = at[self.order]
            fresh = np.empty(at.size, np.bool_)
            fresh[0] = True
            np.not_equal(ordered[1:], ordered[:-1], out=fresh[1:])
            self.starts = np.flatnonzero(fresh)
            self.elements = ordered[self.starts]
        self.sizes = np.diff(self.starts, append=at.size)
        self.ends = self.starts + self.sizes - 1

    def spread(self, per_element: Array) -> Array:
        """A value per element as a value per access."""
        return np.repeat(per_element, self.sizes)

    def shifted(self, first: Array, after: Array) -> Array:
        """What each access finds, from what each leaves."""
        found = np.empty_like(after)
        found[1:] = after[:-1]
        found[self.starts] = first
        return found


def _sums(history: History, first: Array, value: Array) -> tuple[Array, Array]:
    before = np.cumsum(value, dtype=value.dtype) - value
    old = history.spread(first - before[history.starts]) + before
    return old, old[history.ends] + value[history.ends]


def _scan(
    history: History, first: Array, value: Array, join: Callable[[Array, Array], Array]
) -> Array:
    """What each access leaves, for an associative operation."""
    after = value.copy()
    after[history.starts] = join(first, value[history.starts])
    rank = np.arange(value.size) - history.spread(history.starts)
    distance, longest = 1, int(history.sizes.max())
    while distance < longest:
        at = np.flatnonzero(rank >= distance)
        after[at] = join(after[at - distance], after[at])
        distance *= 2
    return after


def _in_order(history: History, first: Array, value: Array, join: np.ufunc) -> tuple[Array, Array]:
    """What each access finds and what remains, done strictly one after the other."""
    old = np.empty_like(value)
    current = first.copy()
    active = np.arange(current.size)
    turn = 0
    while active.size > _FEW:
        at = history.starts[active] + turn
        old[at] = current[active]
        current[active] = join(current[active], value[at])
        turn += 1
        active = active[history.sizes[active] > turn]
    for element in active:
        begin, end = history.starts[element] + turn, history.ends[element] + 1
        if begin < end:
            run = join.accumulate(
                np.concatenate([current[element : element + 1], value[begin:end]])
            )
            old[begin:end] = run[:-1]
            current[element] = run[-1]
    return old, current


def _compare_exchange(
    history: History, first: Array, value: Array, expected: Array
) -> tuple[Array, Array]:
    old = np.empty_like(value)
    current = first.copy()
    active = np.arange(current.size)
    turn = 0
    while active.size > _FEW:
        at = history.starts[active] + turn
        found = current[active]
        old[at] = found
        current[active] = np.where(found == expected[at], value[at], found)
        turn += 1
        active = active[history.sizes[active] > turn]
    for element in active:
        now = current[element]
        for at in range(history.starts[element] + turn, history.ends[element] + 1):
            old[at] = now
            if now == expected[at]:
                now = value[at]
        current[element] = now
    return old, current
