"""Random programs: what the CPU computes is what the reference says."""

from __future__ import annotations

import pytest

from tests.share import share
from tests.unit.backends.llvm.running import differences
from vyre.conform.generate import generate
from vyre.ir import Barrier, MemoryOrdering, Program
from vyre.ir.walk import walk_stmts

QUICK = {
    "tiny": range(100),
    "hostile_indices": range(20),
    "memory": range(20),
    "integers": range(20),
    "barriers": range(20),
    "atomics": range(20),
    "floats_exact": range(20),
}
"""Without vyre's passes. With them 500 more run in tests/conform, and 200 between guard pages."""
FULL = {"tiny": range(200, 240), "subgroups": range(12), "barriers": range(100, 112)}
CHUNK = 10


def chunks(plan: dict[str, range]) -> list[tuple[str, range]]:
    """The seeds of a plan in portions for one test each."""
    return [
        (profile, seeds[start : min(start + CHUNK, share(len(seeds)))])
        for profile, seeds in plan.items()
        for start in range(0, share(len(seeds)), CHUNK)
    ]


def spans_grid(program: Program) -> bool:
    """Whether the driver would cut the program before a backend sees it."""
    return any(
        isinstance(s, Barrier) and s.ordering is MemoryOrdering.GRID_SYNC
        for s in walk_stmts(program.entry)
    )


def check(profile: str, seeds: range, tier: str, cpu: str = "native") -> None:
    """No program of these seeds gives another result than the reference."""
    for seed in seeds:
        case = generate(seed, profile)
        if spans_grid(case.program):
            continue
        found = differences(
            case.program, case.inputs, case.grid, tier=tier, cpu=cpu, approximate=case.approximate
        )
        assert found == [], f"{profile} {seed}: {found[0]}"


@pytest.mark.parametrize(("profile", "seeds"), chunks(QUICK))
def test_quick_code_agrees(profile: str, seeds: range) -> None:
    """Compiled fast."""
    check(profile, seeds, "quick")


@pytest.mark.parametrize(("profile", "seeds"), chunks(FULL))
def test_optimised_code_agrees(profile: str, seeds: range) -> None:
    """Compiled as it is for speed."""
    check(profile, seeds, "full")


def test_generic_code_agrees() -> None:
    """Compiled for any machine of this kind."""
    check("tiny", range(300, 320), "quick", cpu="generic")
