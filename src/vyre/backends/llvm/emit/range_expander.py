"""Expands symbolic ranges of indices to code: one check per row, none per iteration.

Additions, subtractions and multiplications are done without wrapping, on the least and the greatest
value of every operand. Where the whole range lies inside a buffer, the wrapping arithmetic of the
program gives the very same indices: both are equal modulo 2^32, whether the program treats its 32
bits as signed or as unsigned on the way.

Numbers have 64 bits, and conditions are encoded in their signs: one comparison decides many of
them. LLVM takes long over many comparisons that are combined.

Values that could need more bits are required to be small: a factor of 2^30 or more leaves room for
three others. Bounds that follow from a value's type are not tested again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from vyre import ir
from vyre.backends.llvm.analysis.affine_forms import Axes, LinearForms, X, is_id_along
from vyre.backends.llvm.analysis.table_ranges import TableRanges
from vyre.backends.llvm.emit.builder import Builder, known_integer
from vyre.backends.llvm.emit.context import Kernel
from vyre.backends.llvm.emit.expressions import LaneContext
from vyre.record import dataclass

MOST_FACTOR = 1 << 30
MOST_TERM = 1 << 61
MOST = 1 << 62
"""Numbers stay below it: one more addition does not wrap."""
Condition = tuple[str, bool]
"""An i64 operand, and whether it must be negative or must not be."""
_NAMES = {ir.BinOp.ADD: "add", ir.BinOp.SUB: "sub", ir.BinOp.MUL: "mul"}


@dataclass(frozen=True, slots=True)
class LoopRange:
    """The bounds of a loop, with variables expanded to their definitions."""

    start: ir.AnyExpr
    stop: ir.AnyExpr


@dataclass(frozen=True, slots=True)
class Span:
    """The range of an expression: its least and its greatest value, i64 operands."""

    least: str
    greatest: str
    low: int
    """Compile-time lower bound of the least value."""
    high: int
    """Compile-time upper bound of the greatest value."""


_ONE = Span("1", "1", 1, 1)


class RangeExpander:
    """Expands ranges over the lanes of a row or a block.

    A block has lanes along several axes.
    """

    def __init__(
        self,
        kernel: Kernel,
        first: LaneContext,
        extents: tuple[str, ...],
        forms: LinearForms,
        loops: Mapping[str, LoopRange],
        contents: TableRanges | None = None,
    ) -> None:
        """Initialise; `extents` are the lanes along x, and along y and z if these vary."""
        self._kernel = kernel
        self._w = kernel.w
        self._contents = contents
        self._first = first
        self._forms = forms
        self._loops = loops
        self._spans: dict[ir.AnyExpr, Span] = {}
        self._axes = tuple(range(len(extents)))
        self.exact: list[Condition] = []
        """Conditions under which ranges are exact: nothing in them wraps, nor in loop bounds."""
        self._last = [self._last_of(lanes) for lanes in extents]

    def _last_of(self, lanes: str) -> Span:
        known = known_integer(lanes)
        if known is not None:
            return Span(str(known - 1), str(known - 1), known - 1, known - 1)
        last = self._w.emit(f"sub i32 {lanes}, 1")
        last = self._w.emit(f"zext i32 {last} to i64")
        return Span(last, last, 0, (1 << 32) - 1)

    @staticmethod
    def supports(
        expr: ir.AnyExpr,
        forms: LinearForms,
        loops: Mapping[str, LoopRange],
        axes: Axes = X,
        contents: TableRanges | None = None,
    ) -> bool:
        """True if a `u32` expression's range over some axes can be expanded."""
        if forms.is_constant_along(expr, axes):
            return True
        if contents is not None and contents.has_greatest(expr):
            return True
        match expr:
            case ir.Var(name):
                if name not in loops:
                    return False
                ends = (loops[name].start, loops[name].stop)
                return all(RangeExpander.supports(end, forms, loops, axes) for end in ends)
            case ir.Binary(ir.BinOp.ADD | ir.BinOp.SUB, left, right):
                sides = (left, right)
                return all(
                    RangeExpander.supports(side, forms, loops, axes, contents) for side in sides
                )
            case ir.Binary(ir.BinOp.MUL, left, right):
                sides = (left, right)
                if not all(
                    RangeExpander.supports(side, forms, loops, axes, contents) for side in sides
                ):
                    return False
                if any(forms.is_u32(s) and forms.is_constant_along(s, axes) for s in sides):
                    # Multiplied by one non-negative number: the order of the others stays.
                    return True
                return all(rises(side, forms, axes, contents) for side in sides)
            case ir.Cast(value, _) if forms.is_recast(expr):
                return RangeExpander.supports(value, forms, loops, axes, contents)
            case _:
                return is_id_along(expr, axes)

    def is_inside(
        self, index: ir.AnyExpr, count: str, *, before: int = 0, after: int = 0
    ) -> list[Condition]:
        """Emit conditions that the whole range is in bounds.

        It is widened by `before` and `after` elements. The conditions suffice only if all of
        `exact` holds as well.
        """
        span = self.span(index)
        greatest = self._result(ir.BinOp.ADD, span.greatest, str(after))
        conditions = [(self._w.emit(f"sub i64 {greatest}, {count}"), True)]
        if span.low < before:
            conditions.append((self._result(ir.BinOp.SUB, span.least, str(before)), False))
        return conditions

    def fits_word(self, span: Span, dtype: ir.DataType | None) -> list[Condition]:
        """Emit conditions that a range fits a type of 32 bits."""
        least, most = word_range(dtype)
        conditions: list[Condition] = []
        if span.low < least:
            conditions.append((self._result(ir.BinOp.SUB, span.least, str(least)), False))
        if span.high > most:
            conditions.append((self._result(ir.BinOp.SUB, span.greatest, str(most + 1)), True))
        return conditions

    def span(self, expr: ir.AnyExpr) -> Span:
        """Emit the range of an expression, once for each."""
        cached = self._spans.get(expr)
        if cached is None:
            cached = self._spans[expr] = self._span(expr)
        return cached

    def _span(self, expr: ir.AnyExpr) -> Span:
        if isinstance(expr, ir.Builtin) or self._forms.is_constant_along(expr, self._axes):
            value = self._single(expr)
            if isinstance(expr, ir.Builtin) and is_id_along(expr, self._axes):
                end = self.joined(ir.BinOp.ADD, value, self._last[expr.axis])
                return Span(value.least, end.greatest, value.low, end.high)
            return value
        if self._contents is not None and self._contents.has_greatest(expr):
            greatest = self._contents.greatest(self._kernel, expr)
            return Span("0", greatest, 0, word_range(ir.DataType.U32)[1])
        if isinstance(expr, ir.Cast):
            return self.span(expr.value)
        if isinstance(expr, ir.Var):
            loop = self._loops[expr.name]
            start, stop = self.span(loop.start), self.span(loop.stop)
            for bound, end in ((start, loop.start), (stop, loop.stop)):
                if not self._forms.is_constant_along(end, self._axes):
                    # A loop compares its induction variable with the bounds after wrapping.
                    self.exact += self.fits_word(bound, self._forms.word(end))
            last = self.joined(ir.BinOp.SUB, stop, _ONE)
            # A loop with a trip count of zero may have its start beyond its stop.
            low, high = min(start.low, last.low), max(start.high, last.high)
            return Span(start.least, last.greatest, low, high)
        assert isinstance(expr, ir.Binary)
        return self.joined(expr.op, self.span(expr.left), self.span(expr.right))

    def _single(self, expr: ir.AnyExpr) -> Span:
        """Emit the range of a uniform value, or of the first lane's."""
        first = self._first.value(expr)
        least, most = word_range(first.dtype)
        known = known_integer(first.text)
        if known is not None:
            known = (known - least) % (1 << 32) + least
            return Span(str(known), str(known), known, known)
        extended = "sext" if first.dtype.is_signed else "zext"
        value = self._w.emit(f"{extended} i32 {first.text} to i64")
        return Span(value, value, least, most)

    def joined(self, op: ir.BinOp, left: Span, right: Span) -> Span:
        """Emit the range of a sum, difference or product.

        Factors must be as `supports` requires.
        """
        if op is ir.BinOp.SUB:
            right = Span(right.greatest, right.least, right.high, right.low)
        ends = _ends(op, left, right)
        if not -MOST <= min(ends) <= max(ends) < MOST:
            most = MOST_FACTOR if op is ir.BinOp.MUL else MOST_TERM
            left, right = self._bounded(left, most), self._bounded(right, most)
            ends = _ends(op, left, right)
        least = self._result(op, left.least, right.least)
        greatest = least
        if (left.greatest, right.greatest) != (left.least, right.least):
            greatest = self._result(op, left.greatest, right.greatest)
        return Span(least, greatest, min(ends), max(ends))

    def difference(self, left: str, right: str) -> str:
        """Emit the difference of two ends of ranges, an i64."""
        return self._result(ir.BinOp.SUB, left, right)

    def _result(self, op: ir.BinOp, left: str, right: str) -> str:
        if right == "0" and op is not ir.BinOp.MUL:
            return left
        if left == "0" and op is ir.BinOp.ADD:
            return right
        a, b = known_integer(left), known_integer(right)
        if a is not None and b is not None:
            return str(_number(op, a, b))
        return self._w.emit(f"{_NAMES[op]} i64 {left}, {right}")

    def _bounded(self, span: Span, most: int) -> Span:
        """Require a range to stay within `most` in either direction.

        If it does not, `exact` fails; values computed from the range may wrap, and are not used.
        """
        turned = span.low > span.high
        least, greatest = sorted((span.low, span.high))
        first, last = (span.greatest, span.least) if turned else (span.least, span.greatest)
        if least < -most:
            self.exact.append((self._result(ir.BinOp.ADD, first, str(most)), False))
            least = -most
        if greatest >= most:
            self.exact.append((self._result(ir.BinOp.SUB, last, str(most)), True))
            greatest = most - 1
        low, high = (greatest, least) if turned else (least, greatest)
        return Span(span.least, span.greatest, low, high)


