"""Programs: values, what wrapping does, statistics, estimates."""

from __future__ import annotations

import copy
import pickle

import pytest

from tests.unit.ir.samples import everything
from vyre.conform import PROFILES, generate
from vyre.diagnostics import BuildError
from vyre.ir import ROOT_GENERATOR, BufferDecl, DataType, Expr, Node, Program, Region

U32 = DataType.U32
OUT = BufferDecl.output("out", 0, U32).with_count(4)


def tiny_program() -> Program:
    return Program.wrapped([OUT], (1, 1, 1), [Node.store("out", 0, Expr.u32(1))])


def test_loose_statements_get_one_root_region() -> None:
    program = tiny_program()
    assert program.entry == (Region(ROOT_GENERATOR, None, (Node.store("out", 0, Expr.u32(1)),)),)
    empty = Program.wrapped([], (1, 1, 1), [])
    assert empty.entry == (Region(ROOT_GENERATOR, None, ()),)


def test_regions_are_left_alone() -> None:
    regions = [Node.region("a", []), Node.region("b", [])]
    assert Program.wrapped([], (1, 1, 1), regions).entry == tuple(regions)
    mixed = [*regions, Node.return_()]
    assert Program.wrapped([], (1, 1, 1), mixed).entry == (
        Region(ROOT_GENERATOR, None, tuple(mixed)),
    )


def test_programs_are_values() -> None:
    program = everything()
    assert program == everything()
    assert hash(program) == hash(everything())
    assert pickle.loads(pickle.dumps(program)) == program  # noqa: S301
    assert copy.deepcopy(program) == program
    changed = [
        program.with_fast_math(False),
        program.with_entry_op_id(None),
        program.with_workgroup_size((1, 2, 3)),
        program.with_rewritten_buffers(program.buffers[1:]),
        program.with_rewritten_entry(program.entry[1:]),
    ]
    for one in changed:
        assert one != program
    assert len(set(changed)) == len(changed)


def test_rewriting_keeps_everything_else() -> None:
    program = everything()
    rewritten = program.with_rewritten_entry([])
    assert rewritten.entry == ()
    assert rewritten.with_rewritten_entry(program.entry) == program
    assert program.with_rewritten_buffers(list(program.buffers)) is program
    assert program.with_rewritten_buffers([]).with_rewritten_buffers(program.buffers) == program


def test_buffers_are_found_by_name() -> None:
    program = tiny_program()
    assert program.buffer("out") == OUT
    assert program.buffer("missing") is None


def test_one_store_counts_two_statements() -> None:
    stats = tiny_program().stats()
    assert stats.node_count == 2
    assert (stats.top_level_regions, stats.region_count) == (1, 1)
    assert (stats.memory_op_count, stats.expr_count) == (1, 2)
    assert stats.static_storage_bytes == 16
    assert (stats.max_nesting, stats.max_expr_depth) == (2, 1)


def test_statistics_of_a_larger_program() -> None:
    program = Program.parse(
        """program workgroup(8, 1, 1)
        buffer a: read_only u32[] @0
        buffer h: read_write u32[16] @1
        region "r" {
            let i = gid.x
            if i < len(a) {
                let x = a[i]
                for k in 0..4 {
                    let y = x + k
                    eval atomic_add(h[y % 16], 1u32)
                }
            }
            barrier seq_cst
            let s = subgroup_add(i)
            h[0] = s
        }"""
    )
    stats = program.stats()
    assert stats.node_count == 10
    assert stats.control_flow_count == 2
    assert stats.barrier_count == 1
    assert stats.atomic_op_count == 1
    assert stats.subgroup_op_count == 1
    assert stats.memory_op_count == 3
    assert stats.max_nesting == 4
    assert stats.register_pressure == 4
    assert stats.static_storage_bytes == 64


def test_estimates_of_memory() -> None:
    def estimate(*buffers: BufferDecl) -> int:
        return Program.wrapped(buffers, (1, 1, 1), []).estimate_peak_bytes()

    vast = BufferDecl.read("v", 0, DataType.array(65_536)).with_count((1 << 32) - 1)
    assert estimate() == 0
    assert estimate(OUT, BufferDecl.scratch("s", 3, DataType.U64)) == 16 + 24
    assert estimate(BufferDecl.read("r", 0, U32)) == 0, "sized at run time"
    assert estimate(OUT, BufferDecl.read("t", 0, DataType.TENSOR)) == (1 << 64) - 1
    many = [vast.with_name(f"v{number}") for number in range(1 << 17)]
    assert estimate(*many) == (1 << 64) - 1


@pytest.mark.parametrize(
    ("build", "code"),
    [
        (lambda: Program.wrapped([], (64,), []), "I007"),
        (lambda: Program.wrapped([], (64, 1, -1), []), "I007"),
        (lambda: Program.wrapped([], (64, 1, 1 << 32), []), "I007"),
        (lambda: Program.wrapped([], (64, 1, 1.0), []), "I007"),  # pyright: ignore[reportArgumentType]
        (lambda: Program.wrapped(["a"], (64, 1, 1), []), "I008"),  # pyright: ignore[reportArgumentType]
        (lambda: Program.wrapped([], (64, 1, 1), [Expr.u32(1)]), "I004"),  # pyright: ignore[reportArgumentType]
        (lambda: Program.wrapped([], (64, 1, 1), [], "a\nb"), "I008"),
    ],
)
def test_what_is_no_program_is_refused(build, code: str) -> None:
    with pytest.raises(BuildError) as caught:
        build()
    assert caught.value.code == code


@pytest.mark.parametrize("profile", PROFILES)
def test_equality_follows_structure_on_random_programs(profile: str) -> None:
    first, again, other = (generate(seed, profile).program for seed in (5, 5, 6))
    assert first == again
    assert hash(first) == hash(again)
    assert first != other
