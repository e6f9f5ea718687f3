"""What the sanitizer has found: each kind of defect at each place once, with a count."""

from __future__ import annotations

from dataclasses import field

from vyre.backends.reference.code import Place
from vyre.diagnostics import Code, Diagnostic
from vyre.record import dataclass


@dataclass(slots=True)
class _Finding:
    code: Code
    place: int
    other: int | None
    values: dict[str, object]
    count: int


@dataclass(slots=True)
class Findings:
    """Defects of one run, in the order in which they were found."""

    places: tuple[Place, ...]
    _found: dict[tuple[object, ...], _Finding] = field(
        default_factory=dict[tuple[object, ...], _Finding]
    )

    def add(
        self,
        code: Code,
        place: int,
        about: str,
        count: int,
        *,
        other: int | None = None,
        **values: object,
    ) -> None:
        """A defect at a statement, concerning a buffer, between it and another statement."""
        key = (code.code, place, other, about)
        known = self._found.get(key)
        if known is None:
            self._found[key] = _Finding(code, place, other, values, count)
        else:
            known.count += count

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """All of them."""
        return tuple(self._diagnostic(found) for found in self._found.values())

    def _diagnostic(self, found: _Finding) -> Diagnostic:
        related = () if found.other is None else (self.places[found.other].location,)
        more = "" if found.count == 1 else f" ({found.count} times in this run)"
        return found.code.at(self.places[found.place].location, related, more=more, **found.values)
