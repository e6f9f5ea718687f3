"""Linked, relocatable images of machine code.

All relative relocations are resolved. Left for the loader are the few words that hold addresses: of
the image itself, and of functions of the process. That makes a start from the cache cheap, and this
module is all of the linker that it needs.
"""

from __future__ import annotations

import json
import mmap
import struct
from collections.abc import Callable
from itertools import chain
from typing import Final

from vyre.diagnostics import BackendError
from vyre.diagnostics.codes.native import BAD_OBJECT
from vyre.record import dataclass
from vyre.signals import is_from_handler

MAGIC: Final = b"vyreimage1\n"
LARGEST: Final = 1 << 31
PAGE: Final = mmap.PAGESIZE

MACHINE_X86_64: Final = 62
MACHINE_AARCH64: Final = 183

_WORD: Final = struct.Struct("<Q")
_ALL_ONES: Final = (1 << 64) - 1


def bad_object(problem: str) -> BackendError:
    """The error for machine code that cannot be loaded."""
    return BackendError(BAD_OBJECT.at(problem=problem))


@dataclass(frozen=True, slots=True)
class Linked:
    """An image: code, then constants and the table of addresses, then data, each on its pages."""

    machine: int
    """The instruction set, as ELF numbers it."""
    code_end: int
    constant_end: int
    size: int
    exports: dict[str, int]
    """Offsets of exported functions."""
    own: list[tuple[int, int]]
    """Words that hold an address in the image: their offset, and the target's offset."""
    imports: list[tuple[int, str, int]]
    """Words that hold an address in the process: offset, symbol and addend."""
    image: bytes | memoryview
    """All bytes except trailing zeros."""

    def place(self, memory: mmap.mmap, base: int, address_of: Callable[[str], int]) -> None:
        """Write it into memory of its size that lies at `base`."""
        memory[: len(self.image)] = self.image
        for at, target in self.own:
            _WORD.pack_into(memory, at, base + target & _ALL_ONES)
        for at, name, addend in self.imports:
            _WORD.pack_into(memory, at, address_of(name) + addend & _ALL_ONES)

    def to_bytes(self) -> bytes:
        """The image for the cache."""
        places = (self.machine, self.code_end, self.constant_end, self.size, len(self.image))
        head = json.dumps([places, self.exports, self.own, self.imports]).encode()
        return b"".join((MAGIC, len(head).to_bytes(4, "little"), head, self.image))

    @classmethod
    def from_bytes(cls, data: bytes) -> Linked:
        """What `to_bytes` wrote; everything is checked, so torn data is a clear error."""
        start = len(MAGIC) + 4
        end = start + int.from_bytes(data[len(MAGIC) : start], "little")
        try:
            places, exports, own, imports = json.loads(data[start:end])
            machine, code, constants, size, length = places
            image = memoryview(data)[end:]
            own = [(at, target) for at, target in own]
            imports = [(at, str(name), addend) for at, name, addend in imports]
            numbers = [*places, *exports.values(), *chain(*own), *(w[2] for w in imports)]
            words = [at for at, *_ in (*own, *imports)]
            sound = (
                data.startswith(MAGIC)
                and all(type(number) is int for number in numbers)
                and length == len(image) <= size <= LARGEST
                and 0 <= code <= constants <= size
                and not (code % PAGE or constants % PAGE or size % PAGE)
                and all(0 <= place < size for place in exports.values())
                and all(0 <= at <= size - 8 for at in words)
            )
        except (ValueError, TypeError, AttributeError) as problem:
            if is_from_handler(problem):
                raise
            raise bad_object(f"it is malformed ({problem})") from problem
        if not sound:
            raise bad_object("it is malformed")
        return cls(machine, code, constants, size, exports, own, imports, image)
