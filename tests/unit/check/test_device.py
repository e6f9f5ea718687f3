"""A program against a target: features it lacks, limits it has."""

from __future__ import annotations

import pytest

from vyre.check import check
from vyre.diagnostics import Diagnostic
from vyre.ir import AtomicOp, BufferDecl, DataType, Expr, Node, Program
from vyre.target import WEBGPU_DEFAULT_LIMITS, Feature, Limits, Target

ALL = frozenset(Feature)
BUFFERS = (
    BufferDecl.read_write("u64s", 0, DataType.U64),
    BufferDecl.read_write("f16s", 1, DataType.F16),
    BufferDecl.read_write("f64s", 2, DataType.F64),
    BufferDecl.read_write("f32s", 3, DataType.F32),
    BufferDecl.read("counts", 4, DataType.U32).with_count(3),
)
HALF = Expr.load("f16s", 0)


def found(*body: Node, target: Target) -> list[Diagnostic]:
    return check(Program([*BUFFERS], (64, 1, 1), body), target)


@pytest.mark.parametrize(
    ("feature", "statement"),
    [
        (Feature.F16, Node.store("f16s", 0, HALF + HALF)),
        (Feature.F16, Node.let("x", Expr.fma(HALF, HALF, HALF))),
        (Feature.F16, Node.let("x", Expr.subgroup_add(HALF))),
        (Feature.F64, Node.let("x", Expr.f64(1.0))),
        (Feature.F64, Node.let("x", Expr.cast(Expr.load("f64s", 0), DataType.F32))),
        (Feature.F64, Node.let("x", Expr.cast(Expr.u32(1), DataType.F64))),
        (Feature.ATOMIC64, Node.eval(Expr.atomic_add("u64s", 0, Expr.u64(1)))),
        (Feature.ATOMIC_F32, Node.eval(Expr.atomic(AtomicOp.MAX, "f32s", 0, Expr.f32(1.0)))),
        (Feature.SUBGROUPS, Node.let("x", Expr.subgroup_add(Expr.u32(1)))),
        (Feature.SUBGROUPS, Node.let("x", Expr.subgroup_lane())),
        (Feature.TRAP, Node.trap("t")),
        (Feature.PRINT, Node.print_("p", Expr.u32(1))),
        (Feature.INDIRECT_DISPATCH, Node.indirect_dispatch("counts")),
    ],
)
def test_features_that_nothing_replaces(feature: Feature, statement: Node) -> None:
    assert found(statement, target=Target("all", ALL)) == []
    [missing] = found(statement, target=Target("less", ALL - {feature}))
    assert missing.code == "V410"
    assert f"no {feature.value}" in missing.message
    assert missing.location.path == "entry[0]"


@pytest.mark.parametrize(
    "statement",
    [
        Node.store("f16s", 0, HALF),
        Node.store("f16s", 0, Expr.cast(Expr.cast(HALF, DataType.F32), DataType.F16)),
        Node.let("x", Expr.u64(1) + Expr.u64(2)),
        Node.let("x", Expr.u8(1) + Expr.u8(2)),
        Node.barrier(),
        Node.barrier(ordering=Node.barrier().ordering.GRID_SYNC),
        Node.let("x", Expr.fma(Expr.f32(1.0), Expr.f32(1.0), Expr.f32(1.0))),
    ],
)
def test_features_that_are_emulated(statement: Node) -> None:
    assert found(statement, target=Target("nothing")) == []


def test_a_missing_feature_is_reported_once_where_it_is_first_needed() -> None:
    body = [Node.let("a", Expr.u32(1)), Node.let("b", Expr.f64(1.0)), Node.let("c", Expr.f64(2.0))]
    [missing] = found(*body, target=Target("nothing"))
    assert missing.location.path == "entry[1]"


def test_opaque_is_an_error_on_a_target_and_a_warning_without() -> None:
    body = Node.opaque("some.extension")
    assert [d.code for d in found(body, target=Target("all", ALL))] == ["V412"]
    assert [d.code for d in check(Program([], (1, 1, 1), [body]))] == ["V319"]


@pytest.mark.parametrize(
    ("size", "buffers", "words"),
    [
        ((256, 1, 1), (), None),
        ((257, 1, 1), (), "extent in x"),
        ((1, 1, 65), (), "extent in z"),
        ((16, 16, 2), (), "the workgroup's size is 512"),
        ((1, 1, 1), (BufferDecl.workgroup("t", 4096, DataType.U32),), None),
        ((1, 1, 1), (BufferDecl.workgroup("t", 4097, DataType.U32),), "workgroup memory"),
        ((1, 1, 1), (BufferDecl.local("t", 4097, DataType.U16),), "one invocation's arrays"),
        ((1, 1, 1), (BufferDecl.uniform("t", 0, DataType.U32).with_count(20000),), "size of 't'"),
        ((1, 1, 1), (BufferDecl.read("t", 0, DataType.U64).with_count(1 << 24),), None),
        ((1, 1, 1), (BufferDecl.read("t", 0, DataType.U64).with_count(1 << 25),), "size of 't'"),
        (
            (1, 1, 1),
            tuple(BufferDecl.read(f"b{n}", n, DataType.U32) for n in range(9)),
            "number of device buffers is 9",
        ),
    ],
)
def test_limits(
    size: tuple[int, int, int], buffers: tuple[BufferDecl, ...], words: str | None
) -> None:
    target = Target("webgpu", ALL, WEBGPU_DEFAULT_LIMITS)
    over = check(Program(buffers, size, []), target)
    if words is None:
        assert over == []
    else:
        [diagnostic] = [d for d in over if words in d.message]
        assert diagnostic.code == "V411"
        assert "webgpu" in diagnostic.message


def test_sums_of_memory_count() -> None:
    tiles = [BufferDecl.workgroup(f"t{n}", 10, DataType.U32) for n in range(3)]
    target = Target("small", ALL, Limits(max_workgroup_bytes=100))
    assert [d.code for d in check(Program(tiles, (1, 1, 1), []), target)] == ["V411"]
