"""Branches, loops and masks: lanes that part, leave, and come together again."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.backends.llvm.running import check

N = 300
GRID = (5, 1, 1)


def run(body: str, workgroup: str = "64, 1, 1", grid: tuple[int, int, int] = GRID) -> None:
    """A body over the inputs `a` (u32) and `x` (f32) with the output `out` agrees everywhere."""
    random = np.random.default_rng(3)
    inputs = {
        "a": random.integers(0, 40, N, np.uint32),
        "x": random.random(N, np.float32),
        "out": np.zeros(N, np.uint32),
        "y": np.zeros(N, np.float32),
    }
    text = f"""
program workgroup({workgroup})
buffer a: read_only u32[] @0
buffer x: read_only f32[] @1
buffer out: read_write u32[] @2
buffer y: read_write f32[] @3
region "r" {{
    let i = gid.x
{body}
}}"""
    for cpu in ("native", "generic"):
        check(text, inputs, grid, cpu)


def test_both_arms() -> None:
    run("if a[i] % 3 == 0 { out[i] = 1 y[i] = x[i] } else { out[i] = 2 }")


def test_assignment_under_a_mask_keeps_the_other_lanes() -> None:
    run("let v = 7 if a[i] > 20 { v = a[i] if v > 30 { v = 1 } } out[i] = v")


def test_while_with_lanes_of_different_length() -> None:
    run("let n = a[i] let s = 0 while n > 0 { s = s + n n = n - 1 } out[i] = s")


def test_bounds_that_differ_between_lanes() -> None:
    run("let s = 0 for k in a[i] / 2..a[i] { s = s + k } out[i] = s")


def test_break_and_continue_in_some_lanes() -> None:
    run(
        "let s = 0 for k in 0..50 { if k > a[i] { break } if k % 3 == 1 { continue } s = s + k }"
        " out[i] = s"
    )


def test_break_of_an_inner_loop_only() -> None:
    run(
        "let s = 0 for k in 0..5 { for j in 0..9 { if j > a[i] % 7 { break } s = s + 1 }"
        " s = s + 10 } out[i] = s"
    )


def test_early_return() -> None:
    run("if i >= len(out) { return } if a[i] > 20 { out[i] = 5 return } out[i] = a[i]")


def test_return_inside_a_loop() -> None:
    run("for k in 0..20 { if k == a[i] { out[i] = k return } } out[i] = 99")


def test_a_loop_without_returns_in_a_kernel_with_some() -> None:
    run(
        """
    let count = 0u32
    while true {
        count = count + 1u32
        if count > a[3] {
            break
        }
        continue
    }
    for k in 0u32..4u32 {
        if a[i] == k {
            return
        }
        out[i] = out[i] * 3u32 + count
    }
    y[i] = x[i] * 2.0f32
"""
    )


def test_value_dead_after_its_loop_but_read_by_the_next_one() -> None:
    run(
        "let t = 1 let s = 0 for r in 0..3 { let n = a[i] while n > 2 { n = n - 3 t = t + n }"
        " s = s + t } out[i] = s"
    )


def test_masked_contiguous_store() -> None:
    run("if x[i] > 0.5f32 { y[i] = x[i] * 2.0f32 out[i] = a[i] }")


@pytest.mark.parametrize("shift", ["i + 3", "i - 3", "2 * i", "3 * i + 1", "i * 5", "299 - i"])
def test_indices_that_leave_the_buffer(shift: str) -> None:
    run(f"out[{shift}] = a[{shift}] + 1")


@pytest.mark.parametrize("places", ["4 * i", "4 * i + 1", "4 * i + 3", "2 * i", "3 * i + 2"])
def test_strided_loads(places: str) -> None:
    run(f"if i < len(out) {{ out[i] = a[{places}] }}")


def test_stores_that_fill_whole_steps() -> None:
    run("if i < len(out) / 3 { out[3 * i] = a[i] out[3 * i + 1] = a[i] + 1 out[3 * i + 2] = 9 }")


def test_stores_of_whole_steps_keep_their_order_with_loads() -> None:
    run("if i < len(out) / 2 { out[2 * i] = a[i] out[2 * i + 1] = out[2 * i] + 1 }")


@pytest.mark.parametrize(
    "guard",
    ["i < 77", "i <= 77", "i > 70", "i >= 70", "i == 70", "i != 0", "i != 70", "77 > i"],
)
def test_guards_of_every_kind(guard: str) -> None:
    run(f"if {guard} {{ out[i] = a[i] + 1 }}")


def test_guard_that_wraps_around() -> None:
    run("if i + 0xfffffff0 < 30 { out[i] = 3 }")


def test_guard_with_a_part_that_is_no_bound() -> None:
    run("if (i < 200) & (a[i] > 10) { out[i] = 1 }")


def test_guard_beside_other_work() -> None:
    run("let v = 0 if i < 100 { v = a[i] } out[i] = v + 1")


def test_either_of_two_reasons_to_return() -> None:
    run("if (i >= 200) | (gid.y > 0) { return } out[i] = 4", "64, 2, 1")


@pytest.mark.parametrize(
    "guard",
    [
        "(i < 200) & ~(x[i] - x[i] < sqrt(x[i] - 0.5f32))",
        "~((i >= 200) | (x[i] >= sqrt(x[i] - 0.5f32)))",
    ],
)
def test_what_is_not_less_need_not_be_greater(guard: str) -> None:
    """A comparison with a NaN is false, and so is the opposite one."""
    run(f"if {guard} {{ out[i] = 4 }}")


def test_rows_in_lock_step() -> None:
    run(
        "let r = gid.y if (i < 20) & (r < 15) { let s = 0.0f32 for k in 0..12 {"
        " s = s + x[r * 12 + k] * x[k * 20 + i] } y[r * 20 + i] = s }",
        "16, 8, 1",
        (2, 2, 1),
    )


def test_loop_that_runs_beyond_a_buffer() -> None:
    run("let s = 0.0f32 for k in 0..40 { s = s + x[i * 40 + k] } y[i] = s")


def test_scalar_lanes_in_lock_step() -> None:
    run("let s = 0 for k in 0..30 { s = a[s * 7 + a[i * 30 + k]] } out[i] = s")
