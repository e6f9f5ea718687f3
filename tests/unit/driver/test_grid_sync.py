"""Splitting at grid barriers: shapes of the split, and results equal to the unsplit reference."""

from __future__ import annotations

from textwrap import dedent

import numpy as np
import pytest

from tests.share import share
from vyre.backends.reference import execute
from vyre.conform import PROFILES, generate
from vyre.conform.compare import compare_outputs
from vyre.diagnostics import DeadlineError, DispatchError, TrapError
from vyre.driver.compilation import CompileOptions
from vyre.driver.grid_sync import contains_grid_sync, split, split_on_grid_sync
from vyre.driver.grid_sync.plan import Launch
from vyre.ir import BufferAccess, BufferDecl, DataType, Expr, MemoryOrdering, Node, Program
from vyre.plan import ScratchReusePlan
from vyre.runtime import run
from vyre.runtime.host_types import as_host_arrays

U32 = DataType.U32
SYNC = Node.barrier(MemoryOrdering.GRID_SYNC)
BUFFER = BufferDecl.storage("buf", 0, BufferAccess.READ_WRITE, U32).with_count(4)


def region(name, *body):
    return Node.region(name, body)


def store(index, value):
    return Node.store("buf", index, Expr.u32(value))


def wrapped(*body, size=1):
    return Program.wrapped([BUFFER], (size, 1, 1), body)


def inner(program):
    assert len(program.entry) == 1
    return program.entry[0].body


def test_without_a_grid_barrier_there_is_one_segment_and_it_is_the_program():
    program = Program.wrapped([BUFFER], (1, 1, 1), [region("a", store(0, 1))])
    assert not contains_grid_sync(program)
    assert split_on_grid_sync(program) == [program]


def test_one_barrier_gives_two_segments():
    program = wrapped(region("a", store(0, 1)), SYNC, region("b", store(1, 2)))
    assert contains_grid_sync(program)
    assert [len(inner(segment)) for segment in split_on_grid_sync(program)] == [1, 1]


def test_three_barriers_give_four_segments():
    ends = [region(name, Node.return_()) for name in "abcd"]
    program = wrapped(ends[0], SYNC, ends[1], SYNC, ends[2], SYNC, ends[3])
    assert len(split_on_grid_sync(program)) == 4


def test_a_workgroup_barrier_does_not_split():
    program = wrapped(region("a", store(0, 1)), Node.barrier(), region("b", store(1, 2)))
    assert not contains_grid_sync(program)
    assert len(inner(split_on_grid_sync(program)[0])) == 3


def test_segments_keep_buffers_and_workgroup_size():
    program = wrapped(region("a", Node.return_()), SYNC, region("b", Node.return_()), size=256)
    for segment in split_on_grid_sync(program):
        assert segment.workgroup_size == (256, 1, 1)
        assert segment.buffers == (BUFFER,)


def test_segments_that_do_nothing_are_not_launched():
    plan = split(wrapped(store(0, 1), SYNC, SYNC, SYNC, store(1, 2)))
    assert plan.empty == {1, 2}
    # What is so cheap that every segment computes it for itself is nothing, too.
    index = Node.let("index", Expr.gid(0) * Expr.u32(2))
    plan = split(wrapped(index, SYNC, Node.store("buf", Expr.var("index"), Expr.u32(1))))
    assert plan.empty == {0}


def test_what_follows_an_unconditional_return_does_nothing():
    program = wrapped(store(0, 1), Node.return_(), SYNC, store(1, 2))
    outputs = run(program, {"buf": np.zeros(4, np.uint32)}, grid=1, device="cpu")
    assert outputs["buf"].tolist() == [1, 0, 0, 0]


def test_cheap_values_are_recomputed_and_others_kept():
    i, x = Expr.var("i"), Expr.var("x")
    program = wrapped(
        Node.let("i", Expr.gid(0)),
        Node.let("x", Expr.load("buf", i)),
        SYNC,
        Node.store("buf", i, x + Expr.u32(1)),
        size=4,
    )
    plan = split(program)
    assert [spill.buffer for spill in plan.spills] == ["vyre.sync.keep.x"]


def test_a_private_array_is_kept_where_a_loop_launches_its_segment_again():
    array = BufferDecl.local("mine", 2, U32)
    add = Node.store("mine", 0, Expr.load("mine", 0) + Expr.u32(1))
    show = Node.store("buf", 0, Expr.load("mine", 0))

    def kept(*body):
        plan = split(Program.wrapped([BUFFER, array], (1, 1, 1), body))
        return [spill.buffer for spill in plan.spills if "mine" in spill.buffer]

    loop = Node.loop("k", 0, Expr.buf_len("buf"), [add, show, SYNC])
    assert kept(loop) == ["vyre.sync.keep.mine"]
    assert kept(Node.loop("j", 0, 2, [SYNC, loop])) == ["vyre.sync.keep.mine"]
    # A loop of its own, and a segment that runs once: nothing outlives the launch.
    assert kept(Node.loop("k", 0, 3, [add, show]), SYNC, store(1, 2)) == []
    assert kept(Node.loop("k", 0, 3, [SYNC, store(1, 2)]), add, show) == []


