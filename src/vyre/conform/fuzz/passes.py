"""Programs before and after optimising, both on the reference: passes alone and whole profiles."""

from __future__ import annotations

from collections.abc import Iterator

from vyre.backends.reference import execute
from vyre.check import check
from vyre.conform.compare import Tolerance, compare_outputs
from vyre.conform.generate import GeneratedCase
from vyre.diagnostics import ExecutionError, Severity
from vyre.ir import Program
from vyre.opt import OptimizerProfile, optimize, registered_passes
from vyre.record import dataclass
from vyre.semantics import Array
from vyre.target import Feature, Target

WIDTH = 8
"""The width of subgroups."""
TARGET = Target("any", frozenset(Feature) - {Feature.HOST_MEMORY}, subgroup_width=WIDTH)
"""A device that can do everything, so that no pass is left out."""
_WHOLE = (
    OptimizerProfile.RELEASE,
    OptimizerProfile.DATAFLOW,
    OptimizerProfile.MEGAKERNEL,
    OptimizerProfile.DEBUG,
)
_ALONE = 3
"""How many passes run alone on one program; they take turns."""
_WHOLE_EVERY = 4
_FUEL = 3_000_000
_BITS = Tolerance(flushed=False)


@dataclass(frozen=True, slots=True)
class Change:
    """What a pass or a profile made of a program."""

    by: str
    program: Program


@dataclass(frozen=True, slots=True)
class Outcome:
    """What running a program came to."""

    outputs: dict[str, Array]
    printed: tuple[object, ...] = ()
    error: str = ""


def changes(program: Program, number: int) -> Iterator[Change]:
    """Some passes, each alone, and now and then a whole profile, where they change something.

    The checker must like what comes out; otherwise an `AssertionError` says what it dislikes.
    """
    passes = registered_passes()
    for turn in range(_ALONE):
        each = passes[(number * _ALONE + turn) % len(passes)]
        after = each.apply(program, TARGET).program
        if after is not program:
            yield Change(each.metadata.name, _valid(after, each.metadata.name))
    if number % _WHOLE_EVERY == 0:
        profile = _WHOLE[number // _WHOLE_EVERY % len(_WHOLE)]
        after = optimize(program, profile, TARGET, verify=True).program
        if after is not program:
            yield Change(profile.value, after)


def _valid(program: Program, name: str) -> Program:
    problems = [found for found in check(program) if found.severity is Severity.ERROR]
    assert not problems, f"after {name}: {problems[0]}"
    return program


def outcome(program: Program, case: GeneratedCase) -> Outcome:
    """Run a program on the inputs of a case."""
    try:
        done = execute(program, case.inputs, case.grid, subgroup_width=WIDTH, fuel=_FUEL)
    except ExecutionError as error:
        return Outcome({}, error=error.code)
    return Outcome(done.outputs, done.printed)


def difference(before: Outcome, after: Outcome, program: Program) -> str | None:
    """Where two outcomes differ, bit for bit; any NaN equals any other."""
    if before.error or after.error:
        return None if before.error == after.error else f"{before.error!r} is now {after.error!r}"
    bits = {decl.name: _BITS for decl in program.buffers}
    found = compare_outputs(program, before.outputs, after.outputs, bits)
    if found:
        return "; ".join(str(each) for each in found)
    return None if before.printed == after.printed else "other things are printed"