def _ends(op: ir.BinOp, left: Span, right: Span) -> list[int]:
    """Numbers whose least and greatest bound all results."""
    if op is ir.BinOp.MUL:
        return [a * b for a in (left.low, left.high) for b in (right.low, right.high)]
    return [_number(op, left.low, right.low), _number(op, left.high, right.high)]


def _number(op: ir.BinOp, left: int, right: int) -> int:
    if op is ir.BinOp.ADD:
        return left + right
    return left - right if op is ir.BinOp.SUB else left * right


def all_of(w: Builder, conditions: Iterable[Condition]) -> str:
    """Emit whether all conditions hold, an i1."""
    below: list[str] = []
    others: list[str] = []
    for operand, is_below in dict.fromkeys(conditions):
        (below if is_below else others).append(operand)
    held: list[str] = []
    if others:
        held.append(w.emit(f"icmp sgt i64 {_joined(w, 'or', others)}, -1"))
    if below:
        held.append(w.emit(f"icmp slt i64 {_joined(w, 'and', below)}, 0"))
    return (
        "true" if not held else held[0] if len(held) == 1 else w.emit(f"and i1 {', '.join(held)}")
    )


def _joined(w: Builder, name: str, operands: list[str]) -> str:
    joined, *others = operands
    for operand in others:
        joined = w.emit(f"{name} i64 {joined}, {operand}")
    return joined


def word_range(dtype: ir.DataType | None) -> tuple[int, int]:
    """The least and the greatest number of a type of 32 bits."""
    signed = dtype is not None and dtype.is_signed
    return (-(1 << 31), (1 << 31) - 1) if signed else (0, (1 << 32) - 1)


def rises(
    expr: ir.AnyExpr, forms: LinearForms, axes: Axes = X, contents: TableRanges | None = None
) -> bool:
    """True if an expression is non-negative and monotonic in all its operands."""
    if forms.word(expr) is ir.DataType.I32:
        return False
    if forms.is_constant_along(expr, axes):
        return True
    if contents is not None and contents.has_greatest(expr):
        return True
    if isinstance(expr, ir.Binary):
        if expr.op not in (ir.BinOp.ADD, ir.BinOp.MUL):
            return False
        return all(rises(side, forms, axes, contents) for side in (expr.left, expr.right))
    return not isinstance(expr, ir.Cast)
