"""Control flow: who executes what, and with which values."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.backends.reference.programs import difference, program, run, u32, zeros
from vyre.diagnostics import CheckError
from vyre.ir import BufferDecl, DataType, Expr, Node, Program
from vyre.ir.node import MAX_EXPR_DEPTH, MAX_STMT_DEPTH

OUT = "out: read_write u32[] @0"

BODIES = {
    "if_else": """
let x = gid.x
if x % 3u32 == 0u32 { out[x] = 1u32 } else { out[x] = x * 2u32 }
""",
    "assign_in_one_arm": """
let x = gid.x
let y = 7u32
if x > 4u32 { y = x * 3u32 }
out[x] = y
""",
    "nested_ifs_keep_values_apart": """
let a = gid.x
let b = 0u32
if a % 2u32 == 0u32 {
    b = 1u32
    if a % 4u32 == 0u32 { b = b + 10u32 } else { a = 99u32 }
    b = b + 100u32
}
out[gid.x] = a * 1000u32 + b
""",
    "copy_is_not_an_alias": """
let a = gid.x
let b = a
if gid.x > 3u32 { a = a + 100u32 }
let c = a
if gid.x > 5u32 { a = a + 1000u32 }
out[gid.x] = a + b * 10000u32 + c * 1000000u32
""",
    "uniform_loop": """
let sum = 0u32
for k in 0u32..5u32 { sum = sum + k * gid.x }
out[gid.x] = sum
""",
    "varying_loop": """
let sum = 0u32
for k in gid.x..10u32 { sum = sum + k }
out[gid.x] = sum
""",
    "bounds_are_evaluated_once": """
let n = gid.x
let rounds = 0u32
for k in 0u32..n { n = n + 1u32 rounds = rounds + 1u32 }
out[gid.x] = rounds * 1000u32 + n
""",
    "empty_ranges": """
let rounds = 0u32
for k in 5u32..5u32 { rounds = rounds + 1u32 }
for k in 5u32..gid.x { rounds = rounds + 10u32 }
for k in 1i32..-1i32 { rounds = rounds + 100u32 }
out[gid.x] = rounds
""",
    "signed_loop": """
let sum = 0i32
for k in -3i32..i32(gid.x) { sum = sum + k * k }
out[gid.x] = u32(sum)
""",
    "narrow_loop_to_the_end_of_its_type": """
let rounds = 0u32
for k in 250u8..255u8 { rounds = rounds + u32(k) }
for k in u8(gid.x + 248u32)..255u8 { rounds = rounds + 1u32 }
out[gid.x] = rounds
""",
    "while_with_different_lengths": """
let n = gid.x
let steps = 0u32
while n != 1u32 & steps < 30u32 {
    if n % 2u32 == 0u32 { n = n / 2u32 } else { n = n * 3u32 + 1u32 }
    steps = steps + 1u32
}
out[gid.x] = steps * 100u32 + n
""",
    "break_and_continue": """
let sum = 0u32
for k in 0u32..20u32 {
    if k % 3u32 == gid.x % 3u32 { continue }
    if k > gid.x * 2u32 { break }
    sum = sum + k
}
out[gid.x] = sum
""",
    "break_out_of_the_inner_loop_only": """
let sum = 0u32
for k in 0u32..4u32 {
    for j in 0u32..10u32 {
        if j > gid.x { break }
        if j == k { continue }
        sum = sum + 1u32
    }
    sum = sum + 100u32
}
out[gid.x] = sum
""",
    "break_in_a_while_without_end": """
let n = 0u32
while true {
    n = n + 1u32
    if n > gid.x { break }
}
out[gid.x] = n
""",
    "return_in_a_loop": """
for k in 0u32..10u32 {
    out[gid.x] = k
    if k == gid.x { return }
}
out[gid.x] = 77u32
""",
    "return_then_more": """
if gid.x < 3u32 { return }
let x = 5u32
if gid.x == 4u32 { x = 6u32 return }
out[gid.x] = x
""",
    "sibling_scopes_reuse_names": """
if gid.x < 4u32 { let v = 1u32 out[gid.x] = v } else { let v = 2.5f32 out[gid.x] = u32(v * 2.0f32) }
{ let v = 7u64 out[gid.x] = out[gid.x] + u32(v) }
""",
    "select_and_logic_evaluate_everything": """
