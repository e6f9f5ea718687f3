"""Collects `.vy` files: every case is one pytest item, run in this process, and blessable."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.files import textfile
from tests.files.textfile import Answer, Case, MalformedError, TextFile
from vyre.diagnostics import VyreError


class MismatchError(Exception):
    """A case whose answer is not the expected one; the text is what the reader gets to see."""


class VyFile(pytest.File):
    """A test file. Blessed cases are gathered and the file is rewritten once, when it is done."""

    blessed: dict[str, Case]
    content: TextFile

    def collect(self) -> Iterator[CaseItem]:
        from tests.files.verbs import VERBS

        self.blessed = {}
        try:
            self.content = textfile.read(self.path.read_text(encoding="utf-8"))
        except MalformedError as error:
            raise self.CollectError(f"{self.path}: {error}") from error
        if self.content.verb not in VERBS:
            known = ", ".join(sorted(VERBS))
            raise self.CollectError(f"{self.path}: no verb {self.content.verb!r}; known: {known}")
        for case in self.content.cases:
            yield CaseItem.from_parent(self, name=case.name, case=case)

    def teardown(self) -> None:
        if not self.blessed:
            return
        cases = tuple(self.blessed.get(case.name, case) for case in self.content.cases)
        file = TextFile(self.content.verb, self.content.words, self.content.prologue, cases)
        _write_whole(self.path, textfile.write(file))


class CaseItem(pytest.Item):
    """One case of a file."""

    def __init__(self, *, case: Case, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.case = case

    def runtest(self) -> None:
        from tests.files.verbs import VERBS

        file = self.parent
        assert isinstance(file, VyFile)
        verb = VERBS[file.content.verb]
        answer = verb.run(self.case, file.content.words)
        compare_text = verb.needs_text or self.case.expect is not None
        problems = list(differences(self.case, answer, compare_text=compare_text))
        if problems and self.config.getoption("--bless"):
            file.blessed[self.case.name] = self.case.blessed(answer, with_text=compare_text)
        elif problems:
            raise MismatchError("\n".join(problems))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        where = f"{self.path}:{self.case.line}: {self.case.name}"
        if isinstance(excinfo.value, (MismatchError, VyreError)):
            return f"{where}\n{excinfo.value}"
        excinfo.traceback = excinfo.traceback.cut(path=__file__)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.case.line - 1, self.name


def differences(case: Case, answer: Answer, *, compare_text: bool) -> Iterator[str]:
    """What the answer has that the case does not expect, and the other way round."""
    lines = case.source.split("\n")
    for number in sorted({*case.marks, *answer.marks}):
        expected, got = sorted(case.marks.get(number, ())), sorted(answer.marks.get(number, ()))
        if expected != got:
            yield f"line {number} of the program: {lines[number - 1].strip()}"
            yield f"  expected {' '.join(expected) or 'nothing'}, got {' '.join(got) or 'nothing'}"
    if not compare_text or answer.text == case.expect:
        return
    if case.expect is None:
        yield "the case expects nothing yet; --bless would write:"
        yield answer.text or ""
        return
    yield from difflib.unified_diff(
        case.expect.splitlines(), (answer.text or "").splitlines(), "expected", "got", lineterm=""
    )


def _write_whole(path: Path, text: str) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)
