"""Handoff buffers: what may move into workgroup memory, and what is said of the rest."""

from __future__ import annotations

import pytest

from vyre.ir import BufferAccess, BufferDecl, BufferHints, DataType, Expr, MemoryKind, Node, Program
from vyre.opt.passes.decode_scan_fuse import (
    DecodeScanFuse,
    candidate_handoffs,
    count_opportunities,
    run,
)
from vyre.target import Limits, Target

U32 = DataType.U32


def storage(name: str, binding: int, access: BufferAccess, count: int = 0) -> BufferDecl:
    return BufferDecl.storage(name, binding, access, U32).with_count(count)


def decoder(count: int = 128, body=()) -> Program:
    return Program.wrapped(
        [
            storage("input", 0, BufferAccess.READ_ONLY, 64),
            storage("decoded", 1, BufferAccess.READ_WRITE, count),
        ],
        (64, 1, 1),
        body,
        entry_op_id="decoder",
        fast_math=True,
    )


def access_of(program: Program, name: str) -> BufferAccess:
    decl = program.buffer(name)
    assert decl is not None
    return decl.access


def test_a_read_write_handoff_moves() -> None:
    after = run(decoder())
    assert len(after.buffers) == 2
    decl = after.buffer("decoded")
    assert decl is not None
    assert decl.access is BufferAccess.WORKGROUP
    assert decl.kind is MemoryKind.SHARED
    assert decl.binding is None
    assert (decl.count, decl.element) == (128, U32)


def test_read_only_buffers_stay() -> None:
    assert access_of(run(decoder()), "input") is BufferAccess.READ_ONLY


def test_metadata_survives() -> None:
    given = decoder()
    hinted = given.with_rewritten_buffers(
        decl.with_hints(BufferHints(preferred_alignment=16)) for decl in given.buffers
    )
    after = run(hinted)
    assert after.entry_op_id == "decoder"
    assert after.fast_math
    decl = after.buffer("decoded")
    assert decl is not None
    assert decl.hints.preferred_alignment == 16
    assert after.entry is hinted.entry


def test_live_out_buffers_stay() -> None:
    decl = storage("result", 0, BufferAccess.READ_WRITE, 16).with_pipeline_live_out(True)
    program = Program.wrapped([decl], (64, 1, 1), [])
    assert run(program) is program
    assert count_opportunities(program) == 0
    assert candidate_handoffs(program) == {}


def test_without_candidates_nothing_happens() -> None:
    program = Program.wrapped([storage("input", 0, BufferAccess.READ_ONLY, 1)], (64, 1, 1), [])
    assert run(program) is program
    assert count_opportunities(program) == 0


def test_buffers_sized_at_run_time_stay() -> None:
    program = Program.wrapped([storage("d", 0, BufferAccess.READ_WRITE)], (64, 1, 1), [])
    assert access_of(run(program), "d") is BufferAccess.READ_WRITE
    assert candidate_handoffs(program) == {}


def test_elements_without_a_size_stay() -> None:
    decl = BufferDecl.storage("t", 0, BufferAccess.READ_WRITE, DataType.TENSOR).with_count(4)
    assert count_opportunities(Program.wrapped([decl], (64, 1, 1), [])) == 0


@pytest.mark.parametrize(("count", "moves"), [(4096, True), (4097, False)])
def test_the_limit_is_sixteen_kibibytes(count: int, moves: bool) -> None:
    program = decoder(count)
    assert count_opportunities(program) == int(moves)
    assert bool(candidate_handoffs(program)) is moves
    wanted = BufferAccess.WORKGROUP if moves else BufferAccess.READ_WRITE
    assert access_of(run(program), "decoded") is wanted


def test_candidates_are_named_and_counted() -> None:
    program = Program.wrapped(
        [
            storage("a", 0, BufferAccess.READ_WRITE, 32),
            storage("b", 1, BufferAccess.READ_WRITE, 64),
            storage("c", 2, BufferAccess.READ_ONLY, 16),
        ],
        (64, 1, 1),
        [],
    )
    assert candidate_handoffs(program) == {"a": 32, "b": 64}
    assert count_opportunities(program) == 2


