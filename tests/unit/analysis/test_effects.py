"""Effects of expressions and statements."""

from __future__ import annotations

import pytest

from vyre.analysis import (
    Effects,
    ProgramEffects,
    ProgramFacts,
    expr_effects,
    is_movable,
    is_removable,
    reads_memory,
    statement_effects,
)
from vyre.ir import AnyStmt, Expr, Let
from vyre.text import parse

HEAD = """program workgroup(64, 1, 1)

buffer a: read_only u32[] @0
buffer out: read_write u32[] @1
buffer tile: workgroup u32[64]

"""


def statement(text: str) -> AnyStmt:
    return parse(HEAD + text + "\n").entry[0]


def effects(text: str) -> Effects:
    return statement_effects(statement(text))


def test_expressions() -> None:
    load, atomic = Expr.load("a", 0), Expr.atomic_add("out", Expr.load("a", 1), Expr.u32(1))
    shuffle = Expr.subgroup_shuffle(Expr.gid(0), 1)
    assert expr_effects(Expr.gid(0) + Expr.u32(1)) == Effects()
    assert expr_effects(load).reads == {"a"}
    assert expr_effects(atomic).writes == expr_effects(atomic).atomics == {"out"}
    assert expr_effects(atomic).reads == {"a", "out"}
    assert expr_effects(shuffle).crosses_lanes
    assert is_removable(load)
    assert is_removable(shuffle)
    assert not is_removable(Expr.u32(1) + atomic)
    assert is_movable(load)
    assert not is_movable(shuffle)
    assert not is_movable(atomic)
    assert reads_memory(Expr.u32(1) + load)
    assert not reads_memory(Expr.buf_len("a"))


@pytest.mark.parametrize(
    ("text", "flag"),
    [
        ("barrier seq_cst", "synchronises"),
        ("barrier grid_sync", "grid_synchronises"),
        ("return", "leaves"),
        ('trap "t"', "traps"),
        ('print "p", 1u32', "prints"),
        ("while true {\n}", "loops"),
        ('opaque k hex"" ()', "opaque"),
        ("all_reduce add out", "grid_synchronises"),
        ("if true {\n    return\n}", "leaves"),
        ("for k in 0..4 {\n    return\n}", "leaves"),
    ],
)
def test_statements(text: str, flag: str) -> None:
    assert getattr(effects(text), flag)
    assert not effects(text).is_removable


def test_memory_of_statements() -> None:
    store = effects("out[a[0]] = tile[1]")
    assert store.writes == {"out"}
    assert store.reads == {"a", "tile"}
    copy = effects('async_load "t" tile[0] <- a[0], 4')
    assert copy.reads == {"a"}
    assert copy.writes == {"tile"}
    assert effects("let x = a[0]").is_removable
    assert effects("if a[0] == 1u32 {\n    let x = 1u32\n}").is_removable


def test_a_loop_keeps_its_breaks_to_itself() -> None:
    assert not effects("for k in 0..4 {\n    if k == 2u32 {\n        break\n    }\n}").leaves
    assert effects("for k in 0..4 {\n    break\n    return\n}").leaves
    inner = effects("for k in 0..4 {\n    for j in 0..4 {\n        break\n    }\n    continue\n}")
    assert not inner.leaves


def test_opaque_does_everything() -> None:
    found = effects('opaque k hex"" ()')
    assert found.touches("a")
    assert found.changes("a")


def test_by_position_as_one_by_one() -> None:
    source = HEAD + (
        "for k in 0..4 {\n    if k == 2u32 {\n        break\n    }\n    out[k] = a[k]\n}\n"
        "if a[0] == 1u32 {\n    return\n} else {\n    eval atomic_add(out[0], 1u32)\n}\n"
    )
    program = parse(source)
    table = ProgramEffects.of(program)
    for position, found in enumerate(ProgramFacts.of(program).statements):
        assert table.at(position) == statement_effects(found)
    assert not isinstance(program.entry[0], Let)
