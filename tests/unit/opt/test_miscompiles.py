"""Miscompiles that other optimisers had, each with the program that shows it.

Every program runs on the reference before and after every pass that changes it and after the whole
release profile, with three workgroups and values chosen to hurt.
"""

from __future__ import annotations

import numpy as np
import pytest

from vyre.analysis import ProgramFacts
from vyre.backends.reference import execute
from vyre.conform.fuzz.passes import FEATURES, WIDTH, Outcome, difference
from vyre.diagnostics import PlanError
from vyre.ir import Binary, Program
from vyre.ir.walk import walk_all_exprs
from vyre.opt import OptimizerProfile, optimize, pass_by_name, registered_passes
from vyre.plan import fuse
from vyre.target import Target

TARGET = Target("test", FEATURES, subgroup_width=WIDTH)
GRID = (3, 1, 1)
FLOATS = np.array(
    [0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, np.nan, 1e-45, 3.4e38, 7.0, 0.1, -0.1], np.float32
)
WORDS = np.array(
    [0, 1, 2, 31, 32, 33, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFFE, 5, 1000], np.uint32
)


def run(program: Program) -> Outcome:
    inputs = {}
    for decl in program.buffers:
        if decl.is_host_input:
            values = FLOATS if decl.element.is_float else WORDS
            inputs[decl.name] = np.resize(values, decl.count or 96).astype(
                {"f32": np.float32, "i32": np.int32}.get(str(decl.element), np.uint32)
            )
    sizes = {d.name: 96 for d in program.buffers if d.is_device_allocated and not d.count}
    done = execute(program, inputs, GRID, subgroup_width=WIDTH, output_sizes=sizes)
    return Outcome(done.outputs, done.printed)


def survives(text: str) -> Program:
    """Run before and after; gives the optimised program."""
    before = Program.parse("program workgroup(32, 1, 1)\n\n" + text)
    before.validate()
    expected = run(before)
    for each in registered_passes():
        after = each.apply(before, TARGET).program
        if after is not before:
            after.validate()
            assert difference(expected, run(after), before) is None, each.metadata.name
    report = optimize(before, OptimizerProfile.MEGAKERNEL, TARGET, verify=True)
    assert difference(expected, run(report.program), before) is None, str(report.program)
    return report.program


F = "buffer f: read_only f32[96] @0\nbuffer out: read_write f32[] @1\n"
U = "buffer a: read_only u32[96] @0\nbuffer out: read_write u32[] @1\n"
H = "buffer h: read_write u32[96] @0\nbuffer out: read_write u32[] @1\n"


def test_x_equals_x_is_false_for_nan() -> None:
    survives(F + "let x = f[gid.x]\nout[gid.x] = select(x == x, 1.0f32, 2.0f32)\n")


def test_x_minus_x_is_not_zero_for_infinities_and_nan() -> None:
    survives(F + "let x = f[gid.x]\nout[gid.x] = x - x\n")


def test_x_over_x_is_not_one_at_zero() -> None:
    survives(U + "let x = a[gid.x]\nout[gid.x] = x / x\n")
    survives(F + "let x = f[gid.x]\nout[gid.x] = x / x\n")


def test_x_plus_zero_is_not_x_for_minus_zero() -> None:
    survives(F + "let x = f[gid.x]\nout[gid.x] = copysign(1.0f32, x + 0.0f32)\n")


def test_x_times_zero_is_not_zero() -> None:
    survives(F + "let x = f[gid.x]\nout[gid.x] = copysign(1.0f32, x * 0.0f32)\n")


@pytest.mark.parametrize("op", ["<<", ">>"])
@pytest.mark.parametrize("pair", [(20, 20), (31, 1), (33, 2), (40, 31), (5, 6)])
def test_two_shifts_are_merged_with_each_amount_masked(op: str, pair: tuple[int, int]) -> None:
    first, second = pair
    survives(U + f"out[gid.x] = (a[gid.x] {op} {first}u32) {op} {second}u32\n")
    survives(
        U.replace("u32", "i32") + f"out[gid.x] = (a[gid.x] {op} {first}i32) {op} {second}i32\n"
    )


