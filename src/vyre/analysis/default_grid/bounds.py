"""Upper bounds of ids, derived from the conditions that hold at a statement.

A condition is a form that is negative: `i + 1 < n` is i + 1 - n. It bounds an axis of the grid if
the ids of that axis, times something positive, are all of it that is not known to the host, or if
everything else is known to be smaller: in `y * w + x` that is so where `x < w`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from functools import reduce

from vyre.analysis.default_grid.extents import Constant, Extent, Operation
from vyre.analysis.default_grid.polynomials import (
    Counter,
    Form,
    Group,
    Lane,
    Product,
    Varying,
    total,
)
from vyre.record import dataclass


@dataclass(frozen=True, slots=True)
class End:
    """What ids are less than."""

    extent: Extent
    wraps: Extent | None = None
    """The first id for which the condition may hold again, because what it compares wraps around.

    In `i * 2654435769 < n` that is 1. None where there is no such id."""
    is_ordinary: bool = True
    """Whether ids are multiplied by small numbers and by what the host knows only."""


@dataclass(frozen=True, slots=True)
class Bound:
    """Ids along an axis of the grid are less than an extent."""

    axis: int
    end: End


Facts = frozenset[Form | Bound]
"""What holds: forms that are negative, and bounds."""
NOTHING: Facts = frozenset()
Ends = dict[int, list[End]]
"""By axis, what ids are less than."""
SMALL = 1 << 16
"""Numbers up to this one may be added to ids, which then do not wrap around."""
WRAP = 1 << 31
"""From here on numbers of 32 bits may be read as negative ones."""
MOST_CHOICES = 16
"""Combinations of bounds that are tried."""


@dataclass(slots=True)
class _Split:
    """A form by what is in it."""

    groups: dict[int, Form] = field(default_factory=dict[int, Form])
    lanes: dict[int, Form] = field(default_factory=dict[int, Form])
    counters: dict[Counter, Form] = field(default_factory=dict[Counter, Form])
    rest: Form = Form()
    """What the host knows."""


_Other = tuple[Form, list[Form]]
"""A coefficient, and ends that what it belongs to is known to be below."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Finds bounds of ids in workgroups of a size."""

    workgroup: tuple[int, int, int]
    _ends: dict[Facts, Ends] = field(default_factory=dict[Facts, Ends])
    """What was found before: many effects stand under the same conditions."""

    def ends(self, facts: Facts) -> Ends:
        """What facts say of ids."""
        known = self._ends.get(facts)
        if known is None:
            known = self._ends[facts] = self._found(facts)
        return known

    def _found(self, facts: Facts) -> Ends:
        found: Ends = {}
        units: dict[int, list[Form]] | None = None
        for fact in _in_order(facts):
            if isinstance(fact, Bound):
                found.setdefault(fact.axis, []).append(fact.end)
                continue
            split = _split(fact)
            if split is None:
                continue
            if units is None and len(split.groups) > 1:
                units = self.units(facts)
            for axis, end in self._solved(split, units or {}):
                found.setdefault(axis, []).append(end)
        return found

    def units(self, facts: Facts) -> dict[int, list[Form]]:
        """The forms that ids themselves are known to be less than."""
        found: dict[int, list[Form]] = {}
        for fact in _in_order(facts):
            if isinstance(fact, Bound):
                continue
            split = _split(fact)
            if split is None or len(split.groups) != 1 or split.counters:
                continue
            [axis] = split.groups
            if self._coefficient(split, axis) == Form.of(1) and split.lanes.keys() <= {axis}:
                found.setdefault(axis, []).append(Form().minus(split.rest))
        return found

    def either(self, one: Facts | None, other: Facts | None) -> Facts | None:
        """What holds if one of two does; None stands for what never holds."""
        if one is None or other is None:
            return other if one is None else one
        found: set[Form | Bound] = set(one & other)
        left, right = self.ends(one - other), self.ends(other - one)
        for axis in left.keys() & right.keys():
            found.add(Bound(axis, _greater(least(left[axis]), least(right[axis]))))
        return frozenset(found)

    def solved(self, form: Form, facts: Facts) -> Iterable[tuple[int, End]]:
        """The bounds that follow from a form that is negative, where facts hold."""
        split = _split(form)
        if split is None:
            return ()
        return self._solved(split, self.units(facts) if len(split.groups) > 1 else {})

    def _solved(
        self, split: _Split, units: Mapping[int, Sequence[Form]]
    ) -> Iterable[tuple[int, End]]:
        for axis in split.groups:
            coefficient = self._coefficient(split, axis)
            by_group = coefficient is None
            if coefficient is None:
                coefficient = split.groups[axis]
            if not coefficient.terms or any(number < 0 for _, number in coefficient.terms):
                continue
            others = self._others(split, axis, units, by_group=by_group)
            if len(split.groups) > 1 and not _are_smaller(others, coefficient):
                continue
            lowest = [_lowest(*other) for other in others]
            known = [low for low in lowest if low is not None]
            if len(known) == len(lowest):
                room = Form().minus(split.rest).minus(total(known))
                extent = self._end(axis, room, coefficient, by_group=by_group)
                summed = [coefficient for coefficient, _ in others]
                yield axis, _wrapping(extent, coefficient, split.rest, summed)

    def rows(self, form: Form) -> dict[int, Extent]:
        """What ids must be less than for a form to be a row of others, as `x` in `y * w + x`.

        By axis; all but one of those that are in the form. Empty where that cannot be told.
        """
        split = _split(form)
        if split is None or len(split.groups) < 2:
            return {}
        sizes: dict[int, tuple[Product, int]] = {}
        for axis in split.groups:
            coefficient = self._coefficient(split, axis)
            if coefficient is None or len(coefficient.terms) != 1:
                return {}
            [sizes[axis]] = coefficient.terms
        found: dict[int, Extent] = {}
        order = sorted(sizes, key=lambda axis: (len(sizes[axis][0]), sizes[axis][1]))
        for inner, outer in itertools.pairwise(order):
            ratio = _ratio(sizes[outer], sizes[inner])
            if ratio is None or ratio == Form.of(1):
                return {}
            found[inner] = ratio.extent()
        return found

    def _coefficient(self, split: _Split, axis: int) -> Form | None:
        """By what the global id along an axis is multiplied; None if it is not the global id."""
        groups, size = split.groups[axis], self.workgroup[axis]
        if size == 1:
            return groups
        lanes = split.lanes.get(axis, Form())
        return lanes if lanes.times(Form.of(size)) == groups else None

    def _others(
        self, split: _Split, axis: int, units: Mapping[int, Sequence[Form]], *, by_group: bool
    ) -> list[_Other]:
        """All but the ids along an axis."""
        found: list[_Other] = []
        whole = set[int]()
        for other, coefficient in split.groups.items():
            if other != axis:
                own = self._coefficient(split, other)
                if own is not None:
                    whole.add(other)
                ends = [] if own is None else list(units.get(other, ()))
                found.append((coefficient if own is None else own, ends))
        for other, coefficient in split.lanes.items():
            if other not in whole and (other != axis or by_group):
                found.append((coefficient, [Form.of(self.workgroup[other])]))
        for counter, coefficient in split.counters.items():
            found.append((coefficient, [] if counter.below is None else [counter.below]))
        return found

    def _end(self, axis: int, room: Form, coefficient: Form, *, by_group: bool) -> Extent:
        end = room.extent()
        if coefficient != Form.of(1):
            end = Operation("ceil", end, coefficient.extent())
        size = self.workgroup[axis]
        return Operation("*", end, Constant(size)) if by_group and size > 1 else end


