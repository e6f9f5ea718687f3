"""The abstract value of range analysis: a type, an interval, and bounds by buffer lengths.

A length is known only at run time, so besides the interval a value may have bounds of the form
"at most len(buffer) + offset". An index with offset -1 or less, and not negative, is inside.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from vyre.analysis import interval
from vyre.analysis.interval import Interval
from vyre.ir import BinOp, DataType
from vyre.ir.opcodes import COMPARISONS

Bounds = Mapping[str, int]
"""By buffer: the value is at most its length plus this."""
UNBOUNDED: Bounds = {}


class Bounded(NamedTuple):
    """A value as far as it is known. `interval` is None for floats and vectors."""

    dtype: DataType
    interval: Interval | None
    bounds: Bounds = UNBOUNDED

    @staticmethod
    def any(dtype: DataType) -> Bounded:
        """Any value of a type."""
        found = _ANY.get(dtype)
        if found is None:
            number = dtype.is_integer or dtype.is_bool
            found = Bounded(dtype, Interval.of_type(dtype) if number else None)
            _ANY[dtype] = found
        return found

    def join(self, other: Bounded) -> Bounded:
        """What is known of a value that is one or the other."""
        if self is other or self.interval is None or other.interval is None:
            return self
        return Bounded(
            self.dtype, self.interval.join(other.interval), _either(self.bounds, other.bounds)
        )

    def meet(self, other: Bounded) -> Bounded:
        """What is known of a value that is both."""
        if self is other or self.interval is None or other.interval is None:
            return self
        return Bounded(
            self.dtype, self.interval.meet(other.interval), _both(self.bounds, other.bounds)
        )

    def covers(self, other: Bounded) -> bool:
        """Whether all that is known of this value is also known of the other."""
        if self.interval is None or other.interval is None:
            return True
        if not other.interval.within(self.interval):
            return False
        return all(
            other.bounds.get(name, offset + 1) <= offset for name, offset in self.bounds.items()
        )


_ANY: dict[DataType, Bounded] = {}


def _either(a: Bounds, b: Bounds) -> Bounds:
    if not a or not b:
        return UNBOUNDED
    return {name: max(a[name], b[name]) for name in a if name in b}


def _both(a: Bounds, b: Bounds) -> Bounds:
    if not a or not b:
        return a or b
    return {
        name: min(a.get(name, b.get(name, 0)), b.get(name, a.get(name, 0))) for name in {**a, **b}
    }


def shifted(bounds: Bounds, by: int) -> Bounds:
    """The bounds of a value that is at most `by` more."""
    return {name: offset + by for name, offset in bounds.items()} if bounds else UNBOUNDED


def binary(op: BinOp, a: Bounded, b: Bounded) -> Bounded:
    """What is known of the result of an opcode of two operands."""
    dtype = DataType.BOOL if op in COMPARISONS else a.dtype
    if a.interval is None or b.interval is None:
        return Bounded.any(dtype)
    found = interval.binary(op, a.interval, b.interval, a.dtype)
    if op in COMPARISONS or not (a.bounds or b.bounds):
        return Bounded(dtype, found)
    return Bounded(dtype, found, _bounds(op, a, b, a.interval, b.interval))


def _bounds(op: BinOp, a: Bounded, b: Bounded, x: Interval, y: Interval) -> Bounds:
    whole = Interval.of_type(a.dtype)
    match op:
        case BinOp.ADD if x.high + y.high <= whole.high and x.low + y.low >= whole.low:
            return _both(shifted(a.bounds, y.high), shifted(b.bounds, x.high))
        case BinOp.SUB if x.low - y.high >= whole.low and x.high - y.low <= whole.high:
            return shifted(a.bounds, -y.low)
        case BinOp.MIN:
            return _both(a.bounds, b.bounds)
        case BinOp.MAX:
            return _either(a.bounds, b.bounds)
        case BinOp.AND if x.low >= 0 and y.low >= 0:
            return _both(a.bounds, b.bounds)
        case BinOp.REM if x.low >= 0:
            below = shifted(b.bounds, -1) if y.low > 0 else UNBOUNDED
            return _both(a.bounds, below)
        case BinOp.DIV if x.low >= 0 and y.low > 0:
            return a.bounds
        case BinOp.SHR if x.low >= 0:
            return a.bounds
        case _:
            return UNBOUNDED


def cast(value: Bounded, target: DataType) -> Bounded:
    """What is known of a value after a conversion."""
    if value.interval is None or not (target.is_integer or target.is_bool):
        return Bounded.any(target)
    found = interval.cast(value.interval, value.dtype, target)
    unchanged = target.is_integer and found == value.interval
    return Bounded(target, found, value.bounds if unchanged else UNBOUNDED)


def narrowed(op: BinOp, a: Bounded, b: Bounded) -> tuple[Bounded, Bounded]:
    """What is known of two integers when the comparison of them holds."""
    if a.interval is None or b.interval is None:
        return a, b
    match op:
        case BinOp.LT:
            return _below(a, b, 1)
        case BinOp.LE:
            return _below(a, b, 0)
        case BinOp.GT:
            right, left = _below(b, a, 1)
            return left, right
        case BinOp.GE:
            right, left = _below(b, a, 0)
            return left, right
        case BinOp.EQ:
            return a.meet(b), b.meet(a)
        case BinOp.NE:
            return _other_than(a, b.interval.constant), _other_than(b, a.interval.constant)
        case _:
            return a, b


def _below(a: Bounded, b: Bounded, gap: int) -> tuple[Bounded, Bounded]:
    """`a` is at least `gap` below `b`."""
    if a.interval is None or b.interval is None:
        return a, b
    low, high = a.interval.low, b.interval.high
    left = Interval(min(low, high - gap), high - gap)
    right = Interval(low + gap, max(high, low + gap))
    return (
        Bounded(a.dtype, a.interval.meet(left), _both(a.bounds, shifted(b.bounds, -gap))),
        Bounded(b.dtype, b.interval.meet(right), b.bounds),
    )


def _other_than(a: Bounded, value: int | None) -> Bounded:
    known = a.interval
    if value is None or known is None or known.low == known.high:
        return a
    if value == known.low:
        return Bounded(a.dtype, Interval(known.low + 1, known.high), a.bounds)
    if value == known.high:
        return Bounded(a.dtype, Interval(known.low, known.high - 1), a.bounds)
    return a
