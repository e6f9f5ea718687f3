"""Where an encoder puts its bytes: pieces in order, and the table of strings."""

from __future__ import annotations

from collections.abc import Callable

from vyre.diagnostics import WireError
from vyre.diagnostics.codes import wire as codes
from vyre.ir.names import are_names, checked_name
from vyre.ir.stmt import checked_text
from vyre.ir.types import DataType, TypeKind
from vyre.wire import tags
from vyre.wire.byte_builder import joined
from vyre.wire.varints import varint

_FORMS = {"tensor": tags.SHAPED_TENSOR, "csr": tags.CSR, "coo": tags.COO, "bsr": tags.BSR}


def cannot_store(problem: str) -> WireError:
    """The error for a value that was put into a node past the methods that check it."""
    return WireError(codes.CANNOT_STORE.at(problem=problem))


class _References(dict[str, bytes]):
    """References to strings, made when first asked for, by the number in a table."""

    def __init__(self, strings: dict[str, int]) -> None:
        super().__init__()
        self._strings = strings

    def __missing__(self, text: str) -> bytes:
        found = self[text] = varint(self._strings.setdefault(text, len(self._strings)))
        return found


class Writer:
    """Collects bytes. Strings are numbered in the order in which they are first used."""

    __slots__ = ("_out", "names", "put", "strings", "texts")

    put: Callable[[bytes], None]

    def __init__(self) -> None:
        self.strings: dict[str, int] = {}
        self.names = _References(self.strings)
        """References to names."""
        self.texts = _References(self.strings)
        """References to strings of any kind."""
        self._out: list[bytes] = []
        self.put = self._out.append

    def section(self, write: Callable[[], None]) -> bytes:
        """The bytes that `write` puts."""
        self._out.clear()
        write()
        return joined(self._out)

    def checked_strings(self) -> list[str]:
        """All strings that were referred to, in order, if each is fit for what it is."""
        if not are_names(self.names):
            for name in self.names:
                checked_name(name, "anything")
        for text in self.texts:
            checked_text(text, "anything")
        return list(self.strings)

    def number(self, value: int) -> None:
        """Put a number from 0 to 2**64 - 1."""
        self.put(varint(value))

    def signed(self, value: int) -> None:
        """Put a number from -2**63 to 2**63 - 1, small ones of either sign in few bytes."""
        self.put(varint(value << 1 if value >= 0 else (-value << 1) - 1))

    def dtype(self, dtype: DataType) -> None:
        """Put a type."""
        tag = tags.SIMPLE_TYPES.get(dtype)
        if tag is not None:
            self.number(tag)
        elif dtype.kind is TypeKind.ARRAY:
            self.put(varint(tags.ARRAY) + varint(dtype.lanes))
        elif dtype.element is None:
            self.put(varint(tags.OPAQUE_TYPE) + self.names[dtype.spelling[7:-1]])
        elif dtype.kind is TypeKind.VECTOR:
            self.put(bytes((tags.VEC, tags.SIMPLE_TYPES[dtype.element], dtype.lanes)))
        else:
            form = _FORMS[dtype.spelling.partition("<")[0]]
            self.put(bytes((form, tags.SIMPLE_TYPES[dtype.element])))
            if form == tags.SHAPED_TENSOR:
                self.number(len(dtype.parameters))
            for parameter in dtype.parameters:
                self.number(parameter)
