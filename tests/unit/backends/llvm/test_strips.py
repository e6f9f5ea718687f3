"""Loops look at the stop flag often enough, however they lie inside of one another."""

from __future__ import annotations

import time

import numpy as np
import pytest

from tests.unit.backends.llvm.running import check, load
from vyre.analysis.types import variable_types
from vyre.backends.llvm import heuristics
from vyre.backends.llvm.outcome import Outcome, Status
from vyre.backends.llvm.schedule.safepoints import max_trip_counts, strips
from vyre.ir import Program

HEAD = """program workgroup({lanes}, 1, 1)
buffer x: read_only u32[] @0
buffer bytes: read_only u8[] @1
buffer signed: read_only i8[] @2
buffer out: read_write u32[] @3
region "loops" {{
    let s = x[0]
    {body}
    out[gid.x] = s
}}
"""
STEP = "s = (s ^ (s << 3)) * (i + j + k + 1)"
LONG = {
    "known bounds": f"for i in 0..60000 {{ for j in 0..60000 {{ for k in 0..60 {{ {STEP} }} }} }}",
    "narrow counters": (
        "for i in 0u8..bytes[0] { for j in 0i8..signed[0] { for k in 0u8..bytes[0] {"
        " for l in 0u8..bytes[0] { for m in 0u8..bytes[0] { for n in 0u8..bytes[0] {"
        " s = (s ^ (s << 3)) * u32(i + k + l + m + n) } } } } } }"
    ),
    "one after the other": (
        "for i in 0..60000 { for j in 0..40000 { s = (s ^ (s << 3)) * (i + j) }"
        " for k in 0..40000 { s = (s ^ (s << 5)) * (i + k) } }"
    ),
    "in a branch": (
        "for i in 0..60000 { if s != 7 { for j in 0..60000 { for k in 0..60000 {"
        f" {STEP} }} }} }} }}"
    ),
}


@pytest.mark.parametrize("lanes", [1, 64])
@pytest.mark.parametrize("body", LONG.values(), ids=LONG)
def test_a_deadline_ends_short_loops_in_short_loops(body: str, lanes: int) -> None:
    program = Program.parse(HEAD.format(lanes=lanes, body=body))
    arrays = [np.full(4, 3, np.uint32), np.full(4, 255, np.uint8), np.full(4, 127, np.int8)]
    arrays.append(np.zeros(64, np.uint32))
    places = [(int(a.ctypes.data), a.size) for a in arrays]
    start = time.perf_counter()
    assert load(program).launch_raw(places, (1, 1, 1), 0.1) == Outcome(Status.DEADLINE)
    assert time.perf_counter() - start < 5.0


def strips_of(body: str) -> dict[str, int]:
    program = Program.parse(HEAD.format(lanes=1, body=body))
    return strips(program, max_trip_counts(program, variable_types(program)))


def test_what_is_over_soon_does_not_look() -> None:
    assert strips_of("for i in 0..100 { for j in 0..500 { s = s + i * j } }") == {"i": 0, "j": 0}
    assert strips_of("for i in 0u8..bytes[0] { s = s + 1 }") == {"i": 0}
    assert strips_of("for i in 0..x[0] % 9 { s = s + 1 }") == {"i": 0}


def test_what_looks_itself_does_not_count() -> None:
    found = strips_of("for i in 0..x[0] { for j in 0..x[1] { for k in 0..9 { s = s + 1 } } }")
    assert found == {
        "i": heuristics.SAFEPOINT_ITERATIONS,
        "j": heuristics.SAFEPOINT_ITERATIONS // 10,
        "k": 0,
    }


SUMS = {
    "narrow and nested": (
        "for i in 0u8..bytes[0] { for j in signed[1]..signed[0] { s = s * 3 + u32(i) + u32(j) } }"
    ),
    "more than one strip": (
        "for i in 0..x[1] { for j in 0..900 { s = (s ^ j) * 3 + i } for k in 0..90 { s = s + k } }"
    ),
    "empty": "for i in 5..x[2] { for j in 0..40000 { s = s + j } s = s + 1 }",
}


@pytest.mark.parametrize("cpu", ["native", "generic"])
@pytest.mark.parametrize("body", SUMS.values(), ids=SUMS)
def test_every_round_is_run_once(body: str, cpu: str) -> None:
    given = {
        "x": np.array([7, 150, 3], np.uint32),
        "bytes": np.array([255], np.uint8),
        "signed": np.array([127, -128], np.int8),
        "out": np.zeros(4, np.uint32),
    }
    check(HEAD.format(lanes=4, body=body), given, (1, 1, 1), cpu)
