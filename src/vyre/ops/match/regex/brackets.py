r"""Bracketed classes: `[a-z]`, `[^\s"]`, `[[:alpha:]_]`."""

from __future__ import annotations

import re
from typing import NoReturn

from vyre.diagnostics.codes import regex as codes
from vyre.ops.match.regex import byte_sets
from vyre.ops.match.regex.escapes import Byte, ByteClass, read_escape
from vyre.ops.match.regex.source import Source

_POSIX = re.compile(r"\[:(\^?)([a-z]*):\]")
_COLLATING = re.compile(r"\[([.=])[^\]]*\1\]")
_WORD_EDGE = re.compile(r"\[:[<>]:\]")


def read_class(source: Source, groups: int, ignore_case: bool, extended: bool) -> int:
    """Read a class whose opening bracket was read; gives its set of bytes."""
    return _ClassReader(source, groups, extended).read(ignore_case)


class _ClassReader:
    def __init__(self, source: Source, groups: int, extended: bool) -> None:
        self._source = source
        self._start = source.position - 1
        self._groups = groups
        self._skips_space = extended and source.dialect.comments_in_classes
        self._bits = 0
        self._listed = 0
        """Bytes written as characters and ranges, not by the name of a class."""

    def read(self, ignore_case: bool) -> int:
        source = self._source
        negated = source.accept("^")
        self._refuse_posix_outside_brackets()
        self._first_items()
        while True:
            self._space()
            if source.at_end:
                self._refuse(self._start, "has no closing bracket", "add ]")
            if source.accept("]"):
                break
            self._item()
        bits = self._bits | self._listed
        if ignore_case:
            if self._listed & byte_sets.NOT_ASCII not in (0, byte_sets.NOT_ASCII):
                source.refuse(
                    codes.NOT_ASCII,
                    self._start,
                    found=source.since(self._start),
                    problem="has bytes over 7F under (?i), which folds ASCII only",
                    fix="switch case folding off around the class: (?-i:[...])",
                )
            bits = byte_sets.folded(bits)
        return byte_sets.ALL & ~bits if negated else bits

    def _first_items(self) -> None:
        """A closing bracket that comes first is a character, in Rust also all leading hyphens."""
        source = self._source
        if not source.dialect.set_operations:
            if source.peek() == "]":
                self._item()
            return
        self._space()
        hyphens = False
        while source.accept("-"):
            hyphens = True
            self._listed |= byte_sets.byte_set(b"-")
            self._space()
        if not hyphens and source.accept("]"):
            self._listed |= byte_sets.byte_set(b"]")

    def _refuse_posix_outside_brackets(self) -> None:
        source = self._source
        if source.dialect.name == "pcre" and source.position == self._start + 1:
            named = _POSIX.match(source.text, self._start)
            if named is not None:
                fix = "put another pair of brackets around it"
                self._refuse(self._start, "is a named class outside of a class", fix)

    def _space(self) -> None:
        if self._skips_space:
            self._source.skip_space()

    def _item(self) -> None:
        """Read one character, range, named class or escape."""
        source = self._source
        start = source.position
        if source.peek() == "[" and self._named_class():
            return
        self._refuse_operators()
        low = self._character()
        if low is None:
            return
        self._space()
        is_range = source.peek() == "-" and source.peek(1) not in ("]", "")
        if isinstance(low, ByteClass):
            if is_range and source.dialect.name != "go":
                source.position += 2
                self._refuse(start, "is a range that starts with a class", "escape the hyphen: \\-")
            self._bits |= low.bits
            return
        if not is_range or self._is_last_hyphen():
            self._listed |= 1 << low.value
            return
        source.position += 1
        self._space()
        high = self._character()
        if not isinstance(high, Byte):
            self._refuse(start, "is a range that ends in a class", "escape the hyphen: \\-")
        if high.value < low.value:
            self._refuse(start, "is a range in descending order", "write the lower end first")
        self._listed |= byte_sets.byte_range(low.value, high.value)

    def _is_last_hyphen(self) -> bool:
        """True if only white space that is skipped stands between the hyphen and the bracket."""
        if not self._skips_space:
            return False
        source = self._source
        place = source.position
        source.position += 1
        source.skip_space()
        last = source.peek() == "]"
        source.position = place
        return last

    def _named_class(self) -> bool:
        """Read `[:name:]`; False if the bracket is a character."""
        source = self._source
        start = source.position
        named = _POSIX.match(source.text, start)
        if named is not None:
            source.position = named.end()
            if named[2] not in byte_sets.POSIX:
                known = ", ".join(byte_sets.POSIX)
                self._refuse(start, "is no class", f"use one of {known}")
            bits = byte_sets.POSIX[named[2]]
            self._bits |= byte_sets.ALL & ~bits if named[1] else bits
            if source.peek() == "-" and source.peek(1) != "]" and source.dialect.name != "go":
                self._refuse(start, "is a range that starts with a class", "escape the hyphen: \\-")
            return True
        dialect = source.dialect
        is_name = source.text.startswith("[:", start) and source.last_name_end >= start + 2
        if is_name and dialect.name == "go":
            source.position += 2
            self._refuse(start, "starts a named class that is none", "escape the bracket: \\[")
        if dialect.name == "pcre":
            special = _COLLATING.match(source.text, start) or _WORD_EDGE.match(source.text, start)
            if special is not None:
                source.position = special.end()
                self._refuse(start, "is not taken", "escape the bracket: \\[")
        if dialect.set_operations:
            source.position += 1
            self._refuse(start, "is a class inside of a class", "escape the bracket: \\[")
        return False

    def _refuse_operators(self) -> None:
        source = self._source
        if source.dialect.set_operations:
            for operator in ("&&", "--", "~~"):
                if source.accept(operator):
                    start = source.position - 2
                    fix = f"escape the characters: \\{operator[0]}\\{operator[1]}"
                    self._refuse(start, "is an operation on classes", fix)

    def _character(self) -> Byte | ByteClass | None:
        """Read a character or an escape; None if it stands for nothing (quotes of PCRE)."""
        source = self._source
        start = source.position
        character = source.take()
        if character == "\\":
            if source.dialect.quotes_in_classes and source.peek() in ("Q", "E"):
                if source.take() == "Q":
                    self._quoted()
                return None
            escape = read_escape(source, self._groups, in_class=True)
            return escape if isinstance(escape, (Byte, ByteClass)) else None
        if not character:
            self._refuse(self._start, "has no closing bracket", "add ]")
        if not character.isascii():
            source.refuse(
                codes.NOT_ASCII,
                start,
                found=repr(character),
                problem="is several bytes and cannot be in a class of bytes",
                fix="write the characters as alternatives: (?:[a-z]|ä|ö)",
            )
        return Byte(ord(character))

    def _quoted(self) -> None:
        source = self._source
        end = source.text.find("\\E", source.position)
        stop = len(source.text) if end < 0 else end
        for byte in source.encoded(source.text[source.position : stop]):
            self._listed |= 1 << byte
        if not source.text[source.position : stop].isascii():
            self._refuse(self._start, "quotes characters outside of ASCII", "write alternatives")
        source.position = stop + 2

    def _refuse(self, start: int, problem: str, fix: str) -> NoReturn:
        source = self._source
        found = source.since(start) or source.text[start : start + 20]
        source.refuse(codes.BAD_CLASS, start, found=found, problem=problem, fix=fix)
