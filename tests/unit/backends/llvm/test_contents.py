"""Indices that what is in memory proves, and that nothing else does."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.backends.llvm.running import Array, check, differences, load, source
from vyre.conform.fuzz.guard_pages import Fence
from vyre.ir import Program

WALK = """program workgroup(64, 1, 1)
buffer text: read_only u8[] @0
buffer table: read_only {kind}[] @1
buffer found: read_write u32[] @2
region "walk" {{
    if gid.x < len(found) {{
        let state = 0u32
        let count = 0u32
        for i in 0..16u32 {{
            state = {step}
            {inner}
            count = count * 3u32 + state
        }}
        found[gid.x] = count
    }}
}}
"""
STEP = "u32(table[state * 8u32 + u32(text[gid.x * 16u32 + i] & 7u8)])"
RANDOM = np.random.default_rng(7)
KINDS = {"u8": np.uint8, "u16": np.uint16, "u32": np.uint32}


def arrays(kind: str, states: int, beyond: int = 0) -> dict[str, Array]:
    """A table of eight ways out of every state, one of them to a state that may not exist."""
    table = RANDOM.integers(0, states, states * 8).astype(KINDS[kind])
    table[-1] += beyond
    return {
        "text": RANDOM.integers(0, 256, 200 * 16, dtype=np.uint8),
        "table": table,
        "found": np.zeros(200, np.uint32),
    }


def program(kind: str = "u8", step: str = STEP, inner: str = "") -> str:
    return WALK.format(kind=kind, step=step, inner=inner)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("beyond", [0, 1, 30, 200])
def test_tables_that_stay_inside_and_tables_that_do_not(kind: str, beyond: int) -> None:
    check(program(kind), arrays(kind, 20, beyond), (4, 1, 1))


@pytest.mark.parametrize("states", [1, 5, 33, 250])
def test_tables_of_any_length(states: int) -> None:
    check(program(), arrays("u8", states), (4, 1, 1))


def test_a_table_that_is_large_for_the_work() -> None:
    check(program("u32"), arrays("u32", 60_000), (4, 1, 1))


def test_no_table_at_all() -> None:
    given = arrays("u8", 4) | {"table": np.zeros(0, np.uint8)}
    check(program(), given, (4, 1, 1))


@pytest.mark.parametrize(
    "step",
    [
        STEP.replace("* 8u32", "* 9u32"),
        f"select(i > 3u32, {STEP}, 5u32)",
        f"{STEP} & 31u32",
        STEP.replace("gid.x * 16u32 + i", "gid.x * 16u32 + i * 300u32"),
        "u32(table[u32(text[gid.x * 16u32 + i] & 7u8) + state * 8u32])",
        "u32(table[(state * 8u32 - 3u32) + u32(text[gid.x * 16u32 + i] & 7u8)])",
        "u32(table[(3u32 - u32(text[gid.x * 16u32 + i] & 3u8)) + state * 8u32])",
        "u32(table[state * 8u32 + (state & 7u32)])",
    ],
)
def test_other_ways_to_step(step: str) -> None:
    check(program(step=step), arrays("u8", 20), (4, 1, 1))


@pytest.mark.parametrize("beyond", [0, 1, 500])
def test_conditions_that_look_where_the_table_says(beyond: int) -> None:
    """A forest: every element says where the next one is, and a root says itself."""
    text = """program workgroup(64, 1, 1)
buffer table: read_only u32[] @0
buffer found: read_write u32[] @1
region "climb" {
    if gid.x < len(found) {
        let at = table[gid.x]
        while table[at] != at { at = table[at] }
        found[gid.x] = at
    }
}
"""
    table = RANDOM.integers(0, np.arange(1, 201)).astype(np.uint32)
    table[150] += beyond
    table[0] = 0
    check(text, {"table": table, "found": np.zeros(200, np.uint32)}, (4, 1, 1))


def test_lanes_that_leave_early() -> None:
    check(program(inner="if state == 3u32 { break }"), arrays("u8", 20), (4, 1, 1))


def test_a_generic_machine() -> None:
    assert differences(Program.parse(program()), arrays("u8", 20), (4, 1, 1), cpu="generic") == []


def test_code_without_tests_is_there() -> None:
    assert "@vyre.greatest.u8" in source(Program.parse(program()))
    changed = program().replace("table: read_only", "table: read_write")
    assert "@vyre.greatest.u8" not in source(Program.parse(changed))


def test_what_is_known_early_goes_into_the_pointer() -> None:
    assert "getelementptr i8, ptr %v." in source(Program.parse(program()))
    less = STEP.replace("state * 8u32", "(state * 8u32 - i)")
    assert "getelementptr i8, ptr %v." not in source(Program.parse(program(step=less)))


@pytest.mark.parametrize("beyond", [0, 1, 200])
def test_between_forbidden_pages(beyond: int) -> None:
    run_between_fences(program(), arrays("u8", 20, beyond), (4, 1, 1))


def test_lanes_that_are_through_read_nothing() -> None:
    """Counters that differ between lanes run on in the lanes that are done."""
    text = """program workgroup(64, 1, 1)
buffer a: read_only f32[] @0
buffer out: read_write f32[] @1
region "r" {
    if gid.x < len(out) {
        let s = 0.0f32
        for i in gid.x..len(out) {
            let v = a[i]
            let t = v * v + 2.0f32
            s = s + t * v + (t - v) * (t + v) + t * t * t + v * v * v - t * v * t
        }
        out[gid.x] = s
    }
}
"""
    for length in (64, 97, 128):
        values = RANDOM.random(length).astype(np.float32)
        run_between_fences(text, {"a": values, "out": np.zeros_like(values)}, (2, 1, 1))


def run_between_fences(text: str, given: dict[str, Array], grid: tuple[int, int, int]) -> None:
    """Any access outside a buffer would end the process."""
    parsed = Program.parse(text)
    kernel = load(parsed)
    fences = [Fence(array, "behind") for array in given.values()]
    places = [
        (fence.view.ctypes.data, array.size)
        for fence, array in zip(fences, given.values(), strict=True)
    ]
    assert kernel.launch_raw(places, grid, 30.0) is None