def test_a_select_of_one_and_zero_becomes_a_cast_of_a_truth_value_only() -> None:
    after = survives(U + "out[gid.x] = select(a[gid.x] != 0u32, 1u32, 0u32)\n")
    assert "u32(" in str(after)


def test_false_and_x_keeps_the_atomic_in_x() -> None:
    after = survives(
        H + "let t = false & (atomic_add(h[gid.x], 1u32) == 0u32)\nif t {\n    out[0] = 1u32\n}\n"
    )
    assert after.stats().atomic_op_count == 1


def test_strength_reduction_does_not_repeat_an_effect() -> None:
    for op in ("* 8u32", "/ 8u32", "% 8u32", "* 0u32", "/ 1u32"):
        after = survives(H + f"out[gid.x] = atomic_add(h[gid.x], 3u32) {op}\n")
        assert after.stats().atomic_op_count == 1


def test_division_by_a_constant_stays_exact() -> None:
    for divisor in (3, 7, 10, 641, 0xFFFFFFFF):
        survives(U + f"out[gid.x] = a[gid.x] / {divisor}u32 + a[gid.x] % {divisor}u32\n")
    for divisor in ("3.0f32", "10.0f32", "0.1f32", "2.0f32"):
        survives(F + f"out[gid.x] = f[gid.x] / {divisor}\n")


def test_signed_division_by_a_power_of_two_rounds_toward_zero() -> None:
    text = U.replace("u32", "i32")
    survives(text + "out[gid.x] = a[gid.x] / 4i32 + a[gid.x] % 4i32\n")
    survives(text + "out[gid.x] = a[gid.x] / -1i32 + a[gid.x] % -1i32\n")


def test_an_atomic_with_one_site_stays_atomic_in_every_invocation() -> None:
    after = survives(H + "eval atomic_add(h[0], 1u32)\neval atomic_max(h[gid.x % 3u32], gid.x)\n")
    assert after.stats().atomic_op_count == 2


def test_an_atomic_that_no_lane_makes_is_not_made_for_all_of_them() -> None:
    # Other workgroups read the element, and nothing orders them.
    text = H + "if gid.x > 4000u32 {\n    eval atomic_add(h[0], 1u32)\n}\nout[gid.x] = h[0]\n"
    after = survives(text)
    assert "subgroup_add" in str(after)
    inputs = {"h": np.resize(WORDS, 96), "out": np.zeros(96, np.uint32)}
    assert not execute(after, inputs, GRID, subgroup_width=WIDTH, sanitize=True).findings


def test_dead_code_elimination_looks_inside_subgroup_operands() -> None:
    after = survives(H + "let x = subgroup_add(atomic_add(h[gid.x], 1u32))\n")
    assert after.stats().atomic_op_count == 1


def test_a_load_is_not_kept_across_an_atomic_in_an_operand() -> None:
    survives(H + "out[gid.x] = h[gid.x] + atomic_add(h[gid.x], 7u32) + h[gid.x]\n")


def test_a_load_is_not_kept_across_a_store() -> None:
    survives(H + "let x = h[gid.x] + 1u32\nh[gid.x] = x * 2u32\nout[gid.x] = h[gid.x] + 1u32\n")


def test_a_load_is_not_kept_across_a_store_in_a_loop() -> None:
    survives(
        H + "let x = h[gid.x]\nfor i in 0u32..4u32 {\n    out[gid.x] = out[gid.x] + h[gid.x] + x\n"
        "    h[gid.x] = h[gid.x] * 3u32 + i\n}\n"
    )


def test_inlining_a_scope_does_not_make_names_collide() -> None:
    survives(
        U + "{\n    let x = a[gid.x]\n    out[gid.x] = x\n}\nlet y = 0u32\n"
        "for x in 0u32..3u32 {\n    {\n        let y_1 = x\n        y = y + y_1\n    }\n}\n"
        "{\n    let x = a[gid.x] + y\n    out[gid.x] = out[gid.x] + x\n}\n"
    )


