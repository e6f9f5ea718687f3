"""Stream realignment: loads of neighbours from one load and shuffles.

    x[i], x[i + 1], x[i + 2]     ->     v = x[i ...], t = x[i + lanes ...] of two elements,
                                        v, shuffle(v, t by 1), shuffle(v, t by 2)

A load that crosses a cache line takes two accesses, and of vectors as long as a line all but one
in a line do. A loaded vector has most of what its neighbours in memory would load: what is missing
are as many elements as they are apart, and one shuffle joins both (Eichenberger, Wu and O'Brien,
"Vectorization for SIMD architectures with alignment constraints", 2004).

Legal for loads that are in bounds as a whole, in one block, with no store between them: what is
read is part of what they would read. Profitable where a vector is as long as a cache line, and one
instruction shifts elements from one register to the next, which is so for 32 bits and more.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from vyre.backends.llvm import heuristics
from vyre.backends.llvm.emit.builder import Builder, known_integer, widened
from vyre.backends.llvm.techniques import Technique

if TYPE_CHECKING:
    from vyre.backends.llvm.emit.expressions import LaneContext
    from vyre.backends.llvm.emit.values import Memory
    from vyre.backends.llvm.host import Host

_DISTANCES: Final = frozenset({1, 2, 4})
"""Elements that one load can have."""
_LEAST_BYTES: Final = 4
_WORD: Final = 1 << 32

Sum = tuple[tuple[str, ...], int]
"""Operands that are added up, and a constant, modulo 2^32."""


def shifts_registers(host: Host, size: int) -> bool:
    """True if one instruction shifts elements of a size in bytes across long registers."""
    is_long = host.vector_bits >= 8 * heuristics.CACHE_LINE_BYTES
    return host.architecture == "x86_64" and is_long and size >= _LEAST_BYTES


def load_beside(
    lanes: LaneContext, memory: Memory, index: str, pointer: str, type_: str, extra: str
) -> str:
    """A vector of elements of `type_` at a pointer, which is in bounds as a whole.

    `index` is the 32-bit index of the first lane.
    """
    w, width, size = lanes.w, lanes.width, memory.decl.element.size_bytes or 1
    many = widened(type_, width)
    whole = f"load {many}, ptr {pointer}, align {size}{extra}"
    if not shifts_registers(lanes.kernel.host, size) or not lanes.kernel.allows(Technique.REALIGN):
        return w.emit(whole)
    parts, constant = _sum_of(w, index)
    key = (memory.pointer, many, parts)
    known = w.streams.setdefault(key, [])
    for there, vector, writes in known:
        distance = (constant - there + _WORD // 2) % _WORD - _WORD // 2
        is_current = memory.constant or writes == w.writes
        if is_current and abs(distance) in _DISTANCES and abs(distance) < width:
            lanes.kernel.applies(Technique.REALIGN)
            return _joined(w, vector, distance, pointer, (type_, width, size, extra))
    found = w.emit(whole)
    known.append((constant, found, w.writes))
    return found


def _joined(
    w: Builder, vector: str, distance: int, pointer: str, shape: tuple[str, int, int, str]
) -> str:
    """The vector at a pointer, most of whose elements another one has."""
    type_, width, size, extra = shape
    count, many = abs(distance), widened(type_, width)
    if distance > 0:
        pointer = w.emit(f"getelementptr i8, ptr {pointer}, i64 {(width - count) * size}")
    few = widened(type_, count)
    rest = w.emit(f"load {few}, ptr {pointer}, align {size}{extra}")
    picks = [str(n) if n < count else "poison" for n in range(width)]
    rest = _shuffled(w, few, rest, "poison", picks)
    if distance > 0:
        return _shuffled(w, many, vector, rest, range(count, width + count))
    return _shuffled(w, many, rest, vector, [*range(count), *range(width, 2 * width - count)])


def _shuffled(w: Builder, type_: str, one: str, two: str, picks: Iterable[int | str]) -> str:
    chosen = [f"i32 {each}" for each in picks]
    mask = f"<{len(chosen)} x i32> <{', '.join(chosen)}>"
    return w.emit(f"shufflevector {type_} {one}, {type_} {two}, {mask}")


def _sum_of(w: Builder, operand: str) -> Sum:
    """What an index adds up, as far as its block computes it."""
    number = known_integer(operand)
    if number is not None:
        return (), number % _WORD
    made = w.sums.get(operand)
    if made is None:
        return (operand,), 0
    op, left, right = made
    one, two = _sum_of(w, left), _sum_of(w, right)
    if op == "add":
        return tuple(sorted((*one[0], *two[0]))), (one[1] + two[1]) % _WORD
    return (one[0], (one[1] - two[1]) % _WORD) if not two[0] else ((operand,), 0)


__all__ = ["load_beside", "shifts_registers"]
