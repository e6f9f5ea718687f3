"""What invocations do together: barriers, the whole grid, subgroups, copies, collectives."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.backends.reference.programs import difference, program, run, zeros
from vyre.diagnostics import Severity

OUT = "out: read_write u32[] @0"
TILE = "tile: workgroup u32[32]"

BARRIERS = {
    "reverse": """
tile[lid.x] = gid.x
barrier seq_cst
out[gid.x] = tile[31u32 - lid.x]
""",
    "tree_reduction": """
tile[lid.x] = gid.x * gid.x
barrier acq_rel
let s = 16u32
while s > 0u32 {
    if lid.x < s { tile[lid.x] = tile[lid.x] + tile[lid.x + s] }
    barrier acq_rel
    s = s / 2u32
}
out[gid.x] = tile[0]
""",
    "as_many_barriers_as_the_workgroup_has_number": """
for k in 0u32..wid.x {
    let next = tile[(lid.x + 1u32) % 32u32] + k + lid.x
    barrier seq_cst
    tile[lid.x] = next
    barrier seq_cst
}
out[gid.x] = tile[lid.x]
""",
    "only_some_workgroups": """
tile[lid.x] = lid.x
if wid.x % 2u32 == 0u32 {
    barrier seq_cst
    out[gid.x] = tile[31u32 - lid.x]
} else {
    let t = tile[lid.x]
    barrier seq_cst
    barrier seq_cst
    out[gid.x] = t + 100u32
}
""",
}
GRID = {
    "locals_and_returns_survive": """
let mine = gid.x * 3u32
p[0] = gid.x
out[gid.x] = gid.x
if gid.x % 5u32 == 0u32 { return }
barrier grid_sync
let other = out[num_workgroups.x * 32u32 - 1u32 - gid.x]
barrier grid_sync
out[gid.x] = mine + other * 1000u32 + p[0]
""",
    "in_a_loop": """
for k in 0u32..5u32 {
    let t = out[(gid.x + 7u32) % len(out)] + k
    barrier grid_sync
    out[gid.x] = t * 3u32 + gid.x
    barrier grid_sync
}
""",
    "workgroup_memory_is_zero_again": """
tile[lid.x] = 9u32
barrier grid_sync
out[gid.x] = tile[lid.x] + 1u32
""",
    "between_workgroup_barriers": """
tile[lid.x] = gid.x
barrier seq_cst
out[gid.x] = tile[31u32 - lid.x]
barrier grid_sync
tile[lid.x] = out[len(out) - 1u32 - gid.x]
barrier seq_cst
let t = tile[31u32 - lid.x]
barrier grid_sync
out[gid.x] = t
""",
}
SUBGROUPS = {
    "ids": "out[gid.x] = subgroup_lane + 1000u32 * subgroup_size",
    "ballot": """
let b = ballot(gid.x % 3u32 == 0u32)
out[gid.x] = lane(b, 0) ^ (lane(b, 1) << 1u32) ^ (lane(b, 2) << 2u32) ^ (lane(b, 3) << 3u32)
""",
    "shuffle": "out[gid.x] = shuffle(gid.x + 100u32, subgroup_lane ^ 1u32)",
    "shuffle_from_nowhere": "out[gid.x] = shuffle(gid.x + 100u32, subgroup_lane + 5u32)",
    "shuffle_signed": "out[gid.x] = shuffle(gid.x + 100u32, i32(subgroup_lane) - 3i32)",
    "shuffle_truth": "out[gid.x] = u32(shuffle(gid.x > 9u32, subgroup_lane ^ 2u32))",
    "reduce": """
let a = subgroup_add(gid.x) + subgroup_max(gid.x * 7u32 % 31u32) * 100u32
let b = subgroup_min(gid.x ^ 21u32) + subgroup_and(gid.x | 8u32) + subgroup_or(gid.x)
out[gid.x] = a + b * 17u32 + subgroup_xor(gid.x * 5u32) + subgroup_mul(gid.x | 1u32)
""",
    "reduce_floats_in_lane_order": """
let x = f32(gid.x * gid.x) * 0.1f32
out[gid.x] = bitcast<u32>(subgroup_add(x)) ^ bitcast<u32>(subgroup_min(x - 3.0f32))
""",
}
COPIES = {
    "load": """
async_load "t" tile[0u32] <- a[wid.x * 32u32], 32u32
async_wait "t"
out[gid.x] = tile[31u32 - lid.x]
""",
    "load_beyond_both_ends": """
async_load "t" tile[20u32] <- a[wid.x * 32u32 + 10u32], 100u32
async_wait "t"
out[gid.x] = tile[lid.x]
""",
    "negative_starts": """
async_load "t" tile[-5i32] <- a[i32(wid.x) - 3i32], 30i64
async_wait "t"
out[gid.x] = tile[lid.x]
""",
    "store": """
tile[lid.x] = gid.x * 3u32
barrier seq_cst
async_store "s" out[wid.x * 32u32 + 4u32] <- tile[0u32], 28u32
async_wait "s"
""",
    "two_under_way": """
async_load "one" tile[0u32] <- a[0u32], 16u32
async_load "two" tile[16u32] <- a[64u32], 16u32
async_wait "two"
async_wait "one"
out[gid.x] = tile[lid.x]
""",
    "nothing": """
