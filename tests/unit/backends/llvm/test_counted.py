"""Loops of single lanes that one test before them proves, or does not."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.backends.llvm.running import check, source
from vyre.ir import Program

RUNS = """program workgroup(64, 1, 1)
buffer starts: read_only u32[] @0
buffer values: read_only u32[] @1
buffer out: read_write u32[] @2
region "runs" {{
    if gid.x + 1 < len(starts) {{
        let sum = 0
        for i in starts[gid.x]..starts[gid.x + 1] {{
            {inner}
        }}
        out[gid.x] = sum
    }}
}}
"""
INNER = [
    "sum = sum * 3 + values[i]",
    "sum = sum * 3 + values[i + 2] + values[values[i] % 5]",
    "if values[i] == 3 { break }\n sum = sum + values[i + 1]",
    "if values[i + 1] == 3 { continue }\n out[i + 100] = sum\n sum = sum + i",
    "let x = values[i]\n sum = sum + x * values[i - 1]",
]
RANDOM = np.random.default_rng(11)


@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("missing", [0, 1, 2, 3, 40, 500])
def test_loops_that_end_inside_and_beyond(inner: str, missing: int) -> None:
    starts = np.zeros(100, np.uint32)
    starts[1:] = np.cumsum(RANDOM.integers(0, 9, 99))
    length = max(int(starts[-1]) - missing, 0)
    given = {
        "starts": starts,
        "values": RANDOM.integers(0, 40, length).astype(np.uint32),
        "out": np.zeros(400, np.uint32),
    }
    check(RUNS.format(inner=inner), given, (2, 1, 1))


def test_counters_at_the_end_of_their_type() -> None:
    """Two after the greatest counter is the first element."""
    last = 0xFFFFFFFF
    given = {
        "starts": np.array([last - 3, last], np.uint32),
        "values": np.arange(1, 50, dtype=np.uint32),
        "out": np.zeros(4, np.uint32),
    }
    check(RUNS.format(inner=INNER[1]), given, (1, 1, 1))


def test_the_loop_is_there_twice() -> None:
    assert "loop.inside" in source(Program.parse(RUNS.format(inner=INNER[0])))
