r"""Pieces: a pattern cut at wide gaps and at an optional prefix, with bounds on the distances.

    [\w.-]{0,50}token(?:.|\n){0,40}?=[0-9a-f]{32}
    0 to 50 bytes, then `token`, then 0 to 40 bytes, then `=[0-9a-f]{32}`

The DFA of a whole pattern counts through its gaps and multiplies; the DFAs of pieces are small.
Where a match is, every piece is, in order and within its distance. The other way round is for the
whole pattern to decide: pieces are a filter, and starts are never taken from them.

A piece with an anchor is parted there: `head` is before it, `tail` starts with it.
"""

from __future__ import annotations

from vyre.ops.match.regex.factors import Bounds, Factor, best_factor
from vyre.ops.match.regex.spine import Part, Spine, bounds, is_wide_gap, joined, spine_of
from vyre.ops.match.regex.syntax import EMPTY, Node
from vyre.record import dataclass


@dataclass(frozen=True, slots=True)
class Piece:
    """Part of a pattern, with its distance from the piece before."""

    gap: Bounds
    """Bytes from the end of the last piece, or from the start of the match, to this one."""
    node: Node
    anchor: Factor | None
    head: Node
    """What stands before the part in which the anchor starts."""
    tail: Node

    @property
    def is_anchored(self) -> bool:
        """True if it has an anchor."""
        return self.anchor is not None


def pieces_of(root: Node) -> tuple[Piece, ...]:
    """The pieces of a simplified tree, in order."""
    found: list[Piece] = []
    for gap, parts in _cut(spine_of(root)):
        anchor = best_factor(parts)
        place = 0 if anchor is None else anchor.first
        head = joined(parts[:place]) if place else EMPTY
        found.append(Piece(gap, joined(parts), anchor, head, joined(parts[place:])))
    return tuple(found)


def _cut(spine: Spine) -> list[tuple[Bounds, Spine]]:
    pieces: list[tuple[Bounds, Spine]] = []
    start = _prefix_end(spine)
    gap = bounds(spine[:start])
    parts: list[Part] = []
    for part in spine[start:]:
        if parts and is_wide_gap(part.node):
            pieces.append((gap, tuple(parts)))
            gap, parts = (part.least, part.most), []
        elif not parts and is_wide_gap(part.node):
            high = None if gap[1] is None or part.most is None else gap[1] + part.most
            gap = (gap[0] + part.least, high)
        else:
            parts.append(part)
    if parts:
        pieces.append((gap, tuple(parts)))
    return pieces


def _prefix_end(spine: Spine) -> int:
    """The first part that consumes for certain, or the assertion right before it."""
    place = 0
    while place < len(spine) and spine[place].is_gap:
        place += 1
    while place and spine[place - 1].most == 0:
        place -= 1
    return place
