"""Where something stands: in the user's source, and in the program's tree."""

from __future__ import annotations

from vyre.record import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of source text on one line; lines and columns count from one."""

    file: str
    line: int
    column: int = 1
    end_column: int | None = None
    source: str | None = None
    """The text of the line, if it was available when the span was made."""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a program: the path from its root, and the source line it came from if known.

    A path reads like the program does: `entry[0].body[3].then[1].value`.
    """

    path: str = ""
    span: Span | None = None
    statement: str | None = None
    """One line of text that shows the statement concerned."""

    def __str__(self) -> str:
        if self.span is not None:
            return f"{self.span} ({self.path})" if self.path else str(self.span)
        return self.path or "program"
