"""Ranges with a step, recognised by their trip counts as `range` computes them.

Of `u32`:

    for r in 0..select(start < stop & step != 0, (stop - start - 1) / step + 1, 0)

Of `i32`, from an id upwards, `low` being i32(id):

    for r in 0..select(low < high, (u32(high) - u32(low) - 1) / divisor + 1, 0)

A step whose sign is known when the kernel runs only selects which end is low:

    up = step > 0;  low, high = select(up, start, stop), select(up, stop, start)
    divisor = select(up, u32(step), -u32(step))
"""

from __future__ import annotations

from collections.abc import Callable

from vyre import ir
from vyre.record import dataclass

Named = Callable[[ir.AnyExpr], ir.AnyExpr]
"""The expression behind a name."""
_IDS = (ir.BuiltinKind.GLOBAL_ID, ir.BuiltinKind.LOCAL_ID)


@dataclass(frozen=True, slots=True)
class SignedRange:
    """From `start` up to `stop`: equal to a range of `u32` where both are below 2**31."""

    start: ir.Builtin
    stop: ir.AnyExpr
    """An `i32`."""
    divisor: ir.AnyExpr
    """The step as a `u32`, if it is positive."""
    is_up: ir.AnyExpr | None = None
    """The condition that the step is positive; None if it is a positive number."""
    step: ir.AnyExpr | None = None
    """The step as an `i32`, where it is no number."""

    def is_value(self, expr: ir.AnyExpr, counter: str, named: Named) -> bool:
        """True if it is the value of an iteration, start + i32(counter) * step."""
        match expr:
            case ir.Binary(
                ir.BinOp.ADD,
                start,
                ir.Binary(ir.BinOp.MUL, ir.Cast(ir.Var(name), ir.DataType.I32), step),
            ) if name == counter and self.step is not None:
                is_step = named(step) == named(self.step)
                return is_step and _id_as_i32(start, named) == self.start
            case _:
                return False


def unsigned_range(trip_count: ir.AnyExpr) -> tuple[ir.AnyExpr, ir.AnyExpr, ir.AnyExpr] | None:
    """The start, the stop and the step of a range of `u32`; None if it is not of this form."""
    match trip_count:
        case ir.Select(
            cond,
            ir.Binary(
                ir.BinOp.ADD,
                ir.Binary(
                    ir.BinOp.DIV | ir.BinOp.SHR as op,
                    ir.Binary(ir.BinOp.SUB, ir.Binary(ir.BinOp.SUB, stop, start), ir.Lit(_, 1)),
                    divisor,
                ),
                ir.Lit(_, 1),
            ),
            ir.Lit(_, 0),
        ):
            pass
        case _:
            return None
    step = divisor
    if op is ir.BinOp.SHR:
        if not isinstance(divisor, ir.Lit) or divisor.dtype is not ir.DataType.U32:
            return None
        step = ir.Expr.u32(1 << (divisor.bits & 31))
    return (start, stop, step) if _conditions_fit(cond, start, stop, step) else None


def _conditions_fit(
    cond: ir.AnyExpr, start: ir.AnyExpr, stop: ir.AnyExpr, step: ir.AnyExpr
) -> bool:
    """True if `cond` is: start below stop, and step nonzero."""
    zero = ir.Expr.u32(0)
    below = (ir.Binary(ir.BinOp.LT, start, stop), ir.Binary(ir.BinOp.GT, stop, start))
    moves = (ir.Binary(ir.BinOp.NE, step, zero), ir.Binary(ir.BinOp.GT, step, zero))
    if isinstance(step, ir.Lit) and step.bits:
        return cond in below
    match cond:
        case ir.Binary(ir.BinOp.AND, one, other):
            return (one in moves and other in below) or (other in moves and one in below)
        case _:
            return False


def signed_range(trip_count: ir.AnyExpr, named: Named) -> SignedRange | None:
    """The range with this trip count; None if it is not of this form."""
    match trip_count:
        case ir.Select(
            cond,
            ir.Binary(ir.BinOp.ADD, ir.Binary() as quotient, ir.Lit(_, 1)),
            ir.Lit(_, 0),
        ):
            ends = _ends(named(cond), quotient.left, named)
        case _:
            return None
    if ends is None:
        return None
    low, high = ends
    match quotient:
        case ir.Binary(ir.BinOp.SHR, _, ir.Lit(_, amount)) if amount < 31:
            return _upwards(low, high, ir.Expr.u32(1 << amount), named)
        case ir.Binary(ir.BinOp.DIV, _, ir.Lit(_, step) as divisor) if 0 < step < 1 << 31:
            return _upwards(low, high, divisor, named)
        case ir.Binary(ir.BinOp.DIV, _, divisor):
            return _either_way(low, high, named(divisor), named)
        case _:
            return None


def _id_as_i32(expr: ir.AnyExpr, named: Named) -> ir.Builtin | None:
    """The id along x that an `i32` is."""
    match named(expr):
        case ir.Cast(value, ir.DataType.I32):
            found = named(value)
        case _:
            return None
    is_id = isinstance(found, ir.Builtin) and found.axis == 0 and found.kind in _IDS
    return found if is_id and isinstance(found, ir.Builtin) else None


def _ends(
    cond: ir.AnyExpr, distance: ir.AnyExpr, named: Named
) -> tuple[ir.AnyExpr, ir.AnyExpr] | None:
    """`low` and `high`, where a condition and a distance agree on them."""
    match cond, named(distance):
        case (
            ir.Binary(ir.BinOp.LT, low, high),
            ir.Binary(ir.BinOp.SUB, ir.Binary(ir.BinOp.SUB, last, first), ir.Lit(_, 1)),
        ):
            low, high = named(low), named(high)
        case _:
            return None
    match named(first), named(last):
        case (ir.Cast(one, ir.DataType.U32), ir.Cast(two, ir.DataType.U32)):
            return (low, high) if (named(one), named(two)) == (low, high) else None
        case _:
            return None


def _upwards(
    low: ir.AnyExpr,
    high: ir.AnyExpr,
    divisor: ir.AnyExpr,
    named: Named,
    is_up: ir.AnyExpr | None = None,
    step: ir.AnyExpr | None = None,
) -> SignedRange | None:
    start = _id_as_i32(low, named)
    return None if start is None else SignedRange(start, high, divisor, is_up, step)


def _either_way(
    low: ir.AnyExpr, high: ir.AnyExpr, divisor: ir.AnyExpr, named: Named
) -> SignedRange | None:
    """Where the step is positive; the negative one is of no matter."""
    match low, high, divisor:
        case (
            ir.Select(is_up, start, stop),
            ir.Select(is_up_2, stop_2, start_2),
            ir.Select(is_up_3, size, _),
        ) if (start, stop, is_up, is_up) == (start_2, stop_2, is_up_2, is_up_3):
            pass
        case _:
            return None
    match named(is_up), named(size):
        case (
            ir.Binary(ir.BinOp.GT, step, ir.Lit(_, 0)),
            ir.Cast(magnitude, ir.DataType.U32),
        ) if named(step) == named(magnitude):
            return _upwards(start, stop, size, named, is_up, step)
        case _:
            return None
