"""Loops that begin somewhere else in every lane and are equally long in all of them.

In `for p in i * length..(i + 1) * length` lanes have bounds of their own. As numbers that never
wrap, the bounds are `length` apart, so that lanes go through all rounds together: the loop counts
from zero, and `p` is where a lane began plus the count. With arithmetic that wraps, `stop` is what
is left of `start + length`; where that sum is a `u32` for all lanes of a row, nothing was lost, and
the loop has just so many rounds. One test per row tells; other rows run as they were written.
"""

from __future__ import annotations

from collections import Counter

from vyre import ir
from vyre.backends.llvm.analysis.affine_forms import Axes, LinearForms, X
from vyre.backends.llvm.emit.range_expander import Condition, RangeExpander, Span
from vyre.record import dataclass

MOST_TERMS = 16
_WRAPS = 1 << 32

Product = frozenset[tuple[ir.AnyExpr, int]]
"""Factors and how often they occur."""
Terms = dict[Product, int]
"""A sum of products, each so many times, modulo 2^32."""


@dataclass(frozen=True, slots=True)
class RebasedLoop:
    """Where a loop begins, which differs from lane to lane, and its rounds, which do not."""

    start: ir.AnyExpr
    rounds: ir.AnyExpr

    def is_testable(self, forms: LinearForms, axes: Axes) -> bool:
        """Whether the number of rounds is the same for all lanes along some axes."""
        return forms.is_constant_along(self.rounds, axes)

    def emit_test(self, reach: RangeExpander) -> list[Condition]:
        """When all lanes have so many rounds, if what the reach takes for exact is so."""
        start, rounds = reach.span(self.start), reach.span(self.rounds)
        end = reach.joined(ir.BinOp.ADD, start, rounds)
        whole = Span(start.least, end.greatest, start.low, end.high)
        return reach.fits_word(whole, ir.DataType.U32)


def trip_count_between(
    start: ir.AnyExpr, stop: ir.AnyExpr, forms: LinearForms
) -> ir.AnyExpr | None:
    """The distance of two `u32` modulo 2^32, if it is the same for all lanes of a row."""
    first, last = _terms(start), _terms(stop)
    if first is None or last is None:
        return None
    left = _sum(last, first, -1)
    if not all(forms.is_constant_along(f, X) for product in left for f, _ in product):
        return None
    total: ir.AnyExpr | None = None
    for product, times in left.items():
        made = _written(product, times)
        total = made if total is None else ir.Binary(ir.BinOp.ADD, total, made)
    return ir.Lit(ir.DataType.U32, 0) if total is None else total


def _written(product: Product, times: int) -> ir.AnyExpr:
    made: ir.AnyExpr | None = ir.Lit(ir.DataType.U32, times) if times != 1 or not product else None
    for factor, count in sorted(product, key=lambda item: str(item[0])):
        for _ in range(count):
            made = factor if made is None else ir.Binary(ir.BinOp.MUL, made, factor)
    assert made is not None
    return made


def _terms(expr: ir.AnyExpr) -> Terms | None:
    match expr:
        case ir.Lit(_, bits):
            return {frozenset(): bits} if bits else {}
        case ir.Binary(ir.BinOp.ADD | ir.BinOp.SUB as op, left, right):
            a, b = _terms(left), _terms(right)
            if a is None or b is None:
                return None
            return _few(_sum(a, b, 1 if op is ir.BinOp.ADD else -1))
        case ir.Binary(ir.BinOp.MUL, left, right):
            a, b = _terms(left), _terms(right)
            return None if a is None or b is None else _few(_product(a, b))
        case _:
            return {frozenset({(expr, 1)}): 1}


def _few(terms: Terms) -> Terms | None:
    return terms if len(terms) <= MOST_TERMS else None


def _sum(left: Terms, right: Terms, sign: int) -> Terms:
    made = dict(left)
    for product, times in right.items():
        made[product] = (made.get(product, 0) + sign * times) % _WRAPS
    return {product: times for product, times in made.items() if times}


def _product(left: Terms, right: Terms) -> Terms:
    made: Terms = {}
    for a, m in left.items():
        for b, n in right.items():
            joined = frozenset((Counter(dict(a)) + Counter(dict(b))).items())
            made[joined] = (made.get(joined, 0) + m * n) % _WRAPS
    return {product: times for product, times in made.items() if times}


__all__ = ["RebasedLoop", "trip_count_between"]
