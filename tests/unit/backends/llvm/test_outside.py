"""Loops over planes: around the lanes where lanes cannot tell, and the same results anyhow."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.backends.llvm.running import differences, lowered_by
from vyre.backends.llvm.passes.interchange_loops import InterchangeLoops
from vyre.ir import Program
from vyre.rewrite.unique_names import with_unique_names

HEAD = """program workgroup(16, 4, 1)
buffer a: read_only f32[] @0
buffer o: read_write f32[] @1
buffer n: uniform u32[3] @2
region "r" {{
    let x = gid.x
    let y = gid.y
    {body}
}}
"""
GUARD = "if (y < n[1]) & (x < n[2])"
PLACE = "(c * n[1] + y) * n[2] + x"
MOVED = {
    "planes": f"{GUARD} {{ for c in 0u32..n[0] {{ o[{PLACE}] = a[{PLACE}] + 1.0f32 }} }}",
    "with a name": f"{GUARD} {{ let w = a[x] for c in 0u32..n[0] {{ o[{PLACE}] = w }} }}",
    "one that changes": (
        f"{GUARD} {{ for c in 0u32..n[0] {{ let v = 0.0f32 if a[x] > 0.5f32 {{ v = a[{PLACE}] }}"
        f" o[{PLACE}] = v }} }}"
    ),
}
LEFT = {
    "a sum": (
        f"{GUARD} {{ let s = 0.0f32 for c in 0u32..n[0] {{ s = s + a[{PLACE}] o[{PLACE}] = s }} }}"
    ),
    "read again": f"{GUARD} {{ for c in 0u32..n[0] {{ o[{PLACE}] = o[{PLACE}] + 1.0f32 }} }}",
    "lanes end apart": f"{GUARD} {{ for c in 0u32..x {{ o[{PLACE}] = 1.0f32 }} }}",
    "left early": (
        f"{GUARD} {{ for c in 0u32..n[0] {{ if a[x] > 0.9f32 {{ break }} o[{PLACE}] = 1.0f32 }} }}"
    ),
    "parts side by side": (
        f"{GUARD} {{ for c in 0u32..n[0] {{ o[(y * n[2] + x) * n[0] + c] = 1.0f32 }} }}"
    ),
    "not all": f"{GUARD} {{ for c in 0u32..n[0] {{ o[{PLACE}] = 1.0f32 }} o[x] = 2.0f32 }}",
}


def program_of(body: str) -> Program:
    return with_unique_names(Program.parse(HEAD.format(body=body)))


@pytest.mark.parametrize("name", MOVED)
def test_loops_that_are_moved(name: str) -> None:
    assert lowered_by(InterchangeLoops(), program_of(MOVED[name]))[1].outer_counters


@pytest.mark.parametrize("name", LEFT)
def test_loops_that_stay(name: str) -> None:
    program = program_of(LEFT[name])
    made, facts = lowered_by(InterchangeLoops(), program)
    assert made is program
    assert not facts.outer_counters


@pytest.mark.parametrize("name", [*MOVED, *LEFT])
@pytest.mark.parametrize("sizes", [(3, 9, 37), (0, 4, 16), (2, 1, 70), (5, 20, 100)])
@pytest.mark.parametrize("count", [0, 100, 4000])
def test_results(name: str, sizes: tuple[int, int, int], count: int) -> None:
    program = program_of({**MOVED, **LEFT}[name])
    random = np.random.default_rng(3)
    inputs = {
        "a": random.random(3000, dtype=np.float32),
        "o": random.random(count, dtype=np.float32),
        "n": np.array(sizes, np.uint32),
    }
    if name == "not all":
        # Rows store to one place.
        inputs["n"] = np.array((sizes[0], 1, sizes[2]), np.uint32)
    assert not differences(program, inputs, (5, 4, 1))
