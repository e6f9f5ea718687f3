"""Programs before and after optimising, both on the reference: passes alone and whole profiles."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from vyre.backends.reference import execute
from vyre.check import check
from vyre.conform.compare import Tolerance, compare_outputs
from vyre.conform.generate import GeneratedCase
from vyre.diagnostics import ExecutionError, Severity
from vyre.diagnostics.codes import execution as codes
from vyre.ir import Program
from vyre.opt import (
    OptimizerProfile,
    Pass,
    PassScheduler,
    optimize,
    pass_by_name,
    registered_passes,
)
from vyre.record import dataclass
from vyre.semantics import Array
from vyre.target import Feature, Target

WIDTH = 8
"""The width of subgroups."""
FEATURES = frozenset(Feature) - {Feature.HOST_MEMORY, Feature.SUBWORD}
"""What a device has for which every pass has something to do."""
TARGET = Target("any", FEATURES, subgroup_width=WIDTH)
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
_UNSOUND = frozenset({codes.DATA_RACE.code, codes.BARRIER_MISSED.code})
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
    unsound: frozenset[str] = frozenset()
    """Codes of races and of barriers that not all arrive at."""


def changes(case: GeneratedCase, number: int) -> Iterator[Change]:
    """Some passes, each alone, and now and then a whole profile, where they change something.

    The passes are those that wait for the program, or else take turns.

    The checker must like what comes out; otherwise an `AssertionError` says what it dislikes.
    """
    program = case.program
    for each in _alone(case, number):
        after = each.apply(program, TARGET).program
        if after is not program:
            yield Change(each.metadata.name, _valid(after, each.metadata.name))
    if is_whole(number):
        by, after = _together(program, number // (2 * _WHOLE_EVERY))
        if after is not program:
            yield Change(by, after)


def is_whole(number: int) -> bool:
    """Whether a program goes through a whole profile, too."""
    # Two programs of each kind in turn: the kinds of a mixture may alternate.
    return number // 2 % _WHOLE_EVERY == 0


def _together(program: Program, turn: int) -> tuple[str, Program]:
    """What a profile makes of a program, or passes that someone may have chosen."""
    turn %= len(_WHOLE) + 1
    if turn == len(_WHOLE):
        dice = Random(program.digest())
        some = [each for each in registered_passes() if dice.random() < 0.5]
        return "some passes", PassScheduler(some, verify=True).run(program, TARGET)
    profile = _WHOLE[turn]
    return profile.value, optimize(program, profile, TARGET, verify=True).program


def _alone(case: GeneratedCase, number: int) -> list[Pass]:
    if case.waiting:
        return [pass_by_name(name) for name in case.waiting]
    passes = registered_passes()
    first = number // 2 * _ALONE + number % 2 * len(passes) // 2
    return [passes[(first + turn) % len(passes)] for turn in range(_ALONE)]


def _valid(program: Program, name: str) -> Program:
    problems = [found for found in check(program) if found.severity is Severity.ERROR]
    assert not problems, f"after {name}: {problems[0]}"
    return program


def outcome(program: Program, case: GeneratedCase, *, sanitize: bool = True) -> Outcome:
    """Run a program on the inputs of a case, with the sanitizer looking on."""
    try:
        done = execute(
            program, case.inputs, case.grid, subgroup_width=WIDTH, fuel=_FUEL, sanitize=sanitize
        )
    except ExecutionError as error:
        return Outcome({}, error=error.code)
    found = {finding.code for finding in done.findings} & _UNSOUND
    return Outcome(done.outputs, done.printed, unsound=frozenset(found))


def difference(before: Outcome, after: Outcome, program: Program) -> str | None:
    """Where two outcomes differ, bit for bit; any NaN equals any other."""
    if after.unsound - before.unsound:
        return f"the sanitizer finds {', '.join(sorted(after.unsound))}"
    if before.error or after.error:
        return None if before.error == after.error else f"{before.error!r} is now {after.error!r}"
    bits = {decl.name: _BITS for decl in program.buffers}
    found = compare_outputs(program, before.outputs, after.outputs, bits)
    if found:
        return "; ".join(str(each) for each in found)
    return None if before.printed == after.printed else "other things are printed"
