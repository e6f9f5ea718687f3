"""Where a decoder takes its bytes from: one section at a time, and the table of strings.

Nothing here reads past the end of its section, and nothing allocates by a number that was read
before that number was compared with the bytes that are left.
"""

from __future__ import annotations

from vyre.diagnostics import Code, WireError
from vyre.diagnostics.codes import wire as codes
from vyre.ir.expr import checked_name
from vyre.ir.stmt import checked_text
from vyre.ir.types import DataType
from vyre.wire import tags
from vyre.wire.envelope import failure

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


class Malformed(Exception):
    """What is wrong with the bytes; whoever knows the offset makes a `WireError` of it."""

    def __init__(self, code: Code, **values: object) -> None:
        self.code = code
        self.values = values

    def at(self, offset: int) -> WireError:
        """The error at an offset of the bytes."""
        return failure(self.code, offset, **self.values)


class Reader:
    """The bytes of one section, and how far they have been read."""

    __slots__ = ("data", "pos", "strings")

    def __init__(self, data: bytes, strings: Strings) -> None:
        self.data = data
        self.pos = 0
        self.strings = strings

    @property
    def left(self) -> int:
        """How many bytes have not been read."""
        return len(self.data) - self.pos

    def byte(self) -> int:
        """Take one byte; an `IndexError` at the end."""
        value = self.data[self.pos]
        self.pos += 1
        return value

    def varint(self) -> int:
        """Take a number from 0 to 2**64 - 1."""
        data, pos = self.data, self.pos
        value = data[pos]
        pos += 1
        if value >= 128:
            value &= 127
            for shift in range(7, 70, 7):
                byte = data[pos]
                pos += 1
                value |= (byte & 127) << shift
                if byte < 128:
                    if not byte or value >> 64:
                        raise Malformed(codes.NOT_CANONICAL, problem="a number is too long")
                    break
            else:
                raise Malformed(codes.NOT_CANONICAL, problem="a number is too long")
        self.pos = pos
        return value

    def signed(self) -> int:
        """Take a number from -2**63 to 2**63 - 1."""
        value = self.varint()
        return -((value + 1) >> 1) if value & 1 else value >> 1

    def count(self) -> int:
        """Take a number of things of which each has at least one byte here."""
        value = self.varint()
        if value > self.left:
            raise IndexError
        return value

    def flags(self, known: int) -> int:
        """Take a byte of flags."""
        value = self.byte()
        if value & ~known:
            raise KeyError(value)
        return value

    def take(self, size: int) -> bytes:
        """Take this many bytes."""
        if size > self.left:
            raise IndexError
        self.pos += size
        return self.data[self.pos - size : self.pos]

    def name(self) -> str:
        """Take a reference to a name."""
        index = self.varint()
        return self.strings.names.get(index) or self.strings.name(index)

    def text(self) -> str:
        """Take a reference to a string."""
        return self.strings.text(self.varint())

    def dtype(self) -> DataType:
        """Take a type."""
        tag = self.byte()
        simple = _SIMPLE.get(tag)
        if simple is not None:
            return simple
        if tag == tags.ARRAY:
            return DataType.array(self.varint())
        if tag == tags.OPAQUE_TYPE:
            return DataType.opaque(self.name())
        if tag not in (tags.VEC, tags.SHAPED_TENSOR, tags.CSR, tags.COO, tags.BSR):
            raise KeyError(tag)
        element = _SIMPLE[self.byte()]
        if tag == tags.VEC:
            return DataType.vec(element, self.byte())
        if tag == tags.SHAPED_TENSOR:
            shape = tuple(self.varint() for _ in range(self.count()))
            return DataType.shaped_tensor(element, shape)
        if tag == tags.BSR:
            return DataType.sparse_bsr(element, self.varint(), self.varint())
        return DataType.sparse_csr(element) if tag == tags.CSR else DataType.sparse_coo(element)
