"""What a `.vy` file can ask for: the first word after `// test:` picks a row of `VERBS`.

A verb gets the case and the remaining words of the header, and answers with text, with codes by
line, or with both. It never compares: the collector does, so every verb can be blessed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from tests.files.textfile import Answer, Case
from vyre.diagnostics import Diagnostic, ParseError, render_all
from vyre.ir import Program


@dataclass(frozen=True)
class Verb:
    """How a case is run; `needs_text` says that a case without an `// expect:` is incomplete."""

    run: Callable[[Case, tuple[str, ...]], Answer]
    needs_text: bool


def parse(case: Case, words: tuple[str, ...]) -> Answer:
    """Read the program and print it: `unchanged` when it comes back letter by letter."""
    program = _read(case)
    printed = str(program).rstrip()
    assert _read(Case("printed", 0, printed)) == program, "printing and reading lost something"
    return Answer("unchanged" if printed == case.source.strip() else printed)


def parse_error(case: Case, words: tuple[str, ...]) -> Answer:
    """Reading must fail; the error is expected on its line, its text if the case shows one."""
    try:
        program = _read(case)
    except ParseError as error:
        return Answer(render_all(error.diagnostics), _marks(error.diagnostics))
    raise AssertionError(f"this was read without an error:\n{program}")


def check(case: Case, words: tuple[str, ...]) -> Answer:
    """Check the program; every finding is expected on its line, and nothing else is found."""
    from vyre.check import check as run_check

    found = run_check(_read(case))
    return Answer(render_all(found), _marks(found))


def optimise(case: Case, words: tuple[str, ...]) -> Answer:
    """Apply the passes named in the header, one after the other; valid in, valid out."""
    from vyre.opt.registry import pass_by_name

    before = _valid(_read(case), "the input")
    after = before
    for name in words:
        after = _valid(pass_by_name(name).transform(after), f"the output of {name}")
    if after is before:
        return Answer("unchanged")
    assert after != before, "equal to the input but not the same object: unchanged means identity"
    return Answer(str(after).rstrip())


VERBS: Mapping[str, Verb] = {
    "parse": Verb(parse, needs_text=True),
    "parse-error": Verb(parse_error, needs_text=False),
    "check": Verb(check, needs_text=False),
    "opt": Verb(optimise, needs_text=True),
}


def _read(case: Case) -> Program:
    from vyre.text import parse as read_program

    return read_program(case.source + "\n")


def _valid(program: Program, what: str) -> Program:
    from vyre.check import check as run_check

    problems = [d for d in run_check(program) if d.severity == "error"]
    assert not problems, f"{what} is not valid:\n{render_all(problems)}\n{program}"
    return program


def _marks(found: Iterable[Diagnostic]) -> Mapping[int, Sequence[str]]:
    """Codes by line of the program; what concerns the whole program stands on its first line."""
    marks: defaultdict[int, list[str]] = defaultdict(list)
    for diagnostic in found:
        span = diagnostic.location.span
        marks[span.line if span is not None else 1].append(diagnostic.code)
    return marks
