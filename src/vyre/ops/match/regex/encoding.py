"""Compiled patterns as bytes: versioned, with a digest, read without trust.

| bytes | meaning |
| 8  | magic |
| 4  | version |
| 8  | length of the payload |
| 32 | digest of the payload: BLAKE2b, 32 bytes |
| .. | payload |

Numbers are little-endian. The digest tells damage, not malice, so every number that is used as an
index is checked: bytes that were made up give a `RegexError`, never an access out of bounds.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from vyre.diagnostics import Code, Location, RegexError
from vyre.diagnostics.codes import regex as codes
from vyre.digests import blake2b
from vyre.ops.match.regex.boundaries import ALWAYS, KINDS
from vyre.ops.match.regex.dfa import MATCHED, Dfa
from vyre.ops.match.regex.dialects import DIALECTS
from vyre.ops.match.regex.factors import Bounds, Factor
from vyre.ops.match.regex.first_bytes import can_match_empty
from vyre.ops.match.regex.program import ASSERT, BYTE, JUMP, MATCH, SAVE, SPLIT, Program
from vyre.ops.match.regex.regex import CompiledPiece, Regex

MAGIC = b"\x89VYR\r\n\x1a\n"
VERSION = 1
_HEAD = struct.Struct("<8sIQ32s")
_NONE = (1 << 64) - 1
T = TypeVar("T")


def seal(payload: bytes) -> bytes:
    """The payload with its head."""
    return _HEAD.pack(MAGIC, VERSION, len(payload), _digest(payload)) + payload


def _digest(payload: bytes) -> bytes:
    return blake2b(payload, digest_size=32).digest()


def encode(regex: Regex) -> bytes:
    """A compiled pattern as bytes; equal patterns give equal bytes."""
    out = _Writer()
    out.text(regex.text)
    out.text(regex.dialect)
    out.list(regex.names, lambda name: out.text(name or ""))
    out.number(regex.least)
    out.optional(regex.most)
    _write_program(out, regex.program)
    _write_dfa(out, regex.forward)
    _write_dfa(out, regex.backward)
    out.list(regex.pieces, lambda piece: _write_piece(out, piece))
    return seal(bytes(out.data))


def decode(data: bytes) -> Regex:
    """The compiled pattern that `encode` stored; anything else gives a `RegexError`."""
    if data[:8] != MAGIC:
        _fail(codes.NOT_COMPILED, 0)
    if len(data) < _HEAD.size:
        _fail(codes.DAMAGED, len(data), problem="the head is cut off")
    _, version, length, digest = _HEAD.unpack_from(data)
    if version != VERSION:
        _fail(codes.UNKNOWN_FORMAT, 8, version=version, known=VERSION)
    payload = bytes(data[_HEAD.size :])
    if len(payload) != length:
        problem = f"{length} bytes should follow the head, but {len(payload)} do"
        _fail(codes.DAMAGED, 12, problem=problem)
    if _digest(payload) != digest:
        _fail(codes.DAMAGED, 20, problem="the contents do not match their digest")
    return _Reader(payload).regex()


def _fail(code: Code, offset: int, **values: object) -> NoReturn:
    raise RegexError(code.at(Location(f"byte {offset}"), (), **values), offset)


class _Writer:
    def __init__(self) -> None:
        self.data = bytearray()

    def number(self, value: int) -> None:
        self.data += struct.pack("<Q", value)

    def optional(self, value: int | None) -> None:
        self.number(_NONE if value is None else value)

    def blob(self, value: bytes) -> None:
        self.number(len(value))
        self.data += value

    def text(self, value: str) -> None:
        self.blob(value.encode("utf-8", "surrogateescape"))

    def bits(self, value: int) -> None:
        self.data += value.to_bytes(32, "little")

    def list(self, values: tuple[T, ...], write: Callable[[T], None]) -> None:
        self.number(len(values))
        for value in values:
            write(value)


def _write_program(out: _Writer, program: Program) -> None:
    out.number(program.groups)
    out.list(program.sets, out.bits)
    out.number(len(program.code))
    out.data += np.array(program.code, "<u4").tobytes()


def _write_dfa(out: _Writer, dfa: Dfa | None) -> None:
    out.number(dfa is not None)
    if dfa is not None:
        out.number(dfa.is_reversed)
        out.number(dfa.is_ordered)
        for length in dfa.table.shape:
            out.number(length)
        out.data += dfa.table.astype("<u2").tobytes()
        out.data += dfa.classes.astype(np.uint8).tobytes()
        out.data += dfa.starts.astype("<u2").tobytes()


def _write_piece(out: _Writer, piece: CompiledPiece) -> None:
    _write_bounds(out, piece.gap)
    out.number(piece.anchor is not None)
    if piece.anchor is not None:
        _write_factor(out, piece.anchor)
    _write_dfa(out, piece.tail)
    _write_dfa(out, piece.head)


def _write_factor(out: _Writer, factor: Factor) -> None:
    out.list(factor.words, lambda word: out.list(word, out.bits))
    out.number(factor.is_run)
    out.number(factor.first)
    _write_bounds(out, factor.before)
    _write_bounds(out, factor.after)
    out.data += struct.pack("<d", factor.frequency)


def _write_bounds(out: _Writer, bounds: Bounds) -> None:
    out.number(bounds[0])
    out.optional(bounds[1])


class _Reader:
    """Reads a payload; whatever does not fit is an error at the offset of the payload."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._place = 0

    def regex(self) -> Regex:
        text, dialect = self._text(), self._text()
        self._require(dialect in DIALECTS, "the dialect is unknown")
        names = tuple(name or None for name in self._list(self._text))
        least, most = self._number(), self._optional()
        program = self._program()
        self._require(program.groups == len(names), "groups and names differ in number")
        forward, backward = self._dfa(False, True), self._dfa(True, False)
        pieces = tuple(self._list(self._piece))
        self._require(self._place == len(self._data), "bytes are left over")
        return Regex(text, dialect, names, least, most, program, forward, backward, pieces)

    def _require(self, holds: bool, problem: str) -> None:
        if not holds:
            _fail(codes.BAD_CONTENTS, _HEAD.size + self._place, problem=problem)

    def _take(self, size: int) -> bytes:
        self._require(size <= len(self._data) - self._place, "the contents end too early")
        taken = self._data[self._place : self._place + size]
        self._place += size
        return taken

    def _number(self) -> int:
        return int.from_bytes(self._take(8), "little")

    def _flag(self) -> bool:
        value = self._number()
        self._require(value <= 1, "a flag is neither 0 nor 1")
        return value == 1

    def _optional(self) -> int | None:
        value = self._number()
        return None if value == _NONE else value

    def _bits(self) -> int:
        return int.from_bytes(self._take(32), "little")

    def _text(self) -> str:
        return self._take(self._number()).decode("utf-8", "surrogateescape")

    def _list(self, read: Callable[[], T]) -> list[T]:
        count = self._number()
        self._require(count <= len(self._data), "a list is longer than the contents")
        return [read() for _ in range(count)]

    def _array(self, kind: str, *shape: int) -> NDArray[np.generic]:
        dtype = np.dtype(kind)
        size = dtype.itemsize
        for length in shape:
            size *= length
        return np.frombuffer(self._take(size), dtype).reshape(shape)

    def _bounds(self) -> Bounds:
        least, most = self._number(), self._optional()
        self._require(most is None or least <= most, "bounds are in descending order")
        return least, most

    def _program(self) -> Program:
        groups = self._number()
        sets = tuple(self._list(self._bits))
        size = self._number()
        self._require(0 < size <= len(self._data), "a program has no or too many instructions")
        rows = self._array("<u4", size, 3).tolist()
        code = tuple((int(op), int(x), int(y)) for op, x, y in rows)
        limits = {
            BYTE: len(sets),
            SPLIT: size,
            JUMP: size,
            SAVE: 2 * (groups + 1),
            ASSERT: ALWAYS + 1,
            MATCH: 1,
        }
        for place, (op, x, y) in enumerate(code):
            fits = op in limits and x < limits[op] and y < (size if op == SPLIT else 1)
            self._require(fits, f"instruction {place} is malformed")
            self._require((op == MATCH) == (place == size - 1), "MATCH is not the last instruction")
        program = Program(code, sets, groups)
        self._require(not can_match_empty(program), "the program matches the empty string")
        return program

    def _dfa(self, is_reversed: bool, is_ordered: bool) -> Dfa | None:
        if not self._flag():
            return None
        direction = (self._flag(), self._flag())
        self._require(direction == (is_reversed, is_ordered), "a DFA is of the wrong kind")
        states, width = self._number(), self._number()
        self._require(0 < states <= MATCHED and 2 < width <= 258, "a DFA has impossible sizes")
        table = self._array("<u2", states, width).astype(np.uint16)
        classes = self._array("u1", 256).astype(np.uint8)
        starts = self._array("<u2", KINDS).astype(np.uint16)
        self._require(bool((table & (MATCHED - 1) < states).all()), "a state is out of range")
        self._require(bool((starts < states).all()), "a start state is out of range")
        self._require(int(classes.max()) == width - 3, "a symbol is out of range")
        self._require(not table[0].any(), "the dead state is alive")
        return Dfa(table, classes, starts, is_reversed, is_ordered)

    def _piece(self) -> CompiledPiece:
        gap = self._bounds()
        anchor = self._factor() if self._flag() else None
        return CompiledPiece(gap, anchor, self._dfa(False, True), self._dfa(True, False))

    def _factor(self) -> Factor:
        words = tuple(tuple(word) for word in self._list(lambda: self._list(self._bits)))
        self._require(bool(words) and all(words), "a factor has no or empty words")
        is_run, first = self._flag(), self._number()
        before, after = self._bounds(), self._bounds()
        (frequency,) = struct.unpack("<d", self._take(8))
        self._require(0.0 <= frequency < float("inf"), "a frequency is no number")
        return Factor(words, is_run, first, before, after, frequency)
