"""Contracts: what a pipeline requires of its plan, as an error and not as a slowdown."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import starmap
from typing import Any, cast

from vyre.diagnostics import PlanError
from vyre.diagnostics.codes import pipeline as codes

_KNOWN = ("launches", "host_reads", "scratch_bytes")


class Contract:
    """An upper limit for each of some counts of one call."""

    __slots__ = ("_most", "_name")

    def __init__(self, name: str, require: Mapping[str, int] | None) -> None:
        self._name = name
        self._most = _limits(require)

    def limits(self, what: str) -> bool:
        """True if the contract says something about a count."""
        return what in self._most

    def check(self, what: str, found: int, why: str) -> None:
        """Raise an error if there is more of something than the contract allows."""
        most = self._most.get(what)
        if most is not None and found > most:
            raise PlanError(
                codes.CONTRACT.at(name=self._name, what=what, most=most, found=found, why=why)
            )


def _limits(require: Any) -> dict[str, int]:
    """The limits of a contract as a caller wrote it."""
    wanted: Any = {} if require is None else require
    if isinstance(wanted, Mapping):
        limits = dict(cast("Mapping[object, object]", wanted))
        if all(starmap(_is_limit, limits.items())):
            return cast("dict[str, int]", limits)
    raise PlanError(codes.BAD_CONTRACT.at(found=require, known=", ".join(_KNOWN)))


def _is_limit(what: object, most: object) -> bool:
    is_number = isinstance(most, int) and not isinstance(most, bool) and most >= 0
    return what in _KNOWN and is_number
