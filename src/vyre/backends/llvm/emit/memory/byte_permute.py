"""Table lookup by byte permutes, where one instruction picks from two whole registers.

AVX-512 VBMI permutes the bytes of a register, or of two, by the bytes of another one: 64 lanes look
up a table of 128 entries at once. Of 256 entries both halves are looked up, and the highest bit of
the index chooses. Entries that the buffer lacks are zero.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from vyre.backends.llvm.emit.builder import Builder, constant, widened

if TYPE_CHECKING:
    from vyre.backends.llvm.host import Host

LANES: Final = 64
"""Bytes of a register, and lanes of a permute."""
_TYPE: Final = widened("i8", LANES)


def permutes_bytes(host: Host) -> bool:
    """True if the machine permutes the bytes of whole registers."""
    return host.vector_bits >= 8 * LANES and {"avx512bw", "avx512vbmi"} <= host.enabled


def registers_of(entries: int) -> int:
    """Registers of a table: one, two or four."""
    return 1 << max((entries - 1) // LANES, 0).bit_length()


def read_registers(w: Builder, pointer: str, count: int) -> list[str]:
    """Load a table that fills a number of registers, at the entry of the kernel."""
    found: list[str] = []
    for number in range(count):
        at = w.at_entry(f"getelementptr i8, ptr {pointer}, i64 {number * LANES}")
        found.append(w.at_entry(f"load {_TYPE}, ptr {at}, align 1", "row"))
    return found


def look_up_permuted(w: Builder, table: list[str], index: str, width: int) -> str:
    """The entries at the bytes of `index`, which has `width` lanes."""
    found: list[str] = []
    for start in range(0, width, LANES):
        part = index if width == LANES else _lanes(w, [index], width, start, LANES)
        found.append(_permuted(w, table, part))
    count = LANES
    while len(found) > 1:
        pairs = zip(found[::2], found[1::2], strict=True)
        found = [_lanes(w, pair, count, 0, 2 * count) for pair in pairs]
        count *= 2
    return found[0] if count == width else _lanes(w, found, count, 0, width)


def _permuted(w: Builder, table: list[str], index: str) -> str:
    parts = (_TYPE, index)
    if len(table) == 1:
        return w.call("llvm.x86.avx512.permvar.qi.512", _TYPE, (_TYPE, table[0]), parts)
    halves = [
        w.call("llvm.x86.avx512.vpermi2var.qi.512", _TYPE, (_TYPE, one), parts, (_TYPE, two))
        for one, two in zip(table[::2], table[1::2], strict=True)
    ]
    if len(halves) == 1:
        return halves[0]
    upper = w.emit(f"icmp slt {_TYPE} {index}, {constant('i8', 0, LANES)}")
    return w.emit(
        f"select {widened('i1', LANES)} {upper}, {_TYPE} {halves[1]}, {_TYPE} {halves[0]}"
    )


def _lanes(w: Builder, of: list[str] | tuple[str, str], width: int, start: int, count: int) -> str:
    """Lanes from `start` on, of one vector or of two; those beyond are poison."""
    type_ = widened("i8", width)
    known = width * len(of)
    picks = (f"i32 {n}" if n < known else "i32 poison" for n in range(start, start + count))
    second = of[1] if len(of) > 1 else "poison"
    mask = f"<{count} x i32> <{', '.join(picks)}>"
    return w.emit(f"shufflevector {type_} {of[0]}, {type_} {second}, {mask}")


__all__ = ["LANES", "look_up_permuted", "permutes_bytes", "read_registers", "registers_of"]
