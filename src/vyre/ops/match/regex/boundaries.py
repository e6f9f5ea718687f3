"""Assertions as relations between the bytes before and after a boundary.

A boundary lies between two bytes, or at an end of the text. All that an assertion can see of it is
the kind of what stands before and the kind of what stands after, so an assertion is a set of pairs
of kinds: 5 × 5 bits. The conjunction of assertions is the intersection of their relations; reading
the text backwards transposes them.

`FINAL_NEWLINE` is a newline that is the last byte of the text. With it one byte of look-ahead is
enough for the `$` of PCRE, which also holds before a final newline.
"""

from __future__ import annotations

from enum import IntEnum
from functools import cache

from vyre.ops.match.regex import byte_sets


class Kind(IntEnum):
    """What stands on one side of a boundary."""

    EDGE = 0
    """The start of the text (before) or its end (after)."""
    NEWLINE = 1
    FINAL_NEWLINE = 2
    WORD = 3
    OTHER = 4


KINDS = len(Kind)
ALWAYS = (1 << KINDS * KINDS) - 1
"""The relation that holds everywhere."""
ANY_KIND = (1 << KINDS) - 1


def pair(before: int, after: int) -> int:
    """The relation that holds between these two kinds only."""
    return 1 << (before * KINDS + after)


def _relation(before: set[Kind] | None, after: set[Kind] | None) -> int:
    bits = 0
    for b in Kind if before is None else before:
        for a in Kind if after is None else after:
            bits |= pair(b, a)
    return bits


_NEWLINES = {Kind.NEWLINE, Kind.FINAL_NEWLINE}
_WORD_THEN_NOT = _relation({Kind.WORD}, set(Kind) - {Kind.WORD})
_NOT_THEN_WORD = _relation(set(Kind) - {Kind.WORD}, {Kind.WORD})


class Look(IntEnum):
    """The assertions; `RELATIONS` says where each of them holds."""

    TEXT_START = 0
    LINE_START = 1
    TEXT_END = 2
    LINE_END = 3
    FINAL_END = 4
    """End of the text, or before a newline that ends the text (`$` and `\\Z` of PCRE)."""
    WORD_BOUNDARY = 5
    NOT_WORD_BOUNDARY = 6
    NOT_TEXT_END = 7
    """Not the end of the text: part of the multi-line `^` of PCRE."""


RELATIONS: dict[Look, int] = {
    Look.TEXT_START: _relation({Kind.EDGE}, None),
    Look.LINE_START: _relation({Kind.EDGE} | _NEWLINES, None),
    Look.TEXT_END: _relation(None, {Kind.EDGE}),
    Look.LINE_END: _relation(None, {Kind.EDGE} | _NEWLINES),
    Look.FINAL_END: _relation(None, {Kind.EDGE, Kind.FINAL_NEWLINE}),
    Look.WORD_BOUNDARY: _WORD_THEN_NOT | _NOT_THEN_WORD,
    Look.NOT_WORD_BOUNDARY: ALWAYS & ~(_WORD_THEN_NOT | _NOT_THEN_WORD),
    Look.NOT_TEXT_END: _relation(None, set(Kind) - {Kind.EDGE}),
}


def transposed(relation: int) -> int:
    """The relation as it is when the text is read backwards."""
    bits = 0
    for before in range(KINDS):
        for after in range(KINDS):
            if relation & pair(before, after):
                bits |= pair(after, before)
    return bits


def kinds_after(relation: int, before: int) -> int:
    """The set of kinds, as bits, that may follow a boundary with this kind before it."""
    return relation >> (before * KINDS) & ANY_KIND


@cache
def kind_of_bytes() -> bytes:
    """The kind of every byte value; a newline that ends the text is left to the caller."""
    kinds = bytearray([Kind.OTHER] * 256)
    for byte in byte_sets.members(byte_sets.WORD):
        kinds[byte] = Kind.WORD
    kinds[ord("\n")] = Kind.NEWLINE
    return bytes(kinds)


def kinds_around(text: bytes) -> bytes:
    """The kinds of the text's bytes with its two edges: boundary i lies between [i] and [i + 1]."""
    kinds = bytearray(text.translate(kind_of_bytes()))
    if text.endswith(b"\n"):
        kinds[-1] = Kind.FINAL_NEWLINE
    return bytes([Kind.EDGE, *kinds, Kind.EDGE])
