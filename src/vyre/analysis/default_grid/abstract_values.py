"""Abstract values of expressions: symbolic integers, and conditions with the facts they imply."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import field

from vyre import ir
from vyre.analysis.default_grid.bounds import NOTHING, Bounds, Facts
from vyre.analysis.default_grid.extents import Axis, Length, Number
from vyre.analysis.default_grid.integers import (
    Whole,
    added,
    compared,
    divided,
    extreme,
    made,
    multiplied,
    negated,
    power,
)
from vyre.analysis.default_grid.polynomials import GROUP, GROUPS, LANE, Counter, Form, operation
from vyre.ir.buffer import NO_ELEMENT, SHAPE, is_layout
from vyre.ir.opcodes import NEGATED
from vyre.record import dataclass

_WIDE = (ir.DataType.U32, ir.DataType.I32, ir.DataType.U64, ir.DataType.I64)
_NO_ELEMENT = ir.Expr.u32(NO_ELEMENT)
_FEW = 1 << 16
"""Numbers up to this one may be added to ids; an unsigned one that is so far from the end of its
type is a negative one."""


@dataclass(frozen=True, slots=True)
class Positive:
    """An integer that is positive only where something holds."""

    facts: Facts
    stride: int | None = None
    """The axis of the grid, if these are the rounds of a loop over all that its ids share."""


@dataclass(frozen=True, slots=True)
class Checked:
    """An index that is outside of every array unless something holds."""

    facts: Facts
    inside: Value


@dataclass(frozen=True, slots=True)
class Truth:
    """A condition: what holds where it does, and where it does not; None if that is never so."""

    yes: Facts | None = NOTHING
    no: Facts | None = NOTHING


Value = Whole | Positive | Checked | Truth | None
"""None for all others."""
ALWAYS, NEVER, OPEN = Truth(NOTHING, None), Truth(None, NOTHING), Truth()


@dataclass(slots=True)
class Values:
    """Values of the expressions of one kernel."""

    decls: Mapping[str, ir.BufferDecl]
    bounds: Bounds
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    def of(self, expr: ir.AnyExpr, names: Mapping[str, Value]) -> Value:
        """The value of an expression, where variables have these values."""
        match expr:
            case ir.Lit():
                return _literal(expr)
            case ir.Var(name):
                return names.get(name)
            case ir.Builtin(kind, axis):
                return self._builtin(kind, axis)
            case ir.BufLen(buffer):
                decl = self.decls[buffer]
                return Whole(Form.of(decl.count if decl.is_on_chip else Length(buffer)))
            case ir.Load(buffer, index):
                return self._load(buffer, index)
            case ir.Unary(op, operand):
                return self._unary(op, self.of(operand, names))
            case ir.Binary(op, left, right) if op in NEGATED:
                return self._compared(op, self.of(left, names), self.of(right, names))
            case ir.Binary():
                return self._binary(expr, names)
            case ir.Select():
                return self._select(expr, names)
            case ir.Cast(value, dtype) | ir.Bitcast(value, dtype):
                return self._cast(self.of(value, names), dtype)
            case _:
                return None

    def truth(self, expr: ir.AnyExpr, names: Mapping[str, Value]) -> Truth:
        """The value of a condition."""
        found = self.of(expr, names)
        return found if isinstance(found, Truth) else OPEN

    def counter(self, below: Form | None = None, *, is_signed: bool = False) -> Whole:
        """An integer from 0 on of which no more is known."""
        return Whole(Form.of(Counter(next(self._numbers), below)), is_signed=is_signed)

    def entered(self, start: Value, stop: Value) -> Facts:
        """What holds in a loop from one integer up to another, because it has rounds."""
        if isinstance(stop, Positive) and isinstance(start, Whole) and start.form == Form():
            return stop.facts
        found = self._compared(ir.BinOp.LT, start, stop)
        return found.yes or NOTHING

    def _builtin(self, kind: ir.BuiltinKind, axis: int) -> Value:
        match kind:
            case ir.BuiltinKind.GLOBAL_ID:
                return Whole(self.own(axis))
            case ir.BuiltinKind.WORKGROUP_ID:
                return Whole(Form.of(GROUP[axis]))
            case ir.BuiltinKind.LOCAL_ID:
                return Whole(Form.of(0 if self.bounds.workgroup[axis] == 1 else LANE[axis]))
            case ir.BuiltinKind.NUM_WORKGROUPS:
                return Whole(Form.of(GROUPS[axis]))
            case _:
                return None

    def _load(self, buffer: str, index: ir.AnyExpr) -> Value:
        decl = self.decls[buffer]
        element = decl.element.value_type
        if buffer.endswith(SHAPE) and isinstance(index, ir.Lit):
            return Whole(Form.of(Axis(buffer.removesuffix(SHAPE), int(index.value))))
        if decl.access is ir.BufferAccess.UNIFORM and not is_layout(buffer) and element in _WIDE:
            number = Form.of(Number(buffer, element.is_signed))
            return Whole(number, is_signed=element.is_signed)
        return self._narrow(element)

    def _narrow(self, dtype: ir.DataType) -> Value:
        """A value of a type that holds small numbers only."""
        bits = 1 if dtype.is_bool else dtype.bits or 0
        small = (dtype.is_bool or (dtype.is_integer and not dtype.is_signed)) and bits <= 16
        return self.counter(Form.of(1 << bits)) if small else None

    def _cast(self, value: Value, dtype: ir.DataType) -> Value:
        if isinstance(value, Truth):
            return (
                self.counter(Form.of(2), is_signed=dtype.is_signed) if dtype.is_integer else value
            )
        if isinstance(value, Whole) and dtype in _WIDE:
            bits = dtype.bits or 32
            return Whole(value.form, value.at_least, value.divisor, dtype.is_signed, bits)
        return value if dtype in _WIDE else self._narrow(dtype) if dtype.is_integer else None

    def _unary(self, op: ir.UnOp, operand: Value) -> Value:
        match op, operand:
            case ir.UnOp.NOT, Truth(yes, no):
                return Truth(no, yes)
            case ir.UnOp.NEG, Whole():
                return negated(operand)
            case ir.UnOp.ABS, Whole(form) if form.is_never_negative:
                return operand
            case _:
                return None

    def _binary(self, expr: ir.Binary, names: Mapping[str, Value]) -> Value:
        left, right = self.of(expr.left, names), self.of(expr.right, names)
        if isinstance(left, Truth) or isinstance(right, Truth):
            one = left if isinstance(left, Truth) else OPEN
            other = right if isinstance(right, Truth) else OPEN
            return self._junction(expr.op, one, other)
        if not isinstance(left, Whole) or not isinstance(right, Whole):
            return self._partly_known(expr, left, right)
        match expr.op:
            case ir.BinOp.ADD | ir.BinOp.SUB:
                left, right = _with_sign(left), _with_sign(right)
                return added(left, right if expr.op is ir.BinOp.ADD else negated(right))
            case ir.BinOp.MUL | ir.BinOp.SHL:
                left, right = _with_sign(left), _with_sign(right)
                return multiplied(left, right if expr.op is ir.BinOp.MUL else power(right))
            case ir.BinOp.DIV | ir.BinOp.SHR:
                return divided(left, right if expr.op is ir.BinOp.DIV else power(right))
            case ir.BinOp.REM | ir.BinOp.AND:
                return self._remainder(expr.op, left, right)
            case ir.BinOp.MIN | ir.BinOp.MAX:
                return extreme(expr.op, left, right)
            case _:
                return None

    def _partly_known(self, expr: ir.Binary, left: Value, right: Value) -> Value:
        """Of two operands of which one is no integer that is known."""
        number = right if isinstance(right, Whole) else left if isinstance(left, Whole) else None
        if number is not None and expr.op is ir.BinOp.MAX:
            return Whole(number.form, True, number.divisor, number.is_signed)
        match expr:
            case ir.Binary(ir.BinOp.AND, _, ir.Lit(dtype, mask)) | ir.Binary(
                ir.BinOp.AND, ir.Lit(dtype, mask), _
            ):
                return self._small(mask + 1, is_signed=dtype.is_signed)
            case ir.Binary(ir.BinOp.REM, _, ir.Lit(dtype, end)) if not dtype.is_signed:
                return self._small(end)
            case ir.Binary(ir.BinOp.SHR, _, ir.Lit(dtype, by)) if not dtype.is_signed:
                return self._small(1 << max((dtype.bits or 0) - by, 0))
            case _:
                return None

    def _small(self, end: int, *, is_signed: bool = False) -> Value:
        return self.counter(Form.of(end), is_signed=is_signed) if 0 < end <= _FEW else None

    def _junction(self, op: ir.BinOp, left: Truth, right: Truth) -> Value:
        match op:
            case ir.BinOp.AND:
                return Truth(_both(left.yes, right.yes), self.bounds.either(left.no, right.no))
            case ir.BinOp.OR:
                return Truth(self.bounds.either(left.yes, right.yes), _both(left.no, right.no))
            case _:
                return OPEN

    def _select(self, expr: ir.Select, names: Mapping[str, Value]) -> Value:
        cond = self.truth(expr.cond, names)
        one, other = self.of(expr.if_true, names), self.of(expr.if_false, names)
        if isinstance(one, Truth) and isinstance(other, Truth):
            return self.chosen(cond, one, other)
        if expr.if_false == _NO_ELEMENT:
            return Checked(cond.yes or NOTHING, one)
        if one is not None and one == other:
            return one
        quotient = _floor_quotient(expr)
        if quotient is not None:
            return self.of(ir.Binary(ir.BinOp.DIV, *quotient), names)
        divisor = _floor_remainder(expr)
        if divisor is not None:
            end = self.of(divisor, names)
            known = end.known if isinstance(end, Whole) else None
            is_end = known is not None and known.is_never_negative
            return self.counter(known, is_signed=True) if is_end else None
        if isinstance(other, Whole) and other.exact == Form():
            return Positive(cond.yes or NOTHING, self._stride(expr.if_true, names))
        return None

    def _stride(self, rounds: ir.AnyExpr, names: Mapping[str, Value]) -> int | None:
        """The axis whose ids, all together, take (end - id - 1) // step + 1 steps to an end."""
        match rounds:
            case ir.Binary(ir.BinOp.ADD, ir.Binary(ir.BinOp.DIV, distance, step), ir.Lit()):
                far, by = self.of(distance, names), self.of(step, names)
            case _:
                return None
        if not isinstance(far, Whole) or not isinstance(by, Whole) or far.exact is None:
            return None
        for axis in range(3):
            if by.exact == self.all_of(axis):
                return axis if far.exact.plus(self.own(axis)).is_uniform else None
        return None

    def all_of(self, axis: int) -> Form:
        """How many invocations there are along an axis."""
        return Form().plus(Form.of(GROUPS[axis]), self.bounds.workgroup[axis])

    def strides_from_own(self, first: Value, axis: int) -> bool:
        """Whether an integer is the id along an axis, moved by what the host knows."""
        if not isinstance(first, Whole) or first.exact is None:
            return False
        return first.exact.minus(self.own(axis)).is_uniform

    def own(self, axis: int) -> Form:
        """The global id of an invocation along an axis."""
        size = self.bounds.workgroup[axis]
        return Form.of(0 if size == 1 else LANE[axis]).plus(Form.of(GROUP[axis]), size)

    def chosen(self, cond: Truth, one: Truth, other: Truth) -> Truth:
        """One of two truths, by a condition."""
        return Truth(
            self.bounds.either(_both(cond.yes, one.yes), _both(cond.no, other.yes)),
            self.bounds.either(_both(cond.yes, one.no), _both(cond.no, other.no)),
        )

    def _remainder(self, op: ir.BinOp, left: Whole, right: Whole) -> Value:
        end = right.known
        if op is ir.BinOp.AND:
            masks = [side.known.constant for side in (left, right) if side.known is not None]
            small = [mask for mask in masks if mask is not None and mask >= 0]
            end = Form.of(min(small) + 1) if small else None
            return None if end is None else self.counter(end, is_signed=left.is_signed)
        if end is None or not end.is_never_negative or not left.form.is_never_negative:
            return None
        if left.known is not None:
            return made(operation("%", left.known, end), left)
        return self.counter(end, is_signed=left.is_signed)

    def _compared(self, op: ir.BinOp, left: Value, right: Value) -> Truth:
        if not isinstance(left, Whole) or not isinstance(right, Whole):
            return OPEN
        return Truth(compared(op, left, right), compared(NEGATED[op], left, right))


