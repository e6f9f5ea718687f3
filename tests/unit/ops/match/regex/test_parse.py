"""The parser: trees, refusals by name and offset, caps."""

from __future__ import annotations

import time

import pytest

from vyre.diagnostics import RegexError
from vyre.ops.match.regex import parse
from vyre.ops.match.regex.boundaries import Look
from vyre.ops.match.regex.byte_sets import ALL, NEWLINE, byte_set
from vyre.ops.match.regex.limits import MAX_REPEAT
from vyre.ops.match.regex.syntax import Alternation, Assertion, Class, Concat, Group, Repeat

A, B = Class(byte_set(b"a")), Class(byte_set(b"b"))


def test_trees() -> None:
    assert parse("ab").root == Concat((A, B))
    assert parse("a|b").root == Alternation((A, B))
    assert parse("(a)(?P<n>b)").root == Concat((Group(A, 1), Group(B, 2, "n")))
    assert parse("(a)(?P<n>b)").names == (None, "n")
    assert parse("a{2,3}?").root == Repeat(A, 2, 3, greedy=False)
    assert parse("(?U)a+").root == Repeat(A, 1, None, greedy=False)
    assert parse("(?i)a").root == Class(byte_set(b"aA"))
    assert parse("(?s).").root == Class(ALL)
    assert parse(".").root == Class(ALL & ~NEWLINE)
    assert parse("^a").root == Concat((Assertion(Look.TEXT_START), A))
    assert parse("(?m)a$").root == Concat((A, Assertion(Look.LINE_END)))
    assert parse("[^\\x00-ac-\\xff]").root == B


def test_characters_outside_of_ascii_are_their_utf8() -> None:
    c3, a9 = Class(1 << 0xC3), Class(1 << 0xA9)
    assert parse("é").root == Concat((c3, a9))
    assert parse("é+").root == Repeat(Concat((c3, a9)), 1, None)
    assert parse("é".encode()).root == parse("é").root
    assert parse(b"\xe9+").root == Repeat(Class(1 << 0xE9), 1, None)


REFUSED = [
    ("(?=a)b", "go", "R006", 0),
    ("b(?!a)", "go", "R006", 1),
    ("(?<=a)b", "pcre", "R006", 0),
    ("(?<!a)b", "rust", "R006", 0),
    (r"(a)\1", "go", "R007", 3),
    (r"(?P<n>a)(?P=n)", "pcre", "R007", 8),
    (r"(a)\k<1>", "pcre", "R007", 3),
    (r"(a)\g1", "pcre", "R007", 3),
    (r"ab\pL", "go", "R008", 2),
    (r"\P{Greek}", "rust", "R008", 0),
    (r"[\pL]", "go", "R008", 1),
    (r"a\C", "go", "R009", 1),
    ("(?>a)", "pcre", "R010", 0),
    ("xa*+", "pcre", "R010", 2),
    (r"\R", "pcre", "R010", 0),
    ("[aé]", "go", "R011", 2),
    ("(?i)é", "go", "R011", 4),
    (r"(?i)\xe9", "go", "R011", 4),
    (r"(?i)[\xe0-\xef]", "go", "R011", 4),
    ("\ud800", "go", "R011", 0),
    (r"a\K", "pcre", "R012", 1),
    (r"\Ga", "pcre", "R012", 0),
    (r"\X", "pcre", "R012", 0),
    (r"\b{start}a", "rust", "R012", 0),
    (r"\xg", "go", "R012", 0),
    (r"\x{41", "go", "R012", 0),
    ("(?|a|b)", "pcre", "R013", 0),
    ("a(?R)", "pcre", "R013", 1),
    ("(a)(?1)", "pcre", "R013", 3),
    ("(?&n)", "pcre", "R013", 0),
    ("(?(1)a)", "pcre", "R013", 0),
    ("(?q)a", "go", "R014", 2),
    ("(?R)a", "rust", "R014", 2),
    ("(?xx)a", "pcre", "R014", 2),
    ("*a", "go", "R015", 0),
    ("a|*b", "go", "R015", 2),
    ("(+a)", "go", "R015", 1),
    ("a**", "go", "R015", 2),
    ("[a", "go", "R016", 0),
    ("[]", "go", "R016", 0),
    ("[z-a]", "go", "R016", 1),
    ("(a", "go", "R017", 0),
    ("a)", "go", "R017", 1),
    ("(?P<n", "go", "R018", 4),
    ("(?P<a-b>c)", "go", "R018", 4),
    ("(?P<n>a)(?P<n>b)", "rust", "R018", 12),
    ("a\\", "go", "R019", 1),
    ("a(?i", "go", "R019", 4),
    ("(?#a", "pcre", "R019", 0),
    ("", "go", "R005", 0),
    ("a*", "go", "R005", 0),
    ("a|", "go", "R005", 0),
    ("^$", "go", "R005", 0),
    (r"\b", "go", "R005", 0),
    ("(a?b?){3}", "go", "R005", 0),
]