def test_workgroup_memory_is_kept_where_a_loop_cuts_the_program_and_no_barrier_stands():
    def kept(body):
        text = f"""
        program workgroup(4, 1, 1)
        buffer n: uniform u32[1] @0
        buffer tile: workgroup u32[4]
        buffer out: read_write u32[4] @1 output live_out
        {body}
        """
        plan = split(Program.parse(dedent(text)))
        return [s.per_workgroup for s in plan.spills if s.buffer == "vyre.sync.keep.tile"]

    use = "tile[lid.x] = gid.x"
    show = "out[gid.x] = tile[lid.x]"
    loop = "for r in 0..n[0]"
    assert kept(f"{use}\n{loop} {{ {show}\nbarrier grid_sync\n{use} }}") == [4]
    assert kept(f"{loop} {{ barrier grid_sync\n{use} }}\n{use}\n{show}") == [4]
    assert kept(f"{loop} {{ {use}\n{show}\nif r == 1 {{ continue }}\nbarrier grid_sync }}") == [4]
    assert kept(f"{loop} {{ {use}\n{show}\nbarrier grid_sync }}") == []
    assert kept(f"{use}\n{show}\nbarrier grid_sync\n{loop} {{ {use}\nbarrier grid_sync }}") == []
    assert kept(f"{use}\nbarrier grid_sync\n{use}\n{loop} {{ barrier grid_sync }}") == []


def test_kept_memory_that_32_bits_do_not_count_is_refused():
    text = """
    program workgroup(1, 1, 1)
    buffer n: uniform u32[1] @0
    buffer mine: local u8[65536]
    buffer out: read_write u32[4] @1 output live_out
    mine[gid.x % 9] = 1u8
    out[gid.x] = gid.x
    barrier grid_sync
    out[3 - gid.x] = out[gid.x] + u32(mine[n[0]])
    """
    program = Program.parse(dedent(text))
    with pytest.raises(DispatchError) as refused:
        run(program, {"n": np.zeros(1, np.uint32)}, grid=(65536, 1, 1), device="cpu")
    assert "grid barrier" in str(refused.value)


@pytest.mark.parametrize("device", ["split", "cpu"])
def test_memory_that_changes_hands_in_a_segment_that_does_nothing_is_cleared(device):
    program = Program.parse(
        """
program workgroup(4, 1, 1)
buffer first: scratch u32[8]
buffer second: scratch u32[8]
buffer out: read_write u32[8] @0
first[gid.x] = 77
barrier grid_sync
out[gid.x] = first[7 - gid.x]
barrier grid_sync
let n = len(second)
barrier grid_sync
out[gid.x] = out[gid.x] + second[gid.x] + n
"""
    )
    assert ScratchReusePlan.build(program).pools[0].buffers == ("first", "second")
    assert 2 in split(program).empty
    whole = CompileOptions(profile=None)
    found = run(program, {"out": np.zeros(8, np.uint32)}, grid=2, device=device, options=whole)
    assert found["out"].tolist() == [85] * 8


def test_a_loop_that_launches_nothing_takes_no_time():
    inner = Node.loop("j", 0, Expr.buf_len("buf"), [SYNC])
    program = wrapped(Node.loop("k", 0, 2**32 - 1, [SYNC, inner]), store(0, 1))
    assert [type(step) for step in split(program).steps] == [Launch, Launch]
    outputs = run(program, {"buf": np.zeros(4, np.uint32)}, grid=1, device="cpu")
    assert outputs["buf"].tolist() == [1, 0, 0, 0]


def test_a_while_that_only_waits_for_the_grid_ends_at_its_deadline():
    program = wrapped(Node.while_(Expr.bool_(True), [SYNC]))
    with pytest.raises(DeadlineError):
        run(program, {"buf": np.zeros(4, np.uint32)}, grid=1, device="cpu", deadline=0.2)


def test_an_error_says_which_segment_it_came_from():
    program = wrapped(store(0, 1), SYNC, Node.trap("enough"))
    # The optimizer would drop a barrier after which nothing is read.
    whole = CompileOptions(profile=None)
    with pytest.raises(TrapError) as caught:
        run(program, {"buf": np.zeros(4, np.uint32)}, grid=1, device="cpu", options=whole)
    assert "segment 1 of 2" in str(caught.value)
    assert caught.value.tag == "enough"


