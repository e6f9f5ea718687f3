"""How far indices in loops reach, so that one test before a row replaces one per round.

Additions, subtractions and multiplications are done without wrapping, in 128 bits, on the least
and the greatest value of every operand. Where the whole span lies inside a buffer, the wrapping
arithmetic of the program gives the very same indices.
"""

from __future__ import annotations

from collections.abc import Mapping

from vyre.backends.llvm.codegen.contents import Contents
from vyre.backends.llvm.codegen.kernel import Kernel
from vyre.backends.llvm.codegen.lanes import Lanes
from vyre.backends.llvm.codegen.linear import Axes, LinearForms, X, is_id_along
from vyre.ir import AnyExpr, Binary, BinOp, Builtin, Var
from vyre.record import dataclass

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
    """Spans for the lanes from a certain one on: of a row, or of a block along several axes."""

    def __init__(
        self,
        kernel: Kernel,
        first: Lanes,
        extents: tuple[str, ...],
        forms: LinearForms,
        loops: Mapping[str, LoopRange],
        contents: Contents | None = None,
    ) -> None:
        """`extents` says how many lanes lie along x, and along y and z if they count."""
        self._kernel = kernel
        self._w = kernel.w
        self._contents = contents
        self._first = first
        self._forms = forms
        self._loops = loops
        self._spans: dict[AnyExpr, Span] = {}
        self._axes = tuple(range(len(extents)))
        self._last: list[str] = []
        self._exact: list[str] = []
        """Conditions under which loops count as their bounds are written, without wrapping."""
        for lanes in extents:
            last = self._w.emit(f"sub i32 {lanes}, 1")
            self._last.append(self._w.emit(f"zext i32 {last} to {WIDE}"))

    @staticmethod
    def supports(
        expr: AnyExpr,
        forms: LinearForms,
        loops: Mapping[str, LoopRange],
        axes: Axes = X,
        contents: Contents | None = None,
    ) -> bool:
        """Whether the span of a `u32` expression can be told for lanes along some axes."""
        if forms.is_constant_along(expr, axes):
            return True
        if contents is not None and contents.has_greatest(expr):
            return True
        match expr:
            case Var(name):
                if name not in loops:
                    return False
                ends = (loops[name].start, loops[name].stop)
                return all(Reach.supports(end, forms, loops, axes) for end in ends)
            case Binary(BinOp.ADD | BinOp.SUB, left, right):
                sides = (left, right)
                return all(Reach.supports(side, forms, loops, axes, contents) for side in sides)
            case Binary(BinOp.MUL, left, right):
                return all(
                    Reach.supports(side, forms, loops, axes, contents)
                    and _rises(side, forms, axes, contents)
                    for side in (left, right)
                )
            case _:
                return is_id_along(expr, axes)

    def is_inside(self, index: AnyExpr, count: str, *, before: int = 0, after: int = 0) -> str:
        """Whether the whole span, with some elements before and after, lies inside a buffer."""
        w = self._w
        span = self.span(index)
        size = w.emit(f"zext i64 {count} to {WIDE}")
        greatest = w.emit(f"add {WIDE} {span.greatest}, {after}") if after else span.greatest
        begins = w.emit(f"icmp sge {WIDE} {span.least}, {before}")
        ends = w.emit(f"icmp slt {WIDE} {greatest}, {size}")
        inside = w.emit(f"and i1 {begins}, {ends}")
        for exact in self._exact:
            inside = w.emit(f"and i1 {inside}, {exact}")
        return inside

    def span(self, expr: AnyExpr) -> Span:
        """The least and the greatest value."""
        found = self._spans.get(expr)
        if found is None:
            found = self._spans[expr] = self._span(expr)
        return found

    def _span(self, expr: AnyExpr) -> Span:
        w = self._w
        if isinstance(expr, Builtin) or self._forms.is_constant_along(expr, self._axes):
            value = w.emit(f"zext i32 {self._first.value(expr).text} to {WIDE}")
            if isinstance(expr, Builtin) and is_id_along(expr, self._axes):
                return Span(value, w.emit(f"add {WIDE} {value}, {self._last[expr.axis]}"))
            return Span(value, value)
        if self._contents is not None and self._contents.has_greatest(expr):
            greatest = self._contents.greatest(self._kernel, expr)
            return Span("0", w.emit(f"zext i64 {greatest} to {WIDE}"))
        if isinstance(expr, Var):
            loop = self._loops[expr.name]
            start, stop = self.span(loop.start), self.span(loop.stop)
            for bound, end in ((start, loop.start), (stop, loop.stop)):
                if not self._forms.is_constant_along(end, self._axes):
                    self._require_exact(bound)
            last = w.emit(f"sub {WIDE} {stop.greatest}, 1")
            return Span(start.least, last)
        assert isinstance(expr, Binary)
        left, right = self.span(expr.left), self.span(expr.right)
        if expr.op is BinOp.SUB:
            right = Span(right.greatest, right.least)
        name = {BinOp.ADD: "add", BinOp.SUB: "sub", BinOp.MUL: "mul"}[expr.op]
        least = w.emit(f"{name} {WIDE} {left.least}, {right.least}")
        return Span(least, w.emit(f"{name} {WIDE} {left.greatest}, {right.greatest}"))

    def _require_exact(self, bound: Span) -> None:
        """A loop compares its counter with what the bounds are after wrapping."""
        w = self._w
        begins = w.emit(f"icmp sge {WIDE} {bound.least}, 0")
        ends = w.emit(f"icmp slt {WIDE} {bound.greatest}, {1 << 32}")
        self._exact.append(w.emit(f"and i1 {begins}, {ends}"))


def _rises(expr: AnyExpr, forms: LinearForms, axes: Axes, contents: Contents | None) -> bool:
    """Whether an expression is at least zero and rises with everything in it."""
    if forms.is_constant_along(expr, axes):
        return True
    if contents is not None and contents.has_greatest(expr):
        return True
    if isinstance(expr, Binary):
        if expr.op not in (BinOp.ADD, BinOp.MUL):
            return False
        return all(_rises(side, forms, axes, contents) for side in (expr.left, expr.right))
    return True