def test_all_of_it_together_stays_within_the_limit() -> None:
    program = Program.wrapped(
        [storage(name, i, BufferAccess.READ_WRITE, 2048) for i, name in enumerate("abc")],
        (64, 1, 1),
        [],
    )
    assert candidate_handoffs(program) == {"a": 2048, "b": 2048}
    small = Target("small", limits=Limits(max_workgroup_bytes=8192))
    assert candidate_handoffs(program, small) == {"a": 2048}


def store_own(buffer: str = "decoded"):
    return Node.store(buffer, Expr.gid(), Expr.load("input", Expr.gid()))


def test_a_read_of_somebody_elses_element_keeps_it() -> None:
    read = Node.store("decoded", Expr.gid(), Expr.load("decoded", Expr.gid() + Expr.u32(64)))
    assert count_opportunities(decoder(body=[store_own(), Node.barrier(), read])) == 0


def test_the_lane_of_a_subgroup_is_not_the_same_for_the_workgroup() -> None:
    lane = Expr.subgroup_lane()
    first = Expr.workgroup_id(0) * Expr.u32(64)
    back = Expr.u32(63) - Expr.local_id(0)

    def handed_over(write, read) -> Program:
        body = [
            Node.store("decoded", write, Expr.u32(1)),
            Node.barrier(),
            Node.store("input", Expr.gid(0), Expr.load("decoded", read)),
        ]
        buffers = [
            storage("input", 0, BufferAccess.READ_WRITE).with_pipeline_live_out(True),
            storage("decoded", 1, BufferAccess.READ_WRITE, 128),
        ]
        return Program.wrapped(buffers, (64, 1, 1), body)

    # Elements 64 to 94 are written by the workgroup after, for other lanes of this one.
    assert candidate_handoffs(handed_over(Expr.gid(0) + lane, first + back + lane)) == {}
    assert candidate_handoffs(handed_over(Expr.gid(0), first + lane + Expr.u32(1))) == {}
    # The lane is below the size of the workgroup, so all that it can reach was written here.
    assert candidate_handoffs(handed_over(Expr.gid(0), first + lane)) == {"decoded": 128}
    assert candidate_handoffs(handed_over(Expr.gid(0), first + back)) == {"decoded": 128}


def test_a_read_before_any_write_keeps_it() -> None:
    read = Node.store("decoded", 0, Expr.load("decoded", Expr.gid()))
    assert count_opportunities(decoder(body=[read])) == 0


def test_the_pass_keeps_what_the_host_sees() -> None:
    assert DecodeScanFuse().apply(decoder()).program is not None
    given = decoder()
    assert DecodeScanFuse().apply(given).program is given


def scratch(*body: Node) -> Program:
    return Program.wrapped(
        [
            storage("input", 0, BufferAccess.READ_ONLY, 64),
            BufferDecl.output("out", 1, U32).with_count(64),
            BufferDecl.scratch("tmp", 128, U32),
        ],
        (64, 1, 1),
        body,
    )


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ([Node.store("out", Expr.gid(), Expr.load("tmp", Expr.gid()))], "not proven"),
        ([Node.eval(Expr.atomic_add("tmp", 0, Expr.u32(1)))], "atomic"),
        ([store_own("tmp"), Node.barrier(), Node.opaque("ext.kind")], "opaque"),
    ],
)
def test_where_the_proof_fails_the_report_says_why(body, reason: str) -> None:
    given = scratch(*body)
    result = DecodeScanFuse().apply(given)
    assert result.program is given
    assert len(result.notes) == 1
    assert reason in result.notes[0]
    assert "tmp" in result.notes[0]


def test_a_grid_sync_keeps_everything() -> None:
    from vyre.ir import MemoryOrdering

    read = Node.store("out", Expr.gid(), Expr.load("tmp", Expr.gid()))
    given = scratch(store_own("tmp"), Node.barrier(MemoryOrdering.GRID_SYNC), read)
    result = DecodeScanFuse().apply(given)
    assert result.program is given
    assert "grid sync" in result.notes[0]
