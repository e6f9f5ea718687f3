"""Required factors: what must stand in the text near every match, and the rarest of it.

A factor is a set of words one of which every match contains, or a run of one byte set, together
with its distance from the start of its piece. The anchor is the factor that is expected least often
(`byte_statistics`); words of at least three bytes come before runs, which need a filter of their
own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vyre.ops.match.regex import byte_sets
from vyre.ops.match.regex.byte_statistics import frequency
from vyre.ops.match.regex.spine import (
    MAX_WORDS,
    Part,
    Word,
    bounds,
    runs_of_one_set,
)
from vyre.ops.match.regex.syntax import Class
from vyre.record import dataclass

NARROW = 4
"""A byte set with more members is not part of a word."""
MIN_WORD_BYTES = 3
"""Words that are shorter compete with runs."""
MAX_WINDOW = 24
"""Parts that a factor may join."""
MIN_RUN = 4
MAX_DEPTH = 12

Bounds = tuple[int, int | None]


@dataclass(frozen=True, slots=True)
class Factor:
    """One of these words, or a run, is in every match of a piece."""

    words: tuple[Word, ...]
    """Words as byte sets; a run is one word of equal sets."""
    is_run: bool
    first: int
    """The part of the spine that it starts in."""
    before: Bounds
    """Bytes from the start of the piece to the factor."""
    after: Bounds
    """Bytes from the end of the factor to the end of the piece."""
    frequency: float
    """Expected occurrences per byte of text."""

    @property
    def shortest(self) -> int:
        """The length of the shortest word."""
        return min(map(len, self.words))

    @property
    def ignores_case(self) -> bool:
        """True if words have both cases of some letter."""
        return any(bits.bit_count() > 1 for word in self.words for bits in word)

    def __str__(self) -> str:
        if self.is_run:
            return f"{byte_sets.show(self.words[0][0])}{{{len(self.words[0])}}}"
        return "|".join("".join(map(byte_sets.show, word)) for word in self.words)


def best_factor(parts: Sequence[Part]) -> Factor | None:
    """The anchor of consecutive parts; None if nothing in them is required."""
    return min(factors(parts), key=_rank, default=None)


def _rank(factor: Factor) -> tuple[bool, float]:
    return (factor.is_run or factor.shortest < MIN_WORD_BYTES, factor.frequency)


def factors(parts: Sequence[Part], depth: int = 0) -> Iterator[Factor]:
    """The factors of consecutive parts that are not contained in a longer one.

    Alternations inside of alternations are looked into down to `MAX_DEPTH`.
    """
    reached = 0
    for first, part in enumerate(parts):
        words, last = _window(parts, first)
        if last > reached and min(map(len, words)):
            reached = last
            yield _factor(parts, first, last, words, is_run=False)
        if part.least and last == first and depth < MAX_DEPTH:
            yield from _common(parts, first, _branches(part), depth + 1)
    for first, last, bits in runs_of_one_set(parts):
        if last - first >= MIN_RUN and bits != byte_sets.ALL:
            word = (bits,) * (last - first)
            yield _factor(parts, first, last, (word,), is_run=True)


def _window(parts: Sequence[Part], first: int) -> tuple[tuple[Word, ...], int]:
    """The longest set of words that starts with a part, and the part behind it."""
    words: tuple[Word, ...] = ((),)
    last = first
    for part in parts[first : first + MAX_WINDOW]:
        if part.least == part.most == 0:
            last += 1
            continue
        if part.words is None or not all(map(_is_narrow, part.words)):
            break
        if len(words) * len(part.words) > MAX_WORDS:
            break
        words = tuple(dict.fromkeys(head + tail for head in words for tail in part.words))
        last += 1
    return words, last


def _branches(part: Part) -> tuple[tuple[Part, ...], ...]:
    """The spines of a part's choices; words that have wide sets in them are spines as well."""
    if part.branches or part.words is None or len(part.words) == 1:
        return part.branches
    return tuple(tuple(Part(Class(bits), 1, 1, ((bits,),)) for bits in word) for word in part.words)


def _is_narrow(word: Word) -> bool:
    return all(0 < bits.bit_count() <= NARROW for bits in word)


def _factor(
    parts: Sequence[Part], first: int, last: int, words: tuple[Word, ...], is_run: bool
) -> Factor:
    return Factor(
        words,
        is_run,
        first,
        bounds(parts[:first]),
        bounds(parts[last:]),
        sum(frequency(word) for word in words),
    )


def _common(
    parts: Sequence[Part], first: int, branches: Sequence[Sequence[Part]], depth: int
) -> Iterator[Factor]:
    """What all choices of an alternation have: one of their best words, or a run of the union."""
    before, after = bounds(parts[:first]), bounds(parts[first + 1 :])
    every = [list(factors(branch, depth)) for branch in branches]
    if not every:
        return
    for is_run in (False, True):
        found = [[each for each in some if each.is_run == is_run] for some in every]
        if not all(found):
            continue
        chosen = [min(some, key=_rank) for some in found]
        words = tuple(dict.fromkeys(word for factor in chosen for word in factor.words))
        if is_run:
            words = (_common_run(words),)
        if len(words) <= MAX_WORDS:
            yield Factor(
                words,
                is_run,
                first,
                _sum(before, _hull([factor.before for factor in chosen])),
                _sum(after, _hull([factor.after for factor in chosen])),
                sum(frequency(word) for word in words),
            )


def _common_run(runs: Sequence[Word]) -> Word:
    """The run that is part of each of these runs, over the union of their sets."""
    union = 0
    for run in runs:
        union |= run[0]
    return (union,) * min(map(len, runs))


def _hull(each: Sequence[Bounds]) -> Bounds:
    most = [high for _, high in each if high is not None]
    return min(low for low, _ in each), max(most) if len(most) == len(each) else None


def _sum(a: Bounds, b: Bounds) -> Bounds:
    return a[0] + b[0], None if a[1] is None or b[1] is None else a[1] + b[1]