async_load "t" tile[0u32] <- a[0u32], 0u32
async_load "t" tile[99u32] <- a[0u32], 5u32
async_load "t" tile[0u32] <- a[99999u32], 3u32
async_wait "t"
out[gid.x] = tile[lid.x]
""",
}
EVERYTHING = {
    **{f"barriers_{name}": body for name, body in BARRIERS.items()},
    **{f"grid_{name}": body for name, body in GRID.items()},
    **{f"subgroups_{name}": body for name, body in SUBGROUPS.items()},
    **{f"copies_{name}": body for name, body in COPIES.items()},
}
BUFFERS = (OUT, "a: read_only u32[] @1", TILE, "p: local u32[1]")


def inputs(count: int) -> dict[str, np.ndarray]:
    return {"out": zeros(count), "a": np.arange(100, 200).astype(np.uint32)}


@pytest.mark.parametrize("body", EVERYTHING.values(), ids=EVERYTHING)
def test_against_the_second_interpreter(body: str) -> None:
    source = program(body, *BUFFERS, workgroup=(32, 1, 1))
    assert difference(source, inputs(96), (3, 1, 1)) is None


@pytest.mark.parametrize("body", EVERYTHING.values(), ids=EVERYTHING)
def test_any_schedule_gives_the_same(body: str) -> None:
    source = program(body, *BUFFERS, workgroup=(32, 1, 1))
    given = inputs(160)
    expected = run(source, 5, **given).outputs["out"].tolist()
    for seed in range(6):
        assert run(source, 5, **given, schedule=seed).outputs["out"].tolist() == expected


@pytest.mark.parametrize("body", EVERYTHING.values(), ids=EVERYTHING)
def test_the_sanitizer_finds_no_error(body: str) -> None:
    """Warnings are another matter: some of these read out of bounds or zeroed memory."""
    source = program(body, *BUFFERS, workgroup=(32, 1, 1))
    findings = run(source, 3, **inputs(96), sanitize=True).findings
    assert [str(f) for f in findings if f.severity is Severity.ERROR] == []


@pytest.mark.parametrize("width", [1, 2, 8, 64, 128])
@pytest.mark.parametrize("body", SUBGROUPS.values(), ids=SUBGROUPS)
def test_subgroups_of_any_width(body: str, width: int) -> None:
    """The last subgroup of a workgroup of 37 is partial at most widths."""
    source = program(body, *BUFFERS, workgroup=(37, 1, 1))
    assert difference(source, inputs(74), (2, 1, 1), subgroup_width=width) is None
    expected = run(source, 2, **inputs(74), subgroup_width=width).outputs["out"].tolist()
    shuffled = run(source, 2, **inputs(74), subgroup_width=width, schedule=3).outputs["out"]
    assert shuffled.tolist() == expected


def test_subgroups_run_along_x_first() -> None:
    source = program("out[lid.x + 4u32 * lid.y] = subgroup_lane", OUT, workgroup=(4, 4, 1))
    found = run(source, out=zeros(16), subgroup_width=8).outputs["out"].tolist()
    assert found == [*range(8), *range(8)]


def test_grid_sync_over_more_than_runs_together() -> None:
    source = program(
        "out[gid.x] = gid.x barrier grid_sync let t = out[len(out) - 1u32 - gid.x] "
        "barrier grid_sync out[gid.x] = t",
        OUT,
        workgroup=(64, 1, 1),
    )
    found = run(source, 2000, out=zeros(128_000)).outputs["out"]
    assert (found == np.arange(128_000)[::-1]).all()


def test_collectives_of_one_device() -> None:
    body = """
a[gid.x] = gid.x + 1u32
all_reduce add a
all_gather a -> b
b[gid.x] = b[gid.x] + 10u32
reduce_scatter add b -> c
broadcast c from 0
c[gid.x] = c[gid.x] + 100u32
"""
    names = ("a: read_write u32[16] @0", "b: read_write u32[20] @1", "c: read_write u32[8] @2")
    source = program(body, *names)
    given = {"a": zeros(16), "b": zeros(20), "c": zeros(8)}
    assert difference(source, given, (2, 1, 1)) is None
    found = run(source, 2, **given).outputs
    assert found["b"].tolist() == [*range(11, 27), 0, 0, 0, 0]
    assert found["c"].tolist() == [*range(111, 119)]


def test_a_collective_takes_place_when_everyone_has_returned() -> None:
    source = program(
        "a[gid.x] = 5u32 return all_gather a -> b",
        "a: read_write u32[8] @0",
        "b: read_write u32[8] @1",
    )
    assert run(source, a=zeros(8), b=zeros(8)).outputs["b"].tolist() == [5] * 8


def test_indirect_dispatch() -> None:
    source = program(
        "indirect_dispatch n[1] eval atomic_add(out[0], 1u32)", OUT, "n: read_only u32[] @1"
    )
    n = np.array([9, 2, 3, 1], np.uint32)
    assert run(source, 50, out=zeros(1), n=n).outputs["out"].tolist() == [48]
    assert run(source, 50, out=zeros(1), n=n[:3]).outputs["out"].tolist() == [0]
