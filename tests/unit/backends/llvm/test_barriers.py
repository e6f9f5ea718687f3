"""Workgroups with barriers: what lanes share, what each keeps, and what runs once."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.backends.llvm.running import check

N = 500


def run(body: str, *, size: int = 64, shared: str = "t: workgroup u32[64]") -> None:
    """A body over `a` with the output `out` and workgroup memory agrees with the reference."""
    inputs = {
        "a": np.random.default_rng(5).integers(0, 1000, N, np.uint32),
        "out": np.zeros(N, np.uint32),
        "n": np.array([3, 40], np.uint32),
    }
    text = f"""
program workgroup({size}, 1, 1)
buffer a: read_only u32[] @0
buffer out: read_write u32[] @1
buffer n: uniform u32[2] @2
buffer {shared}
region "r" {{
    let lane = lid.x
{body}
}}"""
    check(text, inputs, (-(-N // size), 1, 1))


def test_neighbours() -> None:
    run("t[lane] = a[gid.x] barrier acq_rel out[gid.x] = t[63 - lane]")


def test_tree() -> None:
    run(
        "t[lane] = a[gid.x] barrier acq_rel for step in 0..6 { let reach = 32 >> step"
        " if lane < reach { t[lane] = t[lane] + t[lane + reach] } barrier acq_rel }"
        " if lane == 0 { out[wid.x] = t[0] }"
    )


def test_shared_variable_that_changes_between_barriers() -> None:
    run(
        "t[lane] = a[gid.x] let reach = 32 barrier acq_rel while reach > 0 {"
        " if lane < reach { t[lane] = t[lane] + t[lane + reach] } barrier acq_rel"
        " reach = reach >> 1 } out[gid.x] = t[0] + reach"
    )


def test_scan_with_a_lower_bound() -> None:
    run(
        "t[lane] = a[gid.x] barrier acq_rel let by = 1 while by < 64 { let v = t[lane]"
        " if lane >= by { v = v + t[lane - by] } barrier acq_rel t[lane] = v barrier acq_rel"
        " by = by * 2 } out[gid.x] = t[lane]"
    )


def test_value_kept_per_lane_and_changed_in_a_loop() -> None:
    run(
        "let s = a[gid.x] for k in 0..n[0] { t[lane] = s barrier acq_rel"
        " s = s + t[(lane + 1) % 64] * k barrier acq_rel } out[gid.x] = s"
    )


def test_shared_variable_changed_in_the_midst_of_a_lane() -> None:
    run(
        "let c = n[0] t[lane] = c c = c + 1 t[lane] = t[lane] + c barrier acq_rel"
        " out[gid.x] = t[63 - lane] + c"
    )


def test_shared_variable_that_begins_with_what_each_subgroup_computes() -> None:
    run(
        "let votes = lane(ballot(false), 3) votes = votes + 1 barrier acq_rel"
        " out[gid.x] = votes + a[gid.x]"
    )


def test_guard_that_depends_on_the_round() -> None:
    run(
        "let s = 0 for k in 0..n[1] { let i = k * 64 + lane if i < len(a) { s = s + a[i] } }"
        " t[lane] = s barrier acq_rel out[gid.x] = t[63 - lane] + s"
    )


def test_histogram() -> None:
    run(
        "t[lane] = 0 barrier acq_rel for k in 0..n[0] { let i = (wid.x * 3 + k) * 64 + lane"
        " if i < len(a) { eval atomic_add(t[a[i] % 64], 1) } } barrier acq_rel"
        " eval atomic_add(out[lane], t[lane])"
    )


@pytest.mark.parametrize("size", [1, 3, 7, 33, 100])
def test_any_workgroup_size(size: int) -> None:
    run(
        f"t[lane] = a[gid.x] barrier acq_rel out[gid.x] = t[{size - 1} - lane] + 1",
        size=size,
        shared=f"t: workgroup u32[{size}]",
    )


def test_conditions_kept_as_bools() -> None:
    run(
        "let odd = a[gid.x] % 2 == 1 t[lane] = u32(odd) barrier acq_rel"
        " if odd { out[gid.x] = t[(lane + 1) % 64] + 5 }"
    )


INNER = """let c = ~k let v = (gid.x << (c & 3)) * c
t[lane] = v barrier acq_rel
if gid.x < len(out) { out[gid.x] = out[gid.x] + v + t[63 - lane] } barrier acq_rel"""
AFTER = (
    "for j in 0..2 { t[lane] = lane + j barrier acq_rel out[gid.x] = out[gid.x] + t[63 - lane]"
    " barrier acq_rel }",
    'async_load "c" t[0] <- a[7], 64 async_wait "c" out[gid.x] = out[gid.x] * 3 + t[lane]',
    "if n[0] == 3 { t[lane] = lane barrier acq_rel out[gid.x] = out[gid.x] + t[63 - lane] }",
)


@pytest.mark.parametrize("after", AFTER)
@pytest.mark.parametrize(
    "within",
    [
        "for k in 0..2 {{ {} }}",
        "if n[0] == 3 {{ let k = n[1] {} }}",
        "if n[0] == 4 {{ }} else {{ let k = n[1] {} }}",
        "let r = 0 while r < 2 {{ let k = r {} r = r + 1 }}",
    ],
)
def test_what_is_bound_in_a_block_ends_with_it(within: str, after: str) -> None:
    run(within.format(INNER) + " " + after)
