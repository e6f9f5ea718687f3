"""Loads object files into executable memory, on Linux without llvmlite.

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
from vyre.backends.llvm.image import MACHINE_AARCH64, MACHINE_X86_64, MAGIC, Linked, bad_object
from vyre.backends.llvm.llvmlite_binding import binding
from vyre.diagnostics import BackendError
from vyre.diagnostics.codes.native import UNKNOWN_SYMBOL
from vyre.signals import is_from_handler

_MACHINE_OF: Final = {"x86_64": MACHINE_X86_64, "aarch64": MACHINE_AARCH64}


class NativeCode(Protocol):
    """Machine code in memory; it stays there as long as this object lives."""

    def address(self, symbol: str) -> int:
        """Address of one of the exports named on loading."""
        ...


def load_object(
    data: bytes,
    exports: Sequence[str] = (KERNEL_SYMBOL,),
    symbols: Mapping[str, int] = MappingProxyType({}),
) -> NativeCode:
    """Load an object file, or the result of `ready_to_load`, that defines `exports`.

    What it needs is looked up in `symbols`, then in the C library and its maths.
    """
    loader = LinkedCode if has_linker() else OrcCode
    return loader(data, exports, symbols)


def ready_to_load(
    data: bytes, exports: Sequence[str] = (KERNEL_SYMBOL,), others: Sequence[bytes] = ()
) -> bytes:
    """An object file in the form for the cache: linked where that can be done here.

    Only there can it need `others`.
    """
    return _linked(data, exports, others).to_bytes() if has_linker() else data


def _linked(data: bytes, exports: Sequence[str], others: Sequence[bytes] = ()) -> Linked:
    from vyre.backends.llvm.linked import link  # what comes from the cache is linked

    return link(data, exports, others)


def has_linker() -> bool:
    """True if objects are linked here, and not by llvmlite."""
    return sys.platform == "linux" and platform.machine() in _MACHINE_OF


class LinkedCode:
    """An image in pages of its own; an object is linked first."""

    def __init__(self, data: bytes, exports: Sequence[str], symbols: Mapping[str, int]) -> None:
        linked = Linked.from_bytes(data) if data.startswith(MAGIC) else _linked(data, exports)
        if linked.machine != _MACHINE_OF.get(platform.machine()):
            raise bad_object("it is for another instruction set")

        def address_of(name: str) -> int:
            return symbols[name] if name in symbols else library_symbol(name)

        self._memory = mmap.mmap(-1, linked.size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self._base = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        linked.place(self._memory, self._base, address_of)
        self._protect(0, linked.code_end, mmap.PROT_READ | mmap.PROT_EXEC)
        self._protect(linked.code_end, linked.constant_end, mmap.PROT_READ)
        missing = [name for name in exports if name not in linked.exports]
        if missing:
            raise bad_object(f"it does not define {', '.join(missing)}")
        self._addresses = {name: self._base + linked.exports[name] for name in exports}

    def _protect(self, start: int, end: int, protection: int) -> None:
        if start < end and _libc().mprotect(self._base + start, end - start, protection) != 0:
            raise bad_object("the system refuses to make memory executable")

    def address(self, symbol: str) -> int:
        """Address of an exported symbol."""
        return self._addresses[symbol]


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
            if is_from_handler(error):
                raise
            raise bad_object(str(error).strip()) from error

    def address(self, symbol: str) -> int:
        """Address of an exported symbol."""
        return self._tracker[symbol]


_orc_names = itertools.count()


@cache
def _libc() -> ctypes.CDLL:
    library = ctypes.CDLL(None)
    library.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return library


@cache
def library_symbol(name: str) -> int:
    """Address of a function of libc, libm or the interpreter."""
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
    except OSError as problem:
        if is_from_handler(problem):
            raise
        # Where the C library holds its maths, as with musl.
        return (_libc(),)
