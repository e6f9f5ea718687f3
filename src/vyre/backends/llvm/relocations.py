"""Applies the few relocation kinds of position-independent small-model code.

All are distances, and places count from the start of the image, which lies at the start of a page:
so what is written does not depend on where the image will be. Addresses are left to the loader.

Calls and address loads that leave the object go through a table of addresses and, for calls,
through a small jump in front of it, because the process may have placed its libraries more than 2
GiB away.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Final

from vyre.backends.llvm.image import MACHINE_AARCH64, MACHINE_X86_64, bad_object
from vyre.record import dataclass

STUB_BYTES: Final = 16
SLOT_BYTES: Final = 8


@dataclass(frozen=True, slots=True)
class Place:
    """One relocation with all offsets resolved."""

    image: bytearray
    at: int
    """The offset where the distance is written and from which it counts."""
    target: int
    """The offset of the symbol plus the addend."""


def _put(place: Place, form: str, value: int) -> None:
    try:
        struct.pack_into(form, place.image, place.at, value)
    except struct.error as error:
        raise bad_object("a relocated distance does not fit, or lies outside the image") from error


def _relative32(place: Place) -> None:
    _put(place, "<i", place.target - place.at)


def _relative64(place: Place) -> None:
    _put(place, "<q", place.target - place.at)


def _patch(place: Place, clear: int, bits: int) -> None:
    (word,) = struct.unpack_from("<I", place.image, place.at)
    _put(place, "<I", (word & ~clear & 0xFFFFFFFF) | bits)


def _a64_branch26(place: Place) -> None:
    distance = place.target - place.at
    if distance & 3 or not -(1 << 27) <= distance < 1 << 27:
        raise bad_object("a branch does not reach its target")
    _patch(place, 0x03FFFFFF, (distance >> 2) & 0x03FFFFFF)


def _a64_page21(place: Place) -> None:
    pages = (place.target >> 12) - (place.at >> 12)
    if not -(1 << 20) <= pages < 1 << 20:
        raise bad_object("a page does not lie within reach")
    _patch(place, 0x60FFFFE0, (pages & 3) << 29 | ((pages >> 2) & 0x7FFFF) << 5)


def _a64_low12(scale: int) -> Callable[[Place], None]:
    def apply(place: Place) -> None:
        low = place.target & 0xFFF
        if low & ((1 << scale) - 1):
            raise bad_object("a loaded address is not aligned")
        _patch(place, 0x003FFC00, (low >> scale) << 10)

    return apply


@dataclass(frozen=True, slots=True)
class Kind:
    """How a relocation kind is applied, and whether via slot or stub."""

    apply: Callable[[Place], None] | None
    """None for absolute addresses."""
    via_slot: bool = False
    call: bool = False


X86_64: Final[dict[int, Kind]] = {
    1: Kind(None),
    2: Kind(_relative32),
    4: Kind(_relative32, call=True),
    9: Kind(_relative32, via_slot=True),
    24: Kind(_relative64),
    41: Kind(_relative32, via_slot=True),
    42: Kind(_relative32, via_slot=True),
}

AARCH64: Final[dict[int, Kind]] = {
    257: Kind(None),
    260: Kind(_relative64),
    261: Kind(_relative32),
    275: Kind(_a64_page21),
    277: Kind(_a64_low12(0)),
    278: Kind(_a64_low12(0)),
    282: Kind(_a64_branch26, call=True),
    283: Kind(_a64_branch26, call=True),
    284: Kind(_a64_low12(1)),
    285: Kind(_a64_low12(2)),
    286: Kind(_a64_low12(3)),
    299: Kind(_a64_low12(4)),
    311: Kind(_a64_page21, via_slot=True),
    312: Kind(_a64_low12(3), via_slot=True),
}


def _stub_x86_64(stub: int, slot: int) -> bytes:
    """Jmp through the slot, relative to the instruction's end."""
    return b"\xff\x25" + struct.pack("<i", slot - stub - 6) + b"\xcc" * 10


def _stub_aarch64(stub: int, slot: int) -> bytes:
    """Adrp x16, slot; ldr x17, [x16, slot]; br x17."""
    pages = ((slot >> 12) - (stub >> 12)) & 0x1FFFFF
    adrp = 0x90000010 | (pages & 3) << 29 | (pages >> 2) << 5
    load = 0xF9400211 | ((slot & 0xFFF) >> 3) << 10
    return struct.pack("<IIII", adrp, load, 0xD61F0220, 0xD4200000)


@dataclass(frozen=True, slots=True)
class Machine:
    """Properties of an instruction set that linking needs."""

    kinds: dict[int, Kind]
    stub: Callable[[int, int], bytes]


MACHINES: Final[dict[int, Machine]] = {
    MACHINE_X86_64: Machine(X86_64, _stub_x86_64),
    MACHINE_AARCH64: Machine(AARCH64, _stub_aarch64),
}
