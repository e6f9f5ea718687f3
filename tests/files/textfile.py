"""The format of a `.vy` test file: read into cases, written back with new expectations.

    // test: opt dce                 what to do with every case of this file

    // case: an unused let goes      a name, unique in the file
    // given: a = 1 2 3              settings of the case, if its verb takes any
    program ...                      the input
    // expect:                       what must come out, up to the next case
    program ...

A diagnostic is expected on the line it concerns, by its code: `barrier  //~ V012`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

TEST, CASE, GIVEN, EXPECT = "// test:", "// case:", "// given:", "// expect:"
_MARK = re.compile(r"\s*//~\s*(?P<codes>[A-Z]\d{3}(\s+[A-Z]\d{3})*)\s*$")


class MalformedError(ValueError):
    """A test file that does not follow the format."""


@dataclass(frozen=True)
class Answer:
    """What a verb found out about a case: text to compare, and codes by line of the program."""

    text: str | None = None
    marks: Mapping[int, Sequence[str]] = field(default_factory=dict[int, Sequence[str]])


@dataclass(frozen=True)
class Case:
    """One program with its expectation. `source` has no markers; its first line is line 1."""

    name: str
    line: int
    source: str
    given: Mapping[str, str] = field(default_factory=dict[str, str])
    marks: Mapping[int, Sequence[str]] = field(default_factory=dict[int, Sequence[str]])
    expect: str | None = None

    def blessed(self, answer: Answer, *, with_text: bool) -> Case:
        """The case, expecting what `answer` says; its text only if asked to."""
        return replace(self, marks=answer.marks, expect=answer.text if with_text else self.expect)


@dataclass(frozen=True)
class TextFile:
    """A whole file: the verb, its words, the prose before the first case, and the cases."""

    verb: str
    words: tuple[str, ...]
    prologue: str
    cases: tuple[Case, ...]


def read(text: str) -> TextFile:
    """Parse the text of a `.vy` test file."""
    lines = text.splitlines()
    if not lines or not lines[0].startswith(TEST):
        raise MalformedError(f"line 1: a test file starts with `{TEST} VERB ...`")
    words = lines[0].removeprefix(TEST).split()
    if not words:
        raise MalformedError("line 1: the verb is missing, as in `// test: check`")
    starts = [i for i, line in enumerate(lines) if line.startswith(CASE)]
    if not starts:
        raise MalformedError(f"no cases: each one starts with `{CASE} NAME`")
    ends = [*starts[1:], len(lines)]
    cases = tuple(_case(lines[a:b], a + 1) for a, b in zip(starts, ends, strict=True))
    names = [case.name for case in cases]
    for case in cases:
        if names.count(case.name) > 1:
            raise MalformedError(f"line {case.line}: two cases are called {case.name!r}")
    return TextFile(words[0], tuple(words[1:]), "\n".join(lines[: starts[0]]).rstrip(), cases)


def _case(lines: Sequence[str], line: int) -> Case:
    name = lines[0].removeprefix(CASE).strip()
    if not name:
        raise MalformedError(f"line {line}: the case has no name")
    given: dict[str, str] = {}
    body = 1
    while body < len(lines) and lines[body].startswith(GIVEN):
        key, equals, value = lines[body].removeprefix(GIVEN).partition("=")
        if not equals:
            raise MalformedError(f"line {line + body}: write `{GIVEN} NAME = VALUE`")
        given[key.strip()] = value.strip()
        body += 1
    split = next((i for i, text in enumerate(lines) if text.startswith(EXPECT)), len(lines))
    program = "\n".join(lines[body:split]).rstrip().split("\n")
    marks: dict[int, tuple[str, ...]] = {}
    for number, text in enumerate(program, start=1):
        if found := _MARK.search(text):
            marks[number] = tuple(found["codes"].split())
    source = "\n".join(_MARK.sub("", text) for text in program)
    expect = None
    if split < len(lines):
        same_line = lines[split].removeprefix(EXPECT).strip()
        expect = "\n".join([same_line, *lines[split + 1 :]]).strip("\n").rstrip()
    return Case(name, line, source, given, marks, expect)


def write(file: TextFile) -> str:
    """The text of a test file; `read(write(file))` gives the same cases."""
    return "\n\n".join([file.prologue, *(_written(case) for case in file.cases)]) + "\n"


def _written(case: Case) -> str:
    lines = [f"{CASE} {case.name}"]
    lines += [f"{GIVEN} {key} = {value}" for key, value in case.given.items()]
    for number, text in enumerate(case.source.split("\n"), start=1):
        codes = " ".join(sorted(case.marks.get(number, ())))
        lines.append(f"{text}  //~ {codes}" if codes else text)
    if case.expect is not None:
        one_line = "\n" not in case.expect
        lines += [f"{EXPECT} {case.expect}"] if one_line else [EXPECT, case.expect]
    return "\n".join(lines)
