"""Numbers in stored programs: seven bits per byte, low ones first, no superfluous bytes.

Whole sections are nothing but such numbers, so they are cut and converted all at once; the table
of known forms makes that a matter of C loops.
"""

from __future__ import annotations

import re

from vyre.diagnostics.codes import wire as codes
from vyre.wire.malformed import Malformed

_LONGEST = 10
"""Bytes of a number of 64 bits."""
_KNOWN_FORMS = 1 << 14
"""Numbers below this are remembered: those of one or two bytes."""
_FORM = re.compile(rb"[\x80-\xff]*+[\x00-\x7f]")


def varint(value: int) -> bytes:
    """The form of a number from 0 to 2**64 - 1."""
    return _FORMS[value]


def split(data: bytes) -> list[int]:
    """The numbers that `data` is made of."""
    if not data:
        return []
    if data[-1] > 127:
        raise Malformed(codes.TRUNCATED, what="a number")
    return list(map(_VALUES.__getitem__, _FORM.findall(data)))


def offset_of(data: bytes, index: int) -> int:
    """Where the number with this index starts in `data`."""
    return sum(map(len, _FORM.findall(data)[:index]))


class _Forms(dict[int, bytes]):
    """From numbers to their forms; the small ones are remembered."""

    def __missing__(self, value: int) -> bytes:
        if 1 << 14 <= value < 1 << 21:
            return bytes((value & 127 | 128, value >> 7 & 127 | 128, value >> 14))
        if not 0 <= value < 1 << 64:
            raise OverflowError(value)
        out = bytearray()
        rest = value
        while rest > 127:
            out.append(rest & 127 | 128)
            rest >>= 7
        out.append(rest)
        form = bytes(out)
        if value < _KNOWN_FORMS:
            self[value] = form
        return form


class _Values(dict[bytes, int]):
    """From forms to numbers; the short ones are remembered."""

    def __missing__(self, form: bytes) -> int:
        if len(form) == 3 and form[2]:
            return form[0] & 127 | (form[1] & 127) << 7 | form[2] << 14
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


_FORMS = _Forms()
_VALUES = _Values()