SEARCH = """
program workgroup(64, 1, 1)
buffer offsets: read_only u32[] @0
buffer edges: read_only u32[] @1
buffer level: read_write u32[] @2
buffer changed: read_write u32[] @3
region "bfs" {
    let v = gid.x
    let depth = 0u32
    while changed[depth] != 0u32 {
        if v < len(level) {
            if level[v] == depth {
                for e in offsets[v]..offsets[v + 1u32] {
                    let old = atomic_min(level[edges[e]], depth + 1u32)
                    if old > depth + 1u32 {
                        eval atomic_or(changed[depth + 1u32], 1u32)
                    }
                }
            }
        }
        depth = depth + 1u32
        barrier grid_sync
    }
}
"""


def test_a_fixpoint_over_a_graph_is_a_loop_of_launches():
    rng = np.random.default_rng(5)
    count = 700
    offsets = np.concatenate([[0], np.cumsum(rng.integers(0, 5, count))]).astype(np.uint32)
    level = np.full(count, 2**32 - 1, np.uint32)
    level[0] = 0
    changed = np.zeros(count, np.uint32)
    changed[0] = 1
    inputs = {
        "offsets": offsets,
        "edges": rng.integers(0, count, offsets[-1]).astype(np.uint32),
        "level": level,
        "changed": changed,
    }
    program = Program.parse(SEARCH)
    program.validate()
    grid = (-(-count // 64), 1, 1)
    expected = execute(program, inputs, grid).outputs
    found = run(program, inputs, grid=grid, device="cpu")
    assert np.array_equal(found["level"], expected["level"])
    assert (expected["level"] < 2**32 - 1).sum() > 10


RETURNING_LOOPS = {
    "a while whose condition counts": """
    let left = 3u32
    while left > 0u32 {
        left = left - 1u32
        barrier grid_sync
        if gid.x > 4u32 {
            return
        }
        buf[gid.x] = buf[gid.x] + left
    }""",
    "the bounds of a loop in a loop": """
    let width = 2u32
    for k in 0u32..buf[15] {
        for j in 0u32..width {
            barrier grid_sync
            buf[gid.x] = buf[gid.x] + j
        }
        if gid.x > 4u32 {
            return
        }
        width = width + 1u32
    }""",
    "a while in a while": """
    let outer = 3u32
    while outer > 0u32 {
        outer = outer - 1u32
        let inner = outer
        while inner > 0u32 {
            inner = inner - 1u32
            barrier grid_sync
            if gid.x == outer + 5u32 {
                return
            }
            buf[gid.x] = buf[gid.x] * 3u32 + inner
        }
    }""",
}
"""Invocations that have returned keep their last values, and decide no loop any more."""


@pytest.mark.parametrize("body", RETURNING_LOOPS.values(), ids=list(RETURNING_LOOPS))
def test_invocations_that_returned_decide_no_loop(body: str):
    program = Program.parse(
        f"program workgroup(8, 1, 1)\nbuffer buf: read_write u32[16] @0\n{body}\n"
    )
    program.validate()
    inputs = {"buf": np.array([*range(15), 4], np.uint32)}
    expected = execute(program, inputs, (2, 1, 1)).outputs["buf"]
    found = run(program, inputs, grid=(2, 1, 1), device="cpu", deadline=5.0)["buf"]
    assert np.array_equal(found, expected)


def test_breaks_and_continues_of_split_loops():
    program = Program.parse(
        """
program workgroup(4, 1, 1)
buffer buf: read_write u32[] @0
region "r" {
    let i = gid.x
    let total = 0u32
    for k in 0u32..len(buf) {
        if k == 2u32 { continue }
        if k == 5u32 { break }
        total = total + k
        barrier grid_sync
        buf[i] = buf[i] + total
    }
    buf[i] = buf[i] * 2u32
}
"""
    )
    program.validate()
    inputs = {"buf": np.arange(8, dtype=np.uint32)}
    expected = execute(program, inputs, (2, 1, 1)).outputs["buf"]
    assert np.array_equal(run(program, inputs, grid=2, device="cpu")["buf"], expected)


@pytest.mark.parametrize("seed", range(share(300)))
def test_random_programs_split_give_what_the_unsplit_reference_gives(seed):
    case = generate(seed, PROFILES["grid_sync"])
    expected = execute(case.program, case.inputs, case.grid).outputs
    sizes = {name: found.shape[0] for name, found in expected.items()}
    given = as_host_arrays(case.program, case.inputs)
    found = run(case.program, given, grid=case.grid, sizes=sizes, device="split")
    assert compare_outputs(case.program, expected, found) == []
