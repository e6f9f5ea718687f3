"""Branches that only a few lanes at the ends of a row take: the others run in vectors."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.backends.llvm.running import check, source
from tests.unit.backends.llvm.test_contents import run_between_fences
from vyre.ir import Program

TEXT = """program workgroup(64, {rows}, 1)
buffer a: read_only u8[] @0
buffer out: read_write u8[] @1
region "r" {{
    let i = gid.x
    let n = len(out)
    if i < n {{
        if {cond} {{
            out[i] = {then}
        }} else {{
            out[i] = {other}
        }}
    }}
}}
"""
NEAR = "a[i] + a[i - 1u32] * 3u8"
BOTH = "a[i - 1u32] ^ a[i + 1u32]"
CONDITIONS = {
    "i == 0u32": ("9u8", NEAR),
    "i != 0u32": (NEAR, "9u8"),
    "(i == 0u32) | (i == n - 1u32)": ("a[i]", BOTH),
    "(i > 0u32) & (i < n - 1u32)": (BOTH, "a[i] + 1u8"),
    "3u32 <= i": ("a[i - 3u32]", "7u8"),
    "i == 70u32": ("9u8", NEAR),
    "i > 100u32": (NEAR, "a[i]"),
    "i + 4294967290u32 != 2u32": (NEAR, "9u8"),
    "i - 1u32 >= 4u32": (NEAR, "9u8"),
}


def program(cond: str, rows: int = 1) -> str:
    then, other = CONDITIONS[cond]
    return TEXT.format(cond=cond, then=then, other=other, rows=rows)


@pytest.mark.parametrize("cond", CONDITIONS)
@pytest.mark.parametrize("length", [0, 1, 2, 33, 64, 71, 200])
def test_every_lane_takes_its_own_arm(cond: str, length: int) -> None:
    values = np.random.default_rng(length).integers(0, 256, length, dtype=np.uint8)
    given = {"a": values, "out": np.zeros(length, np.uint8)}
    check(program(cond), given, (4, 1, 1))
    shorter = {"a": values[: length // 2], "out": np.zeros(length, np.uint8)}
    check(program(cond), shorter, (4, 1, 1))


@pytest.mark.parametrize("cond", CONDITIONS)
def test_between_forbidden_pages(cond: str) -> None:
    values = np.arange(150, dtype=np.uint8)
    run_between_fences(program(cond), {"a": values, "out": values.copy()}, (3, 1, 1))


@pytest.mark.parametrize("cond", CONDITIONS)
def test_several_rows(cond: str) -> None:
    values = np.arange(150, dtype=np.uint8)
    check(program(cond, 2), {"a": values, "out": values.copy()}, (3, 2, 1))


def test_vectors_run_in_between() -> None:
    assert "load <32 x i8>" in source(Program.parse(program("i == 0u32")))
