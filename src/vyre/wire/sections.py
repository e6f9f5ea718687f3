"""The parts of a payload: which there are, where they start, and the table of strings."""

from __future__ import annotations

from vyre.diagnostics.codes import wire as codes
from vyre.record import dataclass
from vyre.wire import tags
from vyre.wire.byte_builder import joined
from vyre.wire.envelope import HEAD_SIZE, failure
from vyre.wire.malformed import Malformed
from vyre.wire.varints import split, varint

_NAMES = {
    tags.STRINGS: "the table of strings",
    tags.HEAD: "the head of the program",
    tags.BUFFERS: "the table of buffers",
    tags.BODY: "the body",
}
_LONGEST_NUMBER = 10


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a payload, and where it starts in the whole data."""

    tag: int
    start: int
    data: bytes

    @property
    def name(self) -> str:
        """What it is, in messages."""
        return _NAMES[self.tag]


def write_sections(parts: dict[int, bytes]) -> bytes:
    """The payload made of these parts."""
    return b"".join(varint(tag) + varint(len(parts[tag])) + parts[tag] for tag in tags.SECTIONS)


def read_sections(payload: bytes) -> dict[int, Section]:
    """The parts of a payload by tag: all of them, in their order, and nothing else."""
    found: dict[int, Section] = {}
    pos = 0
    for expected in tags.SECTIONS:
        if pos >= len(payload):
            raise failure(codes.TRUNCATED, HEAD_SIZE + pos, what="the list of sections")
        if payload[pos] != expected:
            raise failure(codes.UNKNOWN_TAG, HEAD_SIZE + pos, tag=payload[pos])
        size, start = _number(payload, pos + 1)
        if size > len(payload) - start:
            raise failure(codes.TRUNCATED, HEAD_SIZE + start, what=_NAMES[expected])
        found[expected] = Section(expected, HEAD_SIZE + start, payload[start : start + size])
        pos = start + size
    if pos != len(payload):
        problem = "something follows the last section"
        raise failure(codes.BAD_STRUCTURE, HEAD_SIZE + pos, problem=problem)
    return found


def write_strings(strings: list[str]) -> bytes:
    """The table of strings."""
    parts = [varint(len(encoded)) + encoded for encoded in map(str.encode, strings)]
    return varint(len(strings)) + joined(parts)


def read_strings(section: Section) -> list[str]:
    """The strings of the table, no two of them the same."""
    data, start = section.data, section.start - HEAD_SIZE
    count, pos = _number(data, 0, start)
    found: list[str] = []
    if count > len(data) - pos:
        raise failure(codes.TRUNCATED, section.start + pos, what=section.name)
    for _ in range(count):
        size, pos = _number(data, pos, start)
        if size > len(data) - pos:
            raise failure(codes.TRUNCATED, section.start + pos, what=section.name)
        try:
            found.append(data[pos : pos + size].decode())
        except UnicodeDecodeError:
            problem = "a string is not UTF-8"
            raise failure(codes.NOT_CANONICAL, section.start + pos, problem=problem) from None
        pos += size
    if pos != len(data):
        problem = "a section is longer than its contents"
        raise failure(codes.BAD_STRUCTURE, section.start + pos, problem=problem)
    if len(set(found)) != len(found):
        problem = "a string is in the table twice"
        raise failure(codes.NOT_CANONICAL, section.start, problem=problem)
    return found


def _number(data: bytes, pos: int, start: int = 0) -> tuple[int, int]:
    """The number at a place, and the place behind it."""
    if pos < len(data) and data[pos] < 128:
        return data[pos], pos + 1
    end = pos
    while end < len(data) and data[end] > 127 and end - pos < _LONGEST_NUMBER:
        end += 1
    try:
        value = next(split(data[pos : end + 1]), None)
        if value is None:
            raise Malformed(codes.TRUNCATED, what="a number")
    except Malformed as problem:
        raise problem.at(HEAD_SIZE + start + pos) from None
    return value, end + 1
