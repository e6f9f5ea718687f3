"""Loops that follow links through memory run in vectors, and only those."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.backends.llvm.running import check
from tests.unit.backends.llvm.test_strategy import rows

BUFFERS = """
buffer links: read_only u32[] @0
buffer bytes: read_only u8[] @1
buffer keys: read_only u32[] @2
buffer out: read_write u32[] @3
"""
CHAIN = "let n = gid.x while links[n] != n { n = links[n] } out[gid.x] = n"
TREES = """
    let s = 0
    for t in 0..len(keys) {
        let n = t * 64
        while links[n] != 0 {
            if keys[gid.x & 7] < keys[n & 31] { n = links[n] } else { n = links[n] + 1 }
        }
        s = s + n
    }
    out[gid.x] = s
"""


@pytest.mark.parametrize("body", [CHAIN, TREES])
def test_links_are_followed_by_vectors(body: str) -> None:
    assert rows(body, buffers=BUFFERS).tile.width == 16


def test_short_rows_take_as_many_lanes_as_they_have() -> None:
    assert rows(CHAIN, "8, 8, 1", buffers=BUFFERS).tile.width == 8


OTHERS = {
    "elements side by side": (
        "let s = 0 for e in links[gid.x]..links[gid.x + 1] { s = s + keys[links[e]] }"
        " out[gid.x] = s"
    ),
    "elements side by side, counted by hand": (
        "let s = 0 let e = links[gid.x] while e < links[gid.x + 1] { let u = links[e]"
        " s = s + keys[u] * keys[u + 1] e = e + 1 } out[gid.x] = s"
    ),
    "a search that ends early": (
        "let n = gid.x while links[n] != n { if keys[n] == 7 { break } n = links[n] }"
        " out[gid.x] = n"
    ),
    "bytes": "let n = gid.x while n != 0 { n = u32(bytes[n]) } out[gid.x] = n",
    "stores on the way": (
        "let n = gid.x while links[n] != n { out[n] = 1 n = links[n] } out[gid.x] = n"
    ),
    "atomics": (
        "let n = gid.x while links[n] != n { n = links[n] } eval atomic_add(out[n & 7], 1)"
    ),
}


@pytest.mark.parametrize("body", OTHERS.values(), ids=OTHERS.keys())
def test_others_run_lane_by_lane(body: str) -> None:
    assert rows(body, buffers=BUFFERS).tile.width == 0


@pytest.mark.parametrize("length", [0, 1, 7, 64, 300])
@pytest.mark.parametrize("far", [0, 40, 0x7FFFFFFF])
def test_links_may_lead_out_of_bounds(length: int, far: int) -> None:
    """An element that is not there is 0, and so every chain ends."""
    random = np.random.default_rng(length)
    links = np.minimum(np.arange(length), random.integers(0, 300, length)).astype(np.uint32)
    links[::9] += far
    body = "let n = gid.x let k = 0 while (links[n] != n) & (k < 40) { n = links[n] k = k + 1 }"
    text = f'program workgroup(64, 1, 1)\n{BUFFERS}\nregion "r" {{\n{body} out[gid.x] = n }}'
    given = {
        "links": links,
        "bytes": np.zeros(1, np.uint8),
        "keys": np.zeros(1, np.uint32),
        "out": np.zeros(200, np.uint32),
    }
    check(text, given, (4, 1, 1))
