"""Loops of lanes in lock-step that take turns of several rounds."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.backends.llvm.running import check

WALK = """program workgroup(64, 1, 1)
buffer text: read_only u8[] @0
buffer table: read_only u8[] @1
buffer found: read_write u32[] @2
buffer rounds: uniform {kind}[2] @3
region "walk" {{
    if gid.x < len(found) {{
        let state = 0u32
        let count = 0u32
        {outer}
        for i in rounds[0]..rounds[1] {{
            state = u32(table[state * 7u32 + u32(text[gid.x * 16u32 + u32(i)])])
            {inner}
            count = count * 3u32 + state
        }}
        found[gid.x] = count
    }}
}}
"""
RANDOM = np.random.default_rng(5)


def walk(kind: str, first: int, last: int, outer: str = "", inner: str = "") -> None:
    dtype = np.dtype({"u32": "u4", "i32": "i4", "u64": "u8", "i64": "i8"}[kind])
    given = {
        "text": RANDOM.integers(0, 256, 100 * 16 - 40, dtype=np.uint8),
        # States reach beyond the table: those loads give zero.
        "table": RANDOM.integers(0, 60, 300, dtype=np.uint8),
        "found": np.zeros(100, np.uint32),
        "rounds": np.array([first, last], np.int64).astype(dtype),
    }
    check(WALK.format(kind=kind, outer=outer, inner=inner), given, (2, 1, 1))


@pytest.mark.parametrize("kind", ["u32", "i32", "u64", "i64"])
@pytest.mark.parametrize("bounds", [(0, 0), (0, 1), (0, 2), (1, 4), (0, 15), (9, 3), (3, 20)])
def test_any_number_of_rounds(kind: str, bounds: tuple[int, int]) -> None:
    walk(kind, *bounds)


@pytest.mark.parametrize("bounds", [(-5, 4), (-3, -1), (4, -4)])
def test_negative_counters(bounds: tuple[int, int]) -> None:
    walk("i32", *bounds)


def test_variables_of_all_lanes_together() -> None:
    """A variable that all lanes share must not run ahead with the first of them."""
    walk("u32", 0, 9, "let shared = 1u32", "shared = shared * 5u32 + 1u32\n count = count ^ shared")


def test_lanes_that_leave_together() -> None:
    walk("u32", 0, 9, "", "if u32(i) == 5u32 { break }")
