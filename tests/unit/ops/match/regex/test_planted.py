"""Bugs planted in trees, programs and automata: the comparisons find each of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from vyre.conform.regexes.fuzz import Case, build_dfas, case, dfa_differences, differences
from vyre.ops.match.regex import Definition, Match, parse
from vyre.ops.match.regex.boundaries import ALWAYS, Kind, Look, pair
from vyre.ops.match.regex.byte_sets import ALL, NEWLINE, byte_set, folded, members
from vyre.ops.match.regex.dfa import MATCHED
from vyre.ops.match.regex.program import ASSERT, SAVE, SPLIT, Program, compile_program
from vyre.ops.match.regex.search import SearchDfas
from vyre.ops.match.regex.syntax import (
    Alternation,
    Assertion,
    Class,
    Node,
    Repeat,
    fold,
    rebuilt,
)

PATTERNS = 400

Trees = Callable[[Node, list[Node]], Node]


def _wrong_class(node: Node, below: list[Node]) -> Node:
    if isinstance(node, Class) and node.bits.bit_count() > 3:
        return Class(node.bits & ~byte_set(b"_"))
    return rebuilt(node, below)


def _one_repeat_less(node: Node, below: list[Node]) -> Node:
    if isinstance(node, Repeat) and node.most is not None and node.most > node.least + 1:
        return Repeat(below[0], node.least, node.most - 1, node.greedy)
    return rebuilt(node, below)


def _one_repeat_too_many(node: Node, below: list[Node]) -> Node:
    if isinstance(node, Repeat) and node.most is None and node.least > 1:
        return Repeat(below[0], node.least + 1, None, node.greedy)
    return rebuilt(node, below)


def _lazy_as_greedy(node: Node, below: list[Node]) -> Node:
    if isinstance(node, Repeat):
        return Repeat(below[0], node.least, node.most, greedy=True)
    return rebuilt(node, below)


def _last_choice_first(node: Node, below: list[Node]) -> Node:
    if isinstance(node, Alternation):
        return Alternation(tuple(reversed(below)))
    return rebuilt(node, below)


def _no_case_folding(node: Node, below: list[Node]) -> Node:
    match node:
        case Class(bits) if bits.bit_count() == 2 and folded(bits) == bits:
            return Class(1 << max(members(bits)))
        case _:
            return rebuilt(node, below)


def _dollar_before_newline(node: Node, below: list[Node]) -> Node:
    if node == Assertion(Look.TEXT_END):
        return Assertion(Look.FINAL_END)
    return rebuilt(node, below)


def _caret_at_lines(node: Node, below: list[Node]) -> Node:
    if node == Assertion(Look.TEXT_START):
        return Assertion(Look.LINE_START)
    return rebuilt(node, below)


def _boundary_inverted(node: Node, below: list[Node]) -> Node:
    if node == Assertion(Look.NOT_WORD_BOUNDARY):
        return Assertion(Look.WORD_BOUNDARY)
    return rebuilt(node, below)


def _dot_matches_newline(node: Node, below: list[Node]) -> Node:
    return Class(ALL) if node == Class(ALL & ~NEWLINE) else rebuilt(node, below)


TREES: list[Trees] = [
    _wrong_class,
    _one_repeat_less,
    _one_repeat_too_many,
    _lazy_as_greedy,
    _last_choice_first,
    _no_case_folding,
    _dollar_before_newline,
    _caret_at_lines,
    _boundary_inverted,
    _dot_matches_newline,
]


def _wrong_priority(program: Program) -> Program:
    code = list(program.code)
    for place, (op, x, y) in enumerate(code):
        if op == SPLIT:
            code[place] = (op, y, x)
            break
    return replace(program, code=tuple(code))


def _edges_are_words(program: Program) -> Program:
    r"""`\b` at the start of a text that starts with a word does not hold."""
    wrong = pair(Kind.EDGE, Kind.WORD)
    code = [(op, x & ~wrong if op == ASSERT else x, y) for op, x, y in program.code]
    return replace(program, code=tuple(code))


def _assertions_hold(program: Program) -> Program:
    code = [(op, ALWAYS if op == ASSERT else x, y) for op, x, y in program.code]
    return replace(program, code=tuple(code))


def _groups_exchanged(program: Program) -> Program:
    """Slots of the first two groups are exchanged."""
    other = {2: 4, 3: 5, 4: 2, 5: 3} if program.groups > 1 else {}
    code = [(op, other.get(x, x) if op == SAVE else x, y) for op, x, y in program.code]
    return replace(program, code=tuple(code))


PROGRAMS = [_wrong_priority, _edges_are_words, _assertions_hold, _groups_exchanged]


class _AfterNewlines:
    """A matcher that takes no notice of the text before the end of the last match."""

    def __init__(self, program: Program) -> None:
        self._definition = Definition(program)

    def find(self, text: bytes) -> list[Match]:
        found: list[Match] = []
        base = 0
        while rest := self._definition.find(text[base:])[:1]:
            start, end, groups = rest[0]
            moved = tuple(g and (g[0] + base, g[1] + base) for g in groups)
            found.append(Match(start + base, end + base, moved))
            base += end
        return found


def program_of(one: Case) -> Program:
    return compile_program(one.pattern.root, one.pattern.groups)


def is_found_by_re2(make: Callable[[Case], Definition | _AfterNewlines]) -> bool:
    cases = (one for number in range(PATTERNS) if (one := case(number)) is not None)
    return any(True for one in cases for _ in differences(one, make(one)))


@pytest.mark.parametrize("plant", TREES)
def test_a_bug_in_trees_is_found(plant: Trees) -> None:
    def make(one: Case) -> Definition:
        return Definition(compile_program(fold(one.pattern.root, plant), one.pattern.groups))

    assert is_found_by_re2(make)


@pytest.mark.parametrize("plant", PROGRAMS)
def test_a_bug_in_programs_is_found(plant: Callable[[Program], Program]) -> None:
    assert is_found_by_re2(lambda one: Definition(plant(program_of(one))))


def test_a_search_that_forgets_the_text_before_it_is_found() -> None:
    assert is_found_by_re2(lambda one: _AfterNewlines(program_of(one)))


@pytest.fixture(scope="module")
def built() -> tuple[list[Case], Sequence[SearchDfas]]:
    cases = [one for number in range(80) if (one := case(number)) is not None]
    cases.append(Case(-1, parse("a$", "pcre"), (b"a\n", b"a\na")))
    return cases, build_dfas(cases)


def _reversed_start(dfas: SearchDfas) -> SearchDfas:
    """Starts are taken at the first place where the reversed DFA matches, not at the last."""
    backwards = dfas.backwards
    if backwards is None:
        return dfas
    table = backwards.table.copy()
    table[(table & MATCHED) != 0] = MATCHED
    return replace(dfas, backwards=replace(backwards, table=table))


def _lost_match(dfas: SearchDfas) -> SearchDfas:
    """Matches at the end of the text are lost."""
    if dfas.unanchored is None:
        return dfas
    table = dfas.unanchored.table.copy()
    table[:, -1] = 0
    return replace(dfas, unanchored=replace(dfas.unanchored, table=table))


def _ends_not_ordered(dfas: SearchDfas) -> SearchDfas:
    """Longest in place of leftmost-first."""
    return replace(dfas, unanchored=dfas.all_ends)


def _start_without_context(dfas: SearchDfas) -> SearchDfas:
    if dfas.anchored is None:
        return dfas
    starts = np.full_like(dfas.anchored.starts, dfas.anchored.starts[0])
    return replace(dfas, anchored=replace(dfas.anchored, starts=starts))


def _merged_classes(dfas: SearchDfas) -> SearchDfas:
    if dfas.anchored is None:
        return dfas
    classes = dfas.anchored.classes.copy()
    classes[ord("b")] = classes[ord("a")]
    return replace(dfas, anchored=replace(dfas.anchored, classes=classes))


def _final_newline_as_any(dfas: SearchDfas) -> SearchDfas:
    if dfas.unanchored is None:
        return dfas
    table = dfas.unanchored.table.copy()
    table[:, -2] = table[:, int(dfas.unanchored.classes[ord("\n")])]
    return replace(dfas, unanchored=replace(dfas.unanchored, table=table))


def _one_wrong_entry(dfas: SearchDfas) -> SearchDfas:
    if dfas.anchored is None or dfas.anchored.states < 3:
        return dfas
    table = dfas.anchored.table.copy()
    table[1, int(dfas.anchored.classes[ord("a")])] ^= 1
    return replace(dfas, anchored=replace(dfas.anchored, table=table))


DFAS = [
    _reversed_start,
    _lost_match,
    _ends_not_ordered,
    _start_without_context,
    _merged_classes,
    _final_newline_as_any,
    _one_wrong_entry,
]


@pytest.mark.parametrize("plant", DFAS)
def test_a_bug_in_dfas_is_found(
    plant: Callable[[SearchDfas], SearchDfas], built: tuple[list[Case], Sequence[SearchDfas]]
) -> None:
    cases, dfas = built
    wrong = [plant(one) for one in dfas]
    assert next(dfa_differences(cases, lambda _: wrong), None) is not None


def test_without_a_bug_nothing_is_found(built: tuple[list[Case], Sequence[SearchDfas]]) -> None:
    cases, dfas = built
    assert list(dfa_differences(cases[:40], lambda some: dfas[: len(some)])) == []
