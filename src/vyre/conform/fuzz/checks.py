"""The ways in which a random program is run twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from functools import cache

from vyre.backends.reference import execute
from vyre.conform.compare import Tolerance, compare_outputs
from vyre.conform.fuzz.fences import Side, can_fence, run_between_fences
from vyre.conform.fuzz.fusion import fused_pair
from vyre.conform.fuzz.passes import changes, difference, is_whole, outcome
from vyre.conform.fuzz.split_reference import split_reference
from vyre.conform.fuzz.way import Way, way_of
from vyre.conform.generate import GeneratedCase
from vyre.conform.subject import Subject
from vyre.conform.tolerance import greatest_bound
from vyre.diagnostics import CheckError
from vyre.diagnostics.codes import check as codes
from vyre.driver.backend import DeviceKind
from vyre.ir import Program
from vyre.record import dataclass
from vyre.runtime import dispatch
from vyre.semantics import Array

_DEADLINE = 30.0
NOT_OFFERED = frozenset({codes.MISSING_FEATURE.code, codes.TARGET_LIMIT.code})
"""The codes with which a device says that it lacks something."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Two runs that do not agree."""

    check: str
    device: str
    profile: str | None
    problem: str
    expected: Mapping[str, Array] | None = None
    """What should have come out, where it is not what the reference makes of the program."""
    tier: str = "auto"
    side: Side | None = None
    """Where a forbidden page was, if buffers lay between such; see `Way`."""
    program: Program | None = None
    """The program that shows it, where it is not the random one but was made from that."""


@dataclass(slots=True)
class Tally:
    """What checks had to compare."""

    refused: list[str] = field(default_factory=list[str])
    """The names of checks that had nothing to compare."""
    counted: Counter[str] = field(default_factory=Counter[str])
    """By check and kind of result, how many were compared."""


class NotOffered(Exception):
    """A device or the planner refuses the program with a reason, so there is nothing to compare."""


Check = Callable[[GeneratedCase, int], Iterator[Finding | str]]
"""Takes a program and its number; gives what is wrong, and by name what was compared."""


def check_case(
    case: GeneratedCase, number: int, names: tuple[str, ...], tally: Tally | None = None
) -> list[Finding]:
    """Everything that the named checks find; anything that is raised is a finding too."""
    found: list[Finding] = []
    tally = Tally() if tally is None else tally
    for name in names:
        check = check_of(name)
        try:
            for each in check(case, number):
                if isinstance(each, str):
                    tally.counted[f"{name} {each}"] += 1
                else:
                    found.append(each)
        except NotOffered:
            tally.refused.append(name)
        except Exception as problem:  # noqa: BLE001  anything raised is what is looked for
            said = f"{type(problem).__name__}: {problem}"
            found.append(finding_of(name, number, said))
    return found


def check_of(name: str) -> Check:
    """The check with this name; any device of a backend, such as `wgpu:llvmpipe`, is one too."""
    known = CHECKS.get(name)
    return known if known is not None else device_check(name)


def device_of(name: str) -> str:
    """The device that a check is about."""
    return name if name.startswith(("cpu", "wgpu")) else "reference"


def finding_of(name: str, number: int, problem: str) -> Finding:
    """What is wrong with a device, or with what runs on the reference."""
    way = way_of(number)
    device = device_of(name)
    return Finding(name, device, way.profile, problem, tier=way.tier, side=way.side)


@cache
def _subject(device: str) -> Subject:
    return Subject.of(device)


def granted(case: GeneratedCase, *, flushed: bool = True) -> dict[str, Tolerance]:
    """What the results of a random program may differ by, and whether subnormals may be zeros."""
    exact = Tolerance(flushed=flushed)
    found = {decl.name: exact for decl in case.program.buffers if decl.is_host_output}
    if case.approximate:
        soft = Tolerance(ulps=greatest_bound(case.program), flushed=flushed)
        found |= {name: soft for name in case.approximate if name in found}
    return found


def expected_outputs(case: GeneratedCase, width: int) -> dict[str, Array]:
    """What the reference makes of it."""
    return execute(case.program, case.inputs, case.grid, subgroup_width=width).outputs


def _differences(
    case: GeneratedCase,
    expected: dict[str, Array],
    actual: dict[str, Array],
    *,
    flushed: bool = False,
) -> str:
    tolerances = granted(case, flushed=flushed)
    found = compare_outputs(case.program, expected, actual, tolerances)
    return "; ".join(str(difference) for difference in found)


def on_device(device: str, way: Way, case: GeneratedCase) -> str:
    """How a device differs from the reference."""
    subject = _subject(device)
    try:
        compiled = subject.compile(case.program, way.profile, way.tier)
    except CheckError as refusal:
        if NOT_OFFERED.issuperset(refusal.codes):
            raise NotOffered from refusal
        raise
    if way.side is None or not can_fence(subject.target):
        actual = dispatch(compiled, case.inputs, case.grid, deadline=_DEADLINE)
    else:
        actual = run_between_fences(compiled, case.inputs, case.grid, way.side, _DEADLINE)
    expected = expected_outputs(case, subject.target.subgroup_width)
    # The CPU computes with subnormal numbers as the reference does.
    is_gpu = subject.route.device.info.kind in (DeviceKind.GPU, DeviceKind.SOFTWARE_GPU)
    return _differences(case, expected, actual, flushed=is_gpu)


def device_check(device: str) -> Check:
    """A device against the reference, in the way that the number stands for."""

    def check(case: GeneratedCase, number: int) -> Iterator[Finding | str]:
        way = way_of(number)
        problem = on_device(device, way, case)
        yield from way.names if can_fence(_subject(device).target) else way.names[:1]
        if problem:
            yield finding_of(device, number, problem)

    return check


def _optimised(case: GeneratedCase, number: int) -> Iterator[Finding | str]:
    """Some passes alone and now and then a whole profile, before and after on the reference."""
    found = list(changes(case, number))
    if not found:
        return
    watched = bool(case.waiting) or is_whole(number)
    before = outcome(case.program, case, sanitize=watched)
    if before.unsound:
        # Some idioms are varied into races: what they leave behind is nobody's fault.
        assert case.waiting, f"the generator made an unsound program: {sorted(before.unsound)}"
        raise NotOffered
    for change in found:
        after = outcome(change.program, case, sanitize=watched)
        problem = difference(before, after, case.program)
        yield change.by
        if problem is not None:
            said = f"after {change.by}, {problem}"
            expected = before.outputs
            yield Finding("opt", "reference", None, said, expected, program=change.program)


def _fused(case: GeneratedCase, number: int) -> Iterator[Finding | str]:
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


def _split(case: GeneratedCase, number: int) -> Iterator[Finding | str]:
    """Split at grid barriers against whole, both on the reference."""
    backend = split_reference()
    subject = Subject.of(backend)
    actual = subject.run(case.program, case.inputs, case.grid, None)
    problem = _differences(case, expected_outputs(case, 32), actual)
    if problem:
        yield Finding("split", "cpu", None, problem)


def _stored(case: GeneratedCase, number: int) -> Iterator[Finding | str]:
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
