"""What differs between the dialects; the columns of Go and Rust are compared with their engines.

The column of PCRE was compared with PCRE2 10.47 when it was written.
"""

from __future__ import annotations

import pytest

from vyre.conform.regexes.oracles import Re2, Rure, re2_refuses, rure_refuses
from vyre.diagnostics import RegexError
from vyre.ops.match.regex import Definition, parse
from vyre.ops.match.regex.program import compile_program

Expected = str | list[tuple[int, int]]

TABLE: list[tuple[str, bytes, Expected, Expected, Expected]] = [
    # White space.
    (r"\s", b" \t\n\v\f\r", [(0, 1), (1, 2), (2, 3), (4, 5), (5, 6)], "all", "all"),
    (r"[[:space:]]", b" \t\n\v\f\r", "all", "all", "all"),
    (r"[^\s]", b"\va", "all", [(1, 2)], [(1, 2)]),
    (r"\v", b"\v\n\x85", [(0, 1)], [(0, 1)], "all"),
    (r"\h", b" \ta\xa0", "R012", "R012", [(0, 1), (1, 2), (3, 4)]),
    (r"\H\V", b" \ta\xa0ab", "R012", "R012", [(2, 4), (4, 6)]),
    (r"\N", b"a\n", "R012", "R012", [(0, 1)]),
    # Ends and starts of lines.
    (r"a$", b"a\na\n", [], [], [(2, 3)]),
    (r"a$", b"a\na", [(2, 3)], [(2, 3)], [(2, 3)]),
    (r"(?m)a$", b"a\na\n", [(0, 1), (2, 3)], [(0, 1), (2, 3)], [(0, 1), (2, 3)]),
    (r"a$\n", b"a\n", [], [], [(0, 2)]),
    (r"a\Z", b"a\n", "R012", "R012", [(0, 1)]),
    (r"a\z", b"a\n", [], [], []),
    (r"(?m)a\n^", b"a\n", [(0, 2)], [(0, 2)], []),
    (r"(?m)a\n^", b"a\nb", [(0, 2)], [(0, 2)], [(0, 2)]),
    # Escapes.
    (r"\Qa.b\E", b"a.b", "all3", "R012", "all3"),
    (r"\Qa.b", b"a.b", "all3", "R012", "all3"),
    (r"\Qab\E+", b"abb", "all3", "R012", "all3"),
    (r"x\Q\E+", b"xx", [(0, 2)], "R012", [(0, 2)]),
    (r"[\Qa-c\E]", b"a-bc", "R012", "R012", [(0, 1), (1, 2), (3, 4)]),
    (r"a\E", b"a", "R012", "R012", [(0, 1)]),
    (r"\101", b"A", [(0, 1)], "R007", [(0, 1)]),
    (r"\0", b"\0", [(0, 1)], "R007", [(0, 1)]),
    (r"\18", b"\x018", "R007", "R007", "all2"),
    (r"\8", b"8", "R007", "R007", "R007"),
    (r"\377", b"\xff", [(0, 1)], "R007", [(0, 1)]),
    (r"\400", b"\xc4\x80", "R011", "R007", "R011"),
    (r"\x{41}", b"A", [(0, 1)], [(0, 1)], [(0, 1)]),
    (r"\xe9", b"\xe9", [(0, 1)], [(0, 1)], [(0, 1)]),
    (r"\x{e9}", b"\xe9", [(0, 1)], "R011", [(0, 1)]),
    (r"\x{100}", b"\xc4\x80", "R011", "R011", "R011"),
    (r"\x4", b"\x04", "R012", "R012", [(0, 1)]),
    (r"\u0041", b"A", "R012", [(0, 1)], "R012"),
    (r"\U00000041", b"A", "R012", [(0, 1)], "R012"),
    (r"\e\cA\o{101}", b"\x1b\x01A", "R012", "R012", "all3"),
    (r"\a\f\t\n\r", b"\a\f\t\n\r", [(0, 5)], [(0, 5)], [(0, 5)]),
    (r"\_", b"_", [(0, 1)], "newer", [(0, 1)]),
    (r"\/\"\ ", b'/" ', [(0, 3)], "newer", [(0, 3)]),
    (r"\<a", b"<a", [(0, 2)], "R012", [(0, 2)]),
    (r"\y", b"y", "R012", "R012", "R012"),
    (r"\é", b"", "R012", "R012", "R012"),
    # Classes.
    (r"[\b]", b"\b", "R012", "R012", [(0, 1)]),
    (r"[\B]", b"B", "R012", "R012", "R012"),
    (r"[]a]", b"]a", "all", "all", "all"),
    (r"[^]a]", b"]ab", [(2, 3)], [(2, 3)], [(2, 3)]),
    (
        r"[]-a]",
        b"]^_`a-",
        [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)],
        [(0, 1), (4, 5), (5, 6)],
        [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)],
    ),
    (r"[a-c-e]", b"abc-e", "all", "all", "all"),
    (r"[-a]", b"a-", "all", "all", "all"),
    (r"[a-]", b"a-", "all", "all", "all"),
    (r"[\d-z]", b"1-z", "all", "R016", "R016"),
    (r"[a-\d]", b"a", "R016", "R016", "R016"),
    (r"[[a]", b"[a", "all", "R016", "all"),
    (r"[a&&b]", b"ab&", "all", "R016", "all"),
    (r"[a~~b]", b"ab~", "all", "R016", "all"),
    (r"[a--b]", b"ab-", "R016", "R016", "R016"),
    (r"[a[bc]]", b"abc]", [(2, 4)], "R016", [(2, 4)]),
    (r"[[:^alpha:]]", b"a1", [(1, 2)], [(1, 2)], [(1, 2)]),
    (r"[[:foo:]]", b"a", "R016", "R016", "R016"),
    (r"[:alpha:]", b"al", "all", "all", "R016"),
    (r"[[.a.]]", b".]", [(0, 2)], "R016", "R016"),
    # Repeats.
    (r"a{,2}b", b"a{,2}b aab", [(0, 6)], "R015", [(5, 6), (7, 10)]),
    (r"a{2", b"a{2", "all3", "R015", "all3"),
    (r"a{x}", b"a{x}", [(0, 4)], "R015", [(0, 4)]),
    (r"a{}", b"a{}", "all3", "R015", "all3"),
    (r"{", b"{", [(0, 1)], "R015", [(0, 1)]),
    (r"a{ 2 }", b"aa a{ 2 }", [(3, 9)], [(0, 2)], [(0, 2)]),
    (r"a{02}", b"aa a{02}", [(3, 8)], [(0, 2)], [(0, 2)]),
    (r"{2}", b"{2}", "R015", "R015", "R015"),
    (r"x{2}{3}", b"xxxxxx", "R015", [(0, 6)], "R015"),
    (r"a+*b", b"aab", "R015", [(0, 3)], "R015"),
    (r"a++", b"aa", "R015", [(0, 2)], "R010"),
    (r"a{2}+", b"aaaaa", "R015", [(0, 4)], "R010"),
    (r"^*a", b"a", [(0, 1)], [(0, 1)], "R015"),
    (r"\b+a", b"a", [(0, 1)], [(0, 1)], "R015"),
    (r"(?:^)+a", b"a", [(0, 1)], [(0, 1)], [(0, 1)]),
    (r"a{2,1}", b"aa", "R015", "R015", "R015"),
    # Flags.
    (r"(?x)a b #c", b"ab", "R014", [(0, 2)], [(0, 2)]),
    (r"(?x)[a b]", b"a b", "R014", [(0, 1), (2, 3)], "all"),
    ("(?x)[a#x\n]", b"a#", "R014", [(0, 1)], [(0, 1), (1, 2)]),
    (r"(?x)a\ b", b"a b", "R014", [(0, 3)], [(0, 3)]),
    (r"(?x)\#a", b"#a", "R014", [(0, 2)], [(0, 2)]),
    (r"(?x)a(?-x) b", b"a b", "R014", [(0, 3)], [(0, 3)]),
    (r"(?x)a +", b"aa", "R014", [(0, 2)], [(0, 2)]),
    (r"(?x)( ?:a)", b"a", "R014", [(0, 1)], "R015"),
    (r"(?U)a+", b"aa", "all", "all", "all"),
    (r"(?U)a+?", b"aa", [(0, 2)], [(0, 2)], [(0, 2)]),
    (r"a(?i)b|c", b"aB C", [(0, 2), (3, 4)], [(0, 2), (3, 4)], [(0, 2), (3, 4)]),
    (r"(?i)a(?-i:b)c", b"AbC ABC", [(0, 3)], [(0, 3)], [(0, 3)]),
    (r"(?is-m:a.)", b"A\n", [(0, 2)], [(0, 2)], [(0, 2)]),
    (r"(?)a", b"a", [(0, 1)], "R014", [(0, 1)]),
    (r"(?i-)a", b"A", "R014", "R014", [(0, 1)]),
    (r"(?ii)a", b"A", [(0, 1)], "R014", [(0, 1)]),
    (r"(?-u)a", b"a", "R014", [(0, 1)], "R014"),
    (r"(?u)a", b"a", "R014", "R014", "R014"),
    (r"(?i)[^a]", b"aAb", [(2, 3)], [(2, 3)], [(2, 3)]),
    # Groups.
    (r"(?<n>a)", b"a", [(0, 1)], "newer", [(0, 1)]),
    (r"(?P<n>a)", b"a", [(0, 1)], [(0, 1)], [(0, 1)]),
    (r"(?'n'a)", b"a", "R013", "R013", [(0, 1)]),
    (r"(?P<1>a)", b"a", [(0, 1)], "R018", "R018"),
    (r"(?#c)a", b"a", "R013", "R013", [(0, 1)]),
    (r"a(?#c)+", b"aa", "R013", "R013", [(0, 2)]),
    (r"a(|b)", b"ab a", [(0, 1), (3, 4)], "newer", [(0, 1), (3, 4)]),
    (r"()a", b"a", [(0, 1)], [(0, 1)], [(0, 1)]),
    (r"(*UTF)a", b"a", "R015", "R015", "R013"),
]


