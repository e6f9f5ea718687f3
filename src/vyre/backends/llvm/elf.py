"""Reads relocatable ELF64 objects: loadable sections, symbols and relocations.

Every offset is checked against the bytes there are, so a torn file is a clear error.
"""

from __future__ import annotations

import struct
from typing import Final

from vyre.backends.llvm.image import bad_object
from vyre.record import dataclass

_HEADER: Final = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION: Final = struct.Struct("<IIQQQQIIQQ")
_SYMBOL: Final = struct.Struct("<IBBHQQ")
_RELOCATION: Final = struct.Struct("<QQq")

_RELOCATABLE: Final = 1
_SYMBOL_TABLE, _RELOCATIONS_ADDEND, _NO_BITS, _RELOCATIONS = 2, 4, 8, 9
_FLAG_WRITE, _FLAG_ALLOCATE, _FLAG_EXECUTE, _FLAG_TLS = 1, 2, 4, 0x400
_UNDEFINED, _ABSOLUTE, _RESERVED = 0, 0xFFF1, 0xFF00
_LOCAL: Final = 0


@dataclass(frozen=True, slots=True)
class Section:
    """A loadable section."""

    name: str
    data: bytes | None
    """None for zero-filled memory."""
    size: int
    align: int
    writable: bool
    executable: bool


@dataclass(frozen=True, slots=True)
class Symbol:
    """A symbol; `section` is None if it is undefined and the process provides it."""

    name: str
    section: int | None
    value: int
    visible: bool = True
    """True if other objects may refer to it by name."""


@dataclass(frozen=True, slots=True)
class Relocation:
    """An offset in a section that holds an address or a distance."""

    section: int
    offset: int
    kind: int
    symbol: int
    addend: int


@dataclass(frozen=True, slots=True)
class ElfObject:
    """A relocatable object; sections are keyed by their index in the file."""

    machine: int
    sections: dict[int, Section]
    symbols: list[Symbol]
    relocations: list[Relocation]


@dataclass(frozen=True, slots=True)
class _Header:
    name: int
    kind: int
    flags: int
    offset: int
    size: int
    link: int
    info: int
    align: int
    entry_size: int


def read_elf(data: bytes) -> ElfObject:
    """Parse an object file; BackendError when it is malformed or not ELF64."""
    try:
        return _read(data)
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise bad_object(f"it is malformed ({error})") from error


def _read(data: bytes) -> ElfObject:
    if data[:6] != b"\x7fELF\x02\x01":
        raise bad_object("it is not a little-endian ELF64 file")
    fields = _HEADER.unpack_from(data)
    kind, machine, table = fields[1], fields[2], fields[6]
    entry, count = fields[11], fields[12]
    names: int = fields[13]
    if kind != _RELOCATABLE:
        raise bad_object("it is not relocatable")
    if entry != _SECTION.size:
        raise bad_object("its section headers have an unknown size")
    if table + count * entry > len(data):
        raise bad_object("its section headers lie beyond the end of the file")
    headers = [_section_header(data, table + i * entry) for i in range(count)]
    strings = _slice(data, headers[names])
    sections = {
        index: _section(data, header, _string(strings, header.name))
        for index, header in enumerate(headers)
        if header.flags & _FLAG_ALLOCATE
    }
    tables = [i for i, h in enumerate(headers) if h.kind == _SYMBOL_TABLE]
    if len(tables) != 1:
        raise bad_object("it has no symbol table, or several")
    symbols = _symbols(data, headers, tables[0], sections)
    relocations = [
        relocation
        for header in headers
        if header.kind in (_RELOCATIONS, _RELOCATIONS_ADDEND) and header.info in sections
        for relocation in _relocations(data, header, tables[0], sections, len(symbols))
    ]
    return ElfObject(machine, sections, symbols, relocations)


def _section_header(data: bytes, at: int) -> _Header:
    name, kind, flags, _, offset, size, link, info, align, entry = _SECTION.unpack_from(data, at)
    return _Header(name, kind, flags, offset, size, link, info, align, entry)


def _slice(data: bytes, header: _Header) -> bytes:
    if header.offset + header.size > len(data):
        raise bad_object("a section lies beyond the end of the file")
    return data[header.offset : header.offset + header.size]


def _string(table: bytes, at: int) -> str:
    end = table.find(b"\0", at)
    if end < 0:
        raise bad_object("a name is not terminated")
    return table[at:end].decode()


def _section(data: bytes, header: _Header, name: str) -> Section:
    if header.flags & _FLAG_TLS:
        raise bad_object(f"section {name} holds thread-local data")
    align = max(header.align, 1)
    if align & (align - 1) or align > 4096 or header.size > 1 << 31:
        raise bad_object(f"section {name} has an impossible size or alignment")
    return Section(
        name=name,
        data=None if header.kind == _NO_BITS else _slice(data, header),
        size=header.size,
        align=align,
        writable=bool(header.flags & _FLAG_WRITE),
        executable=bool(header.flags & _FLAG_EXECUTE),
    )


def _symbols(
    data: bytes, headers: list[_Header], table: int, sections: dict[int, Section]
) -> list[Symbol]:
    strings = _slice(data, headers[headers[table].link])
    symbols: list[Symbol] = []
    for name, info, _, index, value, _ in _SYMBOL.iter_unpack(_slice(data, headers[table])):
        text = _string(strings, name)
        if index in sections:
            if value > sections[index].size:
                raise bad_object(f"symbol {text} lies outside its section")
            symbols.append(Symbol(text, index, value, visible=info >> 4 != _LOCAL))
        elif index in (_UNDEFINED, _ABSOLUTE) or index < _RESERVED:
            symbols.append(Symbol(text, None, value))
        else:
            raise bad_object(f"symbol {text} is of a kind that is not supported")
    return symbols


def _relocations(
    data: bytes, header: _Header, table: int, sections: dict[int, Section], symbol_count: int
) -> list[Relocation]:
    if header.kind == _RELOCATIONS or header.link != table:
        raise bad_object("it has relocations without addends, or for another symbol table")
    target = sections[header.info]
    found: list[Relocation] = []
    for offset, info, addend in _RELOCATION.iter_unpack(_slice(data, header)):
        symbol, kind = info >> 32, info & 0xFFFFFFFF
        if symbol >= symbol_count or offset + 4 > target.size or target.data is None:
            raise bad_object("a relocation lies outside its section")
        found.append(Relocation(header.info, offset, kind, symbol, addend))
    return found
