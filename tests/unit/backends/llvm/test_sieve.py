"""Conditions that many lanes are asked at once, before those that have work run one by one."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.backends.llvm.running import Array, check, source
from vyre.ir import Program

SWEEP = """program workgroup(64, 1, 1)
buffer levels: read_only u32[] @0
buffer places: read_only u32[] @1
buffer out: read_write u32[] @2
buffer level: uniform u32[1] @3
region "sweep" {{
    {body}
}}
"""
WORK = """for e in places[gid.x]..places[gid.x + 1] {
    eval atomic_add(out[places[e] % 91], e)
    eval atomic_add(out[e % 97], 1)
}"""
RANDOM = np.random.default_rng(3)


def arrays(nodes: int, share: float) -> dict[str, Array]:
    return {
        "levels": (RANDOM.random(nodes) < share).astype(np.uint32),
        "places": RANDOM.integers(0, 40, nodes).astype(np.uint32),
        "out": np.zeros(101, np.uint32),
        "level": np.ones(1, np.uint32),
    }


def program(body: str) -> str:
    return SWEEP.format(body=body)


GUARDED = f"if gid.x < len(levels) {{ if levels[gid.x] == level[0] {{ {WORK} }} }}"
BODIES = [
    GUARDED,
    f"if levels[gid.x] == level[0] {{ {WORK} }}",
    f"if gid.x >= len(levels) {{ return }}\n if levels[gid.x] != level[0] {{ return }}\n {WORK}",
    f"let mine = levels[gid.x]\n let far = mine + 1\n if far == level[0] + 1 {{ {WORK} }}",
    f"if (levels[gid.x] == level[0]) & (places[places[gid.x]] > 2) & (gid.x > 40) {{ {WORK} }}",
    f"if levels[gid.x + 3] == level[0] {{ {WORK} }}",
    f"let kept = levels[gid.x]\n barrier acq_rel\n if (kept == 1) & (gid.x > 0) {{ {WORK} }}",
]


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("nodes", [0, 1, 31, 32, 33, 200])
@pytest.mark.parametrize("share", [0.0, 0.1, 1.0])
def test_lanes_with_work_among_others(body: str, nodes: int, share: float) -> None:
    check(program(body), arrays(nodes, share), (4, 1, 1))


@pytest.mark.parametrize("nodes", [5, 64, 150])
def test_atomics_that_only_look(nodes: int) -> None:
    """No invocation writes what others read, so that results do not depend on the order."""
    body = GUARDED.replace("levels[gid.x] ==", "atomic_or(levels[gid.x], 0) ==")
    text = program(body).replace("levels: read_only", "levels: read_write")
    assert "bitcast <32 x i1>" in source(Program.parse(text))
    check(text, arrays(nodes, 0.3), (3, 1, 1))


def test_what_others_do_is_no_condition() -> None:
    """An atomic that changes something is done once by every lane."""
    body = GUARDED.replace("levels[gid.x] ==", "atomic_or(levels[gid.x], 1) ==")
    text = program(body).replace("levels: read_only", "levels: read_write")
    assert "bitcast <32 x i1>" not in source(Program.parse(text))
    check(text, arrays(150, 0.3), (3, 1, 1))
