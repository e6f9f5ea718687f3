"""Object files into executable memory, without llvmlite where the system is Linux.

Memory is written first and made executable afterwards, never both at once. On other systems
llvmlite's ORC loader does the work behind the same interface.
"""

from __future__ import annotations

import ctypes
import itertools
import mmap
import platform
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Final, Protocol

from vyre.backends.llvm.abi import KERNEL_SYMBOL
from vyre.backends.llvm.elf import (
    MACHINE_AARCH64,
    MACHINE_X86_64,
    ElfObject,
    Section,
    bad_object,
    read_elf,
)
from vyre.backends.llvm.llvmlite_binding import binding
from vyre.backends.llvm.relocate import MACHINES, SLOT_BYTES, STUB_BYTES, Machine, Place
from vyre.diagnostics import BackendError
from vyre.diagnostics.codes.native import UNKNOWN_SYMBOL

_PAGE: Final = mmap.PAGESIZE
_MACHINE_OF: Final = {"x86_64": MACHINE_X86_64, "aarch64": MACHINE_AARCH64}


class NativeCode(Protocol):
    """Machine code in memory; it stays there as long as this object lives."""

    def address(self, symbol: str) -> int:
        """Address of one of the exports asked for on loading."""
        ...


def load_object(
    data: bytes,
    exports: Sequence[str] = (KERNEL_SYMBOL,),
    symbols: Mapping[str, int] = MappingProxyType({}),
) -> NativeCode:
    """Load an object file that defines `exports`.

    What it needs is looked up in `symbols`, then in the C library and its maths.
    """
    if sys.platform == "linux" and platform.machine() in _MACHINE_OF:
        return ElfCode(data, exports, symbols)
    return OrcCode(data, exports, symbols)


class ElfCode:
    """An ELF object relocated into pages of its own."""

    def __init__(self, data: bytes, exports: Sequence[str], symbols: Mapping[str, int]) -> None:
        elf = read_elf(data)
        if elf.machine != _MACHINE_OF.get(platform.machine()):
            raise bad_object("it is for another instruction set")
        image = Image(elf)
        self._memory = mmap.mmap(-1, image.size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self._base = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        self._memory[:] = image.relocated(self._base, symbols)
        for start, end, protection in image.protections():
            if _libc().mprotect(self._base + start, end - start, protection) != 0:
                raise bad_object("the system refuses to make memory executable")
        defined = {
            symbol.name: self._base + image.offset_of[symbol.section] + symbol.value
            for symbol in elf.symbols
            if symbol.section is not None
        }
        missing = [name for name in exports if name not in defined]
        if missing:
            raise bad_object(f"it does not define {', '.join(missing)}")
        self._addresses = {name: defined[name] for name in exports}

    def address(self, symbol: str) -> int:
        """Address of an exported symbol."""
        return self._addresses[symbol]


class Image:
    """Where everything goes: code and jumps, then constants and the address table, then data."""

    def __init__(self, elf: ElfObject) -> None:
        if elf.machine not in MACHINES:
            raise bad_object("it is for an instruction set that has no loader")
        self.elf = elf
        self.machine: Machine = MACHINES[elf.machine]
        self.offset_of: dict[int, int] = {}
        external = sorted({r.symbol for r in elf.relocations if self._needs_slot(r.symbol, r.kind)})
        self.slots = {symbol: index for index, symbol in enumerate(external)}
        end = self._place(0, lambda s: s.executable)
        self._stubs = _align(end, STUB_BYTES)
        self._code_end = _align(self._stubs + len(external) * STUB_BYTES, _PAGE)
        end = self._place(self._code_end, lambda s: not s.executable and not s.writable)
        self._table = _align(end, SLOT_BYTES)
        self._constant_end = _align(self._table + len(external) * SLOT_BYTES, _PAGE)
        end = self._place(self._constant_end, lambda s: s.writable)
        self.size = max(_align(end, _PAGE), _PAGE)

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

    def protections(self) -> list[tuple[int, int, int]]:
        """The protection of each range of pages that is not plain data."""
        ranges = [
            (0, self._code_end, mmap.PROT_READ | mmap.PROT_EXEC),
            (self._code_end, self._constant_end, mmap.PROT_READ),
        ]
        return [r for r in ranges if r[0] < r[1]]

    def relocated(self, base: int, symbols: Mapping[str, int]) -> bytearray:
        """The bytes to place at `base`."""
        image = bytearray(self.size)
        for index, section in self.elf.sections.items():
            if section.data is not None:
                at = self.offset_of[index]
                image[at : at + section.size] = section.data
        address_of = [self._address(i, base, symbols) for i in range(len(self.elf.symbols))]
        for symbol, slot in self.slots.items():
            table = self._table + slot * SLOT_BYTES
            stub = self._stubs + slot * STUB_BYTES
            image[table : table + SLOT_BYTES] = address_of[symbol].to_bytes(SLOT_BYTES, "little")
            image[stub : stub + STUB_BYTES] = self.machine.stub(base + stub, base + table)
        for relocation in self.elf.relocations:
            kind = self.machine.kinds[relocation.kind]
            target = address_of[relocation.symbol]
            if kind.via_slot:
                target = base + self._table + self.slots[relocation.symbol] * SLOT_BYTES
            elif kind.call and relocation.symbol in self.slots:
                target = base + self._stubs + self.slots[relocation.symbol] * STUB_BYTES
            at = self.offset_of[relocation.section] + relocation.offset
            kind.apply(Place(image, at, base + at, target + relocation.addend))
        return image

    def _address(self, index: int, base: int, symbols: Mapping[str, int]) -> int:
        symbol = self.elf.symbols[index]
        if symbol.section is not None:
            return base + self.offset_of[symbol.section] + symbol.value
        if index in self.slots:
            return symbols[symbol.name] if symbol.name in symbols else library_symbol(symbol.name)
        return 0


class _SectionTest(Protocol):
    def __call__(self, section: Section, /) -> bool: ...


class OrcCode:
    """An object file of the system's own format, placed by llvmlite."""

    def __init__(self, data: bytes, exports: Sequence[str], symbols: Mapping[str, int]) -> None:
        llvm = binding()

        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        self._jit = llvm.create_lljit_compiler()
        builder = llvm.JITLibraryBuilder().add_object_img(data).add_current_process()
        for name in exports:
            builder.export_symbol(name)
        for name, address in symbols.items():
            builder.import_symbol(name, address)
        try:
            self._tracker = builder.link(self._jit, f"vyre_{next(_orc_names)}")
        except RuntimeError as error:
            raise bad_object(str(error).strip()) from error

    def address(self, symbol: str) -> int:
        """Address of an exported symbol."""
        return self._tracker[symbol]


_orc_names = itertools.count()


def _align(value: int, to: int) -> int:
    return (value + to - 1) & -to


@cache
def _libc() -> ctypes.CDLL:
    library = ctypes.CDLL(None)
    library.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return library


@cache
def library_symbol(name: str) -> int:
    """Address of a function of the C library, its maths or the interpreter."""
    for library in _libraries():
        try:
            address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
        except AttributeError:
            continue
        if address:
            return address
    raise BackendError(UNKNOWN_SYMBOL.at(name=name))


@cache
def _libraries() -> tuple[ctypes.CDLL, ...]:
    try:
        return (_libc(), ctypes.CDLL("libm.so.6"))
    except OSError:
        # Where the C library holds its maths, as with musl.
        return (_libc(),)
