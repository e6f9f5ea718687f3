"""Consecutive indices, as load combining needs them.

Indices are consecutive if `index(n) = base + offset + n` modulo 2^32, as in `a[p]`, `a[p + 1]`, ….
So are `a[p]`, `a[add_sat(p, 1)]`, …, as long as no sum saturates: that is the case where the last
index, computed without wrapping, is in bounds. Next to sums that saturate only those count as sums,
since `p + 1` may wrap around where `add_sat(p, 2)` does not.
So are `m[r, k]`, `m[r, k + 1]`, …, whose indices are guarded by a bounds test:
`select(r < rows & k + 1 < columns, r * columns + (k + 1), 4294967295)`. Both the index and the
tested value then advance by one from each to the next. Bases are compared as expressions, so equal
ones that are written differently are missed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from vyre import ir
from vyre.ir.walk import walk_expr
from vyre.record import dataclass

MODULUS = 1 << 32
SplitSum = Callable[[ir.AnyExpr], tuple[ir.AnyExpr | None, int]]


@dataclass(frozen=True, slots=True)
class GuardedIndex:
    """A guarded index: `stays + offset`, and the conjuncts of its guard."""

    stays: ir.AnyExpr | None
    offset: int
    tests: tuple[Test, ...]
    index: ir.AnyExpr
    """The index without its guard."""


@dataclass(frozen=True, slots=True)
class Test:
    """A conjunct: `stays + offset < limit`, or any condition if `stays` is None."""

    stays: ir.AnyExpr | None
    offset: int
    tested: ir.AnyExpr
    limit: ir.AnyExpr | None


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Indices that are consecutive."""

    first: ir.AnyExpr
    """The first index."""
    fixed: tuple[ir.AnyExpr, ...]
    """Conjuncts that all of them share."""
    rising: tuple[tuple[ir.AnyExpr, ir.AnyExpr], ...]
    """Tested values that advance by one, at the first index, with limits."""


def neighbours_of(indices: Sequence[ir.AnyExpr]) -> Neighbours | None:
    """Describe consecutive 32-bit indices; None if they are not consecutive."""
    sums = _saturating_sum if any(map(_saturates, indices)) else _sum
    guarded = [_guarded_index(index, sums) for index in indices]
    first = guarded[0]
    for number, each in enumerate(guarded):
        if each.stays != first.stays or len(each.tests) != len(first.tests):
            return None
        if (each.offset - first.offset) % MODULUS != number:
            return None
    fixed: list[ir.AnyExpr] = []
    rising: list[tuple[ir.AnyExpr, ir.AnyExpr]] = []
    for tests in zip(*(each.tests for each in guarded), strict=True):
        if all(test == tests[0] for test in tests):
            fixed.append(_condition(tests[0]))
        elif _rise(tests) and tests[0].limit is not None:
            rising.append((tests[0].tested, tests[0].limit))
        else:
            return None
    return Neighbours(first.index, tuple(fixed), tuple(rising))


def _rise(tests: Sequence[Test]) -> bool:
    first = tests[0]
    return all(
        test.stays == first.stays
        and test.limit == first.limit
        and (test.offset - first.offset) % MODULUS == number
        for number, test in enumerate(tests)
    )


def _condition(test: Test) -> ir.AnyExpr:
    return test.tested if test.limit is None else ir.Binary(ir.BinOp.LT, test.tested, test.limit)


def _saturates(index: ir.AnyExpr) -> bool:
    """True if a saturating sum is part of an index."""
    return any(isinstance(e, ir.Binary) and e.op is ir.BinOp.ADD_SAT for e in walk_expr(index))


def _guarded_index(index: ir.AnyExpr, sums: SplitSum) -> GuardedIndex:
    tests: list[Test] = []
    match index:
        case ir.Select(cond, inner, ir.Lit(ir.DataType.U32, bits)) if bits == MODULUS - 1:
            _collect(cond, tests, sums)
            index = inner
        case _:
            pass
    stays, offset = sums(index)
    return GuardedIndex(stays, offset, tuple(tests), index)


def _collect(cond: ir.AnyExpr, tests: list[Test], sums: SplitSum) -> None:
    match cond:
        case ir.Binary(ir.BinOp.AND, left, right):
            _collect(left, tests, sums)
            _collect(right, tests, sums)
        case ir.Binary(ir.BinOp.LT, tested, limit) | ir.Binary(ir.BinOp.GT, limit, tested):
            tests.append(Test(*sums(tested), tested, limit))
        case ir.Binary(ir.BinOp.NE, limit, ir.Lit(ir.DataType.U32, 0) as tested):
            tests.append(Test(None, 0, tested, limit))
        case _:
            tests.append(Test(None, 0, cond, None))


def _sum(expr: ir.AnyExpr) -> tuple[ir.AnyExpr | None, int]:
    """Split a sum into its symbolic part and its constant term."""
    match expr:
        case ir.Lit(_, bits):
            return None, bits
        case ir.Binary(ir.BinOp.ADD, left, right):
            (a, m), (b, n) = _sum(left), _sum(right)
            if a is not None and b is not None:
                return ir.Binary(ir.BinOp.ADD, a, b), (m + n) % MODULUS
            return b if a is None else a, (m + n) % MODULUS
        case ir.Binary(ir.BinOp.SUB, left, ir.Lit(_, bits)):
            a, m = _sum(left)
            return a, (m - bits) % MODULUS
        case _:
            return expr, 0


def _saturating_sum(expr: ir.AnyExpr) -> tuple[ir.AnyExpr | None, int]:
    """Split a saturating sum into its symbolic part and its constant; other sums stay whole."""
    match expr:
        case ir.Binary(ir.BinOp.ADD_SAT, left, ir.Lit(_, bits)):
            return left, bits
        case _:
            return expr, 0


__all__ = ["MODULUS", "Neighbours", "neighbours_of"]
