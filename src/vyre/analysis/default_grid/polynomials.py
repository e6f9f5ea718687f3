"""Integers of a kernel as polynomials in ids, loop counters and launch-time extents.

`4 * vy.gid() + k` in workgroups of 64 is the form 256 * group + 4 * lane + k. Ids are taken apart
into the number of the workgroup and that of the invocation in it, so that `wid * size + lid` and
`gid` are the same. Arithmetic is that of the integers: the default grid is for kernels whose
indices do not wrap around.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from vyre.analysis.default_grid.extents import (
    Atom,
    Constant,
    Extent,
    Operation,
    is_never_negative,
    parts,
)
from vyre.record import dataclass

MOST_TERMS = 12
MOST_FACTORS = 4
MOST_PARTS = 48
"""Of an extent. What is larger than these is not looked at as an integer of this kind."""


# Each of these is itself alone: forms are compared and hashed all the time.
@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """The number of the workgroup along an axis of the grid."""

    axis: int


@dataclass(frozen=True, slots=True, eq=False)
class Lane:
    """The number of the invocation in its workgroup along an axis."""

    axis: int


@dataclass(frozen=True, slots=True, eq=False)
class Counter:
    """An integer from 0 on that differs among invocations or from round to round."""

    number: int
    """Which one it is."""
    below: Form | None = None
    """What it stays below, where that is known."""


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """How many workgroups there are along an axis, which is what is to be found."""

    axis: int


GROUP = (Group(0), Group(1), Group(2))
LANE = (Lane(0), Lane(1), Lane(2))
GROUPS = (Groups(0), Groups(1), Groups(2))
Varying = Group | Lane | Counter | Groups
"""What the host does not know before there is a grid."""
Factor = Varying | Atom
Product = tuple[Factor, ...]
"""In the order of their texts, so that equal ones are the same."""


@dataclass(frozen=True, slots=True)
class Form:
    """A sum of products with whole coefficients, none of them zero; () is the product of none."""

    terms: frozenset[tuple[Product, int]] = frozenset()

    @staticmethod
    def of(value: int | Factor) -> Form:
        """A number, an id, or an extent."""
        if isinstance(value, int):
            return Form(frozenset({((), value)} if value else ()))
        return Form(frozenset({((value,), 1)}))

    @property
    def constant(self) -> int | None:
        """The number that it is, if it is one."""
        if not self.terms:
            return 0
        [(product, number), *rest] = self.terms
        return number if not rest and not product else None

    @property
    def is_uniform(self) -> bool:
        """Whether it is the same for all invocations, and the host can compute it."""
        return not any(isinstance(f, Varying) for product, _ in self.terms for f in product)

    @property
    def is_never_negative(self) -> bool:
        """Whether it is a sum of products of what is not negative."""
        return all(
            number >= 0 and all(isinstance(f, Varying) or is_never_negative(f) for f in product)
            for product, number in self.terms
        )

    def plus(self, other: Form, times: int = 1) -> Form:
        """The sum with a multiple of another form."""
        if not other.terms:
            return self
        if not self.terms and times == 1:
            return other
        found = dict(self.terms)
        for product, number in other.terms:
            found[product] = found.get(product, 0) + times * number
        return _made(found)

    def minus(self, other: Form) -> Form:
        """The difference."""
        return self.plus(other, -1)

    def times(self, other: Form) -> Form | None:
        """The product; None if it is too large."""
        found: dict[Product, int] = {}
        for product, number in self.terms:
            for by, count in other.terms:
                both = (*product, *by)
                if product and by:
                    both = tuple(sorted(both, key=repr))
                found[both] = found.get(both, 0) + number * count
        made = _made(found)
        return None if made.is_large else made

    @property
    def is_large(self) -> bool:
        """Whether it has more terms or factors than are looked at."""
        if len(self.terms) > MOST_TERMS:
            return True
        return any(len(product) > MOST_FACTORS for product, _ in self.terms)

    def extent(self) -> Extent:
        """A form that is the same for all invocations, as the host computes it."""
        ordered = sorted(self.terms, key=lambda term: (term[1] < 0, repr(term[0])))
        total: Extent | None = None
        for product, number in ordered:
            term = _product(product, number if total is None else abs(number))
            op = "-" if total is not None and number < 0 else "+"
            total = term if total is None else Operation(op, total, term)
        return Constant(0) if total is None else total


def _made(terms: Mapping[Product, int]) -> Form:
    return Form(frozenset((product, number) for product, number in terms.items() if number))


def _product(factors: Product, number: int) -> Extent:
    total: Extent = Constant(number)
    for factor in factors:
        assert not isinstance(factor, Varying)
        total = factor if total == Constant(1) else Operation("*", total, factor)
    return total


def operation(op: str, left: Form, right: Form) -> Form | None:
    """What the host makes of two forms that it knows; None if that is too large."""
    made = Operation(op, left.extent(), right.extent())
    return Form.of(made) if len(list(parts(made))) <= MOST_PARTS else None


def total(forms: Iterable[Form]) -> Form:
    """The sum of several."""
    found = Form()
    for form in forms:
        found = found.plus(form)
    return found


__all__ = [
    "GROUP",
    "GROUPS",
    "LANE",
    "Counter",
    "Form",
    "Group",
    "Groups",
    "Lane",
    "Product",
    "Varying",
    "operation",
    "total",
]
