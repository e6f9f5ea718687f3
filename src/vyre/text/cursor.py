"""A place in a list of tokens: looking, taking, and saying what is wrong there."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import replace

from vyre.diagnostics import Code, Location, ParseError, Span
from vyre.diagnostics.codes import text as codes
from vyre.ir.names import checked_name
from vyre.ir.types import DataType
from vyre.signals import is_from_handler
from vyre.text.tokens import BAD, END, HEX, NAME, NUMBER, QUOTED, STRING, TYPE, Tokens
from vyre.text.words import RESERVED, UNESCAPES

_ESCAPE = re.compile(r"\\(?:u\{([0-9a-fA-F]{1,6})\}|(.))")
_SHOWN = 40
_CERTAINLY_SHORT = 255
"""A plain word of this length is a name; anything else is asked of the IR."""
_LONGEST_SHOWN_LINE = 1000


class Cursor:
    """The tokens of one text and where the parser stands in them."""

    __slots__ = ("file", "kinds", "line_starts", "position", "source", "starts", "texts")

    def __init__(self, source: str, file: str) -> None:
        tokens = Tokens(source)
        self.kinds = tokens.kinds
        self.texts = tokens.texts
        self.starts = tokens.starts
        self.position = 0
        self.source = source
        self.file = file
        self.line_starts = [0, *(match.end() for match in re.finditer("\n", source))]

    # --- looking and taking ---------------------------------------------------------------------

    @property
    def text(self) -> str:
        """The text of the token at hand."""
        return self.texts[self.position]

    def accept(self, text: str) -> bool:
        """Take the token at hand if it is this symbol or word."""
        if self.texts[self.position] == text:
            self.position += 1
            return True
        return False

    def expect(self, text: str) -> None:
        """Take this symbol or word; nothing else may stand here."""
        if self.texts[self.position] != text:
            raise self.unexpected(f"`{text}`")
        self.position += 1

    def name(self, what: str) -> str:
        """Take a name."""
        position = self.position
        kind = self.kinds[position]
        text = self.texts[position]
        if kind == NAME:
            if text in RESERVED:
                raise self.error(codes.RESERVED_WORD, found=text)
        elif kind == QUOTED:
            text = text[1:-1]
        else:
            raise self.unexpected(what)
        if kind == QUOTED or len(text) > _CERTAINLY_SHORT:
            checked_name(text, what)
        self.position = position + 1
        return text

    def word(self, what: str) -> str:
        """Take a word of the language."""
        if self.kinds[self.position] != NAME:
            raise self.unexpected(what)
        self.position += 1
        return self.texts[self.position - 1]

    def string(self, what: str) -> str:
        """Take a string in double quotes."""
        if self.kinds[self.position] != STRING:
            raise self.unexpected(what)
        text = self.text[1:-1]
        if "\\" in text:
            text = _ESCAPE.sub(self._unescaped, text)
        self.position += 1
        return text

    def integer(self, what: str) -> int:
        """Take a plain integer, with a minus if there is one."""
        start = self.position
        negative = self.accept("-")
        text = self.text
        if self.kinds[self.position] != NUMBER or not text.isdecimal() or len(text) > _SHOWN:
            self.position = start
            raise self.unexpected(what)
        self.position += 1
        return -int(text) if negative else int(text)

    def payload(self) -> bytes:
        """Take bytes written as `hex"00ff"`, if they stand here."""
        if self.kinds[self.position] != HEX:
            return b""
        digits = self.text[4:-1]
        if len(digits) % 2:
            raise self.unexpected("an even number of hexadecimal digits")
        self.position += 1
        return bytes.fromhex(digits)

    def dtype(self) -> DataType:
        """Take a type."""
        if self.kinds[self.position] not in (NAME, TYPE):
            raise self.unexpected("a type")
        try:
            found = DataType.parse(self.text)
        except ValueError as problem:
            if is_from_handler(problem):
                raise
            raise self.error(codes.UNKNOWN_TYPE, found=self.shown()) from None
        self.position += 1
        return found

    # --- saying where and what is wrong -----------------------------------------------------------

    def shown(self, position: int | None = None) -> str:
        """A token as messages show it."""
        index = self.position if position is None else position
        if self.kinds[index] == END:
            return "the end of the text"
        text = self.texts[index]
        if len(text) > _SHOWN:
            text = text[: _SHOWN - 3] + "..."
        return f"`{text}`"

    def unexpected(self, expected: str, *, here: bool = False) -> ParseError:
        """The error that something else was expected at the token at hand.

        `here` says that nothing is missing before it, even if it starts a line.
        """
        if self.kinds[self.position] == BAD:
            return self._bad_character()
        if not here and self.starts_line():
            # What is missing is missing where the line ends, not where the next one starts.
            before = self.span(self.position - 1, self.position - 1)
            end = before.end_column or before.column
            span = replace(before, column=end, end_column=end + 1)
            missing = codes.UNEXPECTED.at(
                Location(span=span), expected=expected, found="the end of the line"
            )
            return ParseError(missing)
        return self.error(codes.UNEXPECTED, expected=expected, found=self.shown())

    def starts_line(self) -> bool:
        """Whether the token at hand stands on a later line than the one before it."""
        if self.position == 0 or self.kinds[self.position] == END:
            return False
        end = self.starts[self.position - 1]
        return "\n" in self.source[end : self.starts[self.position]]

    def error(self, code: Code, position: int | None = None, **values: object) -> ParseError:
        """The error with this code at a token."""
        index = self.position if position is None else position
        return ParseError(code.at(Location(span=self.span(index, index)), (), **values))

    def span(self, first: int, last: int) -> Span:
        """The source from one token to another, as far as it is on the first one's line."""
        start = self.starts[first]
        line = bisect_right(self.line_starts, start)
        line_start = self.line_starts[line - 1]
        if line < len(self.line_starts):
            line_end = self.line_starts[line] - 1
        else:
            line_end = len(self.source)
        end = min(self.starts[last] + len(self.texts[last]), line_end)
        shown = line_end - line_start <= _LONGEST_SHOWN_LINE
        text = self.source[line_start:line_end].rstrip("\r") if shown else None
        return Span(self.file, line, start - line_start + 1, end - line_start + 1, text)

    def _bad_character(self) -> ParseError:
        text = self.text
        if text in ('"', "`"):
            what, closer = ("text", '"') if text == '"' else ("name", "`")
            return self.error(codes.UNCLOSED_TEXT, what=what, closer=closer)
        found = f"`{text}`" if text.isprintable() else f"the character U+{ord(text):04X}"
        return self.error(codes.BAD_CHARACTER, found=found)

    def _unescaped(self, match: re.Match[str]) -> str:
        number, char = match[1], match[2]
        if number is not None:
            code = int(number, 16)
            if code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF:
                return chr(code)
        elif char in UNESCAPES:
            return UNESCAPES[char]
        raise self.error(codes.BAD_ESCAPE, found=match[0])
