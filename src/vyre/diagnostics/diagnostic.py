"""A problem as a value: stable code, one sentence, where, and how to fix it."""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum

from vyre.diagnostics.span import Location
from vyre.record import dataclass


class Severity(StrEnum):
    """Errors stop a program from running; warnings do not."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One problem found in a program or in a call."""

    code: str
    message: str
    fix: str
    location: Location = field(default_factory=Location)
    related: tuple[Location, ...] = ()
    severity: Severity = Severity.ERROR

    def __str__(self) -> str:
        from vyre.diagnostics.render import render

        return render(self)
