"""The ways in which a random program is run twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache

from vyre.backends.reference import execute
from vyre.conform.compare import Tolerance, compare_outputs
from vyre.conform.fuzz.fusion import fused_pair
from vyre.conform.fuzz.split_reference import split_reference
from vyre.conform.generate import GeneratedCase
from vyre.conform.subject import Subject
from vyre.conform.tolerance import greatest_bound
from vyre.diagnostics import Severity
from vyre.ir import Program
from vyre.opt import OptimizerProfile, optimize
from vyre.record import dataclass
from vyre.semantics import Array

PROFILES: tuple[str | None, ...] = ("release", None, "debug", "dataflow", "megakernel")
"""What programs are optimised with; None does not optimise."""
_DEADLINE = 30.0


@dataclass(frozen=True, slots=True)
class Finding:
    """Two runs that do not agree."""

    check: str
    device: str
    profile: str | None
    problem: str
    expected: Mapping[str, Array] | None = None
    """What should have come out, where it is not what the reference makes of the program."""


class NotOffered(Exception):
    """A device or the planner refuses the program with a reason, so there is nothing to compare."""


Check = Callable[[GeneratedCase, int], Iterator[Finding]]
"""Takes a program and its number, and gives what is wrong."""


def check_case(
    case: GeneratedCase, number: int, names: tuple[str, ...], refused: list[str] | None = None
) -> list[Finding]:
    """Everything that the named checks find; anything that is raised is a finding too.

    The names of checks that had nothing to compare are added to `refused`.
    """
    found: list[Finding] = []
    for name in names:
        check = check_of(name)
        try:
            found += check(case, number)
        except NotOffered:
            if refused is not None:
                refused.append(name)
        except Exception as problem:  # noqa: BLE001  anything raised is what is looked for
            said = f"{type(problem).__name__}: {problem}"
            profile = _profile(number)
            found.append(Finding(name, device_of(name), profile, said))
    return found


def check_of(name: str) -> Check:
    """The check with this name; any device of a backend, such as `wgpu:llvmpipe`, is one too."""
    known = CHECKS.get(name)
    return known if known is not None else device_check(name)


def device_of(name: str) -> str:
    """The device that a check is about."""
    return name if name.startswith(("cpu", "wgpu")) else "reference"


def _profile(number: int) -> str | None:
    # Every other program is run as users run it, the rest take turns.
    return "release" if number % 2 else PROFILES[number // 2 % len(PROFILES)]


@cache
def _subject(device: str) -> Subject:
    return Subject.of(device)


def granted(case: GeneratedCase) -> dict[str, Tolerance]:
    """What the results of a random program may differ by."""
    bound = greatest_bound(case.program)
    return {name: Tolerance(ulps=bound) for name in case.approximate}


def expected_outputs(case: GeneratedCase, width: int) -> dict[str, Array]:
    """What the reference makes of it."""
    return execute(case.program, case.inputs, case.grid, subgroup_width=width).outputs


def _differences(
    case: GeneratedCase, program: Program, expected: dict[str, Array], actual: dict[str, Array]
) -> str:
    return "; ".join(str(d) for d in compare_outputs(program, expected, actual, granted(case)))


def on_device(device: str, profile: str | None, case: GeneratedCase) -> str:
    """How a device differs from the reference."""
    subject = _subject(device)
    refused = case.program.check(subject.target)
    if any(diagnostic.severity is Severity.ERROR for diagnostic in refused):
        raise NotOffered
    actual = subject.run(case.program, case.inputs, case.grid, profile, None, _DEADLINE)
    expected = expected_outputs(case, subject.target.subgroup_width)
    return _differences(case, case.program, expected, actual)


def device_check(device: str) -> Check:
    """A device against the reference, at one optimizer profile."""

    def check(case: GeneratedCase, number: int) -> Iterator[Finding]:
        profile = _profile(number)
        problem = on_device(device, profile, case)
        if problem:
            yield Finding(device, device, profile, problem)

    return check


def _optimised(case: GeneratedCase, number: int) -> Iterator[Finding]:
    """Optimised against not, both on the reference; the result must pass the checker, too."""
    profile = PROFILES[number % len(PROFILES)] or "release"
    better = optimize(case.program, OptimizerProfile(profile), None).program
    better.validate()
    expected = expected_outputs(case, 32)
    actual = execute(better, case.inputs, case.grid, subgroup_width=32).outputs
    problem = _differences(case, case.program, expected, actual)
    if problem:
        yield Finding("opt", "reference", profile, problem)


def _fused(case: GeneratedCase, number: int) -> Iterator[Finding]:
    """Two programs as one against one after the other, on the reference."""
    pair = fused_pair(case, number)
    if pair is None:
        raise NotOffered
    actual = execute(pair.program, pair.inputs, case.grid).outputs
    problem = "; ".join(
        str(d) for d in compare_outputs(pair.program, pair.expected, actual, pair.tolerances)
    )
    if problem:
        yield Finding("fuse", "reference", None, problem, pair.expected)


def _split(case: GeneratedCase, number: int) -> Iterator[Finding]:
    """Split at grid barriers against whole, both on the reference."""
    backend = split_reference()
    subject = Subject.of(backend)
    actual = subject.run(case.program, case.inputs, case.grid, None)
    problem = _differences(case, case.program, expected_outputs(case, 32), actual)
    if problem:
        yield Finding("split", "cpu", None, problem)


def _stored(case: GeneratedCase, number: int) -> Iterator[Finding]:
    """Written and read back, as bytes and as text."""
    program = case.program
    data = program.to_wire()
    if Program.from_wire(data) != program:
        yield Finding("wire", "reference", None, "bytes read back as another program")
    if Program.parse(str(program)) != program:
        yield Finding("wire", "reference", None, "text read back as another program")


CHECKS: dict[str, Check] = {
    "cpu": device_check("cpu"),
    "opt": _optimised,
    "fuse": _fused,
    "split": _split,
    "wire": _stored,
}
"""By the name that the command line knows them under; see `check_of` for further devices."""

DEFAULT_CHECKS = ("cpu", "opt", "fuse", "split", "wire")
"""What needs no GPU driver."""
