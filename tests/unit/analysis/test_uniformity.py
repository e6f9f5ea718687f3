"""Uniformity, rule by rule: each case would be wrong without the rule it is named after."""

from __future__ import annotations

import pytest

from vyre.analysis import Level, ProgramFacts, Uniformity
from vyre.ir import Barrier, Expr, Let, Program
from vyre.text import parse

HEAD = """program workgroup(64, 1, 1)

buffer ro: read_only u32[] @0
buffer rw: read_write u32[] @1
buffer constants: uniform u32[4] @2
buffer tile: workgroup u32[64]
buffer own: local u32[4]

"""


def read(body: str) -> Program:
    return parse(HEAD + body)


def at_barrier(body: str) -> Level:
    """How alike the invocations reach the only barrier of a body."""
    program = read(body)
    [position] = [
        position
        for position, statement in enumerate(ProgramFacts.of(program).statements)
        if isinstance(statement, Barrier)
    ]
    return Uniformity.of(program).convergence(position)


def of_value(text: str, before: str = "") -> Level:
    """The level of the last variable that a body binds."""
    program = read(f"{before}let result = {text}\n")
    facts = ProgramFacts.of(program)
    position = max(p for p, statement in enumerate(facts.statements) if isinstance(statement, Let))
    uniformity = Uniformity.of(program)
    statement = facts.statements[position]
    assert isinstance(statement, Let)
    assert uniformity.variable(position) == uniformity.level_of(statement.value, position)
    return uniformity.variable(position)


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("1u32", Level.GRID),
        ("len(ro) + num_workgroups.x", Level.GRID),
        ("subgroup_size", Level.GRID),
        ("wid.x * 2u32", Level.WORKGROUP),
        ("gid.x", Level.DIVERGENT),
        ("lid.x", Level.DIVERGENT),
        ("lid.y", Level.GRID),
        ("gid.y", Level.WORKGROUP),
        ("subgroup_lane", Level.DIVERGENT),
        ("ro[0]", Level.GRID),
        ("constants[wid.x]", Level.WORKGROUP),
        ("ro[lid.x]", Level.DIVERGENT),
        ("rw[0]", Level.DIVERGENT),
        ("tile[0]", Level.DIVERGENT),
        ("own[0]", Level.DIVERGENT),
        ("atomic_add(rw[0], 1u32)", Level.DIVERGENT),
        ("subgroup_add(lid.x)", Level.SUBGROUP),
        ("lane(ballot(lid.x < 3u32), 0)", Level.SUBGROUP),
        ("shuffle(lid.x, wid.x)", Level.SUBGROUP),
        ("shuffle(1u32, lid.x)", Level.DIVERGENT),
        ("select(wid.x < 3u32, 1u32, 2u32)", Level.WORKGROUP),
    ],
)
def test_leaves(text: str, level: Level) -> None:
    assert of_value(text) == level


BRANCH = "if n < 3u32 {\n    barrier relaxed\n}\n"


def at_branch(before: str) -> Level:
    """How alike the invocations reach the barrier under a condition on `n`."""
    program = read(before + BRANCH)
    facts = ProgramFacts.of(program)
    return Uniformity.of(program).convergence(len(facts.statements) - 1)


@pytest.mark.parametrize(
    ("load", "around", "level"),
    [
        ("let n = tile[0]", "", Level.WORKGROUP),
        ("let n = tile[wid.x] + 1u32", "", Level.WORKGROUP),
        ("let n = tile[0]", "rw[lid.x] = 1u32\n", Level.WORKGROUP),
        ("let n = tile[lid.x]", "", Level.DIVERGENT),
        ("let n = rw[0]", "", Level.DIVERGENT),
        ("let n = own[0]", "", Level.DIVERGENT),
        ("let n = tile[0]", "tile[lid.x] = 1u32\n", Level.DIVERGENT),
        ("let n = tile[0]", "let old = atomic_add(tile[3], 1u32)\n", Level.DIVERGENT),
        ("let n = tile[0]", "if lid.x < 3u32 {\n    tile[9] = 1u32\n}\n", Level.DIVERGENT),
        ("let n = tile[0]", "if wid.x < 3u32 {\n    barrier seq_cst\n}\n", Level.DIVERGENT),
        ("let n = tile[0]", 'async_load "a" tile[0] <- ro[0], 4\n', Level.DIVERGENT),
    ],
)
@pytest.mark.parametrize("before", [True, False])
def test_memory_that_nothing_writes_between_two_barriers(
    load: str, around: str, level: Level, before: bool
) -> None:
    inside = f"{around}{load}\n" if before else f"{load}\n{around}"
    assert at_branch(f"barrier seq_cst\n{inside}barrier seq_cst\n") == level


