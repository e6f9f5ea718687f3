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


FEW = """program workgroup(64, 1, 1)
buffer text: read_only u8[] @0
buffer starts: read_only u32[] @1
buffer out: read_write u32[] @2
region "few" {{
    if gid.x + 1 < len(starts) {{
        let p = starts[gid.x]
        let sum = 0
        while p < starts[gid.x + 1] {{
            let length = 1
            if text[p] > 200u8 {{ length = {most} }} else if text[p] > 100u8 {{ length = 3 }}
            for k in 1..length {{ sum = sum * 5 + u32(text[p + k]) }}
            p = p + length
        }}
        out[gid.x] = sum
    }}
}}
"""


@pytest.mark.parametrize("missing", [0, 1, 5, 60])
@pytest.mark.parametrize("most", [0, 4, 9, 70_000])
def test_loops_of_few_rounds(most: int, missing: int) -> None:
    starts = np.zeros(60, np.uint32)
    starts[1:] = np.cumsum(RANDOM.integers(0, 20, 59))
    text = RANDOM.integers(0, 201 if most in (0, 70_000) else 256, int(starts[-1]) - missing)
    text[-1:] = 201 if most else 7
    given = {"text": text.astype(np.uint8), "starts": starts, "out": np.zeros(64, np.uint32)}
    check(FEW.format(most=most), given, (1, 1, 1))


def test_loops_of_few_rounds_prepare_nothing() -> None:
    few, several, many = (source(Program.parse(FEW.format(most=n))) for n in (4, 40, 70_000))
    assert "!llvm.loop !3" in few
    assert "!llvm.loop !3" not in several
    assert "strip" not in few + several
    assert "strip" in many