def _in_order(facts: Facts) -> Iterable[Form | Bound]:
    """Facts in an order that is the same in every process."""
    return facts if len(facts) < 2 else sorted(facts, key=_text)


def _text(fact: Form | Bound) -> str:
    if isinstance(fact, Bound):
        return repr(fact)
    return repr(sorted((repr(product), number) for product, number in fact.terms))


def trusted(ends: Sequence[End]) -> list[End]:
    """The ends that count: all beside one that does not wrap around, else the ordinary ones."""
    if any(end.wraps is None for end in ends):
        return list(ends)
    return [end for end in ends if end.is_ordinary]


def least(ends: Sequence[End]) -> End:
    """The least of several ends.

    One that wraps around before another one that does not is left out, when that is known.
    """
    exact = [end.extent for end in ends if end.wraps is None]
    others = [end for end in dict.fromkeys(ends) if end.wraps is not None]
    if not exact:
        wraps = [end.wraps for end in others if end.wraps is not None]
        extents = [end.extent for end in others]
        return End(_least(extents), _least(wraps), all(end.is_ordinary for end in others))
    found = nearest = _least(exact)
    for end in others:
        assert end.wraps is not None
        reached = Operation("max", end.extent, Operation("past", nearest, end.wraps))
        found = Operation("least", found, reached)
    return End(found)