def test_a_variable_may_get_what_the_workgroup_agrees_on_later() -> None:
    assert at_branch("let n = 0u32\nbarrier seq_cst\nn = tile[0]\nbarrier seq_cst\n") == (
        Level.WORKGROUP
    )


@pytest.mark.parametrize(
    "text",
    [
        "let n = tile[0]\nbarrier seq_cst\n",
        "barrier seq_cst\nlet n = tile[0]\n",
        "barrier seq_cst\nfor k in 0u32..2u32 {\n    let m = tile[0]\n}\nlet n = tile[0]\n",
    ],
)
def test_one_barrier_is_too_few_to_agree(text: str) -> None:
    assert at_branch(text) == Level.DIVERGENT


def test_one_invocation_agrees_with_itself() -> None:
    program = parse(
        HEAD.replace("64, 1, 1", "1, 1, 1") + "if lid.x < rw[0] {\n    barrier seq_cst\n}\n"
    )
    assert Uniformity.of(program).convergence(1) == Level.WORKGROUP


def test_assigned_in_a_divergent_branch() -> None:
    before = "let x = 0u32\nif lid.x < 3u32 {\n    x = 1u32\n}\n"
    assert of_value("x", before) == Level.DIVERGENT


def test_assigned_where_only_some_workgroups_go() -> None:
    before = "let x = 0u32\nif wid.x < 3u32 {\n    x = 1u32\n}\n"
    assert of_value("x", before) == Level.WORKGROUP


def test_bound_and_assigned_inside_one_branch_stays_alike() -> None:
    program = read("if lid.x < 3u32 {\n    let x = 0u32\n    x = 1u32\n}\n")
    assert Uniformity.of(program).variable(1) == Level.GRID


def test_loop_carried_values_reach_a_fixpoint_against_the_text() -> None:
    before = (
        "let a = 0u32\nlet b = 0u32\nlet c = 0u32\n"
        "for k in 0u32..4u32 {\n    c = b\n    b = a\n    a = lid.x\n}\n"
    )
    assert of_value("c", before) == Level.DIVERGENT


def test_a_divergent_number_of_rounds_makes_what_they_assign_differ() -> None:
    before = "let x = 0u32\nfor k in 0u32..lid.x {\n    x = k\n}\n"
    assert of_value("x", before) == Level.DIVERGENT


def test_the_loop_variable_itself_is_alike_in_each_round() -> None:
    program = read("for k in 0u32..lid.x {\n    rw[k] = k\n}\n")
    assert Uniformity.of(program).variable(0) == Level.GRID
    assert Uniformity.of(program).control(1) == Level.DIVERGENT


def test_a_divergent_break_makes_the_whole_loop_divergent() -> None:
    body = (
        "for k in 0u32..4u32 {\n    barrier seq_cst\n    if lid.x < k {\n        break\n    }\n}\n"
    )
    assert at_barrier(body) == Level.DIVERGENT
    assert at_barrier(body.replace("lid.x", "wid.x")) == Level.WORKGROUP


def test_all_meet_again_after_a_loop_with_a_divergent_break() -> None:
    body = "for k in 0u32..4u32 {\n    if lid.x < k {\n        break\n    }\n}\nbarrier seq_cst\n"
    assert at_barrier(body) == Level.GRID


def test_a_divergent_continue_concerns_what_follows_it_in_the_round() -> None:
    skip = "    if lid.x < k {\n        continue\n    }\n"
    loop = "for k in 0u32..4u32 {{\n{}}}\n"
    assert at_barrier(loop.format(skip + "    barrier seq_cst\n")) == Level.DIVERGENT
    assert at_barrier(loop.format("    barrier seq_cst\n" + skip)) == Level.GRID


