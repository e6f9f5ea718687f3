"""DFAs: equal to the definition, limited in size, built together or alone with the same result."""

from __future__ import annotations

import numpy as np
import pytest

from vyre.conform.regexes.fuzz import Case, case, dfa_differences
from vyre.ops.match.regex import parse
from vyre.ops.match.regex.byte_classes import byte_classes
from vyre.ops.match.regex.dfa import MATCHED
from vyre.ops.match.regex.positions import position_automaton
from vyre.ops.match.regex.program import compile_program, compile_reversed
from vyre.ops.match.regex.search import search_dfas
from vyre.ops.match.regex.subset_construction import determinize

EDGES = (b"", b"a", b"b", b"\n", b"ab", b"a\n", b"\na", b"ba\n", b" a b", b"a\nb\n", b"\n\nab_")


def written(pattern: str, dialect: str = "go", texts: tuple[bytes, ...] = EDGES) -> Case:
    return Case(0, parse(pattern, dialect), texts)


ASSERTIVE = [
    r"\ba",
    r"a\b",
    r"\Ba|b\B",
    r"^a|b$",
    r"(?m)^[ab]$",
    r"(?m)[ab]$\n^",
    r"(?:\b|^)a(?:$|\B)",
    r"(?:\b|a)+b",
    r"(?:^|\B|b)*a",
    r"a$\n?",
    r"a\z|a\n\b",
    r"(?:a|\b)(?:b|\B)(?:\n|$)a?b",
]


@pytest.mark.parametrize("dialect", ["go", "pcre"])
def test_assertions_at_edges(dialect: str) -> None:
    cases = [written(pattern, dialect) for pattern in ASSERTIVE]
    assert list(dfa_differences(cases)) == []


def test_the_dollar_of_pcre_needs_the_final_newline() -> None:
    (dfas,) = search_dfas([parse("a$", "pcre").root])
    assert dfas.find(b"a\na\n") == [(2, 3)]
    assert dfas.find(b"a\na\nb") == []
    assert dfas.ends(b"a\n\n") == []


def test_random_patterns_match_as_the_definition_has_it() -> None:
    cases = [one for number in range(60) if (one := case(number)) is not None]
    assert len(cases) > 30
    assert list(dfa_differences(cases)) == []


def test_too_many_states_give_none() -> None:
    automaton = position_automaton(compile_program(parse("(?:a|b)*a(?:a|b){12}").root))
    assert automaton is not None
    assert determinize([automaton], 1_000) == [None]
    (dfa,) = determinize([automaton], 9_000)
    assert dfa is not None
    assert dfa.states == 1 + 2**13


def test_too_many_edges_give_none() -> None:
    program = compile_program(parse("(?:a?){3000}b").root)
    assert position_automaton(program, most_edges=100_000) is None


def test_building_together_and_alone_is_the_same() -> None:
    patterns = ["a+b", r"\bab|c$", "(?i)x{2,5}y", "a", "[^a]{3}b"]
    automata = [position_automaton(compile_program(parse(p).root)) for p in patterns]
    automata += [
        position_automaton(compile_reversed(parse(p).root), ordered=False) for p in patterns
    ]
    known = [one for one in automata if one is not None]
    together = determinize(known)
    assert [determinize([one])[0] for one in known] == together


def test_a_table() -> None:
    automaton = position_automaton(compile_program(parse("ab").root))
    assert automaton is not None
    (dfa,) = determinize([automaton])
    assert dfa is not None
    a, b, other = (int(dfa.classes[byte]) for byte in b"ab?")
    start = int(dfa.starts[0])
    middle = int(dfa.table[start, a])
    last = int(dfa.table[middle, b])
    assert {start, middle, last} == {1, 2, 3}
    assert set(dfa.table[last].tolist()) == {MATCHED}
    assert dfa.table[start, b] == dfa.table[start, other] == dfa.table[middle, a] == 0


def test_byte_classes() -> None:
    classes = byte_classes([0b110, 0b100], by_kind=False)
    assert classes[:4].tolist() == [0, 1, 2, 0]
    assert np.unique(classes).tolist() == [0, 1, 2]
    assert len(np.unique(byte_classes([], by_kind=True))) == 3
    assert byte_classes([], by_kind=False).tolist() == [0] * 256
