"""Affine range checks: the interval of lanes for which they hold.

At the borders of an array, the neighbours of an element are out of bounds or wrap to the other
side; in the steady state in between, `j - 1 < width` holds for every lane. Such a check compares a
linear value with a uniform one. `first + step * lane <= limit` holds exactly for

    lane < (limit - first) / step + 1

so the lanes form an interval, whose ends take a few operations at the start of a row. Values that
depend on loops are replaced by their spans, and must not wrap: the interval may be smaller than the
exact set of lanes, never larger.
"""

from __future__ import annotations

from collections.abc import Mapping

from vyre import ir
from vyre.backends.llvm import heuristics
from vyre.backends.llvm.analysis.affine_forms import LinearForms, is_lane_id
from vyre.backends.llvm.emit.context import Kernel
from vyre.backends.llvm.emit.expressions import LaneContext
from vyre.backends.llvm.emit.range_expander import (
    Condition,
    LoopRange,
    RangeExpander,
    Span,
    all_of,
    word_range,
)
from vyre.record import dataclass
from vyre.rewrite.conditions import Conjunct

_MOST_LANES = 1 << 31
_ORDERS = (ir.BinOp.LT, ir.BinOp.LE, ir.BinOp.GT, ir.BinOp.GE, ir.BinOp.NE)


@dataclass(frozen=True, slots=True)
class Assumption:
    """A comparison of a linear left side with a uniform right side.

    The left side increases by `step` from lane to lane; it decreases where the step is negative.
    """

    part: Conjunct
    step: int
    """0 where both sides depend on loops only: it holds for all lanes or for none."""
    by_row: bool
    """True if both sides are uniform along a row, available beforehand."""


def assumption_of(
    part: Conjunct, forms: LinearForms, loops: Mapping[str, LoopRange]
) -> Assumption | None:
    """Classify an expanded conjunct as an affine check; None if it is not one."""
    if part.op is None:
        uniform = forms.is_row_constant(part.left)
        return Assumption(part, 0, by_row=True) if uniform else None
    if forms.is_row_constant(part.left) and forms.is_row_constant(part.right):
        return Assumption(part, 0, by_row=True)
    if part.op not in _ORDERS or forms.word(part.left) is None:
        return None
    steps = [step_of(side, forms, loops) for side in (part.left, part.right)]
    if None in steps:
        return None
    if steps[1]:
        part, steps = part.mirrored(), steps[::-1]
    step = steps[0] or 0
    if (
        steps[1]
        or not -1 <= step <= heuristics.MAX_GUARD_STRIDE
        or (step < 0 and part.op is ir.BinOp.NE)
    ):
        return None
    return Assumption(part, step, by_row=False)


def step_of(expr: ir.AnyExpr, forms: LinearForms, loops: Mapping[str, LoopRange]) -> int | None:
    """Stride of a 32-bit value across lanes, within one iteration."""
    if forms.word(expr) is None or not RangeExpander.supports(expr, forms, loops):
        return None
    return _step(expr, forms, loops)


def _step(expr: ir.AnyExpr, forms: LinearForms, loops: Mapping[str, LoopRange]) -> int | None:
    if forms.is_row_constant(expr):
        return 0
    if is_lane_id(expr):
        return 1
    match expr:
        case ir.Var(name) if name in loops:
            ends = (loops[name].start, loops[name].stop)
            # Divergent bounds make a divergent counter.
            return 0 if all(_step(end, forms, loops) == 0 for end in ends) else None
        case ir.Cast(value, _) if forms.is_recast(expr):
            return _step(value, forms, loops)
        case ir.Binary(ir.BinOp.ADD | ir.BinOp.SUB as op, left, right):
            a, b = _step(left, forms, loops), _step(right, forms, loops)
            if a is None or b is None:
                return None
            return a + b if op is ir.BinOp.ADD else a - b
        case ir.Binary(ir.BinOp.MUL, left, right):
            a, b = _step(left, forms, loops), _step(right, forms, loops)
            if a == 0 and b == 0:
                return 0
            factor = next((side for side in (left, right) if isinstance(side, ir.Lit)), None)
            stride = b if factor is left else a
            return None if factor is None or stride is None else stride * int(factor.value)
        case _:
            return None


