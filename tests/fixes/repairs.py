"""Programs with the fix followed, as the files of `repairs/` have them.

    === title of the refusal, or the code
    the program, repaired as the fix says
    ---
    a call with data, and asserts about what comes out

Several repairs may have one title: where a fix gives a choice, each choice is followed. A repair
is a Python source or program text; the second part runs in the names of the first. For program
text `program` is the program, and `run(x=…, y=…)` runs it and gives its outputs by name. What
needs a process of its own says so in its first line, see `processes`.
"""

from __future__ import annotations

import ast
import contextlib
import io
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

import vyre as vy
from tests.fixes.cases import execute, is_program_text, surroundings
from tests.fixes.processes import follow_in_a_process, needs_a_process
from vyre.check import check
from vyre.cli import main
from vyre.config import config
from vyre.driver import routing
from vyre.text import parse

FOLDER = Path(__file__).with_name("repairs")
COMPILED = ("types.txt",)
"""Files whose repairs run on the CPU too: what is advised about conversions and operators."""


@dataclass(frozen=True)
class Repair:
    """One way to follow a fix."""

    key: str
    number: int
    source: str
    proof: str
    file: str

    @property
    def name(self) -> str:
        """What tells this repair from the others."""
        return self.key if self.number == 1 else f"{self.key} #{self.number}"

    @property
    def text(self) -> str:
        """All of it."""
        return f"{self.source}\n{self.proof}"

    @property
    def devices(self) -> tuple[str, ...]:
        """Where it is run: on the reference, and compiled where that may make a difference."""
        return ("reference", "cpu") if self.file in COMPILED else ("reference",)

    @property
    def is_program_text(self) -> bool:
        """Whether it is a program as text."""
        return is_program_text(self.source)


@lru_cache(maxsize=1)
def all_repairs() -> dict[str, list[Repair]]:
    """Every repair, by what it repairs."""
    found: dict[str, list[Repair]] = {}
    for file in sorted(FOLDER.glob("*.txt")):
        for part in file.read_text(encoding="utf-8").split("=== ")[1:]:
            key, _, rest = part.partition("\n")
            source, _, proof = rest.partition("---\n")
            known = found.setdefault(key, [])
            known.append(Repair(key, len(known) + 1, source, proof, file.name))
    return found


def asserts(repair: Repair) -> bool:
    """Whether it asserts something that is not a constant."""
    tree = ast.parse(repair.proof if repair.is_program_text else repair.text)
    tests = [node.test for node in ast.walk(tree) if isinstance(node, ast.Assert)]
    kernels = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    inside = {id(n.test) for f in kernels for n in ast.walk(f) if isinstance(n, ast.Assert)}
    return any(not isinstance(test, ast.Constant) and id(test) not in inside for test in tests)


def follow(repair: Repair, device: str, replaced: Callable[[Any], Any] | None = None) -> None:
    """Run a repaired program and its asserts; `replaced` changes what it calls."""
    names = {**surroundings(), "pytest": pytest, "command": command, "device": device}
    with default_device(device):
        if needs_a_process(repair.source):
            return follow_in_a_process(repair.text)
        if repair.is_program_text:
            program = parse(repair.source)
            problems = check(program)
            assert not problems, "\n\n".join(map(str, problems))
            assert str(parse(str(program))) == str(program)
            names |= {"program": program, "run": lambda **given: _outputs(program, given)}
        else:
            execute(repair.source, f"repair of {repair.name}", names)
        if replaced is not None:
            names = {name: replaced(value) for name, value in names.items()}
        return execute(repair.proof, f"proof of {repair.name}", names)


def _outputs(program: vy.Program, given: dict[str, Any]) -> dict[str, Any]:
    options = {name: given.pop(name) for name in ("grid", "elements", "sizes") if name in given}
    found: Any = vy.run(program, given, **options)
    return found if isinstance(found, dict) else dict(found)


@contextlib.contextmanager
def default_device(device: str) -> Iterator[None]:
    """Calls that name no device use this one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VYRE_DEVICE", device)
        config.cache_clear()
        routing.choose.cache.clear()
        try:
            yield
        finally:
            patch.undo()
            config.cache_clear()
            routing.choose.cache.clear()


def command(line: str) -> str:
    """Run a command of vyre, which must succeed, and give what it writes."""
    program, *words = shlex.split(line)
    assert program == "vyre", line
    written = io.StringIO()
    with contextlib.redirect_stdout(written):
        try:
            status = main(words)
        except SystemExit as ended:
            status = ended.code
    assert not status, f"{line} ended with {status}: {written.getvalue()}"
    return written.getvalue()
