"""A row of the table of codes."""

from __future__ import annotations

from vyre.diagnostics.diagnostic import Diagnostic, Severity
from vyre.diagnostics.span import Location
from vyre.record import dataclass


@dataclass(frozen=True, slots=True)
class Code:
    """One kind of problem.

    `message` and `fix` are templates filled by keyword (`str.format`); `example` is program text,
    or Python source for codes that no program text can trigger, that shows the problem.
    """

    code: str
    title: str
    message: str
    fix: str
    example: str = ""
    explanation: str = ""
    severity: Severity = Severity.ERROR

    def at(
        self,
        location: Location | None = None,
        related: tuple[Location, ...] = (),
        **values: object,
    ) -> Diagnostic:
        """The diagnostic for one occurrence of this problem."""
        return Diagnostic(
            code=self.code,
            message=self.message.format(**values),
            fix=self.fix.format(**values),
            location=location if location is not None else Location(),
            related=related,
            severity=self.severity,
        )
