"""Sets of bytes as 256-bit integers: bit b is set if the set holds byte b.

union a | b      intersection a & b      complement ALL & ~a      size a.bit_count()
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

ALL = (1 << 256) - 1
ASCII = (1 << 128) - 1
NOT_ASCII = ALL & ~ASCII


def byte_range(first: int, last: int) -> int:
    """The bytes from `first` to `last`, both included."""
    return (1 << (last + 1)) - (1 << first)


def byte_set(members: bytes) -> int:
    """The set of these bytes."""
    bits = 0
    for byte in members:
        bits |= 1 << byte
    return bits


def members(bits: int) -> Iterator[int]:
    """The bytes of a set in ascending order."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


@lru_cache(1_000)
def flags(bits: int) -> bytes:
    """One byte per byte value: 1 if the set holds it."""
    return bytes(bits >> byte & 1 for byte in range(256))


def ranges(bits: int) -> list[tuple[int, int]]:
    """The set as maximal ranges, both ends included."""
    runs: list[tuple[int, int]] = []
    while bits:
        first = (bits & -bits).bit_length() - 1
        shifted = bits >> first
        length = (~shifted & (shifted + 1)).bit_length() - 1
        runs.append((first, first + length - 1))
        bits &= ~byte_range(first, first + length - 1)
    return runs


UPPER = byte_range(0x41, 0x5A)
LOWER = byte_range(0x61, 0x7A)
DIGIT = byte_range(0x30, 0x39)
LETTER = UPPER | LOWER
WORD = LETTER | DIGIT | byte_set(b"_")
NEWLINE = byte_set(b"\n")
SPACE = byte_set(b"\t\n\f\r ")
SPACE_WITH_VERTICAL_TAB = SPACE | byte_set(b"\v")
_GRAPH = byte_range(0x21, 0x7E)

POSIX = {
    "alnum": LETTER | DIGIT,
    "alpha": LETTER,
    "ascii": ASCII,
    "blank": byte_set(b"\t "),
    "cntrl": byte_range(0x00, 0x1F) | byte_set(b"\x7f"),
    "digit": DIGIT,
    "graph": _GRAPH,
    "lower": LOWER,
    "print": _GRAPH | byte_set(b" "),
    "punct": _GRAPH & ~(LETTER | DIGIT),
    "space": SPACE_WITH_VERTICAL_TAB,
    "upper": UPPER,
    "word": WORD,
    "xdigit": DIGIT | byte_range(0x41, 0x46) | byte_range(0x61, 0x66),
}
"""The named classes `[:name:]`; all three dialects have the same fourteen."""


def folded(bits: int) -> int:
    """The set with both cases of every ASCII letter in it."""
    return bits | (bits & UPPER) << 32 | (bits & LOWER) >> 32


def show(bits: int) -> str:
    """The set as a class of the pattern language, for people."""
    if bits == ALL:
        return "(?s:.)"
    if bits.bit_count() == 1:
        return _show_byte(bits.bit_length() - 1)
    inverted = bits.bit_count() > 128
    shown = ""
    for first, last in ranges(ALL & ~bits if inverted else bits):
        shown += _show_byte(first)
        if last > first:
            shown += ("-" if last > first + 1 else "") + _show_byte(last)
    return f"[{'^' if inverted else ''}{shown}]"


def _show_byte(byte: int) -> str:
    if chr(byte).isascii() and (chr(byte).isalnum() or chr(byte) == "_"):
        return chr(byte)
    return f"\\{chr(byte)}" if 0x20 < byte < 0x7F else f"\\x{byte:02x}"
