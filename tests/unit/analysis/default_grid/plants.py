"""Wrong default grids, each planted by itself: mistakes that are easily made in finding one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from vyre.analysis.default_grid import abstract_values, integers
from vyre.analysis.default_grid import bounds as bounds
from vyre.analysis.default_grid import effects as effects
from vyre.analysis.default_grid import shared_work as shared_work
from vyre.analysis.default_grid.bounds import Bounds
from vyre.driver import grid as grids


@dataclass(frozen=True)
class Plant:
    """One bug, and how to plant it."""

    name: str
    planted: Callable[[], AbstractContextManager[object]]


def _instead(owner: object, name: str, make: Callable[[Any], Any]) -> Callable[[], Any]:
    """A function that does something else than it should, made from the right one."""

    @contextmanager
    def planted() -> Iterator[None]:
        with patch.object(owner, name, make(getattr(owner, name))):
            yield

    return planted


def _swapped(right: Any) -> Any:
    def solved(self: Bounds, *given: Any) -> Any:
        for axis, end in right(self, *given):
            yield (1 - axis if axis < 2 else axis), end

    return solved


def _off_by_one(right: Any) -> Any:
    return lambda left, end, more: right(left, end, more - 1)


def _floor(_: Any) -> Any:
    def covering(program: Any, wanted: Any) -> Any:
        groups = [n // size for n, size in zip(wanted, program.workgroup_size, strict=False)]
        x, y, z = (*groups, 1, 1)[:3]
        return x, y, z

    return covering


def _least_of_both(right: Any) -> Any:
    def either(self: Bounds, one: Any, other: Any) -> Any:
        if one is None or other is None:
            return right(self, one, other)
        return one | other

    return either


def _without_ids(right: Any) -> Any:
    """A loop over what the grid shares in which the own id is taken to be the same for all."""
    return lambda axis: lambda node: False


def _constant_forgotten(right: Any) -> Any:
    def added(left: Any, other: Any) -> Any:
        if other is not None and other.form.constant is not None:
            return left
        return right(left, other)

    return added


def _every_round_at_once(right: Any) -> Any:
    """Variables keep, in all rounds of a loop, what they held before it."""

    def rounds(self: Any, body: Any, facts: Any, counter: Any, cond: Any = None) -> None:
        self.names = {**self.names, **counter}
        self.visit(body, facts)

    return rounds


def _both_arms_hold(right: Any) -> Any:
    """What one arm of an if found out holds after it, too."""

    def visit(self: Any, statement: Any, facts: Any) -> Any:
        found = right(self, statement, facts)
        cond = self.values.truth(statement.cond, self.names)
        return None if found is None else found | (cond.yes or frozenset())

    return visit


def _never_wrapping(right: Any) -> Any:
    return lambda extent, *_: bounds.End(extent)


def _without_sign(right: Any) -> Any:
    return lambda self, below=None, **_: right(self, below)


SEARCH = effects.Search

PLANTS = (
    Plant("an axis swapped", _instead(Bounds, "_solved", _swapped)),
    Plant("the bound of a guard off by one", _instead(integers, "_below", _off_by_one)),
    Plant("elements rounded down", _instead(grids, "covering", _floor)),
    Plant("the lesser bound of an or", _instead(Bounds, "either", _least_of_both)),
    Plant(
        "a number that is added is forgotten",
        _instead(abstract_values, "added", _constant_forgotten),
    ),
    Plant("a loop changes nothing", _instead(SEARCH, "_rounds", _every_round_at_once)),
    Plant("a condition holds after its if", _instead(SEARCH, "_if", _both_arms_hold)),
    Plant("hashes that are taken for bounds", _instead(bounds, "_wrapping", _never_wrapping)),
    Plant(
        "a signed number that is none", _instead(abstract_values.Values, "counter", _without_sign)
    ),
    Plant("own ids in a shared loop", _instead(shared_work, "_asks_for_id", _without_ids)),
)
