"""Where an encoder puts its bytes: a flat array, and the table of strings."""

from __future__ import annotations

from collections.abc import Callable

from vyre.diagnostics import WireError
from vyre.diagnostics.codes import wire as codes
from vyre.ir.expr import checked_name
from vyre.ir.stmt import checked_text
from vyre.ir.types import DataType, TypeKind
from vyre.wire import tags

_SMALL = tuple(bytes((value,)) for value in range(128))
_FORMS = {"tensor": tags.SHAPED_TENSOR, "csr": tags.CSR, "coo": tags.COO, "bsr": tags.BSR}


def varint(value: int) -> bytes:
    """A number from 0 to 2**64 - 1: seven bits per byte, low ones first, no superfluous bytes."""
    if 0 <= value < 128:
        return _SMALL[value]
    if value >> 64:
        raise cannot_store(f"{str(value)[:40]} is no number of 64 bits")
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def cannot_store(problem: str) -> WireError:
    """The error for a value that was put into a node past the methods that check it."""
    return WireError(codes.CANNOT_STORE.at(problem=problem))


class Writer:
    """Collects bytes. Strings are numbered in the order in which they are first used."""

    __slots__ = ("_names", "_out", "_texts", "put", "strings")

    put: Callable[[bytes], None]

    def __init__(self) -> None:
        self.strings: dict[str, int] = {}
        self._names: dict[str, bytes] = {}
        self._texts: dict[str, bytes] = {}
        self._out = bytearray()
        self.put = self._out.extend

    def section(self, write: Callable[[], None]) -> bytes:
        """The bytes that `write` puts."""
        self._out.clear()
        write()
        return bytes(self._out)

    def name(self, name: str) -> bytes:
        """The reference to a name."""
        return self._names.get(name) or self._refer(checked_name(name, "a name"), self._names)

    def text(self, text: str) -> bytes:
        """The reference to a string."""
        return self._texts.get(text) or self._refer(checked_text(text, "a string"), self._texts)

    def _refer(self, text: str, known: dict[str, bytes]) -> bytes:
        found = known[text] = varint(self.strings.setdefault(text, len(self.strings)))
        return found

    def signed(self, value: int) -> None:
        """Put a number from -2**63 to 2**63 - 1, small ones of either sign in few bytes."""
        self.put(varint(value << 1 if value >= 0 else (-value << 1) - 1))

    def dtype(self, dtype: DataType) -> None:
        """Put a type."""
        tag = tags.SIMPLE_TYPES.get(dtype)
        if tag is not None:
            self.put(_SMALL[tag])
        elif dtype.kind is TypeKind.ARRAY:
            self.put(_SMALL[tags.ARRAY] + varint(dtype.lanes))
        elif dtype.element is None:
            self.put(_SMALL[tags.OPAQUE_TYPE] + self.name(dtype.spelling[7:-1]))
        elif dtype.kind is TypeKind.VECTOR:
            element = tags.SIMPLE_TYPES[dtype.element]
            self.put(bytes((tags.VEC, element, dtype.lanes)))
        else:
            form = _FORMS[dtype.spelling.partition("<")[0]]
            self.put(bytes((form, tags.SIMPLE_TYPES[dtype.element])))
            if form == tags.SHAPED_TENSOR:
                self.put(_SMALL[len(dtype.parameters)])
            for parameter in dtype.parameters:
                self.put(varint(parameter))
