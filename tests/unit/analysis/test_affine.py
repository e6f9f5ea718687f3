"""Affine forms, strides, aliasing, types and cost."""

from __future__ import annotations

import pytest

from vyre.analysis import (
    AffineForms,
    Alias,
    Aliases,
    ProgramFacts,
    VariableTypes,
    expr_cost,
    program_cost,
)
from vyre.analysis.affine import MOST_TERMS
from vyre.ir import AnyExpr, DataType, Expr, Let, Program, Store
from vyre.text import parse

HEAD = """program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[] @1

"""


def last(body: str) -> tuple[Program, AnyExpr, int]:
    program = parse(HEAD + body + "\n")
    facts = ProgramFacts.of(program)
    position = len(facts) - 1
    statement = facts.statements[position]
    assert isinstance(statement, Let)
    return program, statement.value, position


@pytest.mark.parametrize(
    ("body", "stride"),
    [
        ("let x = gid.x", 1),
        ("let x = lid.x * 4u32 + 3u32", 4),
        ("let i = gid.x\nlet j = i + i\nlet x = j - 1u32", 2),
        ("let x = wid.x * 64u32 + lid.x", 1),
        ("let x = 7u32 - gid.x", -1),
        ("let x = gid.x << 3u32", 8),
        ("let x = gid.y * len(a)", 0),
        ("let x = a[wid.x]", 0),
        ("let x = a[gid.x]", None),
        ("let x = gid.x * gid.x", None),
        ("let x = gid.x % 4u32", None),
        ("let x = i32(gid.x) - 1i32", 1),
        ("let n = out[0]\nlet x = gid.x + n", None),
        ("let n = a[0]\nlet x = gid.x + n", 1),
        ("let i = gid.x\ni = i + 1u32\nlet x = i", None),
        ("let x = subgroup_lane", None),
        ("let x = 5u32", 0),
        ("let x = gid.x + atomic_add(out[0], 1u32) - atomic_add(out[0], 1u32)", None),
        ("let x = gid.x + out[0] - out[0]", None),
        ("let x = gid.x + a[lid.x] - a[lid.x]", 1),
        ("let x = u64(gid.x)", None),
    ],
)
def test_strides(body: str, stride: int | None) -> None:
    program, value, position = last(body)
    assert AffineForms.of(program).stride(value, position) == stride


def test_forms_are_taken_modulo_the_width() -> None:
    program, value, position = last("let x = lid.x * 4294967295u32")
    form = AffineForms.of(program).of_expr(value, position)
    assert form is not None
    assert form.bits == 32
    assert AffineForms.of(program).stride(value, position) == -1


def test_long_chains_of_variables() -> None:
    lines = ["let x0 = gid.x", *(f"let x{n} = x{n - 1} + 1u32" for n in range(1, 3000))]
    program, value, position = last("\n".join(lines))
    assert AffineForms.of(program).stride(value, position) == 1


def test_forms_stay_short() -> None:
    lines = ["let x0 = gid.x", *(f"let x{n} = x{n - 1} + a[{n}]" for n in range(1, 3000))]
    program, value, position = last("\n".join(lines))
    form = AffineForms.of(program).of_expr(value, position)
    assert form is not None
    assert len(form.terms) <= MOST_TERMS + 1


def accesses(body: str) -> tuple[Program, list[tuple[AnyExpr, int]]]:
    program = parse(HEAD + body + "\n")
    found: list[tuple[AnyExpr, int]] = []
    for position, statement in enumerate(ProgramFacts.of(program).statements):
        if isinstance(statement, Store):
            found.append((statement.index, position))
    return program, found


@pytest.mark.parametrize(
    ("body", "alias"),
    [
        ("let i = gid.x\nout[i] = 1u32\nout[i + 1u32] = 2u32", Alias.NO),
        ("let i = gid.x\nout[i + 1u32] = 1u32\nout[1u32 + i] = 2u32", Alias.MUST),
        ("let i = gid.x\nlet j = gid.y\nout[i] = 1u32\nout[j] = 2u32", Alias.MAY),
        ("let i = gid.x\nout[i] = 1u32\ni = i + 1u32\nout[i] = 2u32", Alias.MAY),
        ("out[lid.x] = 1u32\nout[lid.x + 64u32] = 2u32", Alias.NO),
        ("out[lid.x] = 1u32\nout[lid.y + 64u32] = 2u32", Alias.NO),
        ("out[gid.x] = 1u32\nout[u64(gid.x)] = 2u32", Alias.MAY),
        ("out[a[0]] = 1u32\nout[a[0]] = 2u32", Alias.MAY),
    ],
)
def test_accesses_of_one_invocation(body: str, alias: Alias) -> None:
    program, [first, second] = accesses(body)
    aliases = Aliases.of(program)
    assert aliases.of_accesses("out", *first, "out", *second) is alias
    assert aliases.of_accesses("out", *first, "a", *second) is Alias.NO
    assert Aliases.of_buffers("a", "out") is Alias.NO


@pytest.mark.parametrize(
    ("index", "own"),
    [
        ("gid.x", True),
        ("lid.x + wid.x * 64u32", True),
        ("63u32 - lid.x", True),
        ("lid.x + a[wid.x]", True),
        ("lid.x / 2u32", False),
        ("lid.x * 2u32", False),
        ("wid.x", False),
        ("lid.x + a[lid.x]", False),
        ("lid.x + gid.x", False),
    ],
)
def test_an_index_of_ones_own(index: str, own: bool) -> None:
    program, [(expr, position)] = accesses(f"out[{index}] = 1u32")
    assert Aliases.of(program).is_own(expr, position) is own


def test_types_of_variables() -> None:
    program = parse(
        HEAD + "let x = 1i16\nif x < 2i16 {\n    let y = f32(x)\n}\nfor k in 0u8..3u8 {\n}\n"
    )
    types = VariableTypes.of(program)
    assert types.variable(0) is DataType.I16
    assert types.variable(2) is DataType.F32
    assert types.variable(3) is DataType.U8
    assert types.of_expr(Expr.var("x") < Expr.i16(1), 1) is DataType.BOOL
    assert types.visible("y", 3) is None


def test_cost_orders_forms() -> None:
    x = Expr.gid(0)
    assert expr_cost(x) == 0
    assert expr_cost(x + x) < expr_cost(x / x) < expr_cost(Expr.load("a", x) / x)
    short = parse(HEAD + "for k in 0..4 {\n    out[k] = 1u32\n}\n")
    long = parse(HEAD + "for k in 0..64 {\n    out[k] = 1u32\n}\n")
    guessed = parse(HEAD + "for k in 0..len(a) {\n    out[k] = 1u32\n}\n")
    assert program_cost(short) < program_cost(guessed) < program_cost(long)
    assert program_cost(short) == program_cost(short)
