"""Every program that is refused by a test, and what is said of it.

A case is a refusal of the front end (by its title), a refusal of `more_refusals.txt`, or the
example of a code (by the code). A code without an example is shown by its row alone.
"""

from __future__ import annotations

import linecache
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from string import Formatter
from typing import Any

import numpy as np

import vyre as vy
from tests.fixes.processes import needs_a_process, said_in_a_process, said_on
from tests.unit.front.test_refusals import FILE as REFUSALS
from tests.unit.front.test_refusals import other, plain
from vyre.check import check
from vyre.diagnostics import Diagnostic, VyreError
from vyre.diagnostics.codes import all_codes
from vyre.text import parse

MORE = Path(__file__).with_name("more_refusals.txt")


@dataclass(frozen=True)
class Case:
    """A program that is refused."""

    key: str
    source: str
    shown: str = ""
    """The message in full, where the file has it."""
    template: Diagnostic | None = None
    """What the row of a code says that has no example."""

    def said(self) -> tuple[Diagnostic, ...]:
        """What is said of it now; of a process, what the file shows, which a test compares."""
        if self.template is not None:
            return (self.template,)
        if needs_a_process(self.source):
            return said_on(self.shown)
        return said_of(self.source, self.key)


def surroundings() -> dict[str, Any]:
    """What the programs of cases find around them."""
    return {
        "__name__": "case",
        "vy": vy,
        "np": np,
        "math": math,
        "plain": plain,
        "weights": np.ones(3, np.float32),
        "names": [1.0, 2.0],
        "square": lambda v: v * v,
        "other": other,
    }


def execute(source: str, name: str, names: dict[str, Any]) -> None:
    """Run Python source, so that kernels in it can be read, as in a notebook."""
    file = f"<{name}>"
    linecache.cache[file] = (0, None, source.splitlines(keepends=True), file)
    exec(compile(source, file, "exec"), names)


def is_program_text(source: str) -> bool:
    """Whether a source is a program as text, not Python."""
    return source.startswith("program workgroup")


@lru_cache(maxsize=1024)
def said_of(source: str, name: str = "refusal") -> tuple[Diagnostic, ...]:
    """The problems of program text, or of Python source.

    Python may define a kernel `k`, and `findings` of the sanitizer.
    """
    if needs_a_process(source):
        return said_in_a_process(source)
    try:
        if is_program_text(source):
            return tuple(check(parse(source)))
        names = surroundings()
        execute(source, name, names)
        if isinstance(names.get("k"), vy.Kernel):
            names["k"].program()
    except VyreError as error:
        return error.diagnostics
    return tuple(names.get("findings", ()))


def read_cases(file: Path) -> list[Case]:
    """The cases of a file of refusals."""
    found: list[Case] = []
    for part in file.read_text(encoding="utf-8").split("=== ")[1:]:
        title, _, rest = part.partition("\n")
        source, _, message = rest.partition("---\n")
        found.append(Case(title, source, message.strip()))
    return found


def _of_codes(shown: str) -> Iterator[Case]:
    """The examples of codes, and the rows of those that neither an example nor a text shows."""
    for code, row in all_codes().items():
        if row.example and code[0] != "X":
            yield Case(code, row.example)
        elif f"[{code}]" not in shown:
            holes = {name: "..." for _, name, _, _ in Formatter().parse(row.fix) if name}
            fix = re.sub(r"\{(\w+)[^{}]*\}", "{\\1}", row.fix).format(**holes)
            yield Case(code, row.example, template=Diagnostic(code, row.message, fix))


@lru_cache(maxsize=1)
def all_cases() -> dict[str, Case]:
    """Every case by its key."""
    cases = [*read_cases(REFUSALS), *read_cases(MORE)]
    cases += _of_codes("".join(case.shown for case in cases))
    keys = [case.key for case in cases]
    twice = {key for key in keys if keys.count(key) > 1}
    if twice:
        raise ValueError(f"two cases have one title: {sorted(twice)}")
    return {case.key: case for case in cases}
