"""Where a decoder takes its numbers from: one section at a time, and the table of strings.

Running past the end of a section is an IndexError, an unknown tag a KeyError, a missing operand a
ValueError: those come for free, so the loops that read need no checks of their own.
"""

from __future__ import annotations

from vyre.diagnostics.codes import wire as codes
from vyre.ir.expr import checked_name
from vyre.ir.stmt import checked_text
from vyre.ir.types import DataType
from vyre.wire import tags
from vyre.wire.malformed import Malformed

_SIMPLE = {tag: dtype for dtype, tag in tags.SIMPLE_TYPES.items()}


class Strings:
    """The table of strings: they must be used in their order, and all of them."""

    __slots__ = ("_table", "_texts", "_used", "names")

    def __init__(self, table: list[str]) -> None:
        self._table = table
        self._used = 0
        self.names: dict[int, str] = {}
        """The strings that are known to be names, by number."""
        self._texts: dict[int, str] = {}

    def name(self, index: int) -> str:
        """The string with this number, if it is a name."""
        found = self.names.get(index)
        if found is None:
            found = self.names[index] = checked_name(self._first_use(index), "anything")
        return found

    def text(self, index: int) -> str:
        """The string with this number."""
        found = self._texts.get(index)
        if found is None:
            found = self._texts[index] = checked_text(self._first_use(index), "a string")
        return found

    def _first_use(self, index: int) -> str:
        if index < self._used:
            return self._table[index]
        if index != self._used or index >= len(self._table):
            raise Malformed(codes.NOT_CANONICAL, problem=f"string {index} is out of order")
        self._used += 1
        return self._table[index]

    @property
    def all_used(self) -> bool:
        """Whether every string was used."""
        return self._used == len(self._table)


class Reader:
    """The numbers of one section, and how far they have been read."""

    __slots__ = ("items", "pos", "strings")

    def __init__(self, items: list[int], strings: Strings) -> None:
        self.items = items
        self.pos = 0
        self.strings = strings

    @property
    def left(self) -> int:
        """How many numbers have not been read."""
        return len(self.items) - self.pos

    def item(self) -> int:
        """Take a number from 0 to 2**64 - 1."""
        value = self.items[self.pos]
        self.pos += 1
        return value

    def signed(self) -> int:
        """Take a number from -2**63 to 2**63 - 1."""
        value = self.item()
        return -((value + 1) >> 1) if value & 1 else value >> 1

    def count(self) -> int:
        """Take a number of things of which each has at least one number here."""
        value = self.item()
        if value > self.left:
            raise IndexError
        return value

    def flags(self, known: int) -> int:
        """Take a set of flags."""
        value = self.item()
        if value & ~known:
            raise KeyError(value)
        return value

    def take(self, count: int) -> list[int]:
        """Take this many numbers."""
        if count > self.left:
            raise IndexError
        self.pos += count
        return self.items[self.pos - count : self.pos]

    def name(self) -> str:
        """Take a reference to a name."""
        index = self.item()
        return self.strings.names.get(index) or self.strings.name(index)

    def text(self) -> str:
        """Take a reference to a string."""
        return self.strings.text(self.item())

    def dtype(self) -> DataType:
        """Take a type."""
        tag = self.item()
        simple = _SIMPLE.get(tag)
        if simple is not None:
            return simple
        if tag == tags.ARRAY:
            return DataType.array(self.item())
        if tag == tags.OPAQUE_TYPE:
            return DataType.opaque(self.name())
        if tag not in (tags.VEC, tags.SHAPED_TENSOR, tags.CSR, tags.COO, tags.BSR):
            raise KeyError(tag)
        element = _SIMPLE[self.item()]
        if tag == tags.VEC:
            return DataType.vec(element, self.item())
        if tag == tags.SHAPED_TENSOR:
            return DataType.shaped_tensor(element, tuple(self.take(self.count())))
        if tag == tags.BSR:
            return DataType.sparse_bsr(element, self.item(), self.item())
        return DataType.sparse_csr(element) if tag == tags.CSR else DataType.sparse_coo(element)
