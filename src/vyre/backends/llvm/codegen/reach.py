"""How far indices in loops reach, so that one test before a row replaces one per round.

Additions, subtractions and multiplications are done without wrapping, in 128 bits, on the least
and the greatest value of every operand. Where the whole span lies inside a buffer, the wrapping
arithmetic of the program gives the very same indices: both are equal modulo 2^32, whether the
program takes its 32 bits as signed or as unsigned on the way.
"""

from __future__ import annotations

from collections.abc import Mapping

from vyre.backends.llvm.codegen.contents import Contents
from vyre.backends.llvm.codegen.kernel import Kernel
from vyre.backends.llvm.codegen.lanes import Lanes
from vyre.backends.llvm.codegen.linear import Axes, LinearForms, X, is_id_along
from vyre.ir import AnyExpr, Binary, BinOp, Builtin, Cast, DataType, Lit, Var
from vyre.record import dataclass

WIDE = "i128"
MOST_BITS = 120
"""Of a product, so that sums of several still fit."""


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
        wide: str = WIDE,
    ) -> None:
        """`extents` says how many lanes lie along x, and along y and z if they count.

        `wide` is an integer type in which nothing that is asked for wraps.
        """
        self.wide = wide
        self._kernel = kernel
        self.writer = self._w = kernel.w
        self._contents = contents
        self._first = first
        self._forms = forms
        self._loops = loops
        self._spans: dict[AnyExpr, Span] = {}
        self._axes = tuple(range(len(extents)))
        self._last: list[str] = []
        self.exact: list[str] = []
        """Conditions under which loops count as their bounds are written, without wrapping."""
        for lanes in extents:
            last = self._w.emit(f"sub i32 {lanes}, 1")
            self._last.append(self._w.emit(f"zext i32 {last} to {wide}"))

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
                sides = (left, right)
                if not all(Reach.supports(side, forms, loops, axes, contents) for side in sides):
                    return False
                if magnitude(expr, forms, loops, axes) > MOST_BITS:
                    return False
                if any(forms.is_u32(s) and forms.is_constant_along(s, axes) for s in sides):
                    # By one number that is at least zero: the order of the others stays.
                    return True
                return all(rises(side, forms, axes, contents) for side in sides)
            case Cast(value, _) if forms.is_recast(expr):
                return Reach.supports(value, forms, loops, axes, contents)
            case _:
                return is_id_along(expr, axes)

    def is_inside(self, index: AnyExpr, count: str, *, before: int = 0, after: int = 0) -> str:
        """Whether the whole span, with some elements before and after, lies inside a buffer."""
        w = self._w
        span = self.span(index)
        size = w.emit(f"zext i64 {count} to {self.wide}")
        greatest = w.emit(f"add {self.wide} {span.greatest}, {after}") if after else span.greatest
        begins = w.emit(f"icmp sge {self.wide} {span.least}, {before}")
        ends = w.emit(f"icmp slt {self.wide} {greatest}, {size}")
        inside = w.emit(f"and i1 {begins}, {ends}")
        for exact in self.exact:
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
            found = self._first.value(expr)
            extended = "sext" if found.dtype.is_signed else "zext"
            value = w.emit(f"{extended} i32 {found.text} to {self.wide}")
            if isinstance(expr, Builtin) and is_id_along(expr, self._axes):
                return Span(value, w.emit(f"add {self.wide} {value}, {self._last[expr.axis]}"))
            return Span(value, value)
        if self._contents is not None and self._contents.has_greatest(expr):
            greatest = self._contents.greatest(self._kernel, expr)
            return Span("0", w.emit(f"zext i64 {greatest} to {self.wide}"))
        if isinstance(expr, Cast):
            return self.span(expr.value)
        if isinstance(expr, Var):
            loop = self._loops[expr.name]
            start, stop = self.span(loop.start), self.span(loop.stop)
            for bound, end in ((start, loop.start), (stop, loop.stop)):
                if not self._forms.is_constant_along(end, self._axes):
                    self._require_exact(bound, self._forms.word(end))
            last = w.emit(f"sub {self.wide} {stop.greatest}, 1")
            return Span(start.least, last)
        assert isinstance(expr, Binary)
        left, right = self.span(expr.left), self.span(expr.right)
        if expr.op is BinOp.SUB:
            right = Span(right.greatest, right.least)
        name = {BinOp.ADD: "add", BinOp.SUB: "sub", BinOp.MUL: "mul"}[expr.op]
        least = w.emit(f"{name} {self.wide} {left.least}, {right.least}")
        return Span(least, w.emit(f"{name} {self.wide} {left.greatest}, {right.greatest}"))

    def _require_exact(self, bound: Span, dtype: DataType | None) -> None:
        """A loop compares its counter with what the bounds are after wrapping."""
        w = self._w
        least, most = word_range(dtype)
        begins = w.emit(f"icmp sge {self.wide} {bound.least}, {least}")
        ends = w.emit(f"icmp sle {self.wide} {bound.greatest}, {most}")
        self.exact.append(w.emit(f"and i1 {begins}, {ends}"))


def magnitude(
    expr: AnyExpr, forms: LinearForms, loops: Mapping[str, LoopRange], axes: Axes = X
) -> int:
    """Bits, the sign included, that hold whatever the span of a supported expression needs."""
    if forms.is_constant_along(expr, axes):
        return expr.bits.bit_length() + 1 if isinstance(expr, Lit) else 33
    match expr:
        case Binary(BinOp.MUL, left, right):
            return magnitude(left, forms, loops, axes) + magnitude(right, forms, loops, axes)
        case Binary(_, left, right):
            sides = (magnitude(side, forms, loops, axes) for side in (left, right))
            return max(sides) + 1
        case Cast(value, _):
            return magnitude(value, forms, loops, axes)
        case Var(name) if name in loops:
            ends = (loops[name].start, loops[name].stop)
            return max(magnitude(end, forms, loops, axes) for end in ends) + 1
        case _:
            return 33


def word_range(dtype: DataType | None) -> tuple[int, int]:
    """The least and the greatest number of a type of 32 bits."""
    signed = dtype is not None and dtype.is_signed
    return (-(1 << 31), (1 << 31) - 1) if signed else (0, (1 << 32) - 1)


def rises(
    expr: AnyExpr, forms: LinearForms, axes: Axes = X, contents: Contents | None = None
) -> bool:
    """Whether an expression is at least zero and rises with everything in it."""
    if forms.word(expr) is DataType.I32:
        return False
    if forms.is_constant_along(expr, axes):
        return True
    if contents is not None and contents.has_greatest(expr):
        return True
    if isinstance(expr, Binary):
        if expr.op not in (BinOp.ADD, BinOp.MUL):
            return False
        return all(rises(side, forms, axes, contents) for side in (expr.left, expr.right))
    return not isinstance(expr, Cast)
