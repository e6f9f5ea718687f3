"""Loop rebasing: divergent bounds with a uniform trip count.

    for p in i * length..(i + 1) * length { body }
->
    for k in 0..length { let p = i * length + k; body }

The bounds differ between lanes, their difference does not, so all lanes execute the loop in
lock-step. The difference is computed as a polynomial modulo 2^32.

Legal when `start + trip count` fits into a `u32` for all lanes of a row: `stop` is that sum modulo
2^32, so if it does not wrap, the loop has exactly that many iterations. One test per row decides;
other rows run the original loop.
Profitable when the start is varying: the rebased counter is uniform.
"""

from __future__ import annotations

from collections import Counter

from vyre import ir
from vyre.backends.llvm import heuristics
from vyre.backends.llvm.analysis.affine_forms import Axes, LinearForms, X
from vyre.backends.llvm.emit.range_expander import Condition, RangeExpander, Span
from vyre.record import dataclass

_WRAPS = 1 << 32

Product = frozenset[tuple[ir.AnyExpr, int]]
"""Factors and their exponents."""
Terms = dict[Product, int]
"""A polynomial: products and their coefficients, modulo 2^32."""


@dataclass(frozen=True, slots=True)
class RebasedLoop:
    """A loop's varying start and its uniform trip count."""

    start: ir.AnyExpr
    trip_count: ir.AnyExpr

    def is_testable(self, forms: LinearForms, axes: Axes) -> bool:
        """True if the trip count is uniform along some axes."""
        return forms.is_constant_along(self.trip_count, axes)

    def emit_test(self, reach: RangeExpander) -> list[Condition]:
        """Conditions for this trip count in all lanes, given exact spans."""
        start, trip_count = reach.span(self.start), reach.span(self.trip_count)
        end = reach.joined(ir.BinOp.ADD, start, trip_count)
        whole = Span(start.least, end.greatest, start.low, end.high)
        return reach.fits_word(whole, ir.DataType.U32)


def trip_count_between(
    start: ir.AnyExpr, stop: ir.AnyExpr, forms: LinearForms
) -> ir.AnyExpr | None:
    """Difference of two `u32` modulo 2^32; None unless it is uniform along a row."""
    first, last = _terms(start), _terms(stop)
    if first is None or last is None:
        return None
    difference = _sum(last, first, -1)
    if not all(forms.is_constant_along(f, X) for product in difference for f, _ in product):
        return None
    total: ir.AnyExpr | None = None
    for product, coefficient in difference.items():
        term = _expression(product, coefficient)
        total = term if total is None else ir.Binary(ir.BinOp.ADD, total, term)
    return ir.Lit(ir.DataType.U32, 0) if total is None else total


def _expression(product: Product, coefficient: int) -> ir.AnyExpr:
    made: ir.AnyExpr | None = (
        ir.Lit(ir.DataType.U32, coefficient) if coefficient != 1 or not product else None
    )
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
    return terms if len(terms) <= heuristics.MAX_REBASED_TERMS else None


def _sum(left: Terms, right: Terms, sign: int) -> Terms:
    made = dict(left)
    for product, coefficient in right.items():
        made[product] = (made.get(product, 0) + sign * coefficient) % _WRAPS
    return {product: coefficient for product, coefficient in made.items() if coefficient}


def _product(left: Terms, right: Terms) -> Terms:
    made: Terms = {}
    for a, m in left.items():
        for b, n in right.items():
            joined = frozenset((Counter(dict(a)) + Counter(dict(b))).items())
            made[joined] = (made.get(joined, 0) + m * n) % _WRAPS
    return {product: coefficient for product, coefficient in made.items() if coefficient}


__all__ = ["RebasedLoop", "trip_count_between"]
