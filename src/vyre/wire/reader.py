"""Where a decoder takes its numbers from: one section at a time, and the table of strings.

Running past the end of a section is a StopIteration, an unknown tag a KeyError, a missing operand
an IndexError: those come for free, so the loops that read need no checks of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from sys import maxsize

from vyre.diagnostics.codes import wire as codes
from vyre.ir.names import checked_name
from vyre.ir.stmt import checked_text
from vyre.ir.types import DataType
from vyre.wire import tags
from vyre.wire.malformed import Malformed

_SIMPLE = {tag: dtype for dtype, tag in tags.SIMPLE_TYPES.items()}


class Strings:
    """The table of strings: they must be used in their order, and all of them."""

    __slots__ = ("_table", "_used", "names", "texts")

    def __init__(self, table: list[str]) -> None:
        self._table = table
        self._used = 0
        self.names = _Known(self._first_use, checked_name)
        """The strings that are names, by number."""
        self.texts = _Known(self._first_use, checked_text)
        """Strings of any kind, by number."""

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


class _Known(dict[int, str]):
    """Strings that have been checked; others are when they are first asked for."""

    def __init__(self, find: Callable[[int], str], check: Callable[[object, str], str]) -> None:
        super().__init__()
        self._find = find
        self._check = check

    def __missing__(self, index: int) -> str:
        found = self[index] = self._check(self._find(index), "anything")
        return found


class Reader:
    """The numbers of one section, taken one after the other."""

    __slots__ = ("item", "items", "strings")

    def __init__(self, items: Iterator[int], strings: Strings) -> None:
        self.items = items
        self.item = items.__next__
        """Take a number from 0 to 2**64 - 1."""
        self.strings = strings

    def signed(self) -> int:
        """Take a number from -2**63 to 2**63 - 1."""
        value = self.item()
        return -((value + 1) >> 1) if value & 1 else value >> 1

    def flags(self, known: int) -> int:
        """Take a set of flags."""
        value = self.item()
        if value & ~known:
            raise KeyError(value)
        return value

    def take(self, count: int) -> list[int]:
        """Take this many numbers; what is there decides how much memory that needs."""
        found = list(islice(self.items, min(count, maxsize)))
        if len(found) != count:
            raise StopIteration
        return found

    def name(self) -> str:
        """Take a reference to a name."""
        return self.strings.names[self.item()]

    def text(self) -> str:
        """Take a reference to a string."""
        return self.strings.texts[self.item()]

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
            return DataType.shaped_tensor(element, tuple(self.take(self.item())))
        if tag == tags.BSR:
            return DataType.sparse_bsr(element, self.item(), self.item())
        return DataType.sparse_csr(element) if tag == tags.CSR else DataType.sparse_coo(element)
