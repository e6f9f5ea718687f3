"""Symbolic integers: a polynomial, its quotient, or a lower bound; arithmetic and comparisons."""

from __future__ import annotations

from vyre.analysis.default_grid.bounds import NOTHING, Facts
from vyre.analysis.default_grid.polynomials import Form, Group, Varying, operation
from vyre.ir import BinOp
from vyre.record import dataclass


@dataclass(frozen=True, slots=True)
class Whole:
    """An integer."""

    form: Form
    at_least: bool = False
    """Whether it may be more than that."""
    divisor: Form | None = None
    """What the form is divided by, rounded down."""
    is_signed: bool = False
    """Whether its type has negative numbers; in others these are large ones."""
    bits: int = 32
    """The width of its type, where that is known."""

    @property
    def exact(self) -> Form | None:
        """The form, if that is what it is."""
        return None if self.at_least or self.divisor is not None else self.form

    @property
    def known(self) -> Form | None:
        """The form, if the host knows it."""
        exact = self.exact
        return exact if exact is not None and exact.is_uniform else None


def compared(op: BinOp, left: Whole, right: Whole) -> Facts:
    """What a comparison that holds says of ids."""
    match op:
        case BinOp.GT | BinOp.GE:
            return compared(BinOp.LT if op is BinOp.GT else BinOp.LE, right, left)
        case BinOp.LT:
            return _below(left, right, 0)
        case BinOp.LE:
            return _below(left, right, 1)
        case BinOp.EQ:
            return _below(left, right, 1) | _below(right, left, 1)
        case _:
            return NOTHING


def _below(left: Whole, right: Whole, more: int) -> Facts:
    """left < right + more."""
    end = right.exact
    if end is None or (not right.is_signed and has_less_of_ids(end)):
        # An unsigned difference that would be negative is more than anything.
        return NOTHING
    end = end.plus(Form.of(more))
    found = set[Form]()
    if left.exact is not None and not left.is_signed and end.is_never_negative:
        # An unsigned number that is less than a small one is none that would be negative.
        found.add(Form.of(-1).minus(left.exact))
    if left.divisor is not None:
        scaled = end.times(left.divisor)
        if scaled is None:
            return NOTHING
        end = scaled
    found.add(left.form.minus(end))
    return frozenset(form for form in found if _ends_ids(form))


def _ends_ids(form: Form) -> bool:
    """Whether a form that is negative can end ids: they are in it, and not only subtracted."""
    ids = [number > 0 for product, number in form.terms for f in product if isinstance(f, Group)]
    return any(ids) and not form.is_large


def has_less_of_ids(form: Form) -> bool:
    """Whether something that differs among invocations is subtracted in a form."""
    return any(
        number < 0 and any(isinstance(f, Varying) for f in product)
        for product, number in form.terms
    )


def negated(whole: Whole) -> Whole | None:
    """The negative of an integer."""
    exact = whole.exact
    return None if exact is None else Whole(Form().minus(exact), is_signed=whole.is_signed)


def added(left: Whole, right: Whole | None) -> Whole | None:
    """The sum of two."""
    if right is None:
        return None
    if right.divisor is not None:
        left, right = right, left
    divisor, form = left.divisor, left.form.plus(right.form)
    if divisor is not None:
        exact = right.exact
        moved = None if exact is None else exact.times(divisor)
        if moved is None:
            return None
        form = left.form.plus(moved)
    if form.is_large:
        return None
    return Whole(form, left.at_least or right.at_least, divisor, left.is_signed)


def multiplied(left: Whole, right: Whole | None) -> Whole | None:
    """The product of two."""
    if right is None or left.divisor is not None or right.divisor is not None:
        return None
    at_least = left.at_least or right.at_least
    if at_least and not (left.form.is_never_negative and right.form.is_never_negative):
        return None
    form = left.form.times(right.form)
    return None if form is None else Whole(form, at_least, None, left.is_signed)


def power(whole: Whole) -> Whole | None:
    """What a shift multiplies by."""
    exact = whole.exact
    amount = None if exact is None else exact.constant
    return Whole(Form.of(1 << amount)) if amount is not None and 0 <= amount < 32 else None


def divided(left: Whole, right: Whole | None) -> Whole | None:
    """The quotient of two, rounded down."""
    divisor = None if right is None else right.known
    if divisor is None:
        return None
    if left.known is not None:
        return made(operation("//", left.known, divisor), left)
    if not divisor.is_never_negative:
        # The host refuses a call in which it is.
        divisor = operation("positive", divisor, Form())
    by = divisor if left.divisor is None or divisor is None else left.divisor.times(divisor)
    return None if by is None else Whole(left.form, left.at_least, by, left.is_signed)


def extreme(op: BinOp, left: Whole, right: Whole) -> Whole | None:
    """The lesser or the greater of two."""
    if left.known is not None and right.known is not None:
        name = "min" if op is BinOp.MIN else "max"
        return made(operation(name, left.known, right.known), left)
    if op is BinOp.MIN:
        return None
    # The greater is at least as great as the one that tells something about ids.
    one = right if left.known is not None else left
    return Whole(one.form, at_least=True, divisor=one.divisor, is_signed=one.is_signed)


def made(form: Form | None, like: Whole) -> Whole | None:
    """An integer of the type of another one, if there is one."""
    return None if form is None else Whole(form, is_signed=like.is_signed)


__all__ = [
    "Whole",
    "added",
    "compared",
    "divided",
    "extreme",
    "has_less_of_ids",
    "made",
    "multiplied",
    "negated",
    "power",
]
