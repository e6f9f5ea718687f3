"""Loads of neighbours: each gives its elements, whichever of them is shuffled from another."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.backends.llvm.running import WIDE, check
from vyre.backends.llvm.emit.module import generate
from vyre.ir import Program

NEAR = """program workgroup(64, 1, 1)
buffer x: read_only {kind}[] @0
buffer y: read_write {kind}[] @1
region "near" {{
    let i = gid.x
    if i >= 8u32 & i + 8u32 < len(x) {{
        y[i] = {value}
    }}
}}
"""
BETWEEN = """program workgroup(64, 1, 1)
buffer x: read_only f32[] @0
buffer y: read_write f32[] @1
buffer tile: workgroup f32[80]
region "between" {
    tile[lid.x] = x[gid.x]
    barrier
    let before = tile[lid.x] + tile[lid.x + 1u32]
    barrier
    tile[lid.x + 1u32] = before
    barrier
    let after = tile[lid.x] + tile[lid.x + 2u32]
    if gid.x < len(y) { y[gid.x] = before - after }
}
"""
KINDS = {"f32": np.float32, "u32": np.uint32, "u64": np.uint64, "u16": np.uint16, "u8": np.uint8}
ORDERS = [(0, 1, 2), (1, 0, 2), (2, 1, 0), (1, 2, 0), (4, 0, 2), (0, 4, 8), (0, 3, 5), (0, 0, 1)]


def text_of(kind: str, offsets: tuple[int, ...]) -> str:
    return NEAR.format(kind=kind, value=" + ".join(f"x[i - 4u32 + {n}u32]" for n in offsets))


def arrays(kind: str, n: int) -> dict[str, np.ndarray]:
    values = np.random.default_rng(n).integers(0, 50, n).astype(KINDS[kind])
    return {"x": values, "y": np.zeros(n, KINDS[kind])}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("offsets", ORDERS)
def test_neighbours_in_any_order(kind: str, offsets: tuple[int, ...]) -> None:
    for n in (0, 17, 64, 333, 1000):
        check(text_of(kind, offsets), arrays(kind, n), (16, 1, 1))


def test_the_last_lanes_read_no_element_beyond_the_end() -> None:
    text = text_of("f32", (0, 1, 2)).replace("i + 8u32 < len(x)", "i - 2u32 < len(x)")
    check(text, arrays("f32", 500), (8, 1, 1))


def test_what_a_store_changed_is_loaded_again() -> None:
    check(BETWEEN, arrays("f32", 640), (10, 1, 1))


def joined(text: str, without: frozenset[str] = frozenset()) -> int:
    """Vectors that are shuffled from two."""
    made = generate(Program.parse(text), WIDE, without=without).text
    return sum("shufflevector <32 x float>" in line for line in made.splitlines())


def test_one_load_serves_three_neighbours() -> None:
    assert joined(text_of("f32", (0, 1, 2))) == 2
    assert joined(text_of("f32", (0, 8, 16))) == 0
    assert joined(text_of("f32", (0, 1, 2)), frozenset({"realign"})) == 0
