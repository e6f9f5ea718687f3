"""Factors and pieces: what is cut, and that every match has what is required."""

from __future__ import annotations

from itertools import product

import pytest

from vyre.conform.regexes.fuzz import case, definition_of
from vyre.ops.match.regex import parse
from vyre.ops.match.regex.boundaries import kinds_around
from vyre.ops.match.regex.byte_statistics import frequency
from vyre.ops.match.regex.dfa import Dfa, run
from vyre.ops.match.regex.factors import Factor
from vyre.ops.match.regex.normal_form import simplified
from vyre.ops.match.regex.pieces import Piece, pieces_of
from vyre.ops.match.regex.positions import PositionAutomaton, position_automaton
from vyre.ops.match.regex.program import compile_program
from vyre.ops.match.regex.subset_construction import determinize
from vyre.ops.match.regex.unparse import unparse


def pieces(pattern: str, dialect: str = "go") -> tuple[Piece, ...]:
    return pieces_of(simplified(parse(pattern, dialect).root))


ANCHORS = [
    (r"\bqxv_[0-9A-Za-z]{36}\b", "qxv_", (0, 0), (36, 36)),
    (r"[a-z]{3}token[0-9]+", "token", (3, 3), (1, None)),
    (r"(?i)api[_-]key", r"[Aa][Pp][Ii][\-_][Kk][Ee][Yy]", (0, 0), (0, 0)),
    (r"(?:alpha|beta)=x+", "alpha\\=x|beta\\=x", (0, 0), (0, None)),
    (r"(?:QAX[0-9]|ZBY)[A-Z]{9}", "QAX|ZBY", (0, 0), (9, 10)),
    (r"(?:abc[0-9]+|xyzw?)!", "abc|xyz|xyzw", (0, 0), (1, None)),
    (r"[0-9a-f]{32}", "[0-9a-f]{32}", (0, 0), (0, 0)),
    (r"(?:[0-9]{8}|[a-f]{9})x?", "[0-9a-f]{8}", (0, 0), (0, 2)),
]


@pytest.mark.parametrize(("pattern", "shown", "before", "after"), ANCHORS)
def test_anchors(pattern: str, shown: str, before: object, after: object) -> None:
    (piece,) = pieces(pattern)
    assert piece.anchor is not None
    assert (str(piece.anchor), piece.anchor.before) == (shown, before)
    if "9]{8}" not in pattern:
        assert piece.anchor.after == after


def test_cut_at_wide_gaps_and_at_an_optional_prefix() -> None:
    found = pieces(r"[\w.-]{0,50}token(?:.|\n){0,40}?=[0-9a-f]{32}")
    assert [(piece.gap, unparse(piece.node)) for piece in found] == [
        ((0, 50), "token"),
        ((0, 40), "\\=[0-9a-f]{32}"),
    ]
    assert [unparse(piece.node) for piece in pieces("a.*b.{3,}c")] == ["a", "b", "c"]
    assert [piece.gap for piece in pieces("a.*b.{3,}c")] == [(0, 0), (0, None), (3, None)]


def test_a_narrow_gap_is_not_cut() -> None:
    assert len(pieces(r"token\s{0,30}=.{0,7}x")) == 1


def test_head_and_tail() -> None:
    (piece,) = pieces("[a-z]{4}=qzx[0-9]")
    assert (unparse(piece.head), unparse(piece.tail)) == ("[a-z]{4}", "\\=qzx[0-9]")


def test_no_anchor() -> None:
    (piece,) = pieces(r"\w+")
    assert piece.anchor is None


def test_rarer_words_are_less_frequent() -> None:
    def words(*texts: bytes) -> list[float]:
        return [frequency(tuple(1 << byte for byte in text)) for text in texts]

    assert words(b"e", b"the", b"qzx") == sorted(words(b"e", b"the", b"qzx"), reverse=True)
    assert frequency(()) == 1.0
    assert frequency(((1 << 256) - 1,) * 9) == pytest.approx(1.0, abs=0.2)
    assert words(b"A")[0] < words(b"a")[0]


def holds(factor: Factor, text: bytes, start: int, end: int) -> bool:
    """True if the factor stands within its distances in a match of its piece."""
    return any(
        place + len(word) <= end
        and _within(place - start, factor.before)
        and _within(end - place - len(word), factor.after)
        and all(bits >> text[place + i] & 1 for i, bits in enumerate(word))
        for word, place in product(factor.words, range(start, end))
    )


def _within(distance: int, bounds: tuple[int, int | None]) -> bool:
    return bounds[0] <= distance and (bounds[1] is None or distance <= bounds[1])


def spans(piece: Piece, dfa: Dfa, text: bytes, froms: set[int], end: int) -> set[tuple[int, int]]:
    """Matches of a piece inside of a match that ends at `end`, from ends of the piece before."""
    symbols, kinds = dfa.symbols(text), kinds_around(text)
    starts = {s for s in range(end + 1) if any(_within(s - f, piece.gap) for f in froms)}
    return {(s, e) for s in starts for e in run(dfa, symbols, kinds, s, len(text)) if e <= end}


def test_every_match_has_its_pieces_and_factors() -> None:
    cases = [one for number in range(400, 480) if (one := case(number)) is not None]
    cut = [pieces_of(simplified(one.pattern.root)) for one in cases]
    automata: list[PositionAutomaton] = []
    for piece in (piece for some in cut for piece in some):
        automaton = position_automaton(compile_program(piece.node), ordered=False)
        assert automaton is not None
        automata.append(automaton)
    dfas = iter(determinize(automata))
    checked = 0
    for one, some in zip(cases, cut, strict=True):
        mine = [next(dfas) for _ in some]
        matches = [(text, m) for text in one.texts for m in definition_of(one.pattern).find(text)]
        for text, (start, end, _) in matches:
            ends = {start}
            for piece, dfa in zip(some, mine, strict=True):
                if dfa is None:
                    break
                found = spans(piece, dfa, text, ends, end)
                assert found, (one, text, piece)
                ends = {e for _, e in found}
                if piece.anchor is not None:
                    checked += 1
                    assert all(holds(piece.anchor, text, s, e) for s, e in found), (one, text)
    assert checked > 150
