"""Totals that threads keep until they are done."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vyre as vy
from vyre.backends.llvm.emit.memory.privatised_reductions import privatisable_reductions
from vyre.ir import Program

HEAD = """program workgroup(64, 1, 1)
buffer a: read_only u32[] @0
buffer h: read_write {type}[] @1
buffer g: read_write u32[] @2
region "r" {{
    {body}
}}
"""


def _program(body: str, type_: str = "u32") -> Program:
    return Program.parse(HEAD.format(type=type_, body=body))


KEPT = [
    "if gid.x < len(a) { eval atomic_add(h[a[gid.x] & 255u32], 1u32) }",
    "if gid.x < len(a) { eval atomic_sub(h[a[gid.x] % 300u32], a[gid.x]) }",
    "eval atomic_add(h[a[gid.x]], gid.x) eval atomic_sub(h[gid.x], 3u32)",
    "for i in 0..5 { eval atomic_xor(h[a[gid.x] % 300u32 + i], gid.x + i) }",
    "if a[gid.x] > 100u32 { eval atomic_add(h[0u32], 1u32) }",
    "if gid.x < len(a) { eval atomic_max(h[1u32], a[gid.x]) }",
    "if gid.x < len(a) { eval atomic_min(h[a[gid.x] & 7u32], a[gid.x]) }",
    "if gid.x < len(a) { eval atomic_or(h[len(h) - 1], a[gid.x]) g[gid.x] = a[gid.x] }",
    "eval atomic_and(h[a[0]], a[gid.x] | 7u32)",
    "eval atomic_sub(h[len(h)], 1u32)",
    "if gid.x < 70 { eval atomic_add(h[gid.x], atomic_add(g[0], 0u32)) }",
]
DIRECT = [
    "g[gid.x] = atomic_add(h[a[gid.x] & 255u32], 0u32)",
    "eval atomic_add(h[0u32], 1u32) g[gid.x] = h[gid.x + 1]",
    "eval atomic_add(h[0u32], 1u32) if gid.x == 0 { h[1u32] = 1u32 }",
    "eval atomic_add(h[a[gid.x] & 1u32], 1u32) eval atomic_max(h[2u32], gid.x)",
    "eval atomic_exchange(h[0u32], 7u32)",
    "eval atomic_add(h[0u32], 1u32, acq_rel)",
    "eval atomic_add(h[gid.x], atomic_exchange(h[gid.x], 1u32))",
]


@pytest.mark.parametrize("body", KEPT)
def test_totals_that_nobody_looks_at_are_kept(body: str) -> None:
    assert "h" in [plan.decl.name for plan in privatisable_reductions(_program(body))]


@pytest.mark.parametrize("body", DIRECT)
def test_what_somebody_may_look_at_is_not_kept(body: str) -> None:
    assert "h" not in [plan.decl.name for plan in privatisable_reductions(_program(body))]


def test_floats_are_not_kept() -> None:
    assert not privatisable_reductions(_program("eval atomic_add(h[0u32], 1.5f32)", "f32"))


@pytest.mark.parametrize("body", [*KEPT, *DIRECT[1:]])
@pytest.mark.parametrize("bins", [1, 0, 200, 512])
@pytest.mark.parametrize("groups", [1, 40])
def test_totals_are_those_of_the_reference(body: str, bins: int, groups: int) -> None:
    random = np.random.default_rng(3)
    inputs: dict[str, Any] = {
        "a": random.integers(0, 600, 40 * 64 - 5).astype(np.uint32),
        "h": random.integers(0, 1 << 32, bins, np.uint32),
        "g": np.arange(9, dtype=np.uint32),
    }
    program = _program(body)
    wanted = vy.run(program, inputs, grid=groups, device="reference")
    found = vy.run(program, inputs, grid=groups, device="cpu")
    if "acq_rel" in body or "h[gid.x + 1]" in body:
        del wanted["g"]
    for name, array in wanted.items():
        np.testing.assert_array_equal(found[name], array)


@pytest.mark.parametrize("op", ["add", "sub", "and", "or", "xor", "min", "max"])
@pytest.mark.parametrize("type_", ["u32", "i32", "u64", "i64"])
@pytest.mark.parametrize("where", ["1u32", "a[gid.x] & 31u32"])
def test_all_operations_and_types(op: str, type_: str, where: str) -> None:
    value = f"{type_}(a[gid.x] * 2654435761u32)"
    program = _program(f"if a[gid.x] != 7u32 {{ eval atomic_{op}(h[{where}], {value}) }}", type_)
    assert privatisable_reductions(program)
    random = np.random.default_rng(5)
    dtype = np.dtype({"u": "u", "i": "i"}[type_[0]] + str(int(type_[1:]) // 8))
    inputs: dict[str, Any] = {
        "a": random.integers(0, 1 << 32, 64 * 30, np.uint32),
        "h": random.integers(0, 1 << 31, 40).astype(dtype),
        "g": np.zeros(1, np.uint32),
    }
    wanted = vy.run(program, inputs, grid=30, device="reference")
    found = vy.run(program, inputs, grid=30, device="cpu")
    np.testing.assert_array_equal(found["h"], wanted["h"])


def test_all_threads_hand_over() -> None:
    program = _program(
        "if gid.x < len(a) { eval atomic_add(h[a[gid.x] & 65535u32], 1u32)"
        " eval atomic_add(g[0u32], 1u32) }"
    )
    a = np.random.default_rng(7).integers(0, 1 << 32, 1 << 21, np.uint32)
    for bins in (1 << 16, 1 << 17, 1000):
        h, g = np.zeros(bins, np.uint32), np.zeros(2, np.uint32)
        for _ in range(3):
            inputs: dict[str, Any] = {"a": a, "h": h, "g": g}
            vy.run(program, inputs, elements=len(a), device="cpu", in_place=True)
        wanted = 3 * np.bincount(a & 65535, minlength=bins)[:bins]
        np.testing.assert_array_equal(h, wanted)
        assert list(g) == [3 * len(a), 0]
