"""Random programs before and after: every pass alone, every profile whole, any choice of passes.

Several workgroups, hostile indices, edge values in the inputs; after every pass the checker is
asked, and for most of them the sanitizer, which sees a race that the order of the reference would
hide. Every second program is woven: it holds an idiom that some passes wait for, or a variation
that they must refuse, and those passes run on it. `python -m tests.unit.opt.fuzz` does the same for
as many seeds as one likes.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import pytest

from tests.unit.opt.idioms import IDIOMS
from tests.unit.opt.trust import FEATURES, WIDTH, difference, outcome
from tests.unit.opt.weave import woven
from vyre.check import check
from vyre.conform.generate import PROFILES, GeneratedCase, Profile, generate
from vyre.ir import Program
from vyre.opt import (
    OptimizerProfile,
    Pass,
    PassScheduler,
    optimize,
    pass_by_name,
    registered_passes,
)
from vyre.target import Target

PROGRAMS = 3_000
CHUNKS = 6
EACH = PROGRAMS // CHUNKS
PASSES_EACH = 3
"""How many passes run alone on a program without an idiom; they take turns."""

TARGET = Target("test", FEATURES, subgroup_width=WIDTH)
WHOLE = (
    OptimizerProfile.RELEASE,
    OptimizerProfile.DATAFLOW,
    OptimizerProfile.MEGAKERNEL,
    OptimizerProfile.DEBUG,
)
_SMALL = replace(
    PROFILES["default"],
    statements=(2, 6),
    nesting=2,
    expr_depth=3,
    workgroups=((1, 1, 1), (4, 1, 1), (8, 1, 1), (3, 2, 1)),
    grids=((2, 1, 1), (3, 1, 1), (2, 2, 1)),
)
KINDS: tuple[Profile, ...] = (
    replace(_SMALL, name="small"),
    replace(_SMALL, name="small barriers", barriers=25, async_copies=6, atomics=8, returns=1),
    replace(_SMALL, name="small atomics", atomics=30, subgroups=8, returns=1),
    replace(_SMALL, name="small memory", local_arrays=12, hostile_indices=5, barriers=2),
    replace(_SMALL, name="small grid sync", grid_sync=15, returns=5),
)
_QUIET = replace(
    _SMALL,
    statements=(1, 4),
    expr_depth=2,
    atomics=0,
    barriers=0,
    async_copies=0,
    transcendental=1,
    workgroups=((8, 1, 1), (32, 1, 1), (32, 1, 1), (5, 1, 1)),
    grids=((2, 1, 1), (3, 1, 1)),
)
COMPANY: tuple[Profile, ...] = (
    replace(_QUIET, name="quiet"),
    replace(_QUIET, name="bare", statements=(1, 1)),
    replace(_QUIET, name="quiet arrays", local_arrays=12, returns=8),
    replace(_SMALL, name="company", workgroups=((16, 2, 1), (32, 1, 1), (1, 1, 1)), subgroups=3),
)
"""What surrounds an idiom."""
TURNS = (*IDIOMS, "stored and loaded", "handoffs", "tables", "bytes", "chains")
"""Idioms of which passes take little come twice."""


def judge(seed: int, changed: Counter[str]) -> None:
    """One program: some passes alone, and now and then a whole profile."""
    case, passes = _woven(seed // 2) if seed % 2 else _random(seed // 2)
    whole = seed // 2 % 4 == 0
    found: dict[str, Program] = {}
    for each in passes:
        after = each.apply(case.program, TARGET).program
        if after is not case.program:
            found[each.metadata.name] = _valid(after, each.metadata.name, case)
    if whole:
        name, after = _whole(seed // 8, case.program)
        if after is not case.program:
            found[name] = after
    if not found:
        return
    watched = whole or seed % 2 == 1
    before = outcome(case.program, case, sanitize=watched)
    if before.unsound:
        # Some variations are races: what they leave behind is nobody's fault.
        assert seed % 2, f"{case.label} is not sound"
        changed["unsound"] += 1
        return
    for name, after in found.items():
        changed[name] += 1
        wrong = difference(before, outcome(after, case, sanitize=watched), case.program)
        assert wrong is None, f"{name} on {case.label}: {wrong}\n{case}\n// after\n{after}"


def _whole(turn: int, program: Program) -> tuple[str, Program]:
    """What a profile makes of a program, or passes that someone may have chosen."""
    if turn % (len(WHOLE) + 1) == len(WHOLE):
        dice = Random(turn)
        some = [each for each in registered_passes() if dice.random() < 0.5]
        return "some passes", PassScheduler(some, verify=True).run(program, TARGET)
    profile = WHOLE[turn % (len(WHOLE) + 1)]
    return profile.value, optimize(program, profile, TARGET, verify=True).program


def _random(seed: int) -> tuple[GeneratedCase, list[Pass]]:
    """A program as the generator makes it, and passes that take turns."""
    passes = registered_passes()
    turns = range(seed * PASSES_EACH, (seed + 1) * PASSES_EACH)
    case = generate(seed, KINDS[seed % len(KINDS)])
    return case, [passes[turn % len(passes)] for turn in turns]


def _woven(seed: int) -> tuple[GeneratedCase, list[Pass]]:
    """A program with an idiom or two, and the passes that wait for them."""
    chosen = [TURNS[seed % len(TURNS)]]
    if seed % 5 == 0:
        chosen.append(TURNS[seed // 5 % len(TURNS)])
    company = COMPANY[seed // len(TURNS) % len(COMPANY)]
    label = f"{company.name}, {' and '.join(chosen)} {seed}"
    case = woven(label, company, [IDIOMS[name][0] for name in chosen])
    waiting = dict.fromkeys(waits for name in chosen for waits in IDIOMS[name][1])
    return case, [pass_by_name(name) for name in waiting]


def _valid(program: Program, name: str, case: GeneratedCase) -> Program:
    problems = [d for d in check(program) if d.severity == "error"]
    assert not problems, f"{name} on {case.label}: {problems[0]}\n{case}\n// after\n{program}"
    return program


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_reference_before_equals_reference_after(chunk: int) -> None:
    changed: Counter[str] = Counter()
    for seed in range(chunk * EACH, chunk * EACH + EACH):
        judge(seed, changed)
    # A run in which a pass changes nothing would prove nothing of it.
    idle = {each.metadata.name for each in registered_passes()} - changed.keys()
    assert not idle
    assert sum(changed.values()) > EACH


def test_an_idiom_waits_for_every_pass_that_random_programs_seldom_have_work_for() -> None:
    waiting = {name for _, passes in IDIOMS.values() for name in passes}
    often = {"simplify", "cse", "elide_bounds", "reduce_strength"}
    assert waiting | often == {each.metadata.name for each in registered_passes()}
