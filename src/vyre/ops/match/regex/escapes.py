"""Escapes: what a backslash and the characters after it stand for."""

from __future__ import annotations

from typing import NoReturn

from vyre.diagnostics.codes import regex as codes
from vyre.ops.match.regex import byte_sets
from vyre.ops.match.regex.boundaries import Look
from vyre.ops.match.regex.source import Source
from vyre.record import dataclass

_HEX = "0123456789abcdefABCDEF"
_OCTAL = "01234567"
_DIGITS = "0123456789"


@dataclass(frozen=True, slots=True)
class Byte:
    """An escape that stands for one byte."""

    value: int


@dataclass(frozen=True, slots=True)
class ByteClass:
    """An escape that stands for a set of bytes."""

    bits: int


Escape = Byte | ByteClass | Look


def read_escape(source: Source, groups: int, in_class: bool) -> Escape:
    """Read an escape whose backslash was read; `groups` capture groups were opened before it."""
    start = source.position - 1
    if source.at_end:
        source.refuse(
            codes.ENDS_TOO_EARLY, start, what="an escape", fix="write \\\\ for a backslash"
        )
    letter = source.take()
    dialect = source.dialect
    if letter in "dDwWsS":
        bits = {"d": byte_sets.DIGIT, "w": byte_sets.WORD, "s": dialect.space}[letter.lower()]
        return ByteClass(bits if letter.islower() else byte_sets.ALL & ~bits)
    if letter in dialect.escape_classes and not (in_class and letter == "N"):
        return ByteClass(dialect.escape_classes[letter])
    if letter in dialect.characters:
        return Byte(dialect.characters[letter])
    if letter == "x" or (letter in "uU" and dialect.name == "rust"):
        return Byte(_hexadecimal(source, letter, start))
    if letter in _DIGITS:
        return Byte(_octal(source, letter, start, groups, in_class))
    if letter in "co" and dialect.name == "pcre":
        return Byte(_control(source, start) if letter == "c" else _braced_octal(source, start))
    look = _look(source, letter, in_class)
    if look is not None:
        return look
    if letter == "b" and in_class and dialect.name == "pcre":
        return Byte(0x08)
    if not letter.isascii() or letter.isalnum() or (letter in "<>" and dialect.name == "rust"):
        _refuse(source, letter, start)
    return Byte(ord(letter))


def _look(source: Source, letter: str, in_class: bool) -> Look | None:
    if in_class:
        return None
    if letter == "b" and source.dialect.name == "rust" and source.peek() == "{":
        start = source.position
        source.position += 1
        if source.peek().isalpha():
            _unknown(source, start - 2, "\\b{...}", "write \\b and a class on the side it means")
        source.position = start
    looks = {
        "A": Look.TEXT_START,
        "z": Look.TEXT_END,
        "b": Look.WORD_BOUNDARY,
        "B": Look.NOT_WORD_BOUNDARY,
    }
    if source.dialect.has_final_end:
        looks["Z"] = Look.FINAL_END
    return looks.get(letter)


def _hexadecimal(source: Source, letter: str, start: int) -> int:
    r"""`\xHH`, `\x{H...}`; in Rust also `\uHHHH`, `\UHHHHHHHH`, `\u{H...}`."""
    pcre = source.dialect.name == "pcre"
    braced = source.accept("{")
    wanted = {"x": 2, "u": 4, "U": 8}[letter]
    digits = source.take_while(_HEX, 16 if braced else wanted)
    complete = (bool(digits) and source.accept("}")) if braced else (pcre or len(digits) == wanted)
    if not complete:
        source.refuse(
            codes.UNKNOWN_ESCAPE,
            start,
            found=source.since(start),
            problem="is not a complete hexadecimal escape",
            fix="write two hexadecimal digits, or more of them in braces",
        )
    value = int(digits or "0", 16)
    code_point = source.dialect.name == "rust" and (braced or letter != "x")
    if value > 0xFF or (code_point and value > 0x7F):
        _refuse_code_point(source, value, start)
    return value