let c = gid.x > 3u32 | atomic_add(out[gid.x], 1u32) == 5u32
let d = select(c, 10u32, atomic_add(out[gid.x], 100u32))
out[gid.x] = out[gid.x] + d
""",
    "variables_of_a_round_do_not_leak": """
let total = 0u32
for k in 0u32..3u32 {
    let fresh = k
    if gid.x > k { fresh = fresh + 10u32 }
    total = total * 100u32 + fresh
}
out[gid.x] = total
""",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
@pytest.mark.parametrize("grid", [1, 3])
def test_control_flow(body: str, grid: int) -> None:
    source = program(body, OUT)
    assert difference(source, {"out": zeros(8 * grid)}, (grid, 1, 1)) is None


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_one_invocation_alone(body: str) -> None:
    source = program(body, OUT, workgroup=(1, 1, 1))
    assert difference(source, {"out": zeros(3)}, (3, 1, 1)) is None


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_any_schedule_gives_the_same(body: str) -> None:
    source = program(body, OUT)
    expected = run(source, 3, out=zeros(24)).outputs["out"].tolist()
    for seed in range(5):
        assert run(source, 3, out=zeros(24), schedule=seed).outputs["out"].tolist() == expected


def test_ids_of_a_grid_with_three_axes() -> None:
    body = """
let at = gid.x + 6u32 * (gid.y + 4u32 * gid.z)
out[at] = lid.x + 10u32 * lid.y + 100u32 * lid.z + 1000u32 * wid.x + 10000u32 * wid.y
out[at] = out[at] + 100000u32 * wid.z + 1000000u32 * num_workgroups.x
"""
    source = program(body, OUT, workgroup=(3, 2, 1))
    assert difference(source, {"out": zeros(72)}, (2, 2, 3)) is None


def test_many_cohorts_are_seamless() -> None:
    """More invocations than run together, and a guard that cuts the last workgroup."""
    source = program("if gid.x < len(out) { out[gid.x] = gid.x }", OUT, workgroup=(64, 1, 1))
    count = 100_003
    result = run(source, -(-count // 64), out=zeros(count))
    assert (result.outputs["out"] == np.arange(count)).all()


def test_inputs_are_not_changed() -> None:
    given = u32(1, 2, 3)
    result = run(program("out[gid.x] = 9u32", OUT), out=given)
    assert given.tolist() == [1, 2, 3]
    assert result.outputs["out"].tolist() == [9, 9, 9]


def test_executed_counts_statements_times_invocations() -> None:
    source = program("if gid.x < 3u32 { out[gid.x] = 1u32 }", OUT)
    assert run(source, out=zeros(8)).executed == 8 + 3
    assert run(source, 2, out=zeros(8)).executed == 16 + 3


@pytest.mark.parametrize("word", ["break", "continue"])
def test_break_outside_of_a_loop(word: str) -> None:
    with pytest.raises(CheckError) as caught:
        run(program(word, OUT), out=zeros(1))
    assert caught.value.code == "X005"


def test_ill_typed_programs_are_refused() -> None:
    with pytest.raises(CheckError) as caught:
        run(program("out[gid.x] = 1u32 + 1i32", OUT), out=zeros(1))
    assert caught.value.code == "V101"


def test_a_grid_of_nothing() -> None:
    assert run(program("out[0] = 1u32", OUT), 0, out=zeros(1)).outputs["out"].tolist() == [0]


def test_the_deepest_programs_that_can_be_built() -> None:
    deep = Expr.gid(0)
    while deep.depth < MAX_EXPR_DEPTH:
        deep = deep + Expr.u32(1)
    body: list[Node] = [Node.store("out", Expr.gid(0), deep)]
    while body[0].depth < MAX_STMT_DEPTH - 1:
        body = [Node.if_(Expr.gid(0) < Expr.u32(9), body)]
    buffers = [BufferDecl.read_write("out", 0, DataType.U32)]
    source = Program.wrapped(buffers, (8, 1, 1), body)
    assert run(source, out=zeros(8)).outputs["out"].tolist() == [199 + n for n in range(8)]
