r"""The spine of a pattern: what every match consists of, in order.

    (?i)(?:api|app)[_-]key\s{0,3}=[0-9a-f]{32}
    one of 2 words · [_-] · k · e · y · gap 0 to 3 · = · 32 × [0-9a-f]

A part is a single byte set, a finite set of words, or anything else with bounds on its length.
Groups and required repeats are opened; what is optional or unbounded stays one part.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import assert_never

from vyre.ops.match.regex.syntax import (
    Alternation,
    Assertion,
    Class,
    Concat,
    Group,
    Node,
    Repeat,
    fold,
)
from vyre.record import dataclass

Word = tuple[int, ...]
"""A word as byte sets, one per byte: a letter under (?i) is a set of two."""

MAX_COPIES = 32
"""Copies of a repeated body that become parts of their own."""
MAX_WORDS = 64
MAX_WORD_BYTES = 64
MAX_PARTS = 4_096
WIDE_SET = 128
"""Members of a byte set that is wide: `.`, `[^"]`, and `.|\\n`."""
WIDE_SPAN = 8
"""Difference between least and greatest length from which a repeat of a wide set is a gap."""


@dataclass(frozen=True, slots=True)
class Part:
    """One stretch of every match."""

    node: Node
    least: int
    most: int | None
    words: tuple[Word, ...] | None = None
    """All that it matches, if that is finite and small."""
    branches: tuple[tuple[Part, ...], ...] = ()
    """The spines of the choices of an alternation that is not finite."""

    @property
    def is_gap(self) -> bool:
        """True if it may be empty."""
        return self.least == 0


Spine = tuple[Part, ...]


def spine_of(root: Node) -> Spine:
    """The parts of a tree, in order."""
    return fold(root, _spine)


def bounds(parts: Sequence[Part]) -> tuple[int, int | None]:
    """Least and greatest length of consecutive parts."""
    most = [part.most for part in parts]
    known = [each for each in most if each is not None]
    return sum(part.least for part in parts), sum(known) if len(known) == len(most) else None


def joined(parts: Sequence[Part]) -> Node:
    """The tree of consecutive parts; copies of a repeated body become a repeat again."""
    items: list[Node] = []
    for part in parts:
        last, node = items[-1] if items else None, part.node
        body = node.body if isinstance(node, Repeat) else node
        if isinstance(last, Repeat) and last.least == last.most and last.body == body:
            items[-1] = _merged(last, node)
        else:
            items.append(Repeat(node, 1, 1) if isinstance(node, Class) else node)
    bare = [
        item.body if isinstance(item, Repeat) and item.most == 1 == item.least else item
        for item in items
    ]
    return bare[0] if len(bare) == 1 else Concat(tuple(bare))


def _merged(first: Repeat, second: Node) -> Repeat:
    """x{n} and what follows it, as one repeat of x."""
    if not isinstance(second, Repeat):
        return Repeat(first.body, first.least + 1, first.least + 1)
    most = None if second.most is None else first.least + second.most
    return Repeat(first.body, first.least + second.least, most, second.greedy)


def _spine(node: Node, below: list[Spine]) -> Spine:
    match node:
        case Class(bits):
            return (Part(node, 1, 1, ((bits,),)),)
        case Assertion():
            return (Part(node, 0, 0),)
        case Group():
            return below[0]
        case Concat():
            parts = tuple(part for spine in below for part in spine)
            return parts if len(parts) <= MAX_PARTS else (_single(node, parts),)
        case Alternation():
            return (_alternation(node, below),)
        case Repeat():
            return _repeat(node, below[0])
        case _:
            assert_never(node)


def _single(node: Node, parts: Sequence[Part]) -> Part:
    return Part(node, *bounds(parts))


def _alternation(node: Alternation, below: list[Spine]) -> Part:
    lengths = [bounds(spine) for spine in below]
    most = [each for _, each in lengths if each is not None]
    least = min(each for each, _ in lengths)
    greatest = max(most) if len(most) == len(lengths) else None
    found = [words_of(spine) for spine in below]
    words = [words for words in found if words is not None]
    if len(words) == len(found) and sum(map(len, words)) <= MAX_WORDS:
        every = tuple(dict.fromkeys(word for choice in words for word in choice))
        return Part(node, least, greatest, every)
    return Part(node, least, greatest, None, tuple(below))


def is_wide_gap(node: Node) -> bool:
    """True for a repeat of a wide byte set that matches many different lengths."""
    if not isinstance(node, Repeat) or not isinstance(node.body, Class):
        return False
    spans = node.most is None or node.most - node.least >= WIDE_SPAN
    return spans and node.body.bits.bit_count() >= WIDE_SET


def _repeat(node: Repeat, body: Spine) -> Spine:
    if is_wide_gap(node):
        return (Part(node, node.least, node.most),)
    copies = min(node.least, MAX_COPIES, MAX_PARTS // max(len(body), 1))
    least = node.least - copies
    most = None if node.most is None else node.most - copies
    parts = body * copies
    if most == 0:
        return parts
    low, high = bounds(body)
    rest = Repeat(node.body, least, most, node.greedy)
    greatest = None if most is None or high is None else high * most
    if high == 0:
        greatest = 0
    words = words_of(body) if (least, most) == (0, 1) else None
    if words is not None and len(words) < MAX_WORDS:
        words = ((), *words)
    return (*parts, Part(rest, low * least, greatest, words))


def words_of(parts: Sequence[Part]) -> tuple[Word, ...] | None:
    """All words of consecutive parts; None if they are not finite or too many."""
    words: tuple[Word, ...] = ((),)
    for part in parts:
        if isinstance(part.node, Assertion):
            continue
        if part.words is None or len(words) * len(part.words) > MAX_WORDS:
            return None
        words = tuple(dict.fromkeys(head + tail for head in words for tail in part.words))
        if max(map(len, words)) > MAX_WORD_BYTES:
            return None
    return words


def runs_of_one_set(parts: Sequence[Part]) -> list[tuple[int, int, int]]:
    """Maximal runs of the same single byte set: (first part, last part + 1, set)."""
    sets = [
        part.words[0][0] if isinstance(part.node, Class) and part.words is not None else None
        for part in parts
    ]
    starts = [0, *(n + 1 for n, (a, b) in enumerate(pairwise(sets)) if a != b), len(sets)]
    return [(a, b, bits) for a, b in pairwise(starts) if a < b and (bits := sets[a]) is not None]
