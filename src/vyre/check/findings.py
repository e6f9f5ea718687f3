"""Collects what the checks find, by position, and gives each finding its place in the program.

Checks say the number of the statement; paths and spans are worked out once, at the end, and only
for statements that something was found in.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import field, replace
from typing import NamedTuple

from vyre import ir
from vyre.check.describe import describe
from vyre.diagnostics import Diagnostic, Location
from vyre.record import dataclass

PROGRAM = -1
"""The position of findings about the program as a whole."""


@dataclass(frozen=True, slots=True)
class _Finding:
    position: int
    diagnostic: Diagnostic
    expr: ir.AnyExpr | None
    related: int | None
    place: str


@dataclass(slots=True)
class Findings:
    """Problems found so far."""

    _found: list[_Finding] = field(default_factory=list[_Finding])

    def add(
        self,
        position: int,
        diagnostic: Diagnostic,
        expr: ir.AnyExpr | None = None,
        related: int | None = None,
    ) -> None:
        """Note a problem of the statement at `position`, or of an expression in it."""
        self._found.append(_Finding(position, diagnostic, expr, related, ""))

    def add_declaration(
        self, place: str, diagnostic: Diagnostic, related: int | None = None
    ) -> None:
        """Note a problem outside of the statements, for example of `buffers[2]`."""
        self._found.append(_Finding(PROGRAM, diagnostic, None, related, place))

    def drop(self, unwanted: Collection[str]) -> None:
        """Forget the problems with these codes."""
        self._found = [each for each in self._found if each.diagnostic.code not in unwanted]

    def located(self, program: ir.Program, unprintable: Collection[int] = ()) -> list[Diagnostic]:
        """All problems in the order of the text, each with its place.

        Statements at positions that are `unprintable` are not shown.
        """
        wanted = {finding.position for finding in self._found}
        wanted |= {finding.related for finding in self._found if finding.related is not None}
        places = _Places(wanted - {PROGRAM}, unprintable)
        places.visit(program.entry, "entry")
        ordered = sorted(self._found, key=lambda finding: finding.position)
        return [_located(finding, places.found) for finding in ordered]


class _Place(NamedTuple):
    path: str
    statement: ir.AnyStmt
    shown: str | None

    def location(self, inside: str = "") -> Location:
        return Location(self.path + inside, self.statement.span, self.shown)


class _Places:
    """Finds the statements at some positions, and their paths."""

    def __init__(self, wanted: set[int], unprintable: Collection[int]) -> None:
        self.found: dict[int, _Place] = {}
        self._wanted = wanted
        self._unprintable = unprintable
        self._next = 0

    def visit(self, body: ir.Body, path: str) -> None:
        for index, statement in enumerate(body):
            if len(self.found) == len(self._wanted):
                return
            here = self._next
            self._next += 1
            if here in self._wanted:
                shown = None if here in self._unprintable else describe(statement)
                self.found[here] = _Place(f"{path}[{index}]", statement, shown)
            for name in statement.body_fields:
                self.visit(getattr(statement, name), f"{path}[{index}].{name}")


def _located(finding: _Finding, places: dict[int, _Place]) -> Diagnostic:
    related: tuple[Location, ...] = ()
    if finding.related is not None:
        related = (places[finding.related].location(),)
    if finding.position == PROGRAM:
        return replace(finding.diagnostic, location=Location(finding.place), related=related)
    place = places[finding.position]
    inside = "" if finding.expr is None else _path_to(finding.expr, place.statement)
    return replace(finding.diagnostic, location=place.location(inside), related=related)


def _path_to(wanted: ir.AnyExpr, tree: ir.AnyStmt | ir.AnyExpr) -> str:
    """The fields that lead from a node to an expression under it."""
    named: list[tuple[str, ir.AnyExpr]] = []
    for name in tree.expr_fields:
        child = getattr(tree, name)
        if child is not None:
            named.append((f".{name}", child))
    for name in tree.expr_tuple_fields:
        named += [(f".{name}[{i}]", child) for i, child in enumerate(getattr(tree, name))]
    for step, child in named:
        if child is wanted:
            return step
        if child.depth > 1:
            rest = _path_to(wanted, child)
            if rest:
                return step + rest
    return ""
