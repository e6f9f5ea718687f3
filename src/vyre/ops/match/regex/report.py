"""What will become of patterns: anchors, pieces, sizes, refusals and notes, one row each."""

from __future__ import annotations

from collections.abc import Iterable
from math import log2

from vyre.diagnostics import RegexError
from vyre.ops.match.regex import byte_sets
from vyre.ops.match.regex.factors import Bounds
from vyre.ops.match.regex.normal_form import positions_of, simplified
from vyre.ops.match.regex.parse import Pattern, parse
from vyre.ops.match.regex.pieces import Piece, pieces_of
from vyre.ops.match.regex.syntax import (
    Alternation,
    Class,
    Concat,
    Group,
    Node,
    Repeat,
    fold,
    lengths,
)
from vyre.record import dataclass

EMPTY_ITERATIONS = "repeats a body that can be empty: PCRE leaves such a repeat earlier"
CODE_POINTS = "counts bytes where Go counts code points: {found}"


@dataclass(frozen=True, slots=True)
class PatternReport:
    """One row of a report."""

    text: str
    refusal: str | None = None
    """Code, offset and sentence, if the pattern is refused."""
    positions: int = 0
    least: int = 0
    most: int | None = 0
    pieces: tuple[Piece, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def anchor(self) -> Piece | None:
        """The piece whose anchor is rarest."""
        anchored = [piece for piece in self.pieces if piece.anchor is not None]
        return min(anchored, key=_rarity, default=None)

    def __str__(self) -> str:
        if self.refusal is not None:
            return f"{self.text}\n  refused: {self.refusal}"
        lines = [self.text, f"  {self.positions} positions, {_length(self.least, self.most)}"]
        best = self.anchor
        for piece in self.pieces:
            mark = "*" if piece is best else " "
            lines.append(f"  {mark} after {_range(piece.gap)}: {_anchor(piece)}")
        lines += [f"  note: {note}" for note in self.notes]
        return "\n".join(lines)


def report(patterns: Iterable[str | bytes], dialect: str = "go") -> list[PatternReport]:
    """A row for each pattern; patterns that are refused have a row as well."""
    return [_row(pattern, dialect) for pattern in patterns]


def _row(pattern: str | bytes, dialect: str) -> PatternReport:
    text = pattern if isinstance(pattern, str) else pattern.decode("utf-8", "backslashreplace")
    try:
        return report_of(parse(pattern, dialect))
    except RegexError as error:
        why = f"{error.code} at {error.offset}: {error.diagnostics[0].message}"
        return PatternReport(text, refusal=why)


def report_of(pattern: Pattern) -> PatternReport:
    """The row of a pattern that was read."""
    root = simplified(pattern.root)
    counted = counted_bytes(root)
    notes = [CODE_POINTS.format(found=", ".join(counted))] if counted else []
    if pattern.dialect == "pcre" and _repeats_empty(root):
        notes.append(EMPTY_ITERATIONS)
    least, most = lengths(root)
    return PatternReport(
        pattern.text, None, positions_of(root), least, most, pieces_of(root), tuple(notes)
    )


def _repeats_empty(root: Node) -> bool:
    """True if a body that can be empty is repeated."""

    def visit(node: Node, below: list[tuple[bool, bool]]) -> tuple[bool, bool]:
        """Whether the node can be empty, and whether such a node is repeated in it."""
        empty, inside = [each for each, _ in below], any(each for _, each in below)
        match node:
            case Repeat(_, least, most):
                return empty[0] or least == 0, inside or (empty[0] and most != 1)
            case Alternation():
                return any(empty), inside
            case Class():
                return False, False
            case _:
                return all(empty), inside

    return fold(root, visit)[1]


def counted_bytes(root: Node) -> list[str]:
    """Sets with bytes over 7F that are not repeated without bound.

    Go matches a code point where a byte is matched here: `.{3}` is three code points there. With
    `*` and `+` both take the same stretch of valid UTF-8.
    """
    found: dict[str, None] = {}
    pending: list[Node] = [root]
    while pending:
        match pending.pop():
            case Class(bits) if bits & byte_sets.NOT_ASCII and bits.bit_count() > 1:
                found[byte_sets.show(bits)] = None
            case Repeat(Class(bits), least, most) if bits & byte_sets.NOT_ASCII:
                if most is not None or least > 1:
                    bound = "" if most is None else most
                    found[f"{byte_sets.show(bits)}{{{least},{bound}}}"] = None
            case Repeat(body) | Group(body):
                pending.append(body)
            case Concat(items):
                pending += reversed(items)
            case Alternation(choices):
                pending += reversed(choices)
            case _:
                pass
    return list(found)


def _rarity(piece: Piece) -> tuple[bool, float]:
    assert piece.anchor is not None
    return (piece.anchor.is_run or piece.anchor.shortest < 3, piece.anchor.frequency)


def _anchor(piece: Piece) -> str:
    anchor = piece.anchor
    if anchor is None:
        return "no anchor"
    kind = "run" if anchor.is_run else "words"
    distance = f"{_range(anchor.before)} before, {_range(anchor.after)} after"
    return f"{kind} {anchor} (2^{log2(anchor.frequency):.0f} per byte; {distance})"


def _range(bounds: Bounds) -> str:
    least, most = bounds
    if least == most:
        return str(least)
    return f"{least} to {'any' if most is None else most}"


def _length(least: int, most: int | None) -> str:
    return f"matches of {_range((least, most))} bytes"
