"""Indices in the interior of an array: simple away from edges, and right at every edge."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.unit.backends.llvm.running import check, differences, launch, load, source
from vyre.backends.llvm.abi import SUBGROUP_LANES
from vyre.backends.llvm.analysis.idempotence import is_idempotent
from vyre.backends.reference import execute
from vyre.ir import Program

TEXT = """
program workgroup(16, 2, 1)
buffer a: read_only {type}[] @0
buffer out: read_write {type}[] @1
buffer n: uniform u32[2] @2
{more}
region "r" {{
    let w = n[0]
    let h = n[1]
{body}
}}"""

GATHERED = re.compile(r"insertelement <\d+ x i32> %\S+, i32 %\S+, i64 1\b")
"""The second lane of elements that are put together one by one."""
NOWHERE = "4294967295u32"
VIEW = (
    "let i = gid.y - 1 let j = gid.x - 1"
    f" out[gid.y * 64 + gid.x] = a[select((i < h) & (j < w), i * w + j, {NOWHERE})]"
)
STORED = (
    "if (gid.y < h) & (gid.x < w) {"
    f" out[select((gid.y < h) & (gid.x + 1 < w), gid.y * 65 + gid.x + 1, {NOWHERE})]"
    " = a[gid.y * w + gid.x] }"
)
CLAMPED = (
    "if (gid.y < h) & (gid.x < w) { out[gid.y * 64 + gid.x] ="
    " a[gid.y * w + max(gid.x, 3u32) - 3] + a[gid.y * w + min(gid.x + 2, w - 1)] }"
)
WRAPPED = (
    "if (gid.y < h) & (gid.x < w) { out[gid.y * 64 + gid.x] ="
    " a[((gid.y + h - 1) % h) * w + (gid.x + w - 1) % w] + a[gid.y * w + (gid.x + 1) % w] }"
)
FLAT = (
    "let i = gid.y * 64 + gid.x let y = i / w let x = i % w"
    f" out[i] = a[select((y + 1 < h) & (x - 1 < w), (y + 1) * w + (x - 1), {NOWHERE})]"
)
CHOSEN = (
    "out[gid.y * 64 + gid.x] = a[gid.y * w + select(gid.x == 0, w - 1, gid.x - 1)]"
    " + a[select(gid.x > 5, gid.x - 5, 0u32)]"
)
SIGNED = (
    "let i = i32(gid.y) let j = i32(gid.x) let s = a[0] - a[0]"
    " for y in -1i32..2i32 { for x in -1i32..3i32 {"
    " let p = min(max(i + y, 0i32), i32(h) - 1i32) let q = min(max(j + x, 0i32), i32(w) - 1i32)"
    f" s = s + a[select((u32(p) < h) & (u32(q) < w), u32(p) * w + u32(q), {NOWHERE})] }} }}"
    " if (i < i32(h)) & (j < i32(w)) { out[gid.y * 64 + gid.x] = s }"
)
NEGATIVE = "out[i32(gid.x + 64 * gid.y) - 4i32] = a[i32(gid.x + gid.y) - 7i32]"
LOOPED = (
    "let s = a[0] for k in 0..h {"
    f" s = s + a[select((k + gid.y < h) & (gid.x + k - 2 < w), (k + gid.y) * w + gid.x + k - 2,"
    f" {NOWHERE})] }} out[gid.y * 64 + gid.x] = s"
)
BY_LANE = (
    "let s = a[0] for k in gid.x..gid.x + h {"
    f" s = s + a[select(k - 1 < w, gid.y * w + k - 1, {NOWHERE})] }} out[gid.y * 64 + gid.x] = s"
)
AROUND = (
    "let r = i32(h) let s = a[0] for d in -r..r + 1i32 {"
    " s = s + a[gid.y * w + u32(min(max(i32(gid.x) + d, 0i32), i32(w) - 1i32))] }"
    " out[gid.y * 64 + gid.x] = s"
)
SPREAD = (
    f"out[gid.y * 64 + gid.x] = a[select(2 * gid.x + 1 < w, gid.y * w + 2 * gid.x + 1, {NOWHERE})]"
)
GUARDED = (
    "let s = a[0] if (gid.x > 2) & (gid.y > 0) { s = s + a[gid.y * w + gid.x - 3] }"
    " if gid.x + 1 != w { s = s + a[gid.y * w + gid.x + 1] } out[gid.y * 64 + gid.x] = s"
)
TILE = (
    f"t[lid.y * 16 + lid.x] = a[select((gid.y - 1 < h) & (gid.x < w), (gid.y - 1) * w + gid.x,"
    f" {NOWHERE})] barrier acq_rel"
    f" out[select((gid.y < h) & (gid.x < w), gid.y * 64 + gid.x, {NOWHERE})]"
    " = t[lid.y * 16 + (lid.x + 1) % 16]"
)
BEYOND = (
    f"let i = select(gid.x < w - 1, gid.x, {NOWHERE})"
    " if ~(i < w) { out[gid.y * 64 + gid.x] = a[i] + 5 }"
)
BEYOND_ROWS = (
    f"let i = select((gid.y < h - 1) & (gid.x < w), gid.y * w + gid.x, {NOWHERE})"
    f" if (i == {NOWHERE}) & (a[min(gid.x, w - 1)] > 9) {{ out[gid.y * 64 + gid.x] = a[i] + 5 }}"
)
"""The guard holds just where an index is not what it is in the interior of the array."""
ROWS = (
    "if gid.y == 0 { for k in 0..h {"
    f" out[select((gid.x < w) & (k < 9), gid.x * 9 + k, {NOWHERE})]"
    f" = a[select((gid.x < w) & (k < h), gid.x * h + k, {NOWHERE})] }} }}"
)
BODIES = {
    "rows": ROWS,
    "view": VIEW,
    "stored": STORED,
    "clamped": CLAMPED,
    "wrapped": WRAPPED,
    "flat": FLAT,
    "chosen": CHOSEN,
    "signed": SIGNED,
    "negative": NEGATIVE,
    "looped": LOOPED,
    "by_lane": BY_LANE,
    "around": AROUND,
    "spread": SPREAD,
    "guarded": GUARDED,
    "tile": TILE,
    "beyond": BEYOND,
    "beyond_rows": BEYOND_ROWS,
}
GRID = (4, 4, 1)
SIZES = [(64, 9), (61, 7), (3, 50), (1, 1), (0, 0), (17, 0), (1 << 31, 2), ((1 << 32) - 1, 3)]


def _text(name: str, dtype: str = "u32") -> str:
    more = f"buffer t: workgroup {dtype}[32]" if name == "tile" else ""
    return TEXT.format(body=BODIES[name], type=dtype, more=more)


@pytest.mark.parametrize("name", BODIES)
def test_agrees_with_the_reference(name: str) -> None:
    program = Program.parse(_text(name))
    kernel = load(program)
    values = np.random.default_rng(3).integers(0, 1 << 32, 600, np.uint32)
    for width, height in SIZES:
        rounds = min(height, 9) if name in ("looped", "by_lane", "rows", "around") else height
        inputs = {
            "a": values,
            "out": np.zeros(570, np.uint32),
            "n": np.array([width, rounds], np.uint32),
        }
        wanted = execute(program, inputs, GRID, subgroup_width=SUBGROUP_LANES).outputs
        found, _ = launch(kernel, program, inputs, GRID, {})
        np.testing.assert_array_equal(found["out"], wanted["out"], f"{width} by {height}")


@pytest.mark.parametrize("name", ["view", "wrapped", "clamped", "signed"])
def test_agrees_on_bytes(name: str) -> None:
    values = np.random.default_rng(4).integers(0, 256, 600, np.uint8)
    inputs = {"a": values, "out": np.zeros(570, np.uint8), "n": np.array([61, 7], np.uint32)}
    check(_text(name, "u8"), inputs, GRID)


@pytest.mark.parametrize(
    "name", ["view", "stored", "clamped", "wrapped", "flat", "spread", "around"]
)
def test_lanes_in_the_midst_run_in_vectors_without_gathers(name: str) -> None:
    text = source(Program.parse(_text(name)), "llvm-raw")
    along = re.split(r"\nlines\.short\S*:", text)[0]
    assert "edged" in along
    assert not GATHERED.search(along)


def test_what_gathers_look_like() -> None:
    body = (
        "let i = a[gid.x] * 13 let v = a[i ^ i >> 7] let s = v * v + v * 5 let t = s * s ^ s >> 3"
        " out[gid.x] = t * s + t * v * 3 ^ t >> 9"
    )
    text = source(Program.parse(TEXT.format(body=body, type="u32", more="")), "llvm-raw")
    assert GATHERED.search(text)


def test_an_element_of_a_row_per_lane_is_not_chosen_again_in_every_round() -> None:
    text = source(Program.parse(_text("rows")), "llvm-raw")
    alone, together = text.split("\nrow.lanes")[-2:]
    assert "4294967295" in alone
    assert "4294967295" not in together.split("\nrow.done")[0]


def test_a_guard_may_depend_on_what_repeats() -> None:
    body = "let x = gid.x % w if x + 1 < h { out[gid.y * 64 + gid.x] = a[gid.y * w + x] }"
    text = TEXT.format(body=body, type="u32", more="")
    values = np.arange(600, dtype=np.uint32)
    inputs = {"a": values, "out": np.zeros(570, np.uint32), "n": np.array([40, 33], np.uint32)}
    check(text, inputs, GRID)


def test_a_short_literal_period_is_left_alone() -> None:
    body = "out[gid.x] = a[gid.x % 12]"
    text = source(Program.parse(TEXT.format(body=body, type="u32", more="")), "llvm-raw")
    assert "edged" not in text


def test_what_comes_from_memory_is_not_assumed() -> None:
    body = f"out[gid.x] = a[select(a[gid.x] < w, a[gid.x] + gid.x, {NOWHERE})]"
    text = source(Program.parse(TEXT.format(body=body, type="u32", more="")), "llvm-raw")
    assert "edged" not in text


@pytest.mark.parametrize(
    ("body", "twice"),
    [
        ("out[gid.y * 64 + gid.x] = a[gid.y * w + gid.x]", True),
        ("out[gid.y * 64 + gid.x] = out[gid.y * 64 + gid.x] + a[gid.y * w + gid.x]", False),
        ("let s = atomic_add(out[gid.y * 64 + gid.x], a[gid.y * w + gid.x])", False),
        ("p[0] = p[0] + a[gid.x] out[gid.y * 64 + gid.x] = p[0]", False),
    ],
)
def test_the_last_vector_reaches_back_where_lanes_may_run_twice(body: str, twice: bool) -> None:
    program = Program.parse(TEXT.format(body=body, type="u32", more="buffer p: local u32[2]"))
    assert is_idempotent(program, program.entry, frozenset()) is twice
    for width in (64, 61, 40):
        inputs = {
            "a": np.arange(600, dtype=np.uint32),
            "out": np.ones(570, np.uint32),
            "n": np.array([width, 9], np.uint32),
        }
        assert differences(program, inputs, GRID) == []


@pytest.mark.parametrize(
    ("index", "long"),
    [("gid.y * w + gid.x", True), ("gid.x * w + gid.y", False), ("gid.x * 4 + gid.y", True)],
)
def test_workgroups_that_walk_columns_do_not_become_long_rows(index: str, long: bool) -> None:
    body = f"out[gid.y * 64 + gid.x] = a[{index}]"
    text = source(Program.parse(TEXT.format(body=body, type="u32", more="")), "llvm-raw")
    assert bool(re.search(r"%row\S* = trunc", text)) is long
