"""Loops over the grid that run around the lanes of a row."""

from __future__ import annotations

import numpy as np
import pytest

import vyre as vy
from tests.unit.backends.llvm.running import check, lowered_by
from vyre.backends.llvm.passes.grid_stride_loops import GridStrideLoops
from vyre.ir import Program

TEXT = """program workgroup({size}, 1, 1)
buffer a: read_only u32[] @0
buffer n: uniform u32[2] @1
buffer out: read_write u32[] @2
buffer mine: workgroup u32[256]
region "r" {{
    let stop = n[0]
    let step = n[1]
{body}
}}
"""
COUNT = "select((step != 0) & ({s} < stop), (stop - {s} - 1) / step + 1, 0)"
PAGES = "select({s} < stop, ((stop - {s} - 1) >> 7) + 1, 0)"


def text(body: str, size: int = 64) -> str:
    return TEXT.format(body=body, size=size)


def counted(body: str, start: str = "gid.x", count: str = COUNT) -> str:
    return f"for k in 0..{count.format(s=start)} {{ {body} }}"


MOVED = [
    counted("out[gid.x + k * step] = a[gid.x + k * step] + 1"),
    counted("out[gid.x + k * 128] = a[gid.x + k * 128] + k", count=PAGES),
    counted("eval atomic_add(mine[a[lid.x + k * step]], 1)", "lid.x")
    + " barrier seq_cst eval atomic_add(out[lid.x], mine[lid.x])",
    "let s = 0 let t = 1 "
    + counted("s = s * 3 + a[gid.x + k * step] t = t + s")
    + " out[gid.x] = s + t",
    counted("for j in 0..a[gid.x + k * step] % 4 { out[gid.x + k * step] = a[j] + k }"),
    f"let p = gid.x let c = {COUNT.format(s='p')} for k in 0..c {{ out[p + k * step] = k + 1 }}",
    f"let o = a[wid.x] + lid.x let s = 0 for k in 0..{COUNT.format(s='o')}"
    " { s = s * 3 + a[o + k * step] } out[gid.x] = s",
    "let k = gid.x while k < stop { out[k] = a[k] + 1 k = k + step }",
    "let s = 0 let k = gid.x while stop > k { let v = a[k] s = s * 3 + v k = k + step }"
    " out[gid.x] = s",
]
LEFT = [
    counted("out[gid.x] = k", "gid.y"),
    counted("out[gid.x] = k", "(gid.x + 1)"),
    f"let o = a[gid.x] + lid.x for k in 0..{COUNT.format(s='o')} {{ out[gid.x] = k }}",
    f"let o = out[wid.x] + lid.x for k in 0..{COUNT.format(s='o')} {{ out[gid.x] = k }}",
    counted("if a[k] == 3 { break } out[gid.x + k * step] = 1"),
    "let m = 0 " + counted("m = 1 out[gid.x + k * step] = m").replace("stop", "m"),
    "let s = 0 let t = 0 let u = 0 "
    + counted("s = s + 1 t = t + s u = u + t")
    + " out[gid.x] = s + t + u",
    counted("out[gid.x + k * step] = 1") + " if a[gid.x] == 1 { return }",
    "if a[gid.x] == 1 { " + counted("out[gid.x + k * step] = 1") + " }",
    counted("out[gid.x] = k").replace("step + 1", "step + 2"),
    counted("out[gid.x] = k").replace("gid.x < stop", "gid.x <= stop"),
    counted("out[gid.x] = k").replace("(step != 0) & ", ""),
    "let k = gid.x while k < stop { out[k] = 1 k = k + step } out[gid.x] = k",
    "let k = gid.x while k <= stop { out[k] = 1 k = k + step }",
    "let k = gid.x while k < stop { k = k + step out[k] = 1 }",
    "let k = gid.x while k < stop { k = k + 1 out[k] = 1 k = k + step }",
    "let k = gid.x while k < out[3] { out[k] = 1 k = k + step }",
    "let k = gid.x while k < stop { out[k] = 1 k = k + a[gid.x] }",
    "let k = gid.x + 1 while k < stop { out[k] = 1 k = k + step }",
]


@pytest.mark.parametrize("body", MOVED)
def test_loops_that_are_moved(body: str) -> None:
    program = Program.parse(text(body))
    made, facts = lowered_by(GridStrideLoops(), program)
    assert made is not program
    assert len(facts.trip_counts) == 1
    for stop, step in ((390, 128), (0, 128), (370, 200)):
        given = {
            "a": np.arange(380, dtype=np.uint32) * 7 % 41,
            "n": np.array([stop, step], np.uint32),
            "out": np.zeros(400, np.uint32),
        }
        check(text(body), given, (2, 1, 1))