@pytest.mark.parametrize(("pattern", "dialect", "code", "offset"), REFUSED)
def test_refused_by_name_and_offset(pattern: str, dialect: str, code: str, offset: int) -> None:
    with pytest.raises(RegexError) as caught:
        parse(pattern, dialect)
    assert (caught.value.code, caught.value.offset) == (code, offset)
    assert caught.value.fix


def test_offsets_of_bytes_are_bytes() -> None:
    with pytest.raises(RegexError) as caught:
        parse("é(?=a)".encode())
    assert caught.value.offset == 2


def test_an_error_shows_the_line_of_the_pattern() -> None:
    with pytest.raises(RegexError) as caught:
        parse("(?x)\n a \n b(?=c)", "rust")
    assert "3 |  b(?=c)\n    |   ^^^" in str(caught.value)


def test_wrong_calls() -> None:
    with pytest.raises(RegexError, match="R020"):
        parse("a", "posix")
    with pytest.raises(RegexError, match="R021"):
        parse(7)  # pyright: ignore[reportArgumentType]


HOSTILE = [
    ("a" * 70_000, "R001"),
    ("(" * 60_000, "R002"),
    ("(" * 101 + "a" + ")" * 101, "R002"),
    ("(?:" * 120 + "a" + ")*" * 120, "R002"),
    ("a{10001}", "R003"),
    ("a{99999999999999999999}", "R003"),
    ("(?:a{1000}){1000}", "R004"),
    ("(?:(?:){10000}){10000}a", "R004"),
    ("((((a{100}){100}){100}){100}){100}", "R004"),
    ("(?:(?:(?:a|b)*)*)*", "R005"),
    ("(a|a)*", "R005"),
    ("(.*)*", "R005"),
    ("(?:\\b{10000}){10000}a", "R004"),
    ("(" + "|" * 50_000 + ")a", None),
    ("()" * 2_000 + "a", "R004"),
    ("[" * 60_000, "R016"),
    ("\\" * 60_001, "R019"),
    ("(?i)" * 10_000 + "a", None),
    ("(?P<n" + "n" * 60_000, "R018"),
    ("a{1," + "9" * 40_000, None),
    ("[[:" * 20_000, "R016"),
]


@pytest.mark.parametrize(("pattern", "code"), HOSTILE, ids=[pattern[:20] for pattern, _ in HOSTILE])
def test_hostile_patterns_are_refused_at_once(pattern: str, code: str | None) -> None:
    start = time.process_time()
    found, said = None, ""
    try:
        parse(pattern)
    except RegexError as error:
        found, said = error.code, str(error)
    assert found == code
    assert len(said) < 2_000
    assert time.process_time() - start < 2.0


def test_stacked_repeats_do_not_recurse() -> None:
    with pytest.raises(RegexError, match="R002"):
        parse("a" + "*" * 50_000, "rust")


def test_the_largest_repeat_is_taken() -> None:
    assert parse(f"a{{{MAX_REPEAT}}}").root == Repeat(A, MAX_REPEAT, MAX_REPEAT)
