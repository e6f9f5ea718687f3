"""Random programs before and after: every pass alone, every profile whole, on the reference.

Several workgroups, hostile indices, edge values in the inputs; after every pass the checker is
asked. `python -m tests.unit.opt.fuzz` does the same for as many seeds as one likes.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from tests.unit.opt.trust import WIDTH, difference, outcome
from vyre.check import check
from vyre.conform.generate import PROFILES, GeneratedCase, Profile, generate
from vyre.ir import Program
from vyre.opt import OptimizerProfile, optimize, registered_passes
from vyre.target import Feature, Target

PROGRAMS = 3_000
CHUNKS = 12
EACH = PROGRAMS // CHUNKS
PASSES_EACH = 3
"""How many passes run alone on one program; they take turns."""

TARGET = Target("test", frozenset(Feature) - {Feature.HOST_MEMORY}, subgroup_width=WIDTH)
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


def judge(seed: int, changed: Counter[str]) -> None:
    """One program: some passes alone, and now and then a whole profile."""
    case = generate(seed, KINDS[seed % len(KINDS)])
    passes = registered_passes()
    found: dict[str, Program] = {}
    for turn in range(PASSES_EACH):
        each = passes[(seed * PASSES_EACH + turn) % len(passes)]
        after = each.apply(case.program, TARGET).program
        if after is not case.program:
            found[each.metadata.name] = _valid(after, each.metadata.name, case)
    if seed % 4 == 0:
        profile = WHOLE[seed // 4 % len(WHOLE)]
        after = optimize(case.program, profile, TARGET, verify=True).program
        if after is not case.program:
            found[profile.value] = after
    if not found:
        return
    before = outcome(case.program, case)
    for name, after in found.items():
        changed[name] += 1
        wrong = difference(before, outcome(after, case), case.program)
        assert wrong is None, f"{name} on {case.label}: {wrong}\n{case}\n// after\n{after}"


def _valid(program: Program, name: str, case: GeneratedCase) -> Program:
    problems = [d for d in check(program) if d.severity == "error"]
    assert not problems, f"{name} on {case.label}: {problems[0]}\n{case}\n// after\n{program}"
    return program


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_reference_before_equals_reference_after(chunk: int) -> None:
    changed: Counter[str] = Counter()
    for seed in range(chunk * EACH, chunk * EACH + EACH):
        judge(seed, changed)
    # A run in which nothing changes would prove nothing.
    assert sum(changed.values()) > EACH
