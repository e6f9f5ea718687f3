"""Random programs: the second interpreter agrees, every schedule agrees, nothing races."""

from __future__ import annotations

import pytest

from tests.unit.backends.reference.programs import difference
from vyre.backends.reference import execute
from vyre.conform import PROFILES, generate
from vyre.conform.compare import compare_outputs
from vyre.diagnostics import Severity

SMALL = [name for name in PROFILES if name not in ("large", "hostile_indices", "floats_exact")]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("profile", SMALL)
def test_the_second_interpreter_agrees(profile: str, seed: int) -> None:
    case = generate(seed, profile)
    x, y, z = case.program.workgroup_size
    if x * y * z * case.grid[0] * case.grid[1] * case.grid[2] > 64:
        case = generate(seed + 1000, "tiny")
    assert difference(case.program, case.inputs, case.grid) is None


@pytest.mark.parametrize("profile", PROFILES)
def test_schedules_agree_and_nothing_races(profile: str) -> None:
    for seed in range(1 if profile == "large" else 3):
        case = generate(seed, profile)
        expected = execute(case.program, case.inputs, case.grid)
        other = execute(case.program, case.inputs, case.grid, schedule=seed)
        assert compare_outputs(case.program, expected.outputs, other.outputs) == []
        watched = execute(case.program, case.inputs, case.grid, sanitize=True)
        assert compare_outputs(case.program, expected.outputs, watched.outputs) == []
        assert [str(f) for f in watched.findings if f.severity is Severity.ERROR] == []
