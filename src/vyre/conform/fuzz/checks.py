"""The ways in which a random program is run twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from functools import cache

from vyre.backends.reference import execute
from vyre.conform.compare import Tolerance, compare_outputs
from vyre.conform.fuzz.fusion import fused_pair
from vyre.conform.fuzz.guard_pages import Side, can_fence, run_between_fences
from vyre.conform.fuzz.passes import changes, difference, is_whole, outcome
from vyre.conform.fuzz.run_configuration import Way, way_of
from vyre.conform.fuzz.split_reference import split_reference
from vyre.conform.generate import GeneratedCase
from vyre.conform.lists import ListCase, fused, one_after_the_other
from vyre.conform.lists.run import Run, on_reference, together
from vyre.conform.python.case import PythonCase, differences
from vyre.conform.subject import Subject
from vyre.conform.tolerance import greatest_bound
from vyre.diagnostics import CheckError, FrontError, PlanError
from vyre.diagnostics.codes import check as codes
from vyre.diagnostics.codes import execution
from vyre.diagnostics.codes import plan as plan_codes
from vyre.driver.backend import DeviceKind
from vyre.ir import Program
from vyre.record import dataclass
from vyre.runtime import CompiledProgram, dispatch
from vyre.runtime.host_types import as_host_arrays
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
    if known is not None:
        return known
    what, on, device = name.partition(_ON)
    if on and what == _LISTS:
        return _lists_check(device)
    return _python_check(device) if on and what == _PYTHON else device_check(name)


_LISTS, _PYTHON, _ON = "lists", "python", "@"


def mixture_of(name: str) -> str:
    """The mixture of programs that a check has something to compare for."""
    what = name.partition(_ON)[0]
    return what if what in (_LISTS, _PYTHON) else "thorough"


def device_of(name: str) -> str:
    """The device that a check is about."""
    device = name.removeprefix(_LISTS + _ON).removeprefix(_PYTHON + _ON)
    return device if device.startswith(("cpu", "wgpu")) else "reference"


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
    compiled = _compiled(subject, case.program, way)
    if way.side is None or not can_fence(subject.target):
        given = as_host_arrays(case.program, case.inputs)
        actual = dispatch(compiled, given, case.grid, deadline=_DEADLINE)
    else:
        actual = run_between_fences(compiled, case.inputs, case.grid, way.side, _DEADLINE)
    expected = expected_outputs(case, subject.target.subgroup_width)
    # The CPU computes with subnormal numbers as the reference does.
    is_gpu = subject.route.device.info.kind in (DeviceKind.GPU, DeviceKind.SOFTWARE_GPU)
    return _differences(case, expected, actual, flushed=is_gpu)


def _compiled(subject: Subject, program: Program, way: Way) -> CompiledProgram:
    try:
        return subject.compile(program, way.profile, way.tier)
    except CheckError as refusal:
        if NOT_OFFERED.issuperset(refusal.codes):
            raise NotOffered from refusal
        raise


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
        # Some idioms are varied into races: what they leave behind is no fault of the compiler.
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


def _lists_check(device: str) -> Check:
    """Programs as one against one after the other, both on a device; and on the reference."""

    def check(case: GeneratedCase, number: int) -> Iterator[Finding | str]:
        if not isinstance(case, ListCase):
            raise NotOffered
        try:
            program = fused(case)
        except PlanError as refusal:
            # Nothing else stands in the way of valid programs of one workgroup size.
            if refusal.code != plan_codes.RETURN_ACROSS_SYNC.code:
                raise
            raise NotOffered from refusal
        expected = one_after_the_other(case, on_reference(case))
        # In lock-step no lane misses a barrier; in another order, and by the sanitizer, it shows.
        watched = on_reference(case, schedule=number)
        ways = {"on the reference": on_reference(case), "in another order": watched}
        if device != "reference":
            ways["on the device"] = _on_device(device, way_of(number), case)
        for where, run in ways.items():
            outputs = together(case, program, run)
            problem = _lists_differences(program, expected, outputs)
            if where == "on the device" and not problem:
                yield f"{len(case.arms)} arms"
                problem = _lists_differences(program, one_after_the_other(case, run), outputs)
            if problem:
                found = finding_of(f"{_LISTS}{_ON}{device}", number, f"fused, {where}: {problem}")
                yield replace(found, program=program, expected={n: expected[n] for n in outputs})
                return

    return check


def _on_device(device: str, way: Way, case: ListCase) -> Run:
    subject = _subject(device)

    def run(program: Program, inputs: dict[str, Array], sizes: dict[str, int]) -> dict[str, Array]:
        compiled = _compiled(subject, program, way)
        return dispatch(compiled, inputs, case.grid, sizes=sizes, deadline=_DEADLINE)

    return run


def _lists_differences(
    program: Program, expected: dict[str, Array], actual: dict[str, Array]
) -> str:
    wanted = {name: expected[name] for name in actual}
    return "; ".join(str(each) for each in compare_outputs(program, wanted, actual))


def _python_check(device: str) -> Check:
    """A kernel as CPython runs it against its program, on the reference and on a device."""
    name = f"{_PYTHON}{_ON}{device}"

    def check(case: GeneratedCase, number: int) -> Iterator[Finding | str]:
        if not isinstance(case, PythonCase):
            raise NotOffered
        expected = case.expected()
        try:
            program = case.translated()
        except FrontError as refusal:
            yield finding_of(name, number, f"{refusal.code}: {refusal}")
            return
        program.validate()
        given = case.given(program)
        actual = execute(program, given, case.grid, deadline=_DEADLINE).outputs
        problem = differences(program, expected, actual)
        yield case.world.dtype
        if not problem and device != "reference":
            compiled = _compiled(_subject(device), program, way_of(number))
            actual = dispatch(compiled, given, case.grid, deadline=_DEADLINE)
            problem = differences(program, expected, actual)
        if problem:
            watched = execute(program, given, case.grid, deadline=_DEADLINE, sanitize=True)
            races = [each for each in watched.findings if each.code == execution.DATA_RACE.code]
            assert not races, f"{races[0]}"  # Python runs one invocation after the other
            found = finding_of(name, number, f"unlike Python: {problem}")
            yield replace(found, program=program, expected=expected)

    return check


def _split(case: GeneratedCase, number: int) -> Iterator[Finding | str]:
    """Split at grid barriers against whole, both on the reference."""
    backend = split_reference()
    subject = Subject.of(backend)
    actual = subject.run(case.program, case.inputs, case.grid, None, deadline=_DEADLINE)
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
    _LISTS: _lists_check("cpu"),
    _PYTHON: _python_check("cpu"),
    "wire": _stored,
}
"""By the name that the command line knows them under; see `check_of` for further devices."""

DEFAULT_CHECKS = ("cpu", "opt", "fuse", "split", "wire")
"""What needs no GPU driver."""
