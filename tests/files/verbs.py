"""What a `.vy` file can ask for: the first word after `// test:` picks a row of `VERBS`.

A verb gets the case and the remaining words of the header, and answers with text, with codes by
line, or with both. It never compares: the collector does, so every verb can be blessed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from numpy.typing import NDArray

from tests.files.textfile import Answer, Case
from tests.files.values import read_values, show_values
from vyre.backends.llvm.host import Host
from vyre.backends.llvm.pass_context import CpuContext, LaunchFacts
from vyre.backends.llvm.pipeline import CPU_PASSES
from vyre.backends.reference import execute
from vyre.check import check as run_check
from vyre.diagnostics import Diagnostic, ExecutionError, ParseError, render_all
from vyre.ir import Program
from vyre.opt import pass_by_name
from vyre.rewrite.unique_names import with_unique_names
from vyre.runtime import run as run_program
from vyre.runtime.host_types import numpy_type
from vyre.text import parse as read_program

AVX512 = Host(
    "x86_64-unknown-linux-gnu", "x86-64-v4", "+avx2,+fma,+f16c,+avx512f,+avx512vl,+avx512bw"
)
"""The target of `cpu` cases, the same wherever tests run."""
DEADLINE = 10.0
"""Seconds a program may run; a test that loops forever fails instead of hanging the run."""


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
        return Answer(render_all(error.diagnostics), _marks(case, error.diagnostics))
    raise AssertionError(f"this was read without an error:\n{program}")


def check(case: Case, words: tuple[str, ...]) -> Answer:
    """Check the program; every finding is expected on its line, and nothing else is found."""
    found = run_check(_read(case))
    return Answer(render_all(found), _marks(case, found))


def optimise(case: Case, words: tuple[str, ...]) -> Answer:
    """Apply the passes named in the header, one after the other; valid in, valid out."""
    before = _valid(_read(case), "the input")
    after = before
    for name in words:
        after = _valid(pass_by_name(name).apply(after).program, f"the output of {name}")
    if after is before:
        return Answer("unchanged")
    assert after != before, "equal to the input but not the same object: unchanged means identity"
    return Answer(str(after).rstrip())


def lower(case: Case, words: tuple[str, ...]) -> Answer:
    """Apply CPU passes for a machine with AVX-512; the facts they establish follow the program."""
    before = _valid(with_unique_names(_read(case)), "the input")
    after, context = before, CpuContext(AVX512)
    passes = {each.metadata.name: each for each in CPU_PASSES}
    for name in words:
        if passes[name].analyze(after, context).runs:
            changed = passes[name].transform(after, context).program
            after = _valid(changed, f"the output of {name}")
    if after is before:
        return Answer("unchanged")
    return Answer("\n".join([str(after).rstrip(), *_shown_facts(context.facts)]))


def _shown_facts(facts: LaunchFacts) -> list[str]:
    """A line for each fact that holds of the launch."""
    shown: list[str] = []
    for each in fields(facts):
        value = getattr(facts, each.name)
        if value:
            text = ", ".join(sorted(value)) if isinstance(value, frozenset) else str(value)
            shown.append(f"// {each.name}: {text}")
    return shown


def run(case: Case, words: tuple[str, ...]) -> Answer:
    """Run the program on the devices named in the header, all of which must agree."""
    answers = {device: _run_on(device, case) for device in words or ("reference",)}
    first, *others = answers
    for device in others:
        shown = f"{first}:\n{answers[first]}\n{device}:\n{answers[device]}"
        assert answers[device] == answers[first], f"{first} and {device} differ\n{shown}"
    return answers[first]


def _run_on(device: str, case: Case) -> Answer:
    program = _read(case)
    launch = _launch(case, program)
    try:
        outputs = run_program(
            program,
            launch.inputs,
            grid=launch.grid,
            elements=launch.elements,
            sizes=launch.sizes,
            device=device,
            deadline=DEADLINE,
        )
    except ExecutionError as error:
        return Answer(render_all(error.diagnostics), _marks(case, error.diagnostics))
    assert isinstance(outputs, dict)
    return Answer("\n".join(f"{name} = {show_values(array)}" for name, array in outputs.items()))


def sanitize(case: Case, words: tuple[str, ...]) -> Answer:
    """Run the program under the sanitizer; every finding is expected on its line."""
    program = _read(case)
    launch = _launch(case, program)
    result = execute(
        program,
        launch.inputs,
        launch.grid or (1, 1, 1),
        sanitize=True,
        deadline=DEADLINE,
        output_sizes=launch.sizes,
    )
    return Answer(render_all(result.findings), _marks(case, result.findings))


VERBS: Mapping[str, Verb] = {
    "parse": Verb(parse, needs_text=True),
    "parse-error": Verb(parse_error, needs_text=False),
    "check": Verb(check, needs_text=False),
    "opt": Verb(optimise, needs_text=True),
    "cpu": Verb(lower, needs_text=True),
    "run": Verb(run, needs_text=True),
    "sanitize": Verb(sanitize, needs_text=False),
}


def _read(case: Case) -> Program:
    return read_program(case.source + "\n")


@dataclass(frozen=True)
class _Launch:
    """The settings of a case that runs."""

    inputs: Mapping[str, NDArray[Any]]
    sizes: Mapping[str, int]
    grid: tuple[int, int, int] | None
    elements: int | None


def _launch(case: Case, program: Program) -> _Launch:
    given = dict(case.given)
    grid = given.pop("grid", None)
    elements = given.pop("elements", None)
    sizes: dict[str, int] = {}
    inputs: dict[str, NDArray[Any]] = {}
    for decl in program.buffers:
        text = given.pop(decl.name, None)
        if text is not None and text.startswith("size "):
            sizes[decl.name] = int(text.removeprefix("size "))
        elif text is not None:
            inputs[decl.name] = read_values(text, numpy_type(decl.element))
    assert not given, f"no buffers of these names: {', '.join(given)}"
    x, y, z = [*(int(axis) for axis in (grid or "").split()), 1, 1, 1][:3]
    return _Launch(inputs, sizes, (x, y, z) if grid else None, int(elements) if elements else None)


def _valid(program: Program, what: str) -> Program:
    problems = [d for d in run_check(program) if d.severity == "error"]
    assert not problems, f"{what} is not valid:\n{render_all(problems)}\n{program}"
    return program


def _marks(case: Case, found: Iterable[Diagnostic]) -> Mapping[int, Sequence[str]]:
    """Codes by line of the program.

    What concerns the whole program stands on its first line, its end on the last.
    """
    last = case.source.count("\n") + 1
    marks: defaultdict[int, list[str]] = defaultdict(list)
    for diagnostic in found:
        span = diagnostic.location.span
        marks[min(span.line, last) if span is not None else 1].append(diagnostic.code)
    return marks
