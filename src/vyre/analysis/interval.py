"""Intervals of integers, and what every opcode does to them. Bools count as 0 and 1."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from vyre.ir import BinOp, DataType, UnOp


class Interval(NamedTuple):
    """All integers from `low` to `high`, both included; never empty."""

    low: int
    high: int

    @staticmethod
    def of_type(dtype: DataType) -> Interval:
        """All values of an integer type or of bool."""
        return _OF_TYPE[dtype]

    def __contains__(self, value: object) -> bool:
        assert isinstance(value, int)
        return self.low <= value <= self.high

    def within(self, other: Interval) -> bool:
        """Whether every value of this is in the other."""
        return other.low <= self.low and self.high <= other.high

    def join(self, other: Interval) -> Interval:
        """The least interval that holds both."""
        if self.low <= other.low and other.high <= self.high:
            return self
        return Interval(min(self.low, other.low), max(self.high, other.high))

    def meet(self, other: Interval) -> Interval:
        """What is in both; this one when nothing is, for then the place is never reached."""
        low, high = max(self.low, other.low), min(self.high, other.high)
        if low > high or (low == self.low and high == self.high):
            return self
        return Interval(low, high)

    @property
    def constant(self) -> int | None:
        """The value, when there is only one."""
        return self.low if self.low == self.high else None


_OF_TYPE: dict[DataType, Interval] = {
    dtype: Interval(*dtype.integer_range)
    for dtype in (
        *(DataType.U8, DataType.I8, DataType.U16, DataType.I16),
        *(DataType.U32, DataType.I32, DataType.U64, DataType.I64),
    )
}
_OF_TYPE[DataType.BOOL] = Interval(0, 1)

FALSE, TRUE, EITHER = Interval(0, 0), Interval(1, 1), Interval(0, 1)


def _fit(low: int, high: int, dtype: DataType) -> Interval:
    """The interval when it fits in the type, else the whole type: the result may wrap."""
    whole = _OF_TYPE[dtype]
    return Interval(low, high) if whole.low <= low and high <= whole.high else whole


def _add(a: Interval, b: Interval, dtype: DataType) -> Interval:
    return _fit(a.low + b.low, a.high + b.high, dtype)


def _sub(a: Interval, b: Interval, dtype: DataType) -> Interval:
    return _fit(a.low - b.high, a.high - b.low, dtype)


def _mul(a: Interval, b: Interval, dtype: DataType) -> Interval:
    products = (a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high)
    return _fit(min(products), max(products), dtype)


def _div(a: Interval, b: Interval, dtype: DataType) -> Interval:
    if b.low <= 0 <= b.high:
        # x / 0 is all ones for unsigned types and -1 for signed ones.
        return _OF_TYPE[dtype]
    quotients = [_truncated(x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
    return _fit(min(quotients), max(quotients), dtype)


def _truncated(x: int, y: int) -> int:
    quotient = abs(x) // abs(y)
    return quotient if (x < 0) == (y < 0) else -quotient


def _rem(a: Interval, b: Interval, dtype: DataType) -> Interval:
    if a.low >= 0 and a.high < b.low:
        return a
    # The sign of the dividend, less than the divisor; x % 0 is 0.
    most = max(abs(b.low), abs(b.high))
    bound = most - 1 if most else 0
    low = 0 if a.low >= 0 else -min(bound, -a.low)
    high = 0 if a.high <= 0 else min(bound, a.high)
    return Interval(low, high)


def _ones(value: int) -> int:
    """The least number of the form 2**n - 1 that is not below `value`."""
    return (1 << value.bit_length()) - 1


def _and(a: Interval, b: Interval, dtype: DataType) -> Interval:
    if a.low >= 0 and b.low >= 0:
        return Interval(0, min(a.high, b.high))
    if a.low >= 0:
        return Interval(0, a.high)
    if b.low >= 0:
        return Interval(0, b.high)
    return _OF_TYPE[dtype]


def _or(a: Interval, b: Interval, dtype: DataType) -> Interval:
    if a.low >= 0 and b.low >= 0:
        return Interval(max(a.low, b.low), _ones(max(a.high, b.high)))
    return _OF_TYPE[dtype]


def _xor(a: Interval, b: Interval, dtype: DataType) -> Interval:
    if a.low >= 0 and b.low >= 0:
        return Interval(0, _ones(max(a.high, b.high)))
    return _OF_TYPE[dtype]


def _amounts(b: Interval, dtype: DataType) -> Interval:
    """Shift amounts after they were masked to the width."""
    width = dtype.bits or 0
    return b if b.low >= 0 and b.high < width else Interval(0, width - 1)


def _shl(a: Interval, b: Interval, dtype: DataType) -> Interval:
    by = _amounts(b, dtype)
    ends = (a.low << by.low, a.low << by.high, a.high << by.low, a.high << by.high)
    return _fit(min(ends), max(ends), dtype)


def _shr(a: Interval, b: Interval, dtype: DataType) -> Interval:
    by = _amounts(b, dtype)
    ends = (a.low >> by.low, a.low >> by.high, a.high >> by.low, a.high >> by.high)
    return Interval(min(ends), max(ends))


def _min(a: Interval, b: Interval, dtype: DataType) -> Interval:
    return Interval(min(a.low, b.low), min(a.high, b.high))


def _max(a: Interval, b: Interval, dtype: DataType) -> Interval:
    return Interval(max(a.low, b.low), max(a.high, b.high))


def _held(low: int, high: int, dtype: DataType) -> Interval:
    whole = _OF_TYPE[dtype]
    return Interval(max(whole.low, min(low, whole.high)), max(whole.low, min(high, whole.high)))


def _add_sat(a: Interval, b: Interval, dtype: DataType) -> Interval:
    return _held(a.low + b.low, a.high + b.high, dtype)


def _sub_sat(a: Interval, b: Interval, dtype: DataType) -> Interval:
    return _held(a.low - b.high, a.high - b.low, dtype)


def _mul_hi(a: Interval, b: Interval, dtype: DataType) -> Interval:
    products = (a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high)
    width = dtype.bits or 0
    return Interval(min(products) >> width, max(products) >> width)


def _decided(yes: bool, no: bool) -> Interval:
    return TRUE if yes else FALSE if no else EITHER


def _eq(a: Interval, b: Interval, dtype: DataType) -> Interval:
    same = a.constant is not None and a == b
    return _decided(same, a.high < b.low or b.high < a.low)


def _ne(a: Interval, b: Interval, dtype: DataType) -> Interval:
    same = a.constant is not None and a == b
    return _decided(a.high < b.low or b.high < a.low, same)


def _lt(a: Interval, b: Interval, dtype: DataType) -> Interval:
    return _decided(a.high < b.low, a.low >= b.high)


def _le(a: Interval, b: Interval, dtype: DataType) -> Interval:
    return _decided(a.high <= b.low, a.low > b.high)


def _gt(a: Interval, b: Interval, dtype: DataType) -> Interval:
    return _lt(b, a, dtype)


def _ge(a: Interval, b: Interval, dtype: DataType) -> Interval:
    return _le(b, a, dtype)


_BINARY: dict[BinOp, Callable[[Interval, Interval, DataType], Interval]] = {
    BinOp.ADD: _add,
    BinOp.SUB: _sub,
    BinOp.MUL: _mul,
    BinOp.DIV: _div,
    BinOp.REM: _rem,
    BinOp.AND: _and,
    BinOp.OR: _or,
    BinOp.XOR: _xor,
    BinOp.SHL: _shl,
    BinOp.SHR: _shr,
    BinOp.MIN: _min,
    BinOp.MAX: _max,
    BinOp.ADD_SAT: _add_sat,
    BinOp.SUB_SAT: _sub_sat,
    BinOp.MUL_HI: _mul_hi,
    BinOp.EQ: _eq,
    BinOp.NE: _ne,
    BinOp.LT: _lt,
    BinOp.LE: _le,
    BinOp.GT: _gt,
    BinOp.GE: _ge,
}


def binary(op: BinOp, a: Interval, b: Interval, dtype: DataType) -> Interval:
    """What an opcode of two operands of type `dtype` may give."""
    rule = _BINARY.get(op)
    return Interval.of_type(dtype) if rule is None else rule(a, b, dtype)


def unary(op: UnOp, a: Interval, dtype: DataType) -> Interval:
    """What an opcode of one operand of type `dtype` may give."""
    width = dtype.bits or 0
    if op is UnOp.NOT:
        # Complement is -1 - x, taken modulo the width for unsigned types.
        top = 1 if dtype.is_bool else -1 if dtype.is_signed else (1 << width) - 1
        return Interval(top - a.high, top - a.low)
    if op is UnOp.NEG:
        return _fit(-a.high, -a.low, dtype)
    if op is UnOp.ABS:
        if a.low >= 0:
            return a
        ends = (abs(a.low), abs(a.high))
        return _fit(0 if a.high >= 0 else min(ends), max(ends), dtype)
    if op in (UnOp.POPCOUNT, UnOp.CLZ, UnOp.CTZ):
        return _bit_count(op, a, width)
    return Interval.of_type(dtype)


def _bit_count(op: UnOp, a: Interval, width: int) -> Interval:
    if op is UnOp.CLZ and a.low >= 0:
        return Interval(width - a.high.bit_length(), width - a.low.bit_length())
    if op is UnOp.POPCOUNT and a.low >= 0:
        return Interval(int(a.low > 0), a.high.bit_length())
    return Interval(0, width)


def cast(a: Interval, source: DataType, target: DataType) -> Interval:
    """What converting an integer or bool to an integer type or bool may give."""
    if target.is_bool:
        return _decided(a.low > 0 or a.high < 0, a.low == a.high == 0)
    return _fit(a.low, a.high, target)
