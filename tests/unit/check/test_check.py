"""The checker as a whole: everything in one run, each problem once, each with its place."""

from __future__ import annotations

import pytest

import vyre
from vyre.check import check, validate
from vyre.diagnostics import CheckError, Severity
from vyre.ir import BufferAccess, BufferDecl, DataType, Expr, MemoryKind, Node, Program
from vyre.text import parse

OUT = BufferDecl.read_write("out", 0, DataType.U32)


def program(*body: Node, buffers: tuple[BufferDecl, ...] = (OUT,)) -> Program:
    return Program.wrapped(buffers, (64, 1, 1), body)


def codes(found: Program, *, derived: bool = False) -> list[str]:
    return [diagnostic.code for diagnostic in check(found, derived=derived)]


def nested(levels: int) -> Program:
    """A program with this many levels of statements."""
    body = [Node.eval(Expr.u32(1))]
    for _ in range(levels - 2):
        body = [Node.block(body)]
    return Program([OUT], (64, 1, 1), [Node.region("r", body)])


def deep(levels: int) -> Expr:
    found: Expr = Expr.gid(0)
    for _ in range(levels - 1):
        found = found + Expr.u32(1)
    return found


def test_a_sound_program_has_no_findings() -> None:
    i = Expr.var("i")
    sound = program(Node.let("i", Expr.gid(0)), Node.store("out", i, Expr.load("out", i)))
    assert check(sound) == []
    validate(sound)
    sound.validate()
    assert sound.check() == []


def test_everything_is_found_in_one_run_in_the_order_of_the_text() -> None:
    wrong = program(
        Node.store("out", 0, Expr.var("x")),
        Node.if_(Expr.local_id(0) < Expr.u32(3), [Node.barrier(), Node.assign("y", Expr.u32(1))]),
        Node.store("nowhere", 0, Expr.u32(1)),
        Node.break_(),
        buffers=(OUT, OUT.with_binding(1)),
    )
    assert codes(wrong) == ["V202", "V001", "V301", "V005", "V002", "V008"]


def test_a_wrong_operand_is_reported_once() -> None:
    bad = Expr.u32(1) + Expr.i32(1)
    around = Expr.select(bad < Expr.u32(3), bad * bad, bad)
    wrong = program(Node.let("x", around), Node.store("out", 0, Expr.var("x")))
    assert codes(wrong) == ["V101"] * 4


def test_validate_raises_with_all_errors_and_without_warnings() -> None:
    wrong = program(Node.return_(), Node.break_(), Node.continue_())
    with pytest.raises(CheckError) as caught:
        validate(wrong)
    assert caught.value.codes == ("V008", "V008")
    assert isinstance(caught.value, vyre.VyreError)
    assert codes(wrong) == ["V009", "V008", "V008"]


def test_warnings_alone_do_not_raise() -> None:
    dubious = program(Node.return_(), Node.store("out", 0, Expr.u32(1)))
    validate(dubious)
    [found] = check(dubious)
    assert found.severity is Severity.WARNING


def test_a_place_is_a_path_a_span_and_a_line() -> None:
    wrong = program(
        Node.if_(Expr.bool_(True), [Node.eval(Expr.u32(1)), Node.store("out", 0, Expr.f32(1.0))])
    )
    [found] = check(wrong)
    assert found.location.path == "entry[0].body[0].then[1].value"
    assert found.location.span is None
    assert found.location.statement == "out[0] = 1.0f32"
    text = "program workgroup(64, 1, 1)\n\nlet x = (1u32 + y) * 2u32\n"
    [found] = check(parse(text))
    assert found.location.path == "entry[0].value.left.right"
    assert found.location.span is not None
    assert found.location.span.line == 3


def test_one_statement_at_two_places_is_told_apart() -> None:
    shared = Node.store("out", 0, Expr.var("x"))
    wrong = program(Node.block([shared]), Node.let("x", Expr.u32(1)), shared)
    assert [found.location.path for found in check(wrong)] == ["entry[0].body[0].body[0].value"]
    twice = program(shared, shared)
    assert [found.location.path for found in check(twice)] == [
        "entry[0].body[0].value",
        "entry[0].body[1].value",
    ]


def test_long_statements_are_cut_in_messages() -> None:
    [found] = check(program(Node.let("x", deep(60) + Expr.i32(1))))
    assert found.location.statement is not None
    assert len(found.location.statement) <= 100


@pytest.mark.parametrize(("levels", "expected"), [(64, []), (65, ["V401"]), (99, ["V401"])])
def test_nesting(levels: int, expected: list[str]) -> None:
    assert nested(levels).stats().max_nesting == levels
    assert codes(nested(levels)) == expected


@pytest.mark.parametrize(("levels", "expected"), [(128, []), (129, ["V402"]), (200, ["V402"])])
def test_expression_depth(levels: int, expected: list[str]) -> None:
    assert codes(program(Node.let("x", deep(levels)))) == expected


@pytest.mark.parametrize(("count", "expected"), [(100_000, []), (100_001, ["V403"])])
def test_statements(count: int, expected: list[str]) -> None:
    long = program(*[Node.eval(Expr.u32(1))] * (count - 1))
    assert long.stats().node_count == count
    assert codes(long) == expected


def test_a_derived_program_is_not_blamed_for_what_folding_brought_to_light() -> None:
    small = OUT.with_count(4)
    folded = program(
        Node.store("out", 9, Expr.gid(0) / Expr.u32(0)),
        Node.return_(),
        Node.return_(),
        buffers=(small,),
    )
    assert codes(folded) == ["V014", "V013", "V009"]
    assert codes(folded, derived=True) == []
    validate(folded, derived=True)
    with pytest.raises(CheckError):
        validate(folded)


@pytest.mark.parametrize(
    ("decl", "expected"),
    [
        (OUT.with_binding(None), ["V204"]),
        (BufferDecl.scratch("x", 4, DataType.U32).with_binding(3), ["V205"]),
        (BufferDecl.local("x", 0, DataType.U32), ["V206"]),
        (BufferDecl.scratch("x", 0, DataType.TENSOR), ["V206", "V207"]),
        (BufferDecl.output("x", 0, DataType.TENSOR), ["V207"]),
        (BufferDecl.read("x", 0, DataType.TENSOR), []),
        (BufferDecl.output("x", 0, DataType.U32), []),
        (BufferDecl.workgroup("x", 4, DataType.U32).with_pipeline_live_out(), ["V208"]),
        (OUT.with_initial_value().with_pipeline_live_out(), []),
        (BufferDecl.output("x", 0, DataType.U32).with_initial_value(), ["V208"]),
        (OUT.with_access(BufferAccess.WORKGROUP), ["V209"]),
        (OUT.with_kind(MemoryKind.PERSISTENT), []),
        (OUT.with_kind(MemoryKind.SHARED), ["V209"]),
    ],
)
def test_declarations(decl: BufferDecl, expected: list[str]) -> None:
    assert codes(program(buffers=(decl,))) == expected


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        ((0, 1, 1), ["V201"]),
        ((65536, 65536, 1), ["V201"]),
        ((65535, 65537, 1), []),
        ((1, 1, 1), []),
    ],
)
def test_workgroup_sizes(size: tuple[int, int, int], expected: list[str]) -> None:
    assert codes(Program.wrapped([], size, [])) == expected


def test_a_wide_scope_is_checked_in_linear_time() -> None:
    names = [f"x{n}" for n in range(5000)]
    lets = [Node.let(name, Expr.u32(1)) for name in names]
    assert codes(program(*lets, *[Node.store("out", 0, Expr.var("oops"))] * 50)) == ["V001"] * 50