@pytest.mark.parametrize("body", LEFT)
def test_loops_that_are_left_alone(body: str) -> None:
    program = Program.parse(text(body))
    made, facts = lowered_by(GridStrideLoops(), program)
    assert made is program
    assert not facts.trip_counts


def test_small_workgroups_are_left_alone() -> None:
    program = Program.parse(text(MOVED[0], 32))
    assert lowered_by(GridStrideLoops(), program)[0] is program


@pytest.mark.parametrize("step", [0, 0xFFFFFFF0, 0x80000001])
def test_steps_that_are_none_or_wrap_around(step: int) -> None:
    """A loop with a condition goes on where it wraps to; a counted one knows its end."""
    given = {
        "a": np.arange(300, dtype=np.uint32),
        "n": np.array([20, step], np.uint32),
        "out": np.zeros(300, np.uint32),
    }
    check(text(MOVED[3]), given, (2, 1, 1))
    if step:
        far = given | {"n": np.array([50, step], np.uint32)}
        check(text(MOVED[6].replace("gid.x while", "gid.x + 0 while")), far, (2, 1, 1))
        check(text(MOVED[6]), far, (2, 1, 1))


@pytest.mark.parametrize("stop", [0xFFFFFFFF, 0xFFFFFFC0])
def test_the_last_lanes_before_the_end_of_the_type(stop: int) -> None:
    body = counted("eval atomic_add(out[k], 1) eval atomic_max(out[k + 4], gid.x + k * step)")
    given = {
        "a": np.zeros(4, np.uint32),
        "n": np.array([stop, 0xFFFFFF90], np.uint32),
        "out": np.zeros(16, np.uint32),
    }
    check(text(body), given, (2, 1, 1))


@pytest.mark.parametrize("base", [0xFFFFFFBF, 0xFFFFFFC0, 0xFFFFFFC1, 0xFFFFFFFF])
def test_a_start_that_wraps_around_for_some_lanes(base: int) -> None:
    rounds = COUNT.format(s="o")
    body = f"let o = a[0] + lid.x let s = 7 for k in 0..{rounds} {{ s = s * 3 + k }} out[gid.x] = s"
    assert lowered_by(GridStrideLoops(), Program.parse(text(body)))[1].trip_counts
    for stop in (3, 0xFFFFFFFF):
        given = {
            "a": np.array([base], np.uint32),
            "n": np.array([stop, 1 << 28], np.uint32),
            "out": np.zeros(128, np.uint32),
        }
        check(text(body), given, (2, 1, 1))


@vy.kernel(workgroup=64)
def signed_range(n: vy.i32, step: vy.i32, y: vy.InOut[vy.i32]):
    for i in range(vy.gid(), n, step):
        y.atomic_add(vy.gid(), i * 3 + 1)


@vy.kernel(workgroup=64)
def signed_while(n: vy.i32, y: vy.InOut[vy.i32]):
    i = vy.gid()
    while i < n:
        y.atomic_add(vy.gid(), vy.i32(i) * 3 + 1)
        i += vy.group_size() * vy.num_groups()


def of_python(n: int, step: int) -> list[int]:
    sums = (sum(i * 3 + 1 for i in range(gid, n, step)) for gid in range(128))
    return [(each + 2**31) % 2**32 - 2**31 for each in sums]


@pytest.mark.parametrize("n", [-(2**31), -7, 0, 1, 64, 100, 5000, 2**31 - 1])
@pytest.mark.parametrize("step", [1, 64, 128, 1000, 2**30, -1, -64, -(2**31)])
def test_signed_ranges_are_those_of_python(n: int, step: int) -> None:
    if abs(n) > 10_000 and abs(step) < 2**20:
        step *= 2**20  # a few iterations
    y = np.zeros(128, np.int32)
    signed_range(n, step, y, grid=2, device="cpu")
    assert y.tolist() == of_python(n, step)


@pytest.mark.parametrize("n", [-(2**31), -7, 0, 1, 64, 100, 5000, 2**20 + 3])
def test_ids_below_a_signed_end_are_those_of_python(n: int) -> None:
    y = np.zeros(128, np.int32)
    signed_while(n, y, grid=2, device="cpu")
    assert y.tolist() == of_python(n, 128)
