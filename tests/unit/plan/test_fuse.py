"""Fusion: names kept apart, hazards answered, refusals with their codes, results unchanged."""

from __future__ import annotations

import numpy as np
import pytest

from vyre.backends.reference import execute
from vyre.diagnostics import PlanError
from vyre.ir import BufferDecl, DataType, Expr, MemoryOrdering, Node, Program
from vyre.plan import Separation, fuse

U32 = DataType.U32
I = Expr.var("i")  # noqa: E741


def program(buffers, body, size=64):
    return Program.wrapped(buffers, (size, 1, 1), [Node.let("i", Expr.gid(0)), *body])


def doubled(source="x", target="y"):
    return program(
        [BufferDecl.read(source, 0, U32), BufferDecl.read_write(target, 1, U32)],
        [Node.store(target, I, Expr.load(source, I) * Expr.u32(2))],
    )


def reversed_(source="y", target="z"):
    last = Expr.buf_len(source) - Expr.u32(1) - I
    return program(
        [BufferDecl.read(source, 0, U32), BufferDecl.read_write(target, 1, U32)],
        [Node.store(target, I, Expr.load(source, last))],
    )


def sequential(programs, inputs, grid):
    state = dict(inputs)
    for one in programs:
        given = {d.name: state[d.name] for d in one.buffers if d.is_host_input}
        state |= execute(one, given, grid).outputs
    return state


def check(programs, inputs, grid, **options):
    fused = fuse(programs, **options)
    fused.program.validate()
    expected = sequential(programs, inputs, grid)
    given = {d.name: inputs[d.name] for d in fused.program.buffers if d.is_host_input}
    for name, found in execute(fused.program, given, grid).outputs.items():
        assert np.array_equal(found, expected[name]), name
    return fused


def arrays(*names, n=256):
    return {name: np.arange(n, dtype=np.uint32) + len(name) for name in names}


def test_read_after_write_across_invocations_needs_the_grid():
    fused = check([doubled(), reversed_()], arrays("x", "y", "z"), (4, 1, 1))
    assert [d.separation for d in fused.decisions] == [Separation.NONE, Separation.GRID_SYNC]
    assert "y (read after write)" in fused.explain()


def test_independent_arms_need_nothing():
    fused = check([doubled("x", "y"), doubled("a", "b")], arrays("x", "y", "a", "b"), (4, 1, 1))
    assert fused.decisions[1].separation is Separation.NONE


def test_on_one_row_each_invocation_may_stay_with_its_own_element():
    arms = [doubled("x", "y"), doubled("y", "z")]
    assert fuse(arms).decisions[1].separation is Separation.GRID_SYNC
    fused = check(arms, arrays("x", "y", "z"), (4, 1, 1), flat_grid=True)
    assert fused.decisions[1].separation is Separation.NONE


def test_on_one_row_a_workgroup_that_stays_with_its_elements_needs_a_barrier():
    mirrored = Expr.workgroup_id(0) * Expr.u32(64) + (Expr.u32(63) - Expr.local_id(0))
    second = program(
        [BufferDecl.read("y", 0, U32), BufferDecl.read_write("z", 1, U32)],
        [Node.store("z", I, Expr.load("y", mirrored))],
    )
    fused = check([doubled(), second], arrays("x", "y", "z"), (4, 1, 1), flat_grid=True)
    assert fused.decisions[1].separation is Separation.BARRIER


@pytest.mark.parametrize("kind", ["write after write", "write after read"])
def test_every_kind_of_hazard_is_found(kind):
    first = reversed_("x", "y")
    second = reversed_("a", "y") if kind == "write after write" else reversed_("a", "x")
    fused = check([first, second], arrays("x", "y", "a"), (4, 1, 1))
    assert fused.decisions[1].hazards[0].kind == kind
    assert fused.decisions[1].separation is Separation.GRID_SYNC


def test_a_hazard_with_an_arm_before_the_last_is_found():
    arms = [doubled("x", "y"), doubled("a", "b"), reversed_("y", "z")]
    fused = check(arms, arrays("x", "y", "z", "a", "b"), (4, 1, 1))
    assert fused.decisions[2].separation is Separation.GRID_SYNC


def test_a_return_ends_its_arm_only():
    guard = Node.if_(Expr.u32(100) <= I, [Node.return_()])
    early = program([BufferDecl.read_write("y", 0, U32)], [guard, Node.store("y", I, I)])
    check([early, doubled("x", "z")], arrays("x", "y", "z"), (4, 1, 1))


def test_a_return_inside_a_loop_ends_its_arm_only():
    stop = Node.if_(Expr.var("k") + I >= Expr.u32(100), [Node.return_()])
    loop = Node.loop("k", 0, 8, [stop, Node.store("y", I, Expr.var("k"))])
    early = program([BufferDecl.read_write("y", 0, U32)], [loop, Node.store("y", I, Expr.u32(77))])
    check([early, doubled("x", "z")], arrays("x", "y", "z"), (4, 1, 1))


def test_workgroup_memory_and_scratch_stay_an_arms_own():
    tile = BufferDecl.workgroup("tile", 64, U32)
    seen = program(
        [tile, BufferDecl.read_write("y", 0, U32)],
        [
            Node.store("y", I, Expr.load("tile", Expr.local_id(0))),
            Node.store("tile", Expr.local_id(0), Expr.u32(9)),
        ],
    )
    again = Program.wrapped(
        [tile, BufferDecl.read_write("z", 0, U32)],
        (64, 1, 1),
        [Node.store("z", Expr.gid(0), Expr.load("tile", Expr.local_id(0)))],
    )
    fused = check([seen, again], arrays("y", "z"), (4, 1, 1))
    names = {d.name for d in fused.program.buffers if d.is_workgroup}
    assert names == {"arm0.tile", "arm1.tile"}


@pytest.mark.parametrize(
    ("arms", "code"),
    [
        ([], "P001"),
        ([doubled(), program([BufferDecl.read_write("q", 0, U32)], [], size=32)], "P002"),
        ([doubled(), program([BufferDecl.read_write("y", 0, DataType.I32)], [])], "P003"),
        ([doubled(), doubled("a", "b").with_fast_math()], "P004"),
        (
            [
                program([], [Node.return_(), Node.barrier(MemoryOrdering.GRID_SYNC)]),
                doubled(),
            ],
            "P005",
        ),
        (
            [
                doubled(),
                Program.wrapped(
                    [BufferDecl.read("n", 0, U32)], (64, 1, 1), [Node.indirect_dispatch("n")]
                ),
            ],
            "P006",
        ),
    ],
)
def test_what_cannot_be_fused_is_refused_with_its_reason(arms, code):
    with pytest.raises(PlanError) as caught:
        fuse(arms)
    assert caught.value.code == code


def test_what_was_proven_harmless_is_explained():
    fused = fuse([doubled(), doubled("y", "z")], ["one", "two"], flat_grid=True)
    assert fused.explain().splitlines() == [
        "one: nothing before it",
        "two: nothing before it",
        "  y (read after write) is harmless: each invocation keeps to its own element",
    ]


def test_a_plain_buffer_stays_plain_in_the_fused_text():
    fused = fuse([doubled(), doubled("y", "z")], ["one", "two"])
    assert "buffer y: read_write u32[] @1\n" in str(fused.program)