class SteadyState:
    """Interval of lanes for which assumptions hold: `low` to `high`, i32 operands."""

    def __init__(
        self,
        kernel: Kernel,
        first: LaneContext,
        forms: LinearForms,
        loops: Mapping[str, LoopRange],
        high: str,
    ) -> None:
        """Lanes are counted from `first`; there are at most `high`."""
        self._w = kernel.w
        self._first = first
        self._forms = forms
        self._reach = RangeExpander(kernel, first, ("1",), forms, loops)
        self.low: str = "0"
        self.high: str = high

    def require(self, assumption: Assumption, under: str = "") -> None:
        """Intersect with an assumption's lanes; with `under`, only if that i1 is set."""
        low, high = self.low, self.high
        self._require(assumption)
        if under and self.low != low:
            self.low = self._w.emit(f"select i1 {under}, i32 {self.low}, i32 {low}")
        if under:
            self.high = self._w.emit(f"select i1 {under}, i32 {self.high}, i32 {high}")

    def _require(self, assumption: Assumption) -> None:
        if assumption.by_row:
            self.require_flag(self._first.value(assumption.part.condition()).text)
            return
        part, reach = assumption.part, self._reach
        known = len(reach.exact)
        left, right = reach.span(part.left), reach.span(part.right)
        if part.op is ir.BinOp.NE:
            self._unequal(part, assumption.step, left, right)
        else:
            self._ordered(part, assumption.step, left, right)
        self._require_all(reach.exact[known:])

    def require_flag(self, holds: str) -> None:
        """Empty the interval unless an i1 is set."""
        self.high = self._w.emit(f"select i1 {holds}, i32 {self.high}, i32 0")

    def require_room(self, lanes: str) -> None:
        """Clamp the end of the interval to an i32 number of lanes."""
        self.high = self._w.intrinsic("umin", "i32", self.high, lanes)

    def _ordered(self, part: Conjunct, step: int, left: Span, right: Span) -> None:
        w = self._w
        least, most = word_range(self._forms.word(part.left))
        lowest, highest = str(least), str(most)
        match part.op:
            case ir.BinOp.LT:
                highest = w.emit(f"sub i64 {right.least}, 1")
            case ir.BinOp.LE:
                highest = right.least
            case ir.BinOp.GT:
                lowest = w.emit(f"add i64 {right.greatest}, 1")
            case _:
                lowest = right.greatest
        self._require_exact(part.right, right)
        if step < 0:
            # A decreasing value is an increasing one with the sign changed.
            first, last, low, high = (
                w.emit(f"sub i64 0, {number}")
                for number in (left.greatest, left.least, highest, lowest)
            )
            self._raise_low(-step, first, low)
            self._lower_high(-step, last, high)
            return
        if part.op in (ir.BinOp.GT, ir.BinOp.GE) or left.low < least:
            self._raise_low(step, left.least, lowest)
        self._lower_high(step, left.greatest, highest)

    def _unequal(self, part: Conjunct, step: int, left: Span, right: Span) -> None:
        """Lanes of `left != right`: those before equality, or those after it."""
        w = self._w
        self._require_exact(part.right, right)
        least, most = word_range(self._forms.word(part.left))
        less = w.emit(f"icmp slt i64 {left.greatest}, {right.least}")
        before = w.emit(f"sub i64 {right.least}, 1")
        after = w.emit(f"add i64 {right.greatest}, 1")
        highest = w.emit(f"select i1 {less}, i64 {before}, i64 {most}")
        lowest = w.emit(f"select i1 {less}, i64 {least}, i64 {after}")
        self._raise_low(step, left.least, lowest)
        self._lower_high(step, left.greatest, highest)

    def _require_exact(self, side: ir.AnyExpr, span: Span) -> None:
        """Require that a compared value does not wrap: its span is exact."""
        if self._forms.is_row_constant(side):
            return
        self._require_all(self._reach.fits_word(span, self._forms.word(side)))

    def _require_all(self, conditions: list[Condition]) -> None:
        if conditions:
            self.require_flag(all_of(self._w, conditions))

    def _raise_low(self, step: int, first: str, lowest: str) -> None:
        """Raise `low` to the first lane with `first + step * lane >= lowest`."""
        w = self._w
        if not step:
            self.require_flag(w.emit(f"icmp sge i64 {first}, {lowest}"))
            return
        lanes = self._lanes(w.emit(f"sub i64 {lowest}, {first}"), step)
        self.low = w.intrinsic("umax", "i32", self.low, lanes) if self.low != "0" else lanes

    def _lower_high(self, step: int, first: str, highest: str) -> None:
        """Lower `high` to the lanes with `first + step * lane <= highest`."""
        w = self._w
        if not step:
            self.require_flag(w.emit(f"icmp sle i64 {first}, {highest}"))
            return
        room = w.emit(f"sub i64 {highest}, {first}")
        self.require_room(self._lanes(w.emit(f"add i64 {room}, 1"), step))

    def _lanes(self, distance: str, step: int) -> str:
        """Lanes that cover a distance, rounded up; 0 for a negative one."""
        w = self._w
        cap = str(_MOST_LANES * step)
        capped = w.intrinsic("smin", "i64", w.intrinsic("smax", "i64", distance, "0"), cap)
        if step > 1:
            capped = w.emit(f"add i64 {capped}, {step - 1}")
            capped = w.emit(f"udiv i64 {capped}, {step}")
        return w.emit(f"trunc i64 {capped} to i32")


__all__ = ["Assumption", "SteadyState", "assumption_of", "step_of"]