def _refuse_code_point(source: Source, value: int, start: int) -> NoReturn:
    text = chr(value) if value <= 0x10FFFF and not 0xD800 <= value < 0xE000 else ""
    encoded = "".join(f"\\x{byte:02X}" for byte in text.encode())
    source.refuse(
        codes.NOT_ASCII,
        start,
        found=source.since(start),
        problem="is a code point; patterns match bytes",
        fix=f"write the bytes of its encoding: {encoded}" if encoded else "write a byte",
    )


def _octal(source: Source, first: str, start: int, groups: int, in_class: bool) -> int:
    """Octal escapes, told from back-references as the dialect does it."""
    if source.dialect.name == "go":
        is_octal = first == "0" or (first in _OCTAL and source.peek() in set(_OCTAL))
    elif not source.dialect.octal or first not in _OCTAL:
        is_octal = False
    elif first == "0" or in_class:
        is_octal = True
    else:
        place = source.position
        number = int(first + source.take_while(_DIGITS, 8))
        source.position = place
        is_octal = number >= 10 and number > groups
    if not is_octal:
        source.take_while(_DIGITS, 8)
        hint = "" if in_class or first != "0" else "; write \\x00 for the byte"
        source.refuse(codes.BACK_REFERENCE, start, found=source.since(start), hint=hint)
    value = int(first + source.take_while(_OCTAL, 2), 8)
    if value > 0xFF:
        _refuse_code_point(source, value, start)
    return value


def _braced_octal(source: Source, start: int) -> int:
    digits = source.take_while(_OCTAL, 8) if source.accept("{") else ""
    if not digits or not source.accept("}"):
        _unknown(source, start, source.since(start), "write \\o{...} with octal digits")
    value = int(digits, 8)
    if value > 0xFF:
        _refuse_code_point(source, value, start)
    return value


def _control(source: Source, start: int) -> int:
    character = source.take()
    if not (character and 0x20 <= ord(character) < 0x7F):
        _unknown(source, start, source.since(start), "write a printable ASCII character after \\c")
    return ord(character.upper()) ^ 0x40


def _refuse(source: Source, letter: str, start: int) -> NoReturn:
    """Refuse an escape by its name."""
    found = f"\\{letter}"
    if letter in "pP":
        source.take_while("{", 1)
        source.refuse(codes.UNICODE_CLASS, start, found=found)
    if letter == "C":
        source.refuse(codes.UNSAFE_BYTE, start)
    if letter in "kg":
        source.refuse(codes.BACK_REFERENCE, start, found=found, hint="")
    if letter == "R" and source.dialect.name == "pcre":
        fix = "write (?:\\r\\n|[\\n\\v\\f\\r\\x85])"
        source.refuse(codes.ATOMIC, start, found=found, name="an atomic group", fix=fix)
    fixes = {
        "h": "write [\\t ]",
        "e": "write \\x1B",
        "Z": "write \\z for the end of the text",
        "N": "write [^\\n]",
        "<": "write \\b, or the character without its backslash",
        ">": "write \\b, or the character without its backslash",
        "Q": "escape each character with a backslash",
        "E": "remove it: it ends no quotation",
        "K": "put the wanted bytes into a capture group",
        "G": "remove it: matches are found in the whole text",
        "X": "write (?s:.), which is one byte",
        "R": "write (?:\\r\\n|[\\n\\r])",
        "b": "write \\x08 for a backspace",
    }
    fix = fixes.get(letter, f"write {letter} without the backslash")
    _unknown(source, start, found, fix)


def _unknown(source: Source, start: int, found: str, fix: str) -> NoReturn:
    problem = f"is no escape of the {source.dialect.name} dialect here"
    source.refuse(codes.UNKNOWN_ESCAPE, start, found=found, problem=problem, fix=fix)
