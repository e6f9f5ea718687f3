"""Linear forms: integers between two lines in the number of an invocation.

    a·v + low  <=  value  <=  a·v + high        for every v of a range

All of it is on integers without bounds: a `u32` holds such a value modulo 2**32. Sums and products
by constants keep that relation whether or not they wrap; what compares, divides or clamps is
evaluated only where a form provably lies in [0, 2**32). None stands for an unknown value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from vyre import ir

WORD = 1 << 32


class Form(NamedTuple):
    """A value between two lines."""

    a: int
    low: int
    high: int
    is_fixed: bool = True
    """True if no length is in it: the same for every call."""
    is_plain: bool = True
    """True if no minimum or maximum was taken away to get it."""

    @property
    def constant(self) -> int | None:
        """The number that it is, whatever the invocation is."""
        return self.low if self.a == 0 and self.low == self.high else None

    def plus(self, other: Form) -> Form:
        """The sum."""
        low, high = self.low + other.low, self.high + other.high
        return Form(self.a + other.a, low, high, *_flags(self, other))

    def times(self, factor: int) -> Form:
        """The product with a constant."""
        ends = sorted((self.low * factor, self.high * factor))
        return Form(self.a * factor, ends[0], ends[1], self.is_fixed, self.is_plain)


class Span(NamedTuple):
    """The invocations from `first` to `last`."""

    first: int
    last: int

    @property
    def is_empty(self) -> bool:
        """True if there is none."""
        return self.first > self.last

    def meet(self, other: Span) -> Span:
        """The invocations of both."""
        return Span(max(self.first, other.first), min(self.last, other.last))


ALL = Span(0, WORD - 1)
Environment = Mapping[str, Form | None]
Resolve = Callable[[ir.BinOp, Form, Form], Form | None]
"""What a minimum or maximum of two forms is."""


def number(value: int, *, is_fixed: bool = True) -> Form:
    """A constant."""
    return Form(0, value, value, is_fixed)


def does_not_wrap(form: Form, span: Span) -> bool:
    """True if a form lies in [0, 2**32) for every invocation of a range."""
    ends = (form.a * span.first, form.a * span.last)
    return min(ends) + form.low >= 0 and max(ends) + form.high < WORD


class Evaluator:
    """Evaluates expressions to forms, for one launch of a program."""

    def __init__(self, lengths: Mapping[str, int], contents: Mapping[str, int]) -> None:
        self._lengths = lengths
        self._contents = contents

    def form(
        self, expr: ir.AnyExpr, env: Environment, span: Span, resolve: Resolve | None = None
    ) -> Form | None:
        """The form of an integer expression; None if it has none that is known."""
        match expr:
            case ir.Lit(ir.DataType.U32, bits):
                return number(bits)
            case ir.Builtin(ir.BuiltinKind.GLOBAL_ID, axis):
                return Form(1 if axis == 0 else 0, 0, 0)
            case ir.BufLen(buffer) if buffer in self._lengths:
                return number(self._lengths[buffer], is_fixed=False)
            case ir.Load(buffer, ir.Lit(_, 0)) if buffer in self._contents:
                return number(self._contents[buffer], is_fixed=False)
            case ir.Var(name):
                return env.get(name)
            case ir.Cast(value, ir.DataType.U32):
                found = self.form(value, env, span, resolve)
                return found if found is not None and does_not_wrap(found, span) else None
            case ir.Binary(op, left, right):
                one = self.form(left, env, span, resolve)
                two = self.form(right, env, span, resolve)
                if one is None or two is None:
                    return None
                return _binary(op, one, two, span, resolve)
            case ir.Select(_, yes, no):
                one = self.form(yes, env, span, resolve)
                two = self.form(no, env, span, resolve)
                return None if one is None or two is None else _either(one, two)
            case _:
                return None


def _flags(one: Form, two: Form) -> tuple[bool, bool]:
    return one.is_fixed and two.is_fixed, one.is_plain and two.is_plain


def _either(one: Form, two: Form) -> Form | None:
    if one.a != two.a:
        return None
    low, high = min(one.low, two.low), max(one.high, two.high)
    return Form(one.a, low, high, *_flags(one, two))


def _binary(op: ir.BinOp, one: Form, two: Form, span: Span, resolve: Resolve | None) -> Form | None:
    match op:
        case ir.BinOp.ADD:
            return one.plus(two)
        case ir.BinOp.SUB:
            return one.plus(two.times(-1))
        case ir.BinOp.MUL:
            by, other = (two, one) if two.constant is not None else (one, two)
            if by.constant is None:
                return None
            return _marked(other.times(by.constant), one, two)
        case ir.BinOp.SHL if two.constant is not None and 0 <= two.constant < 32:
            return _marked(one.times(1 << two.constant), one, two)
        case _:
            pass
    if not (does_not_wrap(one, span) and does_not_wrap(two, span)):
        return None
    if op in (ir.BinOp.MIN, ir.BinOp.MAX):
        found = None if resolve is None else resolve(op, one, two)
        return _clamped(op, one, two, span) if found is None else found
    return None if two.constant is None else _by_constant(op, one, two, two.constant)


def _by_constant(op: ir.BinOp, one: Form, two: Form, by: int) -> Form | None:
    """What neither wraps nor has more than a constant on its right."""
    match op:
        case ir.BinOp.DIV if by:
            return _quotient(one, by, two)
        case ir.BinOp.SHR if by < 32:
            return _quotient(one, 1 << by, two)
        case ir.BinOp.REM if by:
            return _remainder(one, by, two)
        case ir.BinOp.AND:
            both = None if one.constant is None else one.constant & by
            low, high = (0, by) if both is None else (both, both)
            return Form(0, low, high, *_flags(one, two))
        case _:
            return None


def _marked(form: Form, one: Form, two: Form) -> Form:
    return Form(form.a, form.low, form.high, *_flags(one, two))


def _quotient(one: Form, by: int, two: Form) -> Form | None:
    """⌊(a·v + r) / c⌋ is (a / c)·v + ⌊r / c⌋ where c divides a."""
    if one.a % by:
        return None
    return Form(one.a // by, one.low // by, one.high // by, *_flags(one, two))


def _remainder(one: Form, by: int, two: Form) -> Form:
    if one.a % by == 0 and one.low // by == one.high // by:
        return Form(0, one.low % by, one.high % by, *_flags(one, two))
    return Form(0, 0, by - 1, *_flags(one, two))


def _clamped(op: ir.BinOp, one: Form, two: Form, span: Span) -> Form | None:
    """The bounds of a minimum or a maximum; neither operand wraps."""
    flags = _flags(one, two)
    if one.a == two.a:
        pick = min if op is ir.BinOp.MIN else max
        return Form(one.a, pick(one.low, two.low), pick(one.high, two.high), *flags)
    moving, bound = (one, two) if two.a == 0 else (two, one)
    if bound.a or moving.a < 0 or span.is_empty:
        return None
    # Where the bound is taken, it is a·v + (bound - a·v), and v is in the span.
    if op is ir.BinOp.MIN:
        low = min(moving.low, bound.low - moving.a * span.last)
        return Form(moving.a, low, moving.high, *flags)
    high = max(moving.high, bound.high - moving.a * span.first)
    return Form(moving.a, moving.low, high, *flags)
