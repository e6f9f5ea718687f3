"""Loops that begin at different numbers and are equally long run together, unless they wrap."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.backends.llvm.running import differences, launch, load
from tests.unit.backends.llvm.test_strategy import rows
from vyre.backends.llvm.abi import SUBGROUP_LANES
from vyre.backends.reference import execute
from vyre.ir import Program

BUFFERS = """
buffer a: read_only u32[] @0
buffer out: read_write u32[] @1
buffer n: uniform u32[2] @2
"""
BOUNDS = {
    "chunk": "gid.x * m..(gid.x + 1) * m",
    "later": "c + gid.x * m..c + (gid.x + 1) * m",
    "shifted": "c + (gid.x << 2)..c + (gid.x << 2) + m",
    "reversed": "c - gid.x..m + c - gid.x",
    "squared": "(gid.x + m) * (gid.x + m)..gid.x * gid.x + 2 * (m * gid.x) + m * m + 5",
    "negative": "c + gid.x..c + gid.x - 3",
    "nested": "k * 2 + gid.x..gid.x + 2 * k + m",
}
GRID = (3, 1, 1)
NUMBERS = [
    (0, 7),
    (5, 0),
    (100, 1),
    ((1 << 32) - 90, 7),
    ((1 << 32) - 1, 1),
    ((1 << 32) - 200, 12),
    (1 << 31, 3),
]


def _body(name: str) -> str:
    loop = f"for p in {BOUNDS[name]} {{ s = s * 31 + a[p % 64] + a[p] + p }}"
    loop = f"for k in 0..3 {{ {loop} }}" if name == "nested" else loop
    return f"let c = n[0] let m = n[1] let s = 1 {loop} out[gid.x] = s"


def _text(body: str, workgroup: str = "32, 1, 1") -> str:
    return f'program workgroup({workgroup})\n{BUFFERS}\nregion "r" {{\n{body}\n}}'


@pytest.mark.parametrize("name", BOUNDS)
def test_agrees_with_the_reference(name: str) -> None:
    program = Program.parse(_text(_body(name)))
    kernel = load(program)
    values = np.random.default_rng(3).integers(0, 1 << 32, 600, np.uint32)
    for numbers in NUMBERS:
        if name == "negative" and not 3 <= numbers[0] <= 1 << 31:
            continue  # Nearly 2^32 rounds in lanes that begin before three.
        inputs = {"a": values, "out": np.zeros(90, np.uint32), "n": np.array(numbers, np.uint32)}
        wanted = execute(program, inputs, GRID, subgroup_width=SUBGROUP_LANES).outputs
        found, _ = launch(kernel, program, inputs, GRID, {})
        np.testing.assert_array_equal(found["out"], wanted["out"], str(numbers))


@pytest.mark.parametrize("name", ["chunk", "later", "shifted", "reversed", "nested"])
def test_lanes_run_in_lock_step(name: str) -> None:
    found = rows(_body(name), buffers=BUFFERS)
    assert found.peeling.interior.even
    assert found.tile.jam > 1 or found.tile.width


@pytest.mark.parametrize(
    "bounds",
    [
        "gid.x * m..(gid.x + 1) * c",
        "a[gid.x]..a[gid.x + 1]",
        "c..c + gid.x",
        "c..c + m",
        "i32(gid.x)..i32(gid.x) + 5i32",
    ],
)
def test_loops_of_other_lengths_are_left_alone(bounds: str) -> None:
    body = f"let c = n[0] let m = n[1] let s = 1 for p in {bounds} {{ s = s * 3 + u32(p) }}"
    assert not rows(body + " out[gid.x] = s", buffers=BUFFERS).peeling.interior.even


def test_rows_of_a_workgroup_are_tested_together() -> None:
    body = (
        "let w = n[0] let i = gid.y * w + gid.x let s = 0"
        " for p in i * n[1]..(i + 1) * n[1] { s = s * 7 + a[p] }"
        " if (gid.x < w) & (gid.y < 5) { out[i] = s }"
    )
    program = Program.parse(_text(body, "8, 4, 1"))
    values = np.arange(1, 400, dtype=np.uint32)
    for numbers in ((11, 3), (16, 2), (1 << 29, 4), (3, 1 << 20)):
        m = min(numbers[1], 9)
        inputs = {
            "a": values,
            "out": np.zeros(90, np.uint32),
            "n": np.array([numbers[0], m], np.uint32),
        }
        assert differences(program, inputs, (2, 2, 1)) == []


def test_a_loop_that_is_left_early_is_left_at_the_same_round() -> None:
    body = (
        "let m = n[1] let s = 0 for p in n[0] + gid.x * m..n[0] + (gid.x + 1) * m {"
        " if a[p] % 5 == 3 { break } s = s + a[p] + 1 } out[gid.x] = s"
    )
    program = Program.parse(_text(body))
    values = np.random.default_rng(5).integers(0, 1 << 32, 600, np.uint32)
    for numbers in ((0, 6), ((1 << 32) - 90, 6)):
        inputs = {"a": values, "out": np.zeros(90, np.uint32), "n": np.array(numbers, np.uint32)}
        assert differences(program, inputs, GRID) == []
