"""Atomics: indivisible on device memory, plain on a workgroup's own."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.backends.llvm.running import check, launch, load, source
from vyre.ir import Program

N = 1000


def text(statement: str, element: str = "u32") -> str:
    return f"""
program workgroup(64, 1, 1)
buffer a: read_only {element}[] @0
buffer bins: read_write {element}[16] @1
region "r" {{
    let i = gid.x
    if i < len(a) {{
        {statement}
    }}
}}"""


DTYPES = {"u32": np.uint32, "i32": np.int32, "u64": np.uint64, "i64": np.int64}


@pytest.mark.parametrize("op", ["add", "sub", "and", "or", "xor", "min", "max"])
@pytest.mark.parametrize("element", list(DTYPES))
def test_order_does_not_matter(op: str, element: str) -> None:
    values = np.random.default_rng(2).integers(0, 1 << 30, N).astype(DTYPES[element])
    inputs = {"a": values, "bins": np.full(16, 12345, values.dtype)}
    check(text(f"eval atomic_{op}(bins[i % 16], a[i])", element), inputs, (16, 1, 1))


def test_the_old_value_inside_of_another_atomic_is_wanted() -> None:
    taken = """
program workgroup(64, 1, 1)
buffer a: read_write u32[] @0
buffer total: read_write u32[1] @1
region "r" {
    if gid.x < len(a) { eval atomic_add(total[0], atomic_exchange(a[gid.x], 7)) }
}"""
    inputs = {"a": np.arange(N, dtype=np.uint32), "total": np.zeros(1, np.uint32)}
    check(taken, inputs, (16, 1, 1))


def test_compare_exchange_claims_once() -> None:
    source_text = text(
        "let old = atomic_compare_exchange(bins[i % 16], i + 1, expected=0)"
        " if old == 0 { eval atomic_add(bins[0], 0) }"
    )
    program = Program.parse(source_text)
    inputs = {"a": np.zeros(N, np.uint32), "bins": np.zeros(16, np.uint32)}
    outputs, outcome = launch(load(program), program, inputs, (16, 1, 1), {})
    assert outcome is None
    claimed = outputs["bins"]
    assert np.all(claimed > 0)
    assert np.array_equal((claimed - 1) % 16, np.arange(16))


def test_float_sums_of_exact_values() -> None:
    values = np.random.default_rng(2).integers(0, 100, N).astype(np.float32)
    inputs = {"a": values, "bins": np.zeros(16, np.float32)}
    check(text("eval atomic_add(bins[i % 16], a[i])", "f32"), inputs, (16, 1, 1))


def test_only_device_memory_is_locked() -> None:
    on_device = text("eval atomic_add(bins[i % 16], a[i])")
    own = text("eval atomic_add(mine[i % 16], a[i])").replace(
        "region", "buffer mine: workgroup u32[16]\nregion", 1
    )
    assert "atomicrmw add" in body_of(on_device)
    assert "atomicrmw" not in body_of(own)


def body_of(program: str) -> str:
    """The code of the kernel itself."""
    return source(Program.parse(program)).partition("define void @vyre_kernel")[2]


SETTLING = """program workgroup(64, 1, 1)
buffer data: read_only {kind}[] @0
buffer cells: read_write {kind}[] @1
buffer seen: read_write {kind}[] @2
region "settle" {{
    seen[gid.x] = {op}(cells[gid.x], data[gid.x])
    eval {op}(cells[len(data) + (gid.x & 3u32)], data[gid.x] | {one})
    eval atomic_exchange(cells[len(data) + 4u32 + gid.x], data[gid.x])
}}
"""


@pytest.mark.parametrize("op", ["atomic_and", "atomic_or", "atomic_min", "atomic_max"])
@pytest.mark.parametrize("kind", ["u32", "i32", "u64", "i64"])
def test_operations_that_may_change_nothing(op: str, kind: str) -> None:
    """They load first; where the old value is unused, an exchange is a store."""
    dtype = np.dtype({"u32": "u4", "i32": "i4", "u64": "u8", "i64": "i8"}[kind])
    random = np.random.default_rng(3)
    data = random.integers(-100, 100, 128).astype(dtype)
    # The last cells are missing: an exchange out of bounds does nothing.
    given = {"data": data, "cells": np.concatenate([data[::-1], data[:120]]), "seen": data * 0}
    text = SETTLING.format(kind=kind, op=op, one=f"1{kind}")
    check(text, given, (2, 1, 1))
