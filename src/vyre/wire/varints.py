"""Numbers in stored programs: seven bits per byte, low ones first, no superfluous bytes.

Whole sections are nothing but such numbers, so they are cut and converted all at once; the table
of known forms makes that a matter of C loops.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from vyre.diagnostics.codes import wire as codes
from vyre.wire.malformed import Malformed

_LONGEST = 10
"""Bytes of a number of 64 bits."""
_KNOWN_FORMS = 1 << 14
"""Numbers below this are remembered: those of one or two bytes."""
_ONE_BYTE = tuple(bytes((value,)) for value in range(128))
_CONTINUED = bytes(range(128, 256))
_PIECE = 1 << 14
"""Bytes that are cut into numbers at a time."""
_FORM = re.compile(rb"[\x80-\xff]*+[\x00-\x7f]")


def varint(value: int) -> bytes:
    """The form of a number from 0 to 2**64 - 1."""
    if value < 128:
        return _ONE_BYTE[value] if value >= 0 else _too_large(value)
    if value < 1 << 14:
        return bytes((value & 127 | 128, value >> 7))
    if value < 1 << 21:
        return bytes((value & 127 | 128, value >> 7 & 127 | 128, value >> 14))
    if value >> 64:
        return _too_large(value)
    return bytes((value & 127 | 128,)) + varint(value >> 7)


def _too_large(value: int) -> bytes:
    raise OverflowError(value)


def split(data: bytes) -> Iterator[int]:
    """The numbers that `data` is made of, converted as they are asked for."""
    if data and data[-1] > 127:
        raise Malformed(codes.TRUNCATED, what="a number")
    return chain.from_iterable(map(_values, _pieces(data)))


def count(data: bytes) -> int:
    """How many numbers `data` is made of."""
    return len(data.translate(None, _CONTINUED))


def offset_of(data: bytes, index: int) -> int:
    """Where the number with this index starts in `data`."""
    return sum(map(len, _FORM.findall(data)[:index]))


def _pieces(data: bytes) -> Iterator[bytes]:
    """Parts of `data` that begin and end where numbers do."""
    start = 0
    while start < len(data):
        end = start + _PIECE
        while end < len(data) and data[end - 1] > 127:
            end += 1
        yield data[start:end]
        start = end


def _values(piece: bytes) -> Iterator[int]:
    return map(_VALUES.__getitem__, _FORM.findall(piece))


class _Values(dict[bytes, int]):
    """From forms to numbers; the short ones are remembered."""

    def __missing__(self, form: bytes) -> int:
        if len(form) == 3 and form[2]:
            raw = int.from_bytes(form, "little")
            return raw & 0x7F | (raw & 0x7F00) >> 1 | (raw & 0x7F0000) >> 2
        if len(form) > _LONGEST or (form[-1] == 0 and len(form) > 1):
            raise Malformed(codes.NOT_CANONICAL, problem="a number is longer than it needs to be")
        value = 0
        for byte in reversed(form):
            value = value << 7 | byte & 127
        if value >> 64:
            raise Malformed(codes.NOT_CANONICAL, problem="a number has more than 64 bits")
        if value < _KNOWN_FORMS:
            self[form] = value
        return value


_VALUES = _Values()
