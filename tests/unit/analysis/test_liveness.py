"""Def-use and liveness."""

from __future__ import annotations

import random

import pytest

from tests.unit.analysis.lanes import Maker, TooLong, run_all
from vyre.analysis import DefUse, Liveness, ProgramFacts
from vyre.ir import AnyStmt, Assign, Body, Expr, Let, Node, Program, Store
from vyre.ir.walk import map_bodies, map_body
from vyre.text import parse

HEAD = "program workgroup(64, 1, 1)\n\nbuffer out: read_write u32[] @0\n\n"


def dead(body: str) -> set[int]:
    return Liveness.of(parse(HEAD + body)).dead_writes


def test_where_variables_are_used() -> None:
    program = parse(
        HEAD + "let x = 1u32\nlet y = x\nx = x + y\nfor k in 0u32..x {\n    out[k] = y\n}\n"
    )
    def_use = DefUse.of(program)
    assert def_use.variables == [0, 1, 3]
    assert def_use.reads(0) == [1, 2, 3]
    assert def_use.assigns(0) == [2]
    assert def_use.reads(1) == [2, 4]
    assert def_use.reads(3) == [4]
    assert def_use.is_constant(1)
    assert not def_use.is_constant(0)
    assert def_use.value(0) == Expr.u32(1)
    assert def_use.value(3) is None
    assert def_use.resolve("x", 2) == 0


def test_a_value_that_is_read_is_alive() -> None:
    assert dead("let x = 1u32\nout[0] = x\n") == set()


def test_a_value_that_is_overwritten_is_dead() -> None:
    assert dead("let x = 1u32\nx = 2u32\nout[0] = x\n") == {0}
    assert dead("let x = 1u32\nout[0] = x\nx = 2u32\n") == {2}


def test_arms() -> None:
    once = "let x = 1u32\nif gid.x == 0u32 {\n    x = 2u32\n}\nout[0] = x\n"
    assert dead(once) == set()
    both = "let x = 1u32\nif gid.x == 0u32 {\n    x = 2u32\n} else {\n    x = 3u32\n}\nout[0] = x\n"
    assert dead(both) == {0}
    used = "let x = 1u32\nif gid.x == 0u32 {\n    out[1] = x\n    x = 2u32\n}\nout[0] = 1u32\n"
    assert dead(used) == {3}


def test_the_next_round_reads() -> None:
    assert dead("let x = 1u32\nfor k in 0..4 {\n    out[k] = x\n    x = k\n}\n") == set()
    assert dead("let x = 1u32\nwhile x < 4u32 {\n    x = x + 1u32\n}\n") == set()


def test_a_loop_may_run_no_round() -> None:
    assert dead("let x = 1u32\nfor k in 0..4 {\n    x = k\n}\nout[0] = x\n") == set()


def test_a_break_carries_values_out() -> None:
    body = (
        "let x = 1u32\nfor k in 0..4 {\n    x = 5u32\n    if k == 2u32 {\n        break\n    }\n"
        "    x = 6u32\n}\nout[0] = x\n"
    )
    assert dead(body) == set()


def test_values_across_a_grid_sync() -> None:
    program = parse(
        HEAD + "let x = gid.x\nlet y = gid.y\nlet z = x\nbarrier grid_sync\nout[x] = z\ny = 1u32\n"
    )
    assert Liveness.of(program).across(3) == {0, 2}


def without(body: Body, wanted: set[int], dice: random.Random) -> Body:
    """The body with another value at each of some statements."""
    position = -1

    def change(statement: AnyStmt) -> AnyStmt:
        nonlocal position
        position += 1
        if position in wanted:
            assert isinstance(statement, (Let, Assign))
            value = Expr.u32(dice.randrange(1 << 32))
            if isinstance(statement, Let):
                return Node.let(statement.name, value)
            return Node.assign(statement.name, value)
        return map_bodies(statement, lambda inner: map_body(inner, change))

    return map_body(body, change)


def trace(program: Program, seed: int) -> list[list[tuple[int, int]]]:
    """What every invocation stores, and where."""
    facts = ProgramFacts.of(program)
    found: list[list[tuple[int, int]]] = []
    for group in run_all(program, seed, {"ro": 3, "rw": 5, "tile": 8}):
        for lane in group:
            stores = [
                (position, at)
                for position, access, at in lane.accesses
                if isinstance(access, Store)
            ]
            found.append([*stores, (len(facts), len(lane.visits))])
    return found


@pytest.mark.parametrize("block", range(4))
def test_dead_values_do_not_matter(block: int) -> None:
    """Random programs do the same when every value called dead is replaced by another."""
    replaced = 0
    for seed in range(block, 600, 4):
        program = Maker(seed).program()
        facts = ProgramFacts.of(program)
        gone = {p for p in Liveness.of(program).dead_writes if "c" not in name_at(facts, p)}
        other = program.with_rewritten_entry(without(program.entry, gone, random.Random(seed)))
        try:
            before = trace(program, seed)
        except TooLong:
            continue
        assert trace(other, seed) == before, f"seed {seed}\n{program}\n{other}"
        replaced += len(gone)
    assert replaced > 100


def name_at(facts: ProgramFacts, position: int) -> str:
    statement = facts.statements[position]
    assert isinstance(statement, (Let, Assign))
    return statement.name
