"""Simplification, and trees written as patterns again."""

from __future__ import annotations

import pytest

from vyre.conform.regexes.fuzz import case
from vyre.ops.match.regex import Definition, parse
from vyre.ops.match.regex.normal_form import positions_of, simplified
from vyre.ops.match.regex.program import compile_program
from vyre.ops.match.regex.syntax import lengths
from vyre.ops.match.regex.unparse import unparse

SIMPLER = [
    ("a(?:b(?:c))", "abc"),
    ("a|(?:b|[cd])|ef", "[a-d]|ef"),
    ("a{1}b{0}", "a"),
    ("(?:a*)*b", "a*b"),
    ("(?:a*)+b", "a*b"),
    ("(?:a+)*b", "a*b"),
    ("(?:a?)*b", "a*b"),
    ("(?:a+?)*b", "(?:a+?)*b"),
    ("(?:\\b){5}a", "\\ba"),
    ("(?:)*a", "a"),
    ("(?:a{2}){3}", "(?:a{2}){3}"),
]


@pytest.mark.parametrize(("pattern", "simpler"), SIMPLER)
def test_simplified(pattern: str, simpler: str) -> None:
    assert unparse(simplified(parse(pattern).root)) == simpler


def test_random_trees_match_the_same_once_simplified_and_written_again() -> None:
    checked = 0
    for number in range(2_000, 2_120):
        one = case(number)
        if one is None:
            continue
        pattern = one.pattern
        text = unparse(simplified(pattern.root))
        if text is None:
            continue
        again = parse(text)
        # Where {0} was, numbers of groups have gaps.
        if again.groups == pattern.groups:
            assert simplified(again.root) == simplified(pattern.root)
            first = Definition(compile_program(pattern.root, pattern.groups))
            second = Definition(compile_program(again.root, again.groups))
            assert [first.find(t) for t in one.texts] == [second.find(t) for t in one.texts]
            checked += 1
    assert checked > 40


def test_sizes() -> None:
    assert positions_of(parse("a{3,5}(?:bc){2,}").root) == 9
    assert lengths(parse("a{3,5}(?:b|cd)?").root) == (3, 7)
    assert lengths(parse("a+").root) == (1, None)
    assert lengths(parse(r"(?:\b)*ab").root) == (2, 2)
