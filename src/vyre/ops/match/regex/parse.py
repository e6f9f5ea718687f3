"""The parser: a pattern of Go, Rust or PCRE becomes one syntax tree over bytes.

It keeps its own stack of open groups, so nesting costs no recursion, and reads every character a
bounded number of times. What automata cannot do, and what would mean something else in another
engine of the same dialect, is refused by name and offset.
"""

from __future__ import annotations

from dataclasses import field

from vyre.diagnostics.codes import regex as codes
from vyre.ops.match.regex import byte_sets
from vyre.ops.match.regex.boundaries import Look
from vyre.ops.match.regex.brackets import read_class
from vyre.ops.match.regex.escapes import Byte, ByteClass, read_escape
from vyre.ops.match.regex.groups import Opening, read_opening
from vyre.ops.match.regex.limits import MAX_GROUPS, MAX_NESTING
from vyre.ops.match.regex.normal_form import check_size, is_empty_match_possible
from vyre.ops.match.regex.repeats import read_repeat
from vyre.ops.match.regex.source import Source
from vyre.ops.match.regex.syntax import (
    Alternation,
    Assertion,
    Class,
    Concat,
    Group,
    Node,
    Repeat,
)
from vyre.record import dataclass


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern that was read: its text, its dialect and its syntax tree."""

    text: str
    dialect: str
    root: Node
    names: tuple[str | None, ...]
    """Names of the capture groups; the first entry is group one."""

    @property
    def groups(self) -> int:
        """The number of capture groups."""
        return len(self.names)


def parse(pattern: str | bytes, dialect: str = "go") -> Pattern:
    """Read a pattern; `RegexError` says what is refused, where, and what to write instead."""
    source = Source(pattern, dialect)
    root, names = _Parser(source).run()
    check_size(source, root)
    if is_empty_match_possible(root):
        source.position = len(source.text)
        source.refuse(codes.MATCHES_EMPTY, 0)
    return Pattern(source.text, dialect, root, tuple(names))


@dataclass
class _Frame:
    """A group that is open, or the whole pattern."""

    start: int
    opening: Opening
    outer_flags: frozenset[str]
    items: list[Node] = field(default_factory=list[Node])
    choices: list[Node] = field(default_factory=list[Node])
    last: str = ""
    """What a repeat would apply to: "atom", "assertion", "repeat", or "" for nothing."""
    last_height: int = 0
    height: int = 0
    """Nesting of the deepest item so far."""

    def add(self, item: Node, last: str = "atom", height: int = 0) -> None:
        self.items.append(item)
        self.last, self.last_height = last, height
        self.height = max(self.height, height)

    def close_choice(self) -> None:
        self.choices.append(self.items[0] if len(self.items) == 1 else Concat(tuple(self.items)))
        self.items = []
        self.last = ""

    def node(self) -> Node:
        self.close_choice()
        return self.choices[0] if len(self.choices) == 1 else Alternation(tuple(self.choices))


class _Parser:
    def __init__(self, source: Source) -> None:
        self._source = source
        self._flags: frozenset[str] = frozenset()
        self._frames = [_Frame(0, Opening(), self._flags)]
        self._names: list[str | None] = []

    def run(self) -> tuple[Node, list[str | None]]:
        source = self._source
        while not source.at_end:
            if "x" in self._flags:
                source.skip_space()
                if source.at_end:
                    break
            self._step()
        frame = self._frames[-1]
        if len(self._frames) > 1:
            source.position = frame.start + 1
            source.refuse(codes.UNBALANCED, frame.start, found="(")
        return frame.node(), self._names

    def _step(self) -> None:
        """Read one construct."""
        source, frame = self._source, self._frames[-1]
        start = source.position
        match source.take():
            case "\\":
                self._escape()
            case "(":
                self._open(start)
            case ")":
                self._close(start)
            case "|":
                frame.close_choice()
            case "[":
                ignore_case, extended = "i" in self._flags, "x" in self._flags
                frame.add(Class(read_class(source, len(self._names), ignore_case, extended)))
            case ".":
                newline = 0 if "s" in self._flags else byte_sets.NEWLINE
                frame.add(Class(byte_sets.ALL & ~newline))
            case "^":
                multi_line = "m" in self._flags
                self._assert(source.dialect.line_start if multi_line else (Look.TEXT_START,))
            case "$":
                multi_line = "m" in self._flags
                self._assert((Look.LINE_END if multi_line else source.dialect.text_end,))
            case "*" | "+" | "?" | "{":
                source.position = start
                self._repeat(start)
            case character:
                self._literal(character, start)

    def _assert(self, looks: tuple[Look, ...]) -> None:
        items = [Assertion(look) for look in looks]
        self._frames[-1].add(items[0] if len(items) == 1 else Concat(tuple(items)), "assertion")

    def _literal(self, character: str, start: int) -> None:
        """One character: a byte, or the bytes of its UTF-8 encoding as one item."""
        encoded = self._source.encoded(character)
        if not character.isascii() and "i" in self._flags:
            self._refuse_folding(start, repr(character))
        self._bytes(encoded)

    def _refuse_folding(self, start: int, found: str) -> None:
        self._source.refuse(
            codes.NOT_ASCII,
            start,
            found=found,
            problem="stands under (?i), which folds ASCII only",
            fix="switch case folding off around it: (?-i:...)",
        )

    def _bytes(self, encoded: bytes) -> None:
        classes = [Class(self._cased(1 << byte)) for byte in encoded]
        self._frames[-1].add(classes[0] if len(classes) == 1 else Concat(tuple(classes)))

    def _cased(self, bits: int) -> int:
        return byte_sets.folded(bits) if "i" in self._flags else bits

    def _escape(self) -> None:
        source, frame = self._source, self._frames[-1]
        start = source.position - 1
        if source.dialect.quotes and source.accept("Q"):
            self._quoted()
            return
        if source.dialect.quotes_in_classes and source.accept("E"):
            return
        match read_escape(source, len(self._names), in_class=False):
            case Byte(value):
                if value > 0x7F and "i" in self._flags:
                    self._refuse_folding(start, source.since(start))
                self._bytes(bytes([value]))
            case ByteClass(bits):
                frame.add(Class(bits))
            case look:
                self._assert((look,))

    def _quoted(self) -> None:
        source = self._source
        end = source.text.find("\\E", source.position)
        stop = len(source.text) if end < 0 else end
        while source.position < stop:
            start = source.position
            self._literal(source.take(), start)
        if end >= 0:
            source.position = end + 2

    def _repeat(self, start: int) -> None:
        """Apply a repeat to the item before it, or take its first character as a literal."""
        source, frame = self._source, self._frames[-1]
        repeat = read_repeat(source, frame.last)
        if repeat is None:
            self._literal(source.take(), start)
            return
        least, most, greedy = repeat
        if "U" in self._flags:
            greedy = not greedy
        body = frame.items.pop()
        height = frame.last_height + 1
        self._check_height(height, start)
        frame.add(Repeat(body, least, most, greedy), "repeat", height)

    def _check_height(self, height: int, start: int) -> None:
        if height > MAX_NESTING:
            self._source.refuse(codes.NESTED_TOO_DEEP, start, limit=MAX_NESTING)

    def _open(self, start: int) -> None:
        source = self._source
        if source.dialect.comments_in_classes and "x" in self._flags:
            source.skip_space()
        opening = read_opening(source, self._names, self._flags, start)
        if opening.is_comment:
            return
        if not opening.opens:
            self._flags = opening.flags
            self._frames[-1].last = ""
            return
        self._check_height(len(self._frames), start)
        if opening.captures:
            self._names.append(opening.name)
            if len(self._names) > MAX_GROUPS:
                source.refuse(
                    codes.PATTERN_TOO_LARGE,
                    start,
                    size=f"more than {MAX_GROUPS}",
                    unit="capture groups",
                    limit=MAX_GROUPS,
                )
        self._frames.append(_Frame(start, opening, self._flags))
        self._flags = opening.flags

    def _close(self, start: int) -> None:
        if len(self._frames) == 1:
            self._source.refuse(codes.UNBALANCED, start, found=")")
        frame = self._frames.pop()
        self._flags = frame.outer_flags
        body = frame.node()
        height = frame.height + 1
        self._check_height(height, start)
        if frame.opening.captures:
            body = Group(body, frame.opening.number, frame.opening.name)
        self._frames[-1].add(body, "atom", height)
