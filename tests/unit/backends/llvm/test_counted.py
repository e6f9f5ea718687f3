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
    assert "loop.inside" not in few
    assert "loop.inside" in several
    assert "strip" not in few + several
    assert "strip" in many


@pytest.mark.parametrize(("stop", "uneven"), [("starts[gid.x]", True), ("starts[3]", False)])
def test_loops_with_other_rounds_for_every_lane_are_not_written_out(
    stop: str, uneven: bool
) -> None:
    body = f"for k in 0..{stop} {{ sum = (sum ^ u32(text[(sum + k) % 99])) * 16777619 }}"
    made = FEW.format(most=4).partition("while")[0] + body + " out[gid.x] = sum } }"
    code = source(Program.parse(made))
    assert "<8 x" not in code
    assert ("!llvm.loop !3" in code) == uneven


DECODER = """program workgroup(16, 1, 1)
buffer runs: read_only u8[] @0
buffer begin: read_only i32[] @1
buffer width: read_only u32[] @2
buffer out: read_write u32[] @3
region "decoder" {{
    if gid.x < 40 {{
        let o = {first}
        let w = width[0]
        let base = gid.x * 64
        let value = gid.x * 1000
        for k in {rounds} {{
            {inner}
        }}
        out[base + 10] = u32(o) + value
    }}
}}
"""
NOWHERE = 0xFFFFFFFF
FOLLOWING = {
    "rises": "out[base + u32(o)] = value\n o = o + ONE",
    "falls": "out[base + 50 - u32(o)] = value\n o = o + ONE",
    "falls itself": "out[base + u32(o)] = value\n o = o - ONE",
    "in the other order": "value = value * 5 + out[u32(o) + base]\n o = ONE + o",
    "in a row of its own": (
        f"out[select(u32(o) < w, base + u32(o), {NOWHERE})] = value + u32(k)\n o = o + ONE"
    ),
    "in a row, two tests": (
        f"let i = u32(o)\n out[select((i < w) & (gid.x < 37), base + i, {NOWHERE})] = i\n"
        " o = o + ONE"
    ),
    "signed": (
        "out[i32(base) + i32(o)] = value\n value = value * 3 + out[i32(base) + i32(o) + 3i32]\n"
        " o = o + ONE"
    ),
    "with the counter": "out[base + u32(o) + u32(k)] = value + u32(k)\n o = o - ONE",
    "after the change": "o = o + ONE\n out[base + u32(o)] = value",
    "before and after": "out[base + u32(o)] = value\n o = o + ONE\n out[base + u32(o) + 6] = 7",
    "bound before the change": "let i = base + u32(o)\n o = o + ONE\n out[i] = value",
    "changed twice": "out[base + u32(o)] = value\n o = o + ONE\n if k == {two} { o = o + ONE }",
    "changed at times": "out[base + u32(o)] = value\n if k == {two} { o = o + ONE }",
    "goes on early": "if k == {two} { continue }\n out[base + u32(o)] = value\n o = o + ONE",
    "leaves early": "out[base + u32(o)] = value\n if k == {two} { break }\n o = o + ONE",
    "steps of two": "out[base + u32(o)] = value\n o = o + ONE + ONE",
    "at times": "if k != {two} { out[base + u32(o)] = value }\n o = o + ONE",
}
ROUNDS = {
    "u8": ("0u8..runs[gid.x]", "2u8"),
    "u32": ("3..3 + u32(runs[gid.x])", "5"),
    "i32": ("-2i32..i32(runs[gid.x]) - 2i32", "0i32"),
    "u64": ("0u64..u64(runs[gid.x])", "2u64"),
}
FIRSTS = {"i32": "begin[gid.x]", "u32": "u32(begin[gid.x])"}


def decoder(inner: str, rounds: str, first: str) -> str:
    counter, two = ROUNDS[rounds]
    body = FOLLOWING[inner].replace("{two}", two)
    body = body.replace("ONE", f"1{first}")
    if first == "i32":
        body = body.replace("i32(o)", "o").replace("uo", "u32(o)")
    return DECODER.format(first=FIRSTS[first], rounds=counter, inner=body)


@pytest.mark.parametrize("first", FIRSTS)
@pytest.mark.parametrize("rounds", ROUNDS)
@pytest.mark.parametrize("inner", FOLLOWING)
def test_variables_that_go_on_with_the_counter(inner: str, rounds: str, first: str) -> None:
    """Rows lie 64 apart, so that no invocation meets another, wherever it begins."""
    begin = RANDOM.integers(16, 30, 40).astype(np.int32)
    begin[[3, 4, 5, 9]] = (2**31 - 3, -(2**31), -1, -4)
    for width in (0, 25, 2**32 - 1):
        given = {
            "runs": RANDOM.integers(0, 9, 40).astype(np.uint8),
            "begin": begin,
            "width": np.array([width], np.uint32),
            "out": np.arange(39 * 64 + 22, dtype=np.uint32),
        }
        check(decoder(inner, rounds, first), given, (3, 1, 1))


@pytest.mark.parametrize("rounds", ["u8", "u32", "i32"])
def test_such_places_are_tested_once(rounds: str) -> None:
    for inner in ("rises", "falls", "falls itself", "signed", "at times"):
        assert "loop.inside" in source(Program.parse(decoder(inner, rounds, "i32"))), inner
    for inner in ("after the change", "changed at times", "goes on early", "steps of two"):
        assert "loop.inside" not in source(Program.parse(decoder(inner, rounds, "i32"))), inner


RUN_LENGTHS = """program workgroup(64, 1, 1)
buffer runs: read_only u8[] @0
buffer start: read_only u32[] @1
buffer out: read_write u8[] @2
buffer shape: uniform u32[2] @3
region "runs" {
    if gid.x < shape[0] {
        let o = 0i32
        let width = shape[1]
        for p in start[gid.x]..start[gid.x + 1] {
            let value = runs[p * 2 + 1]
            for k in 0u8..runs[p * 2] {
                let i = u32(o)
                out[select(i < width, gid.x * width + i, 4294967295)] = value
                o = o + 1i32
            }
        }
    }
}
"""


@pytest.mark.parametrize("width", [0, 1, 30, 64])
@pytest.mark.parametrize("missing", [0, 1, 40])
def test_runs_are_written_without_tests(width: int, missing: int) -> None:
    lengths = RANDOM.integers(0, 12, (90, 2)).astype(np.uint8)
    lengths[7, 0] = 255
    given = {
        "runs": lengths.ravel(),
        "start": np.arange(0, 93, 3).astype(np.uint32),
        "out": np.zeros(max(30 * width - missing, 0), np.uint8),
        "shape": np.array([30, width], np.uint32),
    }
    check(RUN_LENGTHS, given, (1, 1, 1))
    assert "loop.inside" in source(Program.parse(RUN_LENGTHS))
