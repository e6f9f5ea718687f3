"""Reading gives back what was written, for everything that can be built."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.ir.samples import all_buffers, edge_literals, everything
from vyre.conform import PROFILES, generate
from vyre.ir import Binary, BinOp, Expr, Lit, Node, Program, Unary, UnOp
from vyre.ir.node import MAX_EXPR_DEPTH, MAX_STMT_DEPTH
from vyre.ir.types import DataType
from vyre.text import buffer_line, expr_text, parse, statement_line, to_text


def again(program: Program) -> Program:
    text = to_text(program)
    read = parse(text)
    assert to_text(read) == text
    return read


def test_everything_at_once() -> None:
    assert again(everything()) == everything()


@pytest.mark.parametrize("profile", PROFILES)
def test_random_programs(profile: str) -> None:
    for seed in range(3 if profile == "large" else 12):
        program = generate(seed, profile).program
        assert again(program) == program


def test_bit_patterns_of_floats() -> None:
    for dtype in (DataType.F16, DataType.BF16, DataType.F32, DataType.F64):
        step = (1 << (dtype.bits or 0)) // 5000 | 1
        literals = [Node.eval(Lit(dtype, bits)) for bits in range(0, 1 << (dtype.bits or 0), step)]
        program = Program([], (1, 1, 1), literals)
        assert parse(to_text(program)) == program


def test_deepest_trees() -> None:
    deep = Expr.var("x")
    for _ in range(MAX_EXPR_DEPTH - 1):
        deep = Expr.min_(deep, deep) if deep.depth < 5 else Expr.lane(deep, 0)
    chain = Expr.var("x")
    for _ in range(MAX_EXPR_DEPTH - 1):
        chain = chain - Expr.u32(1)
    right = Expr.var("x")
    for _ in range(MAX_EXPR_DEPTH - 1):
        right = Expr.u32(1) - right
    nested = Node.eval(deep)
    for level in range(MAX_STMT_DEPTH - 1):
        nested = Node.if_(chain, [], [nested]) if level % 2 else Node.block([nested])
    program = Program([], (1, 1, 1), [nested, Node.eval(right)])
    assert again(program) == program


@pytest.mark.parametrize("outer", BinOp, ids=lambda op: op.name)
def test_operators_inside_operators(outer: BinOp) -> None:
    a, b, c = Expr.var("a"), Expr.var("b"), Expr.var("c")
    minus, tilde = Unary(UnOp.NEG, a), Unary(UnOp.NOT, a)
    inner = [Binary(op, b, c) for op in BinOp] + [minus, tilde, Expr.i8(-5), Expr.f32(-0.0)]
    body = [Node.eval(Binary(outer, left, a)) for left in inner]
    body += [Node.eval(Binary(outer, a, right)) for right in inner]
    body += [Node.eval(Unary(op, one)) for op in (UnOp.NEG, UnOp.NOT, UnOp.ABS) for one in inner]
    program = Program([], (1, 1, 1), body)
    assert again(program) == program


def test_text_looks_like_this() -> None:
    source = """\
program workgroup(64, 1, 1) op "my.entry" fast_math

buffer a: read_only u32[] @0
buffer out: read_write u32[128] @1 output live_out
buffer tile: workgroup f32[256]
buffer x: read_write u32[] @2 in persistent hints(axis=0, align=16, streaming)

region "vyre.program.root" {
    let i = gid.x
    if i < len(a) {
        out[i] = a[i] + 1u32
    } else if (i > 3u32) & (i < 5u32) {
        return
    } else {
        for k in 0..16 {
            eval atomic_add(out[k], 1u32, acq_rel)
        }
    }
    barrier seq_cst
}
"""
    assert to_text(parse(source)) == source


def test_brackets_stand_where_people_misread() -> None:
    a, b, c = Expr.var("a"), Expr.var("b"), Expr.var("c")
    assert expr_text(a + b * c) == "a + b * c"
    assert expr_text((a + b) * c) == "(a + b) * c"
    assert expr_text(a - (b - c)) == "a - (b - c)"
    assert expr_text(a - b - c) == "a - b - c"
    assert expr_text((a + b) << c) == "(a + b) << c"
    assert expr_text((a < b) & (b < c)) == "(a < b) & (b < c)"
    assert expr_text((a & b).eq(c)) == "(a & b) == c"
    assert expr_text((a | b) | c) == "a | b | c"
    assert expr_text(Unary(UnOp.NEG, -a)) == "-(-a)"
    assert expr_text(-(a + b)) == "-(a + b)"
    assert expr_text(-Expr.i8(5)) == "-(5i8)"


def test_numbers_are_as_short_as_they_can_be() -> None:
    shown = {expr_text(literal) for literal in edge_literals()}
    assert {"0.1f32", "0.1f16", "0.1bf16", "0.1f64", "-0.0f32", "1e+10f64"} <= shown
    assert {"inf_f32", "-inf_f16", "nan_bf16", "-nan_f16"} <= shown
    assert {"-128i8", "18446744073709551615u64", "true", "false"} <= shown
    assert "bits(0x7c01, f16)" in shown


def test_single_lines() -> None:
    program = parse("program workgroup(1, 1, 1)\nif x < 1 { return } { break } return")
    assert [statement_line(s) for s in program.entry] == [
        "if x < 1u32 { ... }",
        "{ ... }",
        "return",
    ]
    assert buffer_line(all_buffers()[0]) == "buffer t0: read_only bool[] @0"


def test_what_is_read_leniently() -> None:
    source = """
    program workgroup(1,1,1)   // a comment
    buffer a:read_write u32[]@0 let x=a[0]+1;let y=a<-1i8;// no blanks, no line ends
    for i in a..b{} print "\\u{e9}\\"" eval (((x)))eval 0xFFu8 eval 1f32 eval 2.5e-3f32
    eval vec2<u32>(x,y) eval cast<bool>(y)
    """
    read = parse(source)
    assert [statement_line(s) for s in read.entry] == [
        "let x = a[0] + 1u32",
        "let y = a < -1i8",
        "for i in a..b { ... }",
        'print "é\\""',
        *("eval x", "eval 255u8", "eval 1.0f32", "eval 0.0025f32"),
        *("eval vec2<u32>(x, y)", "eval bool(y)"),
    ]
    spans = [(s.span.line, s.span.column) for s in read.entry if s.span is not None]
    assert spans[:4] == [(3, 33), (3, 46), (4, 5), (4, 21)]


def test_a_barrier_without_an_ordering_is_the_strictest() -> None:
    source = "program workgroup(64, 1, 1)\nbuffer t: workgroup u32[64]\n"
    read = parse(source + 't[lid.x] = 1\nbarrier\neval t[0]\nregion "r" { barrier }\nbarrier')
    found = [statement_line(s) for s in read.entry]
    assert found.count("barrier seq_cst") == 2
    assert again(read) == read
    one_line = parse(source + "t[lid.x] = 1; barrier; eval t[0]; barrier { eval t[1] } barrier ;;")
    assert [statement_line(s) for s in one_line.entry] == [
        *("t[lid.x] = 1u32", "barrier seq_cst", "eval t[0]", "barrier seq_cst", "{ ... }"),
        "barrier seq_cst",
    ]


def test_the_example_of_the_specification_is_read() -> None:
    page = Path(__file__).parents[3] / "docs" / "spec" / "text.md"
    example = page.read_text(encoding="utf-8").split("```")[1]
    program = parse(example)
    assert again(program) == program
    assert program.entry_op_id == "example.scale"
