"""Lanes and rounds that go through memory backwards, inside and beyond the ends of buffers."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.backends.llvm.running import Array, check, source
from vyre.ir import Program

RANDOM = np.random.default_rng(5)
HEAD = """program workgroup({size})
buffer a: read_only {t}[] @0
buffer n: uniform u32[4] @1
buffer out: read_write {t}[] @2
region "r" {{
{body}
}}
"""
LINES = {
    "an array": "if gid.x < len(out) { out[gid.x] = a[n[0] - 1 - gid.x] }",
    "stores": "if gid.x < n[0] { out[n[0] - 1 - gid.x] = a[gid.x] }",
    "both": "if gid.x < n[0] { out[n[1] - gid.x] = a[n[0] - 1 - gid.x] }",
    "a number that is falling": (
        "let x = n[0] - 1 - gid.x if x < n[1] { out[gid.x] = a[x] } else { out[gid.x] = a[0] }"
    ),
    "at least": "let x = n[0] - gid.x if x >= 5 { out[gid.x] = a[x] + a[x - 5] }",
    "signed": (
        "let x = i32(n[0]) - 1i32 - i32(gid.x)"
        " out[gid.x] = a[select((x >= 0i32) & (x < i32(n[1])), u32(x), 4294967295)]"
    ),
    "under a condition": (
        "if gid.x < len(out) { if a[gid.x] > a[0] { out[gid.x] = a[n[0] - 1 - gid.x] } }"
    ),
    "in a loop": ("let s = a[0] for k in 0..n[2] { s = s + a[n[0] - gid.x - k] } out[gid.x] = s"),
    "rows": (
        "if (gid.y < n[2]) & (gid.x < n[3]) { let x = n[3] - 1 - gid.x"
        " out[gid.y * n[3] + gid.x] ="
        " a[select((gid.y < n[2]) & (x < n[3]), gid.y * n[3] + x, 4294967295)] }"
    ),
}


def given(t: str, numbers: list[int], length: int, written: int) -> dict[str, Array]:
    kind = {"u8": np.uint8, "u32": np.uint32, "f32": np.float32, "u64": np.uint64}[t]
    return {
        "a": RANDOM.integers(0, 200, length).astype(kind),
        "n": np.array(numbers, np.uint32),
        "out": np.zeros(written, kind),
    }


@pytest.mark.parametrize("body", LINES.values(), ids=LINES.keys())
@pytest.mark.parametrize("t", ["u8", "f32"])
@pytest.mark.parametrize(
    "numbers", [[200, 200, 5, 40], [131, 130, 3, 37], [7, 3, 9, 11], [0, 0, 0, 0]]
)
def test_lanes_go_backwards(body: str, t: str, numbers: list[int]) -> None:
    for size, grid in (("64, 1, 1", (4, 1, 1)), ("16, 4, 1", (4, 2, 1))):
        text = HEAD.format(size=size, t=t, body=body)
        for length in (33, 256):
            check(text, given(t, numbers, length, 220), grid)


def test_vectors_are_turned_round() -> None:
    text = source(Program.parse(HEAD.format(size="64, 1, 1", t="u32", body=LINES["an array"])))
    assert "i32 7, i32 6, i32 5, i32 4" in text


ROUNDS = {
    "from a place to another": (
        "for k in 0..n[2] { out[begin + k] = a[end - 1 - k] }",
        True,
    ),
    "names on the way": (
        "for k in 5..5 + n[2] { let x = end + k - 5 out[x - end + begin] = a[x] }",
        True,
    ),
    "sums": ("for k in 0..n[2] { s = s + a[begin + k] + a[end - k] } out[gid.x] = s", True),
    "one buffer": ("for k in 0..n[2] { out[begin + k] = out[end - k] }", True),
    "a place that moves": (
        "for k in 0..n[2] { out[begin + k] = a[s + k] s = s + 1 }",
        True,
    ),
    "far apart": ("for k in 0..n[2] { s = s + a[end - k * 2] } out[gid.x] = s", False),
}


@pytest.mark.parametrize(("body", "twice"), ROUNDS.values(), ids=ROUNDS.keys())
@pytest.mark.parametrize("stride", [9, 0xFFFFFFF0])
def test_rounds_follow_their_counter(body: str, twice: bool, stride: int) -> None:
    """Places that differ from lane to lane as the contents of a buffer do."""
    around = (
        f"let p = a[gid.x] let begin = gid.x * 80 + p let end = gid.x * {stride} + p let s = 1"
        f" if p != 77 {{ {body} }}"
    )
    text = HEAD.format(size="8, 1, 1", t="u32", body=around)
    for rounds in (0, 8, 30, 75):
        for length in (90, 400):
            sizes = given("u32", [5, 0, rounds, 0], length, 640)
            sizes["a"] %= 3
            check(text, sizes, (1, 1, 1))
    assert ("loop.inside" in source(Program.parse(text))) is twice