def _both(one: Facts | None, other: Facts | None) -> Facts | None:
    return None if one is None or other is None else one | other


def _literal(expr: ir.Lit) -> Value:
    value = expr.value
    if isinstance(value, bool):
        return ALWAYS if value else NEVER
    if not isinstance(value, int) or expr.dtype not in _WIDE:
        return None
    bits = expr.dtype.bits or 32
    return Whole(Form.of(value), is_signed=expr.dtype.is_signed, bits=bits)


def _with_sign(whole: Whole) -> Whole:
    """A number near the end of its unsigned type is negative where it is added or multiplied."""
    number = None if whole.exact is None else whole.exact.constant
    if number is None or whole.is_signed or (1 << whole.bits) - number > _FEW:
        return whole
    return Whole(Form.of(number - (1 << whole.bits)), bits=whole.bits)


def _floor_quotient(expr: ir.Select) -> tuple[ir.AnyExpr, ir.AnyExpr] | None:
    """The operands of `//` on signed integers, as the front end writes it."""
    match expr.if_false:
        case ir.Binary(ir.BinOp.DIV, left, right) as quotient:
            match expr.if_true:
                case ir.Binary(ir.BinOp.SUB, lower, ir.Lit() as one):
                    same = lower == quotient and one.value == 1
                    return (left, right) if same and _tests_signs(expr.cond) else None
                case _:
                    return None
        case _:
            return None


def _floor_remainder(expr: ir.Select) -> ir.AnyExpr | None:
    """The divisor of `%` on signed integers, as the front end writes it."""
    match expr.if_true, expr.if_false:
        case ir.Binary(ir.BinOp.ADD, moved, by), ir.Binary(ir.BinOp.REM, _, divisor) as rest:
            return divisor if moved == rest and by == divisor else None
        case _:
            return None


def _tests_signs(cond: ir.AnyExpr) -> bool:
    """Whether a condition asks for a remainder and for operands of different signs.

    Of a divisor that is never negative, a negative remainder tells both.
    """
    match cond:
        case ir.Binary(ir.BinOp.LT, ir.Binary(ir.BinOp.REM), ir.Lit()):
            return True
        case ir.Binary(
            ir.BinOp.AND,
            ir.Binary(ir.BinOp.NE, ir.Binary(ir.BinOp.REM), _),
            ir.Binary(ir.BinOp.LT, _, _),
        ):
            return True
        case _:
            return False


__all__ = ["ALWAYS", "NEVER", "OPEN", "Checked", "Positive", "Truth", "Value", "Values"]
