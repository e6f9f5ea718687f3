"""Other legal orders: a correct program gives the same result, a racy one shows."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.backends.reference.programs import program, run, zeros
from vyre.backends.reference.scheduler import Shape, Shuffled

OUT = "out: read_write u32[] @0"
TILE = "tile: workgroup u32[32]"
RACY = {
    "two_writers": "out[0] = gid.x",
    "neighbour_in_a_tile": "tile[lid.x] = gid.x out[gid.x] = tile[(lid.x + 1u32) % 32u32]",
    "neighbour_in_another_workgroup": "out[gid.x] = out[(gid.x + 32u32) % len(out)] + gid.x",
    "unordered_counter": "out[gid.x] = atomic_add(out[0], 1u32)",
    "copy_not_awaited": 'tile[lid.x] = 1u32 async_load "t" tile[0u32] <- a[0u32], 32u32 '
    'out[gid.x] = tile[lid.x] async_wait "t"',
}


@pytest.mark.parametrize("body", RACY.values(), ids=RACY)
def test_a_racy_program_shows_different_results(body: str) -> None:
    source = program(body, OUT, TILE, "a: read_only u32[32] @1", workgroup=(32, 1, 1))
    given = {"out": zeros(128), "a": np.arange(500, 532).astype(np.uint32)}
    results = {
        tuple(run(source, 4, **given, schedule=seed).outputs["out"].tolist())
        for seed in (None, *range(8))
    }
    assert len(results) > 1


def test_a_seed_gives_the_same_order_every_time() -> None:
    source = program("out[gid.x] = atomic_add(out[0], 1u32)", OUT, workgroup=(32, 1, 1))
    one, two = (run(source, 4, out=zeros(128), schedule=5).outputs["out"] for _ in range(2))
    assert one.tolist() == two.tolist()


@pytest.mark.parametrize("has_subgroups", [False, True])
def test_every_invocation_runs_once(has_subgroups: bool) -> None:
    order = Shuffled(Shape(37, 0, 8, has_subgroups), 1)
    assert sorted(np.concatenate(list(order.cohorts(29))).tolist()) == list(range(29))
    tasks = list(order.tasks(5))
    who = sorted(
        int(s) * 37 + int(n) for slot, local in tasks for s, n in zip(slot, local, strict=True)
    )
    assert who == list(range(5 * 37))
    assert len(tasks) > 1
    if has_subgroups:
        for slot, local in tasks:
            units = set(zip(slot.tolist(), (local // 8).tolist(), strict=True))
            assert slot.size == sum(min(8, 37 - unit * 8) for _, unit in units)
