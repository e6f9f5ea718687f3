"""The definition: matches that are written down, and random ones of RE2 and Rust's regex."""

from __future__ import annotations

import re

import pytest

from vyre.conform.regexes.fuzz import case, definition_of, differences, fuzz_regexes
from vyre.conform.regexes.oracles import Re2, Rure, re2_is_exact, re2_refuses
from vyre.ops.match.regex import Match, parse

TABLE = [
    ("abc", b"xabcabc", [(1, 4), (4, 7)]),
    ("a+", b"aaba", [(0, 2), (3, 4)]),
    ("a+?", b"aaba", [(0, 1), (1, 2), (3, 4)]),
    ("a|ab", b"abab", [(0, 1), (2, 3)]),
    ("ab|a", b"abaa", [(0, 2), (2, 3), (3, 4)]),
    ("(a|ab)(c|bcd)", b"abcd", [(0, 4)]),
    ("a.*c|ab", b"abcabx", [(0, 3), (3, 5)]),
    ("a.*?c", b"abcac", [(0, 3), (3, 5)]),
    ("[a-c]{2,3}", b"abcab", [(0, 3), (3, 5)]),
    ("[a-c]{2,3}?", b"abcab", [(0, 2), (2, 4)]),
    (r"\bab\b", b"ab abc cab ab", [(0, 2), (11, 13)]),
    (r"\Bb", b"ab b", [(1, 2)]),
    (r"\bé", "é aé".encode(), [(4, 6)]),
    ("^a", b"aa\na", [(0, 1)]),
    ("(?m)^a", b"aa\na", [(0, 1), (3, 4)]),
    ("a$", b"a\na", [(2, 3)]),
    ("a$", b"a\n", []),
    ("(?m)a$", b"a\na\n", [(0, 1), (2, 3)]),
    (r"\Aa|b\z", b"aabb", [(0, 1), (3, 4)]),
    ("a(?s:.)b", b"a\nb", [(0, 3)]),
    ("a.b", b"a\nb", []),
    ("(?i)aB", b"abABAbaB", [(0, 2), (2, 4), (4, 6), (6, 8)]),
    ("(?:a|b*)*c", b"abbac", [(0, 5)]),
    ("(?:|a)+b", b"aab", [(0, 3)]),
    ("x{0}a", b"xa", [(1, 2)]),
    ("[^a]b", b"ab\nbbb", [(2, 4), (4, 6)]),
    (r"\x00\xff", b"\x00\xff", [(0, 2)]),
]


@pytest.mark.parametrize(("pattern", "text", "expected"), TABLE)
def test_matches(pattern: str, text: bytes, expected: list[tuple[int, int]]) -> None:
    found = definition_of(parse(pattern)).find(text)
    assert [match[:2] for match in found] == expected
    assert found == Re2(pattern).find(text)


def test_captures() -> None:
    definition = definition_of(parse("(a)|(?P<n>b+)(c)?"))
    assert definition.find(b"abbcb") == [
        Match(0, 1, ((0, 1), None, None)),
        Match(1, 4, (None, (1, 3), (3, 4))),
        Match(4, 5, (None, (4, 5), None)),
    ]


@pytest.mark.parametrize(
    "pattern", ["(?:(a)|b)+", "(a*)+b", "((a)|(b))*c", "(a|b)*?c", "(?:(a)?b){2}", "(a{0,2}?)+b"]
)
def test_captures_in_repeats_are_those_of_re2(pattern: str) -> None:
    for text in (b"abab", b"aabc", b"bbac", b"abbab"):
        assert definition_of(parse(pattern)).find(text) == Re2(pattern).find(text)


def test_overlapping_matches_are_all_ends_with_the_leftmost_start() -> None:
    assert definition_of(parse("a+")).ends(b"aaba") == [(0, 1), (0, 2), (3, 4)]
    assert definition_of(parse("a+?b?")).ends(b"aab") == [(0, 1), (0, 2), (0, 3)]
    assert definition_of(parse("ab|b")).ends(b"abb") == [(0, 2), (2, 3)]
    assert definition_of(parse("a$")).ends(b"aa") == [(1, 2)]


def test_overlapping_ends_are_the_ends_of_a_search_at_every_length() -> None:
    """Brute force: e is an end if the pattern, anchored at both sides, matches some [s, e)."""
    pattern, text = "a(?:b|bc|c*)(?:d|)", b"abcdaccd"
    anchored = definition_of(parse(rf"\A(?:{pattern})\z"))
    expected = [
        (next(iter(starts)), end)
        for end in range(len(text) + 1)
        if (starts := [s for s in range(end) if anchored.find(text[s:end])])
    ]
    assert definition_of(parse(pattern)).ends(text) == expected


def test_an_empty_iteration_keeps_its_priority() -> None:
    """As in Perl, PCRE and Python; RE2 agrees on the first, not on the second."""
    for pattern in ("k(?:|a)*", "k(?:|ab+)*"):
        found = definition_of(parse(pattern)).find(b"kab")
        assert [match[:2] for match in found] == [(0, 1)]
        assert re.findall(pattern, "kab") == ["k"]
    assert re2_is_exact(parse("k(?:|a)*").root)
    assert re2_is_exact(parse("k(?:ab+|)*").root)
    assert not re2_is_exact(parse("k(?:|ab+)*").root)


def test_a_match_at_a_place() -> None:
    definition = definition_of(parse(r"\bab?"))
    assert definition.match_at(b"aab", 0) == Match(0, 1)
    assert definition.match_at(b"aab", 1) is None
    assert definition.match_at(b" ab", 1) == Match(1, 3)


def test_random_patterns_match_as_in_re2() -> None:
    report = fuzz_regexes(60.0, seed=0, patterns=300)
    assert report.failures == []
    assert report.pairs > 1_500
    assert report.matches > 1_500


@pytest.mark.parametrize("number", [99, 199, 299, 399])
def test_large_repeats_match_as_in_rust(number: int) -> None:
    one = case(number)
    assert one is not None
    assert re2_refuses(one.pattern.text) is not None
    assert list(differences(one, definition_of(one.pattern))) == []


def test_a_repeat_of_1200() -> None:
    pattern, text = "x[ab]{1200}b?", b"x" + b"ab" * 700 + b"x" + b"ab" * 600
    assert definition_of(parse(pattern)).find(text) == Rure(pattern).find(text)
    assert Rure(pattern).find(text)[0] == (0, 1201, ())


def test_a_search_takes_linear_time() -> None:
    """Backtracking would need 2^40 steps."""
    text = b"a" * 40
    assert definition_of(parse("(?:a?){40}a{40}b|c")).find(text) == []
    assert definition_of(parse("(?:a|a)*(?:a|aa)*b")).find(text) == []