def test_a_continue_in_either_arm_concerns_what_follows() -> None:
    body = (
        "for k in 0u32..4u32 {\n"
        "    if wid.x < 2u32 {\n"
        "        if lid.x < k {\n            continue\n        }\n"
        "    } else {\n"
        "        if k < 2u32 {\n            continue\n        }\n"
        "    }\n"
        "    barrier seq_cst\n"
        "}\n"
    )
    assert at_barrier(body) == Level.DIVERGENT


def test_assigned_after_a_divergent_continue() -> None:
    before = (
        "let x = 0u32\nfor k in 0u32..4u32 {\n"
        "    if lid.x < k {\n        continue\n    }\n    x = k\n}\n"
    )
    assert of_value("x", before) == Level.DIVERGENT


def test_a_break_after_a_divergent_continue_is_divergent() -> None:
    body = (
        "let n = 0u32\nwhile n < 9u32 {\n    n = 1u32\n    barrier seq_cst\n"
        "    if lid.x < 3u32 {\n        continue\n    }\n    break\n}\n"
    )
    assert at_barrier(body) == Level.DIVERGENT


def test_an_early_divergent_return() -> None:
    assert at_barrier("if lid.x < 3u32 {\n    return\n}\nbarrier seq_cst\n") == Level.DIVERGENT
    assert at_barrier("if wid.x < 3u32 {\n    return\n}\nbarrier seq_cst\n") == Level.WORKGROUP


def test_a_return_after_the_barrier_does_not_matter() -> None:
    assert at_barrier("barrier seq_cst\nif lid.x < 3u32 {\n    return\n}\n") == Level.GRID


def test_a_return_later_in_a_round_matters_in_the_next() -> None:
    body = (
        "for k in 0u32..4u32 {\n    barrier seq_cst\n    if lid.x < k {\n        return\n    }\n}\n"
    )
    assert at_barrier(body) == Level.DIVERGENT


def test_a_uniform_return_does_not_wash_away_a_divergent_one_before() -> None:
    body = "if lid.x < 3u32 {\n    return\n}\nif wid.x < 3u32 {\n    return\n}\nbarrier seq_cst\n"
    assert at_barrier(body) == Level.DIVERGENT


def test_a_return_in_one_arm_does_not_concern_the_other() -> None:
    body = (
        "if wid.x < 2u32 {\n    if lid.x < 3u32 {\n        return\n    }\n"
        "} else {\n    barrier seq_cst\n}\n"
    )
    assert at_barrier(body) == Level.WORKGROUP


def test_returns_of_both_arms_count_afterwards() -> None:
    body = (
        "if wid.x < 2u32 {\n    if lid.x < 3u32 {\n        return\n    }\n"
        "} else {\n    return\n}\nbarrier seq_cst\n"
    )
    assert at_barrier(body) == Level.DIVERGENT


def test_control_leaves_out_who_returned() -> None:
    program = read("if lid.x < 3u32 {\n    return\n}\nbarrier seq_cst\n")
    assert Uniformity.of(program).control(2) == Level.GRID
    assert Uniformity.of(program).convergence(2) == Level.DIVERGENT


def test_the_condition_of_a_while_is_missed_by_who_left() -> None:
    program = read("let x = lid.x\nwhile x > 0u32 {\n    x = x - 1u32\n}\n")
    uniformity = Uniformity.of(program)
    assert uniformity.why_missing(1, Level.WORKGROUP) is None
    assert uniformity.why_missing_round(1, Level.WORKGROUP) is not None


def test_a_cause_names_the_statement_and_the_leaf() -> None:
    program = read(
        "let x = lid.x + 1u32\nif x < 3u32 {\n"
        "    if wid.x < 2u32 {\n        barrier seq_cst\n    }\n}\n"
    )
    cause = Uniformity.of(program).why_missing(3, Level.WORKGROUP)
    assert cause is not None
    assert cause.position == 1
    assert cause.leaf == Expr.local_id(0)
    assert not cause.left
    grid_cause = Uniformity.of(program).why_missing(3, Level.GRID)
    assert grid_cause is not None
    assert grid_cause.position == 2
    assert grid_cause.leaf == Expr.workgroup_id(0)


def test_computed_once_per_program_object() -> None:
    program = read("barrier seq_cst\n")
    assert Uniformity.of(program) is Uniformity.of(program)
    assert Uniformity.of(program) is not Uniformity.of(read("barrier seq_cst\n"))