def test_hoisting_does_not_make_names_collide() -> None:
    survives(
        U
        + "for i in 0u32..9u32 {\n    let x = a[gid.x] * 3u32\n    out[gid.x] = out[gid.x] + x\n}\n"
        "for i in 0u32..9u32 {\n"
        "    if i == 4u32 {\n        let x = i\n        out[gid.x] = x\n    }\n"
        "    let y = a[gid.x] + 1u32\n    out[gid.x] = out[gid.x] ^ y\n}\n"
    )


def test_joining_regions_does_not_make_names_collide() -> None:
    part = 'region "part" {\n    let x = a[gid.x] + y\n    let y_1 = x * 3u32\n    y = y_1\n}\n'
    survives(U + "let y = 1u32\n" + part + part + part + "out[gid.x] = y\n")


def test_arms_that_end_alike_are_not_joined_across_names() -> None:
    survives(
        U + "let y = 0u32\nif a[gid.x] > 5u32 {\n    let x = a[gid.x]\n    y = x\n} else {\n"
        "    let x = a[gid.x] + 1u32\n    y = x\n}\nlet x = y * 2u32\nout[gid.x] = x + y\n"
    )


def test_a_condition_that_an_arm_changes_is_evaluated_once() -> None:
    survives(
        U + "let x = a[gid.x]\nlet y = 0u32\nif x > 5u32 {\n    x = 1u32\n    y = 2u32\n} else {\n"
        "    y = 9u32\n}\nout[gid.x] = x * 16u32 + y\n"
    )


def test_unrolling_loses_no_round_and_leaks_no_variable() -> None:
    survives(
        U + "let sum = 0u32\nfor i in 1u32..5u32 {\n    let x = a[gid.x] + i\n"
        "    sum = sum * 31u32 + x\n}\n"
        "for i in 0u32..3u32 {\n    sum = sum ^ (i << 4u32)\n}\nout[gid.x] = sum\n"
    )


def test_a_scalar_carried_from_one_loop_to_the_next_stays() -> None:
    survives(
        U + "let c = a[gid.x]\nfor i in 0u32..20u32 {\n    c = c * 5u32 + 1u32\n}\n"
        "for i in 0u32..20u32 {\n    out[gid.x] = out[gid.x] + c\n    c = c >> 1u32\n}\n"
    )


def test_a_dead_store_is_not_dead_when_the_overwriting_store_reads_it() -> None:
    survives(H + "h[gid.x] = 5u32\nh[gid.x] = h[gid.x] + 1u32\nout[gid.x] = h[gid.x]\n")


def test_a_dead_store_is_not_dead_when_the_next_index_loads_it() -> None:
    survives(H + "out[gid.x] = gid.x\nout[gid.x * 0u32 + out[gid.x]] = 7u32\n")


def test_a_stored_variable_that_is_reassigned_is_not_forwarded() -> None:
    survives(
        U + "let v = a[gid.x]\nif gid.x < 96u32 {\n    out[gid.x] = v\n    v = v * 3u32\n"
        "    let w = out[gid.x]\n    out[gid.x] = w + v\n}\n"
    )


def test_a_store_out_of_bounds_is_not_forwarded() -> None:
    survives(
        "buffer small: read_write u32[40] @0\nbuffer out: read_write u32[] @1\n"
        "small[gid.x] = gid.x + 1u32\nout[gid.x] = small[gid.x]\n"
    )


def test_joined_regions_keep_the_order_of_writes_and_returns() -> None:
    survives(
        U + 'region "stage" {\n    out[gid.x] = 1u32\n'
        "    if a[gid.x] > 100u32 {\n        return\n    }\n}\n"
        'region "stage" {\n    out[gid.x] = 2u32\n}\n'
    )


