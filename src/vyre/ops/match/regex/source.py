"""The text of a pattern while it is read: a cursor, and errors that point into it."""

from __future__ import annotations

from typing import NoReturn

from vyre.diagnostics import Code, Location, RegexError, Span
from vyre.diagnostics.codes import regex as codes
from vyre.ops.match.regex.dialects import DIALECTS, Dialect
from vyre.ops.match.regex.limits import MAX_PATTERN_BYTES

_SHOWN = 60
"""Characters of the pattern shown on each side of an error."""


class Source:
    """A pattern as characters; bytes that are no UTF-8 are single characters (PEP 383)."""

    def __init__(self, pattern: str | bytes, dialect: str) -> None:
        if dialect not in DIALECTS:
            known = ", ".join(repr(name) for name in DIALECTS)
            raise RegexError(codes.UNKNOWN_DIALECT.at(found=dialect, known=known))
        if not isinstance(pattern, (str, bytes)):
            raise RegexError(codes.NOT_A_PATTERN.at(found=type(pattern).__name__))
        self.dialect: Dialect = DIALECTS[dialect]
        self._is_bytes = isinstance(pattern, bytes)
        size = len(pattern) if isinstance(pattern, bytes) else _encoded_size(pattern)
        if size > MAX_PATTERN_BYTES:
            raise RegexError(codes.PATTERN_TOO_LONG.at(size=size, limit=MAX_PATTERN_BYTES))
        self.text = (
            pattern.decode("utf-8", "surrogateescape") if isinstance(pattern, bytes) else pattern
        )
        self.position = 0
        self.last_name_end = self.text.rfind(":]")
        """Where the last `[:name:]` can end."""

    @property
    def at_end(self) -> bool:
        """True if every character was read."""
        return self.position >= len(self.text)

    def peek(self, ahead: int = 0) -> str:
        """The character at the cursor or after it; empty past the end."""
        place = self.position + ahead
        return self.text[place : place + 1]

    def take(self) -> str:
        """Read one character; empty at the end."""
        character = self.peek()
        self.position += 1
        return character

    def accept(self, expected: str) -> bool:
        """Read `expected` if it comes next; True if it did."""
        if not self.text.startswith(expected, self.position):
            return False
        self.position += len(expected)
        return True

    def take_while(self, wanted: str, most: int) -> str:
        """Read at most `most` of the wanted characters."""
        start = self.position
        while self.position - start < most and self.peek() and self.peek() in wanted:
            self.position += 1
        return self.text[start : self.position]

    def skip_space(self) -> None:
        """Skip white space and comments, as `(?x)` has them."""
        while self.peek() and self.peek() in " \t\n\r\f\v#":
            if self.take() == "#":
                end = self.text.find("\n", self.position)
                self.position = len(self.text) if end < 0 else end + 1

    def encoded(self, character: str) -> bytes:
        """The bytes of one character."""
        return character.encode("utf-8", "surrogateescape")

    def since(self, start: int) -> str:
        """The text from `start` to the cursor."""
        return self.text[start : self.position]

    def refuse(self, code: Code, start: int, **values: str | int) -> NoReturn:
        """Raise the error, pointing at the characters from `start` to the cursor."""
        end = min(max(self.position, start + 1), len(self.text))
        line = self.text.count("\n", 0, start) + 1
        first = self.text.rfind("\n", 0, start) + 1
        after = self.text.find("\n", start)
        shown_from = max(first, start - _SHOWN)
        shown_to = min(len(self.text) if after < 0 else after, start + _SHOWN)
        shown = self.text[shown_from:shown_to].encode("utf-8", "backslashreplace").decode()
        span = Span(
            "<pattern>",
            line,
            start - shown_from + 1,
            min(end, shown_to) - shown_from + 1,
            shown,
        )
        values = {name: _shortened(value) for name, value in values.items()}
        offset = len(self.encoded(self.text[:start])) if self._is_bytes else start
        where = Location(f"offset {offset}", span)
        raise RegexError(code.at(where, (), **values), offset)


def _shortened(value: str | int) -> str | int:
    """Values that quote the pattern are as long as it lets them be."""
    return f"{value[:_SHOWN]}..." if isinstance(value, str) and len(value) > 3 * _SHOWN else value


def _encoded_size(pattern: str) -> int:
    try:
        return len(pattern.encode())
    except UnicodeEncodeError as error:
        diagnostic = codes.NOT_ASCII.at(
            Location(f"offset {error.start}"),
            found=f"the lone surrogate U+{ord(pattern[error.start]):04X}",
            problem="has no UTF-8 encoding",
            fix="give the pattern as bytes",
        )
        raise RegexError(diagnostic, error.start) from None
