"""Scratch reuse: candidates as the escape facts say, and pools that really shrink the peak."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from vyre.driver import routing
from vyre.ir import BufferDecl, DataType, Expr, MemoryOrdering, Node, Program
from vyre.plan import ScratchReusePlan, fuse
from vyre.runtime import run
from vyre.runtime.memory_pool import pool_of

U32 = DataType.U32


def one_arm(*buffers, body):
    return Program.wrapped(buffers, (1, 1, 1), [Node.region("arm", body)])


def test_a_buffer_that_is_only_read_is_a_candidate():
    source = BufferDecl.read("source", 0, U32).with_count(4)
    program = one_arm(source, body=[Node.let("x", Expr.load("source", 0))])
    assert ScratchReusePlan.build(program).is_recyclable("source")


def test_an_output_is_no_candidate():
    program = one_arm(
        BufferDecl.output("out", 0, U32).with_count(4), body=[Node.store("out", 0, Expr.u32(7))]
    )
    assert not ScratchReusePlan.build(program).is_recyclable("out")


def test_store_targets_that_the_host_sees_are_no_candidates():
    program = one_arm(
        BufferDecl.read("source", 0, U32).with_count(4),
        BufferDecl.read_write("changed", 1, U32).with_count(4),
        body=[Node.store("changed", 0, Expr.u32(7)), Node.let("x", Expr.load("source", 0))],
    )
    assert ScratchReusePlan.build(program).non_escaping == {"source"}


def test_each_arm_may_recycle_what_it_uses():
    first = BufferDecl.read("first", 0, U32).with_count(4)
    second = BufferDecl.read("second", 1, U32).with_count(4)
    arms = [
        Node.region("arm_a", [Node.let("x", Expr.load("first", 0))]),
        Node.region("arm_b", [Node.let("y", Expr.load("second", 0))]),
    ]
    plan = ScratchReusePlan.build(Program.wrapped([first, second], (1, 1, 1), arms))
    assert plan.recyclable_for("arm_a") == {"first"}
    assert plan.recyclable_for("arm_b") == {"second"}
    assert plan.recyclable_for("elsewhere") == frozenset()
    assert plan.pair_count == 2


def test_scratch_that_is_changed_by_atomics_is_never_pooled():
    sync = Node.barrier(MemoryOrdering.GRID_SYNC)
    buffers = [BufferDecl.scratch(name, 64, U32) for name in ("a", "b")]
    body = [
        Node.eval(Expr.atomic_add("a", 0, Expr.u32(1))),
        sync,
        Node.store("b", Expr.gid(0), Expr.u32(1)),
    ]
    plan = ScratchReusePlan.build(Program.wrapped(buffers, (64, 1, 1), body))
    assert [pool.buffers for pool in plan.pools] == [("b",)]
    assert plan.bytes_after == plan.bytes_before


def test_lives_that_no_grid_barrier_separates_do_not_share():
    buffers = [BufferDecl.scratch(name, 64, U32) for name in ("a", "b")]
    body = [Node.store(name, Expr.gid(0), Expr.u32(1)) for name in ("a", "b")]
    plan = ScratchReusePlan.build(Program.wrapped(buffers, (64, 1, 1), body))
    assert plan.bytes_after == plan.bytes_before


def test_lives_inside_a_loop_around_a_grid_barrier_do_not_share():
    sync = Node.barrier(MemoryOrdering.GRID_SYNC)
    buffers = [BufferDecl.scratch(name, 64, U32) for name in ("a", "b")]
    store_a, store_b = (Node.store(name, Expr.gid(0), Expr.u32(1)) for name in ("a", "b"))
    loop = Node.loop("k", 0, 3, [store_a, sync, store_b, sync])
    plan = ScratchReusePlan.build(Program.wrapped(buffers, (64, 1, 1), [loop]))
    assert [pool.buffers for pool in plan.pools] == [("a",), ("b",)]
    assert plan.bytes_after == plan.bytes_before


def around_a_loop() -> Program:
    """`a` before a loop, `b` carried through it, `c` behind it; each begins as zeros."""
    sync, i, n = Node.barrier(MemoryOrdering.GRID_SYNC), Expr.gid(0), Expr.u32(64)
    buffers = [
        BufferDecl.read("x", 0, U32).with_count(64),
        BufferDecl.read_write("y", 1, U32).with_count(64),
        *(BufferDecl.scratch(name, 64, U32) for name in "abc"),
    ]

    def moved(name: str) -> Expr:
        return Expr.load(name, (i + Expr.u32(1)) % n)

    is_even = (i % Expr.u32(2)).eq(Expr.u32(0))
    body = [
        Node.store("a", i, Expr.load("x", i)),
        sync,
        Node.store("y", i, moved("a")),
        sync,
        Node.loop(
            "k",
            0,
            3,
            [
                Node.store("b", i, Expr.load("b", i) + Expr.load("y", i)),
                sync,
                Node.store("y", i, moved("b")),
                sync,
            ],
        ),
        sync,
        Node.if_(is_even, [Node.store("c", i, Expr.load("y", i))]),
        sync,
        Node.store("y", i, moved("c") + Expr.load("c", i)),
    ]
    return Program.wrapped(buffers, (64, 1, 1), body)


def test_what_a_loop_around_a_grid_barrier_uses_shares_with_what_is_outside() -> None:
    plan = ScratchReusePlan.build(around_a_loop())
    assert [pool.buffers for pool in plan.pools] == [("a", "b", "c")]
    assert plan.bytes_after * 3 == plan.bytes_before


@pytest.mark.parametrize("device", ["cpu", "reference", "wgpu:0"])
def test_memory_that_a_loop_gets_is_cleared_once_before_it(device: str) -> None:
    x = np.arange(7, 71, dtype=np.uint32)
    y, b = np.roll(x, -1), np.zeros(64, np.uint32)
    for _ in range(3):
        b = b + y
        y = np.roll(b, -1)
    c = np.where(np.arange(64) % 2 == 0, y, 0)
    given = {"x": x, "y": np.zeros(64, np.uint32)}
    outputs = run(around_a_loop(), given, grid=1, device=device)
    assert np.array_equal(outputs["y"], np.roll(c, -1) + c)


N = 1024
NAMES = ["x", *(f"t{n}" for n in range(7)), "y"]


def stage(source, target, shift):
    i = Expr.var("i")
    moved = Expr.load(source, (i + Expr.u32(shift)) % Expr.u32(N))
    return Program.wrapped(
        [
            BufferDecl.read(source, 0, U32).with_count(N),
            BufferDecl.read_write(target, 1, U32).with_count(N),
        ],
        (64, 1, 1),
        [Node.let("i", Expr.gid(0)), Node.store(target, i, moved * Expr.u32(3) + Expr.u32(shift))],
    )


@pytest.mark.parametrize("device", ["cpu", "reference"])
def test_a_pipeline_of_eight_arms_needs_less_than_half_the_scratch(device):
    stages = [stage(a, b, k) for k, (a, b) in enumerate(pairwise(NAMES))]
    fused = fuse(stages, scratch=NAMES[1:-1]).program
    x = np.arange(N, dtype=np.uint32)
    expected = x
    for k in range(len(stages)):
        expected = np.roll(expected, -k) * np.uint32(3) + np.uint32(k)
    pool = pool_of(routing.choose(device).device)
    pool.reset_peak()
    before = pool.counters.in_use
    outputs = run(fused, {"x": x, "y": np.zeros(N, np.uint32)}, grid=N // 64, device=device)
    assert np.array_equal(outputs["y"], expected)
    plan = ScratchReusePlan.build(fused)
    assert plan.bytes_after * 2 <= plan.bytes_before
    if device == "cpu":
        assert (pool.counters.peak - before) * 2 <= plan.bytes_before
