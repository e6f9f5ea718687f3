"""Random patterns and texts: the definition against RE2, the DFAs against the definition.

    python -m vyre.conform fuzz --what regexes --seconds 60

A number stands for a pattern and its texts, so `case(number)` brings a difference back.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from typing import Protocol

from vyre.conform.regexes.oracles import (
    Re2,
    Rure,
    re2_is_exact,
    re2_refuses,
    rure_is_exact,
    rure_refuses,
)
from vyre.conform.regexes.patterns import PatternMaker, hostile_pattern
from vyre.conform.regexes.texts import text_for
from vyre.diagnostics import RegexError
from vyre.ops.match.regex import Definition, Match, parse
from vyre.ops.match.regex.parse import Pattern
from vyre.ops.match.regex.program import compile_program
from vyre.ops.match.regex.search import SearchDfas, search_dfas
from vyre.ops.match.regex.unparse import unparse
from vyre.record import dataclass

TEXTS = 8
DFA_EVERY = 7
BATCH = 24
"""Patterns whose DFAs are built together."""
MOST_STATES = 600
DIALECTS = ("go", "go", "rust", "pcre")


class Finder(Protocol):
    """Anything that finds matches."""

    def find(self, text: bytes) -> list[Match]:
        """The matches of a text, in order."""
        ...


@dataclass(frozen=True, slots=True)
class Case:
    """A pattern with texts."""

    number: int
    pattern: Pattern
    texts: tuple[bytes, ...]


@dataclass
class RegexFuzzReport:
    """What a run saw."""

    patterns: int = 0
    refused: int = 0
    pairs: int = 0
    """Pairs of pattern and text compared with another engine."""
    matches: int = 0
    dfa_pairs: int = 0
    hostile: int = 0
    """Malformed patterns read."""
    seconds: float = 0.0
    failures: list[str] = field(default_factory=list[str])

    def __str__(self) -> str:
        lines = [
            f"{self.patterns} patterns ({self.refused} refused), {self.pairs} pairs of pattern and "
            f"text with {self.matches} matches against RE2 and Rust, {self.dfa_pairs} by DFA, "
            f"{self.hostile} malformed patterns in {self.seconds:.0f} s: "
            f"{len(self.failures)} differences"
        ]
        return "\n".join([*lines, *self.failures])


def case(number: int) -> Case | None:
    """The pattern and the texts with this number; None if the pattern is refused."""
    dice = random.Random(number)
    dialect = DIALECTS[number % len(DIALECTS)]
    maker = PatternMaker(dice, dialect)
    try:
        pattern = parse(maker.large_repeat() if number % 100 == 99 else maker.pattern(), dialect)
    except RegexError:
        return None
    texts = tuple(text_for(dice, pattern.root) for _ in range(TEXTS))
    return Case(number, pattern, texts)


def definition_of(pattern: Pattern) -> Definition:
    """The exact matcher of a pattern."""
    return Definition(compile_program(pattern.root, pattern.groups))


def fuzz_regexes(seconds: float, seed: int = 0, patterns: int | None = None) -> RegexFuzzReport:
    """Compare for some seconds, or until some patterns were tried."""
    report = RegexFuzzReport()
    start = time.monotonic()
    number = seed * 10_000_000
    batch: list[Case] = []
    while report.seconds < seconds and (patterns is None or report.patterns < patterns):
        one = case(number)
        report.patterns += 1
        if one is None:
            report.refused += 1
        else:
            report.failures += differences(one, definition_of(one.pattern), report)
            # Building DFAs takes longer than all the rest.
            if number % DFA_EVERY == 0:
                batch.append(one)
        if len(batch) == BATCH:
            report.failures += dfa_differences(batch, report=report)
            batch = []
        _read_hostile(number, report)
        number += 1
        report.seconds = time.monotonic() - start
    return report


def differences(one: Case, ours: Finder, report: RegexFuzzReport | None = None) -> Iterator[str]:
    """Texts on which a matcher and another engine differ; the first of them only."""
    oracle = oracle_of(one.pattern)
    if oracle is None:
        return
    spans_only = isinstance(oracle, Rure)
    for text in one.texts:
        found, expected = ours.find(text), oracle.find(text)
        if report is not None:
            report.pairs += 1
            report.matches += len(found)
        if [m[: 2 if spans_only else 3] for m in found] != [
            m[: 2 if spans_only else 3] for m in expected
        ]:
            yield _difference(one, text, found, expected)
            return


def oracle_of(pattern: Pattern) -> Re2 | Rure | None:
    """The engine that judges a pattern; None if none takes it."""
    # RE2 in Latin-1 mode repeats the last byte of a character, where here it is the character.
    as_is = pattern.dialect == "go" and pattern.text.isascii()
    written = pattern.text if as_is else unparse(pattern.root)
    if written is None or not re2_is_exact(pattern.root):
        return None
    if re2_refuses(written) is None:
        return Re2(written)
    return Rure(written) if rure_is_exact(pattern.root) and not rure_refuses(written) else None


Build = Callable[[Sequence[Case]], Sequence[SearchDfas]]


def build_dfas(cases: Sequence[Case]) -> Sequence[SearchDfas]:
    """The DFAs of some cases."""
    return search_dfas([one.pattern.root for one in cases], MOST_STATES)


def dfa_differences(
    cases: Sequence[Case], build: Build = build_dfas, report: RegexFuzzReport | None = None
) -> Iterator[str]:
    """Texts on which the DFAs of patterns differ from the definition."""
    for one, dfas in zip(cases, build(cases), strict=True):
        definition = definition_of(one.pattern)
        for text in one.texts:
            if report is not None:
                report.dfa_pairs += 1
            difference = _dfa_difference(one, text, definition, dfas)
            if difference is not None:
                yield difference
                break


def _dfa_difference(one: Case, text: bytes, definition: Definition, dfas: SearchDfas) -> str | None:
    pairs: list[tuple[object, object]] = []
    if dfas.unanchored is not None and dfas.backwards is not None:
        pairs.append((dfas.find(text), [match[:2] for match in definition.find(text)]))
    if dfas.all_ends is not None and dfas.backwards is not None:
        pairs.append((dfas.ends(text), definition.ends(text)))
    if dfas.anchored is not None:
        for start in range(0, len(text) + 1, 3):
            match = definition.match_at(text, start)
            pairs.append((dfas.match_at(text, start), None if match is None else match[:2]))
    for found, expected in pairs:
        if found != expected:
            return _difference(one, text, found, expected)
    return None


def _difference(one: Case, text: bytes, found: object, expected: object) -> str:
    return (
        f"number {one.number}, {one.pattern.dialect} {one.pattern.text!r} on {text!r}: "
        f"found {found}, expected {expected}"
    )


def _read_hostile(number: int, report: RegexFuzzReport) -> None:
    """A malformed pattern gives a tree or a `RegexError`; what is taken, RE2 takes as well."""
    dice = random.Random(f"hostile {number}")
    dialect = DIALECTS[number % len(DIALECTS)]
    text = hostile_pattern(dice, dialect)
    report.hostile += 1
    try:
        pattern = parse(text, dialect)
    except RegexError as error:
        if not 0 <= error.offset <= len(text):
            report.failures.append(f"hostile {number}: {text!r}: offset {error.offset}")
        return
    except Exception as error:  # noqa: BLE001  anything that comes here is what is looked for
        report.failures.append(f"hostile {number}: {text!r}: {type(error).__name__}: {error}")
        return
    if dialect == "go" and re2_refuses(text) is not None and not _has_large_repeat(text):
        report.failures.append(f"hostile {number}: {text!r}: taken, but RE2 refuses it")
    one = Case(number, pattern, tuple(text_for(dice, pattern.root) for _ in range(2)))
    report.failures += differences(one, definition_of(pattern), report)


def _has_large_repeat(text: str) -> bool:
    """True if RE2 may refuse a pattern for the product of its repeats."""
    return any(digits.isdigit() and int(digits) > 9 for digits in _numbers(text))


def _numbers(text: str) -> list[str]:
    return "".join(c if c.isdigit() else " " for c in text).split()
