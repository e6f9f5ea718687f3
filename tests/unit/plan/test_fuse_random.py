"""Random programs fused give what they give one after the other, on the reference and the CPU."""

from __future__ import annotations

import pytest

from vyre.backends.reference import execute
from vyre.conform.compare import compare_outputs
from vyre.conform.fuzz.fusion import fused_pair
from vyre.conform.generate import PROFILES, generate
from vyre.driver.backend import EmitOptions
from vyre.driver.compilation import CompileOptions
from vyre.runtime import run
from vyre.runtime.host_types import as_host_arrays

CHUNK = 25
QUICK = CompileOptions(emit=EmitOptions(tier="quick"))
"""What LLVM makes of fused programs is no other than what it makes of any: it need not try hard."""


def differences(seed: int) -> list[str] | None:
    """What differs for one pair; None where fusing is refused."""
    case = generate(seed, PROFILES["tiny"])
    pair = fused_pair(case, seed)
    if pair is None:
        return None
    sizes = {name: found.shape[0] for name, found in pair.expected.items()}
    results = {
        "reference": execute(pair.program, pair.inputs, case.grid).outputs,
        "cpu": run(
            pair.program,
            as_host_arrays(pair.program, pair.inputs),
            grid=case.grid,
            sizes=sizes,
            device="cpu",
            options=QUICK,
        ),
    }
    return [
        f"{device}: {difference}"
        for device, found in results.items()
        for difference in compare_outputs(pair.program, pair.expected, found, pair.tolerances)
    ]


@pytest.mark.parametrize("start", range(0, 100, CHUNK))
def test_fused_equals_sequential(start: int) -> None:
    found = {seed: differences(seed) for seed in range(start, start + CHUNK)}
    assert {seed: wrong for seed, wrong in found.items() if wrong} == {}
    assert sum(wrong is not None for wrong in found.values()) >= CHUNK // 2