def found_by(pattern: str, text: bytes, dialect: str) -> Expected:
    try:
        tree = parse(pattern, dialect)
    except RegexError as error:
        return error.code
    definition = Definition(compile_program(tree.root, tree.groups))
    return [match[:2] for match in definition.find(text)]


def spelled_out(expected: Expected, text: bytes) -> Expected:
    """`all` is a match of each byte by itself, `allN` one match of N bytes."""
    if expected == "all":
        return [(place, place + 1) for place in range(len(text))]
    if isinstance(expected, str) and expected.startswith("all"):
        return [(0, int(expected[3:]))]
    return expected


@pytest.mark.parametrize(
    ("pattern", "text", "go", "rust", "pcre"), TABLE, ids=[row[0] for row in TABLE]
)
def test_dialects_differ_as_their_engines_do(
    pattern: str, text: bytes, go: Expected, rust: Expected, pcre: Expected
) -> None:
    assert found_by(pattern, text, "go") == spelled_out(go, text)
    if rust != "newer":
        assert found_by(pattern, text, "rust") == spelled_out(rust, text)
    assert found_by(pattern, text, "pcre") == spelled_out(pcre, text)


@pytest.mark.parametrize(
    ("pattern", "text", "go"), [row[:3] for row in TABLE], ids=[row[0] for row in TABLE]
)
def test_go_is_what_re2_does(pattern: str, text: bytes, go: Expected) -> None:
    expected = spelled_out(go, text)
    if isinstance(expected, str):
        assert re2_refuses(pattern) is not None
    else:
        assert [match[:2] for match in Re2(pattern).find(text)] == expected


TAKEN_BY_RURE_ONLY = ("R016", "(?u)a")
"""Set operations, and Unicode, which are refused here."""


@pytest.mark.parametrize(
    ("pattern", "text", "rust"),
    [(row[0], row[1], row[3]) for row in TABLE if row[3] != "newer"],
    ids=[row[0] for row in TABLE if row[3] != "newer"],
)
def test_rust_is_what_rure_does(pattern: str, text: bytes, rust: Expected) -> None:
    expected = spelled_out(rust, text)
    if not isinstance(expected, str):
        assert [match[:2] for match in Rure(pattern).find(text)] == expected
    elif expected != "R016" and pattern not in TAKEN_BY_RURE_ONLY:
        assert rure_refuses(pattern) is not None


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [(r"\_", [(0, 1)]), (r"(?<n>_)", [(0, 1)]), (r"_(|b)", [(0, 1)]), (r"\/?_", [(0, 1)])],
)
def test_rust_as_later_releases_have_it(pattern: str, expected: Expected) -> None:
    """Escaped punctuation, `(?<n>)` and empty choices are newer than the rure on PyPI."""
    assert found_by(pattern, b"_", "rust") == expected
