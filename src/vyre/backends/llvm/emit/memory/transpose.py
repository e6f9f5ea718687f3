"""AoS/SoA transposition of larger structures, in register-sized pieces.

In `a[9 * i]`, …, `a[9 * i + 8]` every lane has a structure of nine members. A piece of as many
members as fit into a register is loaded from each of them, and transposed so that a register has
the same member of all lanes: registers are interleaved pairwise, in log2 steps, until positions
within a piece have become register numbers. All members of a piece share most of that work. Stores
are the inverse. Only members of the structures themselves are accessed: the last piece of one ends
where the structure does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from vyre.backends.llvm import heuristics
from vyre.backends.llvm.emit.builder import Builder, widened
from vyre.record import dataclass

if TYPE_CHECKING:
    from vyre.backends.llvm.emit.expressions import LaneContext

PIECE_BYTES = 16
"""The unit of transposition: wider registers are several of these, each by itself."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """The decomposition of the lanes' structures into pieces."""

    w: Builder
    type: str
    """The LLVM type of an element."""
    size: int
    """Bytes of an element."""
    stride: int
    """Elements of a structure."""
    count: int
    """Elements of a piece, a power of two."""
    lanes: int
    """Lanes whose elements fill sixteen bytes; all lanes if fewer."""
    copies: int
    """Sixteen-byte units per register."""
    width: int

    @property
    def together(self) -> int:
        """Lanes of a register."""
        return self.lanes * self.copies

    @property
    def side_by_side(self) -> int:
        """Pieces that fit into sixteen bytes."""
        return self.lanes // self.count

    def start(self, place: int) -> int:
        """The first member of the piece that contains a member."""
        return min(place - place % self.count, self.stride - self.count)

    # Reading -------------------------------------------------------------------------------------

    def read(self, pointer: str, place: int, extra: str) -> str:
        """One member of all lanes' structures; `extra` is the metadata of the loads."""
        start = self.start(place)
        found = [
            self._sorted(
                [self._row(pointer, first, start, number, extra) for number in range(self.count)],
                place - start,
            )
            for first in range(0, self.width, self.together)
        ]
        return joined(self.w, self.type, self.together, found)

    def _row(self, pointer: str, first: int, start: int, number: int, extra: str) -> str:
        """Pieces of some lanes: each sixteen bytes hold those of adjacent lanes."""
        w, near, count = self.w, self.side_by_side, self.count
        firsts = [first + self.lanes * copy + near * number for copy in range(self.copies)]
        found = [self._loaded(pointer, lane, start, extra) for lane in firsts]
        row = joined(w, self.type, self.lanes, found)
        if near == 1:
            return row
        picks = (
            self.lanes * copy + count * lane + place
            for copy in range(self.copies)
            for place in range(count)
            for lane in range(near)
        )
        return self._shuffled(row, "poison", picks)

    def _loaded(self, pointer: str, lane: int, start: int, extra: str) -> str:
        """Sixteen bytes of pieces, of lanes from `lane` on."""
        w, near, count = self.w, self.side_by_side, self.count
        once = bool(extra)
        rest = f", align {self.size}{extra}"
        if near == 1 or count == self.stride:
            type_ = widened(self.type, self.lanes)
            return w.emit(f"load {type_}, ptr {self._at(pointer, lane, start)}{rest}", once=once)
        piece, pieces = f"i{8 * self.size * count}", "poison"
        many = widened(piece, near)
        for n in range(near):
            one = self._at(pointer, lane + n, start)
            found = w.emit(f"load {piece}, ptr {one}{rest}", once=once)
            pieces = w.emit(f"insertelement {many} {pieces}, {piece} {found}, i64 {n}")
        return w.emit(f"bitcast {many} {pieces} to {widened(self.type, self.lanes)}")

    def _sorted(self, rows: Sequence[str], place: int) -> str:
        """One member, transposed out of the pieces in some registers."""
        bit = self.count // 2
        while len(rows) > 1:
            half = len(rows) // 2
            upper = bool(place & bit)
            rows = [self._in_turns(rows[n], rows[n + half], upper) for n in range(half)]
            bit //= 2
        return rows[0]

    def _in_turns(self, a: str, b: str, upper: bool) -> str:
        """Interleave two registers: one half of each sixteen bytes."""
        near, half = self.side_by_side, self.count // 2
        return self._shuffled(a, b, self._turns(half, near, upper))

    def _turns(self, half: int, near: int, upper: bool) -> Iterable[int]:
        for copy in range(self.copies):
            for n in range(half):
                for source in range(2):
                    at = source * self.together + copy * self.lanes
                    yield from range(
                        at + (half * upper + n) * near, at + (half * upper + n + 1) * near
                    )

    # Writing -------------------------------------------------------------------------------------

    def write(self, pointer: str, start: int, values: Sequence[str]) -> None:
        """Store a piece of all lanes' structures; `values` are its members in all lanes."""
        for first in range(0, self.width, self.together):
            registers = [self._taken(value, first) for value in values]
            for number, row in enumerate(self._spread(registers)):
                for copy in range(self.copies):
                    lane = first + self.lanes * copy + self.side_by_side * number
                    self._store(pointer, lane, start, row, copy)

    def _taken(self, value: str, first: int) -> str:
        """One register of lanes of a value."""
        if self.together == self.width:
            return value
        type_ = widened(self.type, self.width)
        picks = _picks(range(first, first + self.together))
        return self.w.emit(f"shufflevector {type_} {value}, {type_} poison, {picks}")

    def _spread(self, registers: Sequence[str]) -> list[str]:
        """Pieces of adjacent lanes, transposed from their members."""
        if len(registers) == 1:
            return [registers[0]]
        half = len(registers) // 2
        made: list[str] = []
        for upper in (False, True):
            picks = tuple(self._turns(self.lanes // 2, 1, upper))
            pairs = zip(registers[:half], registers[half:], strict=True)
            made += self._spread([self._shuffled(a, b, picks) for a, b in pairs])
        return made

    def _store(self, pointer: str, lane: int, start: int, row: str, copy: int) -> None:
        w, near, count = self.w, self.side_by_side, self.count
        many = widened(self.type, self.together)
        if near == 1 or count == self.stride:
            found, type_ = row, many
            if self.copies > 1:
                picks = _picks(range(copy * self.lanes, (copy + 1) * self.lanes))
                type_ = widened(self.type, self.lanes)
                found = w.emit(f"shufflevector {many} {row}, {many} poison, {picks}")
            at = self._at(pointer, lane, start)
            w.do(f"store {type_} {found}, ptr {at}, align {self.size}")
            return
        piece = f"i{8 * self.size * count}"
        pieces = widened(piece, near * self.copies)
        whole = w.emit(f"bitcast {many} {row} to {pieces}")
        for n in range(near):
            found = w.emit(f"extractelement {pieces} {whole}, i64 {copy * near + n}")
            at = self._at(pointer, lane + n, start)
            w.do(f"store {piece} {found}, ptr {at}, align {self.size}")

    # Both ----------------------------------------------------------------------------------------

    def _at(self, pointer: str, lane: int, start: int) -> str:
        offset = lane * self.stride + start
        if not offset:
            return pointer
        return self.w.emit(f"getelementptr {self.type}, ptr {pointer}, i64 {offset}")

    def _shuffled(self, a: str, b: str, picks: Iterable[int]) -> str:
        type_ = widened(self.type, self.together)
        return self.w.emit(f"shufflevector {type_} {a}, {type_} {b}, {_picks(picks)}")


def pieces_of(lanes: LaneContext, type_: str, size: int, stride: int) -> Pieces | None:
    """The decomposition of structures of `stride` members; None if it does not pay."""
    width = lanes.width
    if stride < heuristics.MIN_TRANSPOSED_MEMBERS:
        return None
    near = min(PIECE_BYTES // size, width)
    count = min(near, 1 << (stride.bit_length() - 1))
    if count < 2 or count * size < heuristics.MIN_TRANSPOSED_BYTES:
        return None
    copies = max(lanes.kernel.host.vector_bits // (8 * PIECE_BYTES), 1)
    return Pieces(lanes.w, type_, size, stride, count, near, min(copies, width // near), width)


def starts_of(pieces: Pieces, places: Mapping[int, object]) -> list[int]:
    """First members of the pieces that are written as a whole."""
    found: list[int] = []
    covered: set[int] = set()
    for place in sorted(places):
        whole = range(place, place + pieces.count)
        if place not in covered and all(n in places for n in whole):
            found.append(place)
            covered.update(whole)
    last = pieces.stride - pieces.count
    if last not in found and all(n in places for n in range(last, pieces.stride)):
        # Members that two pieces share have the same value in both.
        found.append(last)
    return found


def joined(w: Builder, type_: str, lanes: int, parts: Sequence[str]) -> str:
    """The concatenation of vectors."""
    while len(parts) > 1:
        one, picks = widened(type_, lanes), _picks(range(2 * lanes))
        parts = [
            w.emit(f"shufflevector {one} {a}, {one} {b}, {picks}")
            for a, b in zip(parts[::2], parts[1::2], strict=True)
        ]
        lanes *= 2
    return parts[0]


def _picks(places: Iterable[int]) -> str:
    """The mask of a shuffle."""
    chosen = [f"i32 {place}" for place in places]
    return f"<{len(chosen)} x i32> <{', '.join(chosen)}>"


__all__ = ["Pieces", "joined", "pieces_of", "starts_of"]
