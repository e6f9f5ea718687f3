"""How far indices in loops reach, so that one test before a row replaces one per round.

Additions, subtractions and multiplications are done without wrapping, in 128 bits, on the least
and the greatest value of every operand. Where the whole span lies inside a buffer, the wrapping
arithmetic of the program gives the very same indices.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from vyre.backends.llvm.codegen.kernel import Kernel
from vyre.backends.llvm.codegen.lanes import Lanes
from vyre.backends.llvm.codegen.linear import LinearForms, is_lane_id
from vyre.ir import AnyExpr, Binary, BinOp, Var

WIDE = "i128"


@dataclass(frozen=True, slots=True)
class LoopRange:
    """The bounds of a loop, names written out."""

    start: AnyExpr
    stop: AnyExpr


@dataclass(frozen=True, slots=True)
class Span:
    """The least and the greatest value of an expression, as operands."""

    least: str
    greatest: str


class Reach:
    """Spans for the lanes of one row from a certain lane on."""

    def __init__(
        self,
        kernel: Kernel,
        first: Lanes,
        lanes: str,
        forms: LinearForms,
        loops: Mapping[str, LoopRange],
    ) -> None:
        self._w = kernel.w
        self._first = first
        self._forms = forms
        self._loops = loops
        self._spans: dict[AnyExpr, Span] = {}
        last = self._w.emit(f"sub i32 {lanes}, 1")
        self._last = self._w.emit(f"zext i32 {last} to {WIDE}")

    @staticmethod
    def supports(expr: AnyExpr, forms: LinearForms, loops: Mapping[str, LoopRange]) -> bool:
        """Whether the span of a `u32` expression can be told."""
        if forms.is_row_constant(expr):
            return True
        match expr:
            case Var(name):
                return name in loops
            case Binary(BinOp.ADD | BinOp.SUB, left, right):
                return Reach.supports(left, forms, loops) and Reach.supports(right, forms, loops)
            case Binary(BinOp.MUL, left, right):
                sides = (left, right)
                return all(Reach.supports(s, forms, loops) and _rises(s, forms) for s in sides)
            case _:
                return is_lane_id(expr)

    def is_inside(self, index: AnyExpr, count: str) -> str:
        """Whether the whole span lies inside a buffer, an i1."""
        w = self._w
        span = self.span(index)
        size = w.emit(f"zext i64 {count} to {WIDE}")
        begins = w.emit(f"icmp sge {WIDE} {span.least}, 0")
        ends = w.emit(f"icmp slt {WIDE} {span.greatest}, {size}")
        return w.emit(f"and i1 {begins}, {ends}")

    def span(self, expr: AnyExpr) -> Span:
        """The least and the greatest value."""
        found = self._spans.get(expr)
        if found is None:
            found = self._spans[expr] = self._span(expr)
        return found

    def _span(self, expr: AnyExpr) -> Span:
        w = self._w
        if self._forms.is_row_constant(expr) or is_lane_id(expr):
            value = w.emit(f"zext i32 {self._first.value(expr).text} to {WIDE}")
            moves = is_lane_id(expr)
            return Span(value, w.emit(f"add {WIDE} {value}, {self._last}") if moves else value)
        if isinstance(expr, Var):
            loop = self._loops[expr.name]
            last = w.emit(f"sub {WIDE} {self.span(loop.stop).greatest}, 1")
            return Span(self.span(loop.start).least, last)
        assert isinstance(expr, Binary)
        left, right = self.span(expr.left), self.span(expr.right)
        if expr.op is BinOp.SUB:
            right = Span(right.greatest, right.least)
        name = {BinOp.ADD: "add", BinOp.SUB: "sub", BinOp.MUL: "mul"}[expr.op]
        least = w.emit(f"{name} {WIDE} {left.least}, {right.least}")
        return Span(least, w.emit(f"{name} {WIDE} {left.greatest}, {right.greatest}"))


def _rises(expr: AnyExpr, forms: LinearForms) -> bool:
    """Whether an expression is at least zero and rises with everything in it."""
    if forms.is_row_constant(expr):
        return True
    if isinstance(expr, Binary):
        if expr.op not in (BinOp.ADD, BinOp.MUL):
            return False
        return _rises(expr.left, forms) and _rises(expr.right, forms)
    return True