def test_fused_stages_keep_the_order_of_writes() -> None:
    after = survives(
        U + "buffer tmp: scratch u32[96]\n"
        'region "one" {\n    tmp[gid.x] = a[gid.x]\n}\nbarrier grid_sync\n'
        'region "two" {\n    tmp[gid.x] = tmp[gid.x] * 3u32\n}\nbarrier grid_sync\n'
        'region "three" {\n    out[gid.x] = tmp[gid.x] + 1u32\n}\n'
    )
    assert after.buffer("tmp") is None
    assert after.stats().barrier_count == 0


def test_a_barrier_is_judged_against_everything_before_it() -> None:
    survives(
        H + "buffer other: read_write u32[96] @2\nh[gid.x] = gid.x\nbarrier grid_sync\n"
        "other[gid.x] = 1u32\nbarrier grid_sync\nout[gid.x] = h[95u32 - gid.x]\n"
    )


def test_facts_belong_to_one_tree_and_not_to_a_digest() -> None:
    text = "program workgroup(32, 1, 1)\n\n" + U + "out[gid.x] = a[gid.x]\n"
    first, second = Program.parse(text), Program.parse(text)
    assert first == second
    assert first.digest() == second.digest()
    assert ProgramFacts.of(first) is not ProgramFacts.of(second)
    assert ProgramFacts.of(first) is ProgramFacts.of(first)


def test_one_rewrite_that_is_refused_does_not_revert_the_others() -> None:
    text = (
        U + "for i in 0u32..4u32 {\n    out[i] = 1u32\n}\n"
        "for i in 0u32..4u32 {\n    if a[i] == 0u32 {\n        break\n    }\n    out[i] = 2u32\n}\n"
    )
    before = Program.parse("program workgroup(32, 1, 1)\n\n" + text)
    result = pass_by_name("unroll").apply(before)
    assert result.rewrites == 1
    assert result.notes == ("the loop over i has a break or continue",)
    assert "for i in" in str(result.program)
    assert str(result.program).count("= 1u32") == 4


def test_multiply_and_add_are_not_contracted_without_the_flag() -> None:
    after = survives(F + "out[gid.x] = f[gid.x] * 1.1f32 + 0.3f32\n")
    assert "fma" not in str(after)


def test_reassociation_of_floats_needs_the_flag() -> None:
    after = survives(F + "out[gid.x] = (f[gid.x] + 1.0f32) + 3.0f32\n")
    assert sum(isinstance(e, Binary) for e in walk_all_exprs(after.entry)) == 2


def test_programs_are_fused_with_every_hazard_and_every_return() -> None:
    # Two programs write the same elements, and the first one returns early.
    first = Program.parse(
        "program workgroup(32, 1, 1)\n\n" + U + "out[gid.x] = 1u32\n"
        "if a[gid.x] > 5u32 {\n    return\n}\nout[gid.x] = 2u32\n"
    )
    second = Program.parse(
        "program workgroup(32, 1, 1)\n\n" + U + "out[gid.x] = out[gid.x] + a[95u32 - gid.x]\n"
    )
    inputs = {"a": np.resize(WORDS, 96), "out": np.zeros(96, np.uint32)}
    expected = execute(first, inputs, GRID).outputs["out"]
    expected = execute(second, {**inputs, "out": expected}, GRID).outputs["out"]
    fused = fuse([first, second]).program
    for program in (fused, optimize(fused, OptimizerProfile.MEGAKERNEL, TARGET).program):
        assert np.array_equal(execute(program, inputs, GRID).outputs["out"], expected)


def test_a_workgroup_with_barriers_is_not_widened_by_fusion() -> None:
    text = (
        U + "buffer tile: workgroup u32[{0}]\ntile[lid.x] = a[gid.x]\nbarrier seq_cst\n"
        "out[gid.x] = tile[{0}u32 - 1u32 - lid.x]\n"
    )
    arms = [
        Program.parse(f"program workgroup({size}, 1, 1)\n\n" + text.format(size))
        for size in (32, 64)
    ]
    with pytest.raises(PlanError):
        fuse(arms)


