"""Variables that move by the same amount in all lanes, and rounds that all lanes have."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.backends.llvm.running import check, source
from vyre.backends.llvm.analysis.divergence import Divergence
from vyre.backends.llvm.analysis.while_recurrences import rising_variables
from vyre.ir import Program, Region

TEXT = """program workgroup(64, 1, 1)
buffer a: read_only u32[] @0
buffer n: uniform u32[2] @1
buffer out: read_write u32[] @2
region "r" {{
{body}
}}
"""
WHILE = "let k = gid.x let s = 0 while k < n[0] { s = s * 3 + a[k] k = k + n[1] } out[gid.x] = s"


def rising(body: str) -> set[str]:
    program = Program.parse(TEXT.format(body=body))
    shapes = Divergence(program, program.entry, (0,), in_step=True)
    return set(rising_variables(program.entry, shapes, frozenset()))


@pytest.mark.parametrize(
    "body",
    [
        WHILE,
        "let k = gid.x for j in 0..n[0] { out[k] = j k = n[1] + k } out[k] = 1",
        "let k = gid.x for j in 0..gid.x { out[k] = j k = k - 2 }",
        "let k = gid.x if n[1] > 3 { k = k + 1 } out[k] = 1",
        "let k = gid.x if a[gid.x] > 3 { while k < n[0] { out[k] = 1 k = k + 1 } }",
        "let k = gid.x while k < n[0] { if a[k] == 0 { break } k = k + 1 }",
        "for j in 0..4 { let k = gid.x while k < n[0] { out[k] = j k = k + 1 } }",
    ],
)
def test_lanes_that_stay_as_far_apart(body: str) -> None:
    assert "k" in rising(body)


@pytest.mark.parametrize(
    "body",
    [
        "let k = gid.x while k < n[0] { k = k + a[k] }",
        "let k = gid.x while k < n[0] { k = k * 2 }",
        "let k = gid.x while k < n[0] { k = n[1] - k }",
        "let k = gid.x while k < n[0] { k = k + 1 } out[gid.x] = k",
        "let k = gid.x while k < n[0] { if a[k] == 0 { continue } k = k + 1 }",
        "let k = gid.x if a[gid.x] > 3 { k = k + 1 } out[k] = 1",
        "let k = gid.x while k < n[0] { if a[k] == 1 { k = k + 1 } k = k + 1 }",
        "let k = gid.x for j in 0..4 { while k < n[0] + j { out[k] = j k = k + 1 } }",
        "let k = gid.x for j in 0..n[0] { if a[gid.x] == j { break } k = k + 1 } out[k] = 1",
    ],
)
def test_lanes_that_may_not(body: str) -> None:
    assert "k" not in rising(body)


def test_a_loop_that_stands_twice_is_two_loops() -> None:
    program = Program.parse(TEXT.format(body=WHILE))
    region = program.entry[0]
    assert isinstance(region, Region)
    k, s, loop, store = region.body
    body = (k, s, loop, loop, store)
    shapes = Divergence(program, body, (0,), in_step=True)
    assert rising_variables(body, shapes, frozenset()) == frozenset()


LOOPS = [
    WHILE,
    "let k = gid.x let s = 0 while n[0] > k { s = s * 3 + a[k] k = k + n[1] } out[gid.x] = s",
    "let k = gid.x let s = 0 while (k <= n[0]) & (s < 5000) { s = s * 3 + a[k] k = k + n[1] }"
    " out[gid.x] = s",
    "let k = gid.x * 3 let s = 0 while k < n[0] { if a[k] > 20 { s = s + k } k = k + n[1] }"
    " out[gid.x] = s",
    "let k = gid.x let s = 0 while k < n[0] { if a[k] == 7 { break } s = s * 3 + a[k]"
    " k = k + n[1] } out[gid.x] = s",
    "let k = gid.x while k < n[0] { out[k] = a[k] + 1 k = k + n[1] }",
    "let k = 500 - gid.x let s = 0 while k < n[0] { s = s * 3 + a[k] k = k + n[1] } out[gid.x] = s",
    "let k = i32(gid.x) - 40i32 let s = 0 while k < i32(n[0]) { s = s * 3 + a[u32(k)]"
    " k = k + i32(n[1]) } out[gid.x] = s",
    "let k = u64(gid.x) let s = 0 while k < u64(n[0]) { s = s * 3 + a[u32(k)] k = k + u64(n[1]) }"
    " out[gid.x] = s",
    "let k = gid.x let s = 0 while k < n[0] { for j in 0..a[k] % 4 { s = s * 3 + a[k + j] }"
    " k = k + n[1] } out[gid.x] = s",
    "let s = 0 for j in 0..gid.x { s = s * 3 + a[j] + a[gid.x - j] } out[gid.x] = s",
    "let s = 0 for j in gid.x..n[0] { s = s * 3 + a[j] } out[gid.x] = s",
    "let s = 0 for j in gid.x * 2..gid.x + n[0] { s = s * 3 + a[j] } out[gid.x] = s",
    "let s = 0 for j in n[1]..a[gid.x] { if a[j] == 7 { continue } s = s * 3 + a[j + gid.x] }"
    " out[gid.x] = s",
    "let s = 0 for j in 0..a[gid.x] { if j == n[1] { break } s = s * 3 + a[j] } out[gid.x] = s",
    "let s = 0 for j in 100 - gid.x..a[gid.x] * 4 { s = s * 3 + a[j] } out[gid.x] = s",
    "if a[gid.x] > 20 { let s = 0 for j in 0..a[gid.x] { s = s * 3 + a[j + gid.x] }"
    " out[gid.x] = s }",
    "let s = 0 let i = gid.x for j in 0..n[1] { s = s * 3 + a[i] i = i + n[1] } out[gid.x] = s + i",
]


@pytest.mark.parametrize("body", LOOPS)
def test_loops_agree_with_the_reference(body: str) -> None:
    random = np.random.default_rng(5)
    for stop, step, cpu in ((390, 64, "native"), (150, 50, "generic"), (7, 3, "native")):
        given = {
            "a": random.integers(0, 40, 420, np.uint32),
            "n": np.array([stop, step], np.uint32),
            "out": np.zeros(200, np.uint32),
        }
        check(TEXT.format(body=body), given, (2, 1, 1), cpu)


@pytest.mark.parametrize("stop", [0xFFFFFFF0, 0xFFFFFFFF, (3 << 30) + 30])
@pytest.mark.parametrize("order", ["<", "<="])
def test_counters_that_pass_the_end_of_their_type(order: str, stop: int) -> None:
    """Lanes wrap around one after another, and go on where they are less than the bound again."""
    body = (
        f"let k = gid.x + {3 << 30} let s = 0 let r = 0 while (k {order} n[0]) & (r < 9) {{"
        " s = s * 3 + a[k] + k k = k + n[1] r = r + 1 } out[gid.x] = s"
    )
    for step in ((1 << 30) - 20, (1 << 30) + 1):
        given = {
            "a": np.arange(1, 200, dtype=np.uint32),
            "n": np.array([stop, step], np.uint32),
            "out": np.zeros(200, np.uint32),
        }
        check(TEXT.format(body=body), given, (2, 1, 1))


@pytest.mark.parametrize("start", ["gid.x + 0xffffffc0", "0xffffffff - gid.x", "0xfffffff0"])
def test_loops_that_begin_near_the_end_of_their_type(start: str) -> None:
    body = (
        f"let s = 0 for j in {start}..0xffffffff - a[gid.x] {{ s = s * 3 + a[j] + a[j - 0xffffff90]"
        " + j } out[gid.x] = s"
    )
    given = {
        "a": np.arange(1, 200, dtype=np.uint32) % 11,
        "n": np.zeros(2, np.uint32),
        "out": np.zeros(200, np.uint32),
    }
    check(TEXT.format(body=body), given, (1, 1, 1))


def test_full_rounds_look_at_neighbours() -> None:
    text = source(Program.parse(TEXT.format(body=WHILE)))
    assert "while.all" in text
    begins, ends = text.index("\niteration.all"), text.index("\nendwhile.all")
    assert "load <" in text[begins:ends]


def test_lanes_that_leave_in_the_midst_have_no_full_rounds() -> None:
    text = source(Program.parse(TEXT.format(body=LOOPS[4])))
    assert "while.all" not in text


def test_conditions_that_do_something_are_asked_once() -> None:
    body = (
        "let k = gid.x while (k < n[0]) & (atomic_add(out[3], 1) < 900) { out[k] = 1 k = k + n[1] }"
    )
    assert "while.all" not in source(Program.parse(TEXT.format(body=body)))
