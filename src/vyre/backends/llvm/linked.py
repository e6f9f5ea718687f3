"""Links object files, once, when a kernel is compiled.

Code, constants and data get their places relative to each other, so all distances are known from
then on; see `image` for what is left to the loader.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from vyre.backends.llvm.elf import ElfObject, Relocation, Section, read_elf
from vyre.backends.llvm.frames import needs_probe, probe_object
from vyre.backends.llvm.image import LARGEST, PAGE, Linked, bad_object
from vyre.backends.llvm.joined import joined
from vyre.backends.llvm.relocations import MACHINES, SLOT_BYTES, STUB_BYTES, Machine, Place
from vyre.record import dataclass


def link(data: bytes, exports: Sequence[str], others: Sequence[bytes] = ()) -> Linked:
    """The image of an object and `others`, with the `exports` they define."""
    parts = [read_elf(each) for each in (data, *others)]
    if any(map(needs_probe, parts)):
        parts.append(probe_object(parts[0].machine))
    elf = joined(parts)
    layout = _Layout(elf)
    defined = {
        symbol.name: layout.offset_of[symbol.section] + symbol.value
        for symbol in elf.symbols
        if symbol.section is not None
    }
    image = bytearray(layout.size)
    for index, section in elf.sections.items():
        if section.data is not None:
            at = layout.offset_of[index]
            image[at : at + section.size] = section.data
    words = _Words([], [])
    layout.fill_slots(image, words)
    for relocation in elf.relocations:
        layout.relocate(image, words, relocation)
    return Linked(
        elf.machine,
        layout.code_end,
        layout.constant_end,
        layout.size,
        {name: defined[name] for name in exports if name in defined},
        words.own,
        words.imports,
        bytes(image).rstrip(b"\0"),
    )


@dataclass(frozen=True, slots=True)
class _Words:
    """The relocations that are left to the loader."""

    own: list[tuple[int, int]]
    imports: list[tuple[int, str, int]]


class _Layout:
    """The layout: offsets from the start of the image."""

    def __init__(self, elf: ElfObject) -> None:
        if elf.machine not in MACHINES:
            raise bad_object("it is for an instruction set that has no loader")
        self.elf = elf
        self.machine: Machine = MACHINES[elf.machine]
        self.offset_of: dict[int, int] = {}
        slots = sorted({r.symbol for r in elf.relocations if self._needs_slot(r.symbol, r.kind)})
        self.slots = {symbol: index for index, symbol in enumerate(slots)}
        end = self._place(0, lambda s: s.executable)
        self._stubs = _align(end, STUB_BYTES)
        self.code_end = _align(self._stubs + len(slots) * STUB_BYTES, PAGE)
        end = self._place(self.code_end, lambda s: not s.executable and not s.writable)
        self._table = _align(end, SLOT_BYTES)
        self.constant_end = _align(self._table + len(slots) * SLOT_BYTES, PAGE)
        end = self._place(self.constant_end, lambda s: s.writable)
        self.size = max(_align(end, PAGE), PAGE)
        if self.size > LARGEST:
            raise bad_object("it is too large")

    def _needs_slot(self, symbol: int, kind: int) -> bool:
        known = self.machine.kinds.get(kind)
        if known is None:
            raise bad_object(f"it has a relocation of unknown kind {kind}")
        if symbol == 0:
            return known.via_slot
        return known.via_slot or self.elf.symbols[symbol].section is None

    def _place(self, start: int, belongs: _SectionTest) -> int:
        at = start
        for index, section in self.elf.sections.items():
            if belongs(section):
                at = _align(at, section.align)
                self.offset_of[index] = at
                at += section.size
        return at

    def _offset(self, symbol: int) -> int | None:
        """The offset of a symbol in the image; None if the process provides it."""
        found = self.elf.symbols[symbol]
        return None if found.section is None else self.offset_of[found.section] + found.value

    def fill_slots(self, image: bytearray, words: _Words) -> None:
        """The table of addresses, and the jumps through it."""
        for symbol, slot in self.slots.items():
            table = self._table + slot * SLOT_BYTES
            stub = self._stubs + slot * STUB_BYTES
            image[stub : stub + STUB_BYTES] = self.machine.stub(stub, table)
            self._address(words, table, symbol, 0)

    def _address(self, words: _Words, at: int, symbol: int, addend: int) -> None:
        offset = self._offset(symbol)
        if offset is None:
            words.imports.append((at, self.elf.symbols[symbol].name, addend))
        else:
            words.own.append((at, offset + addend))

    def relocate(self, image: bytearray, words: _Words, relocation: Relocation) -> None:
        """Write a distance, or leave an address to the loader."""
        kind = self.machine.kinds[relocation.kind]
        symbol, addend = relocation.symbol, relocation.addend
        at = self.offset_of[relocation.section] + relocation.offset
        if kind.apply is None:
            if at + 8 > self.size or symbol == 0:
                raise bad_object("an address lies outside the image, or is of nothing")
            self._address(words, at, symbol, addend)
            return
        target = self._offset(symbol)
        if kind.via_slot:
            target = self._table + self.slots[symbol] * SLOT_BYTES
        elif kind.call and symbol in self.slots:
            target = self._stubs + self.slots[symbol] * STUB_BYTES
        if target is None:
            raise bad_object("it holds the distance to something outside of it")
        kind.apply(Place(image, at, target + addend))


class _SectionTest(Protocol):
    def __call__(self, section: Section, /) -> bool: ...


def _align(value: int, to: int) -> int:
    return (value + to - 1) & -to