def _least(extents: Iterable[Extent]) -> Extent:
    return reduce(lambda one, other: Operation("least", one, other), dict.fromkeys(extents))


def _greater(one: End, other: End) -> End:
    """The greater of two ends."""
    wraps = [end.wraps for end in (one, other) if end.wraps is not None]
    extent = Operation("max", one.extent, other.extent)
    ordinary = one.is_ordinary and other.is_ordinary
    return End(extent, _least(wraps) if wraps else None, ordinary)


def _wrapping(extent: Extent, coefficient: Form, rest: Form, summed: Iterable[Form]) -> End:
    """The end of ids that are multiplied by a coefficient, with a rest and others added."""
    more = Form(frozenset(term for term in rest.terms if term[1] > 0))
    few = more.constant
    if coefficient == Form.of(1) and few is not None and few <= SMALL:
        return End(extent)
    if not all(map(_is_small, summed)):
        return End(extent, Constant(0), is_ordinary=False)
    room = Form.of(WRAP).minus(more).extent()
    wraps = Operation("ceil", room, coefficient.extent())
    return End(extent, wraps, _is_small(coefficient))


def _is_small(coefficient: Form) -> bool:
    return all(number <= SMALL for _, number in coefficient.terms)


def _split(form: Form) -> _Split | None:
    """A form taken apart; None if it has products of several ids or counters."""
    found = _Split()
    rest: list[Form] = []
    for product, number in form.terms:
        varying = [factor for factor in product if isinstance(factor, Varying)]
        others = tuple(factor for factor in product if not isinstance(factor, Varying))
        term = Form(frozenset({(others, number)}))
        match varying:
            case []:
                rest.append(term)
            case [Group(axis)]:
                found.groups[axis] = found.groups.get(axis, Form()).plus(term)
            case [Lane(axis)]:
                found.lanes[axis] = found.lanes.get(axis, Form()).plus(term)
            case [Counter() as counter]:
                found.counters[counter] = found.counters.get(counter, Form()).plus(term)
            case _:
                return None
    found.rest = total(rest)
    return found


def _ratio(outer: tuple[Product, int], inner: tuple[Product, int]) -> Form | None:
    """How often one term goes into another."""
    factors = list(outer[0])
    for factor in inner[0]:
        if factor not in factors:
            return None
        factors.remove(factor)
    if outer[1] % inner[1] or outer[1] // inner[1] < 1:
        return None
    return Form(frozenset({(tuple(factors), outer[1] // inner[1])}))


def _lowest(coefficient: Form, ends: Sequence[Form]) -> Form | None:
    """The least that a multiple of something from 0 on can be."""
    if coefficient.is_never_negative:
        return Form()
    negated = Form().minus(coefficient)
    if ends and negated.is_never_negative:
        return coefficient.times(ends[0].minus(Form.of(1)))
    return None


def _are_smaller(others: Sequence[_Other], coefficient: Form) -> bool:
    """Whether all others together stay below a coefficient."""
    if not all(of.is_never_negative for of, _ in others):
        return False
    choices = itertools.product(*(ends for _, ends in others))
    for ends in itertools.islice(choices, MOST_CHOICES):
        room = coefficient.minus(Form.of(1))
        for (of, _), end in zip(others, ends, strict=True):
            most = of.times(end.minus(Form.of(1)))
            if most is None:
                break
            room = room.minus(most)
        else:
            if room.is_never_negative:
                return True
    return False


__all__ = ["NOTHING", "Bound", "Bounds", "End", "Ends", "Facts", "least", "trusted"]