LISTED = {
    "x == x folded for NaN": [test_x_equals_x_is_false_for_nan],
    "x - x folded to zero for floats": [test_x_minus_x_is_not_zero_for_infinities_and_nan],
    "x / x folded to one": [test_x_over_x_is_not_one_at_zero],
    "x + 0.0 folded to x": [test_x_plus_zero_is_not_x_for_minus_zero],
    "shifts merged without masks": [test_two_shifts_are_merged_with_each_amount_masked],
    "select as a cast of what is no truth value": [
        test_a_select_of_one_and_zero_becomes_a_cast_of_a_truth_value_only
    ],
    "an atomic dropped with `false &`": [test_false_and_x_keeps_the_atomic_in_x],
    "an effect repeated by strength reduction": [test_strength_reduction_does_not_repeat_an_effect],
    "an inexact reciprocal": [
        test_division_by_a_constant_stays_exact,
        test_signed_division_by_a_power_of_two_rounds_toward_zero,
    ],
    "an atomic with one site made plain": [
        test_an_atomic_with_one_site_stays_atomic_in_every_invocation
    ],
    "dead code inside subgroup operands": [
        test_dead_code_elimination_looks_inside_subgroup_operands
    ],
    "a load kept across a hidden atomic or store": [
        test_a_load_is_not_kept_across_an_atomic_in_an_operand,
        test_a_load_is_not_kept_across_a_store,
        test_a_load_is_not_kept_across_a_store_in_a_loop,
    ],
    "names that collide where code moves to": [
        test_inlining_a_scope_does_not_make_names_collide,
        test_hoisting_does_not_make_names_collide,
        test_joining_regions_does_not_make_names_collide,
        test_arms_that_end_alike_are_not_joined_across_names,
    ],
    "rounds lost, loop variables leaked, scalars carried": [
        test_unrolling_loses_no_round_and_leaks_no_variable,
        test_a_scalar_carried_from_one_loop_to_the_next_stays,
    ],
    "a dead store that is read by the one that overwrites it": [
        test_a_dead_store_is_not_dead_when_the_overwriting_store_reads_it,
        test_a_dead_store_is_not_dead_when_the_next_index_loads_it,
    ],
    "a stored variable reassigned before it is forwarded": [
        test_a_stored_variable_that_is_reassigned_is_not_forwarded,
        test_a_store_out_of_bounds_is_not_forwarded,
    ],
    "fusion that misses writes, returns or barriers": [
        test_programs_are_fused_with_every_hazard_and_every_return,
        test_a_workgroup_with_barriers_is_not_widened_by_fusion,
        test_joined_regions_keep_the_order_of_writes_and_returns,
        test_fused_stages_keep_the_order_of_writes,
    ],
    "barriers judged in pairs": [test_a_barrier_is_judged_against_everything_before_it],
    "facts kept under a digest": [test_facts_belong_to_one_tree_and_not_to_a_digest],
    "a whole pass reverted for one rewrite": [
        test_one_rewrite_that_is_refused_does_not_revert_the_others
    ],
}
"""Miscompiles that are known from elsewhere, and the tests that hold them off."""
FOUND_HERE = (
    test_x_times_zero_is_not_zero,
    test_an_atomic_that_no_lane_makes_is_not_made_for_all_of_them,
    test_a_condition_that_an_arm_changes_is_evaluated_once,
    test_multiply_and_add_are_not_contracted_without_the_flag,
    test_reassociation_of_floats_needs_the_flag,
)


def test_every_listed_miscompile_has_its_test() -> None:
    listed = {test.__name__ for tests in LISTED.values() for test in tests}
    here = {name for name in globals() if name.startswith("test_")}
    found = {test.__name__ for test in FOUND_HERE}
    assert len(LISTED) == 20
    assert all(LISTED.values())
    assert listed | found == here - {"test_every_listed_miscompile_has_its_test"}
