"""Loops over the parts of structures: right for any number of them, quick for the usual ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pytest

import vyre as vy
from tests.unit.backends.llvm.running import source
from vyre.analysis.types import variable_types
from vyre.backends.llvm import compile
from vyre.backends.llvm.passes.specialise_trip_counts import loops_over_members
from vyre.backends.llvm.rewrites.full_unrolling import UnrolledBody
from vyre.driver.artifact import Artifact
from vyre.driver.backend import EmitOptions
from vyre.ir import Let, Loop, Program, Store
from vyre.ir.walk import walk_stmts


@pytest.fixture(autouse=True)
def as_if_hot(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels of this file are compiled as they are when they have become hot."""

    def compiled(
        program: Program, setting: str, options: EmitOptions, without: frozenset[str] = frozenset()
    ) -> Artifact:
        return usual(program, setting, replace(options, tier="full"), without)

    usual = compile.compile_program
    monkeypatch.setattr(compile, "compile_program", compiled)


HEAD = """program workgroup(32, 1, 1)
buffer a: read_only u32[] @0
buffer o: read_write u32[] @1
buffer n: uniform u32[3] @2
region "r" {{
    {body}
}}
"""


def _made(body: str) -> UnrolledBody | None:
    program = Program.parse(HEAD.format(body=body))
    types = variable_types(program)
    found = loops_over_members(program, types)
    return None if found is None else UnrolledBody(program.entry, found, 3, types)


def _kinds(body: str) -> str:
    made = _made(body)
    if made is None:
        return ""
    letters: dict[type, str] = {Let: "l", Store: "s", Loop: "o"}
    return "".join(letters.get(type(s), "") for s in walk_stmts(made.body))


AT = "gid.x * n[0] + k"


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        (f"for k in 0..n[0] {{ o[{AT}] = a[{AT}] }}", "lllsss"),
        (f"for k in 0..n[0] {{ let v = a[gid.x * n[1] + k] o[{AT}] = v }}", "llllllsss"),
        (f"for k in 0..n[0] {{ o[{AT}] = o[{AT}] + 1u32 }}", "lllsss"),
        (f"for k in 0..n[0] {{ o[{AT}] = o[{AT} + 1u32] }}", "sss"),
        (f"for k in 0..n[0] {{ o[{AT}] = k let v = a[{AT}] }}", "slslsl"),
        (f"for k in 0..n[0] {{ for j in 0..5u32 {{ o[{AT}] = a[j] }} }}", "ososos"),
        ("let s = 0u32 for k in 0..n[2] { s = s + a[(gid.y * n[1] + gid.x) * n[0] + k] }", "l"),
    ],
)
def test_rounds_are_statements(body: str, wanted: str) -> None:
    assert _kinds(body) == wanted


@pytest.mark.parametrize(
    "body",
    [
        f"for k in 1..n[0] {{ o[{AT}] = 1u32 }}",
        f"for k in 0..n[0] {{ o[{AT}] = 1u32 if k > 1u32 {{ break }} }}",
        f"for k in 0..n[0] {{ if k > 1u32 {{ continue }} o[{AT}] = 1u32 }}",
        f"for k in 0..o[0] {{ o[{AT}] = 1u32 }}",
        "for k in 0..n[0] { o[gid.y * n[0] + k] = 1u32 }",
        "for k in 0..n[0] { o[gid.x * n[0] + k * 2u32] = 1u32 }",
        "for k in 0..n[0] { o[k * n[0] + gid.x] = 1u32 }",
        f"let s = 0u32 for k in 0..n[0] {{ s = s + a[{AT}] }} o[gid.x] = s",
    ],
)
def test_other_loops_stay(body: str) -> None:
    assert _made(body) is None


def test_all_that_must_be_the_number_is_asked() -> None:
    body = "let w = n[2] for k in 0..w { o[gid.x * n[0] + k] = a[gid.x * n[1] + k] + w }"
    program = Program.parse(HEAD.format(body=body))
    found = loops_over_members(program, variable_types(program))
    assert found is not None
    assert len(found.sizes) == 3
    made = UnrolledBody(program.entry, found, 4, variable_types(program))
    assert "n[" not in str(made.body)


@vy.kernel(workgroup=(16, 4))
def inverted(x: vy.In[vy.u8, Literal[3]], y: vy.InOut[vy.u8, Literal[3]]):
    i, j = vy.gid(1), vy.gid(0)
    if i < x.shape[0] and j < x.shape[1]:
        for c in range(x.shape[2]):
            y[i, j, c] = 255 - x[i, j, c]


@vy.kernel(workgroup=(16, 4))
def smeared(x: vy.In[vy.u8, Literal[3]], y: vy.InOut[vy.u8, Literal[3]]):
    i, j = vy.gid(1), vy.gid(0)
    if i < x.shape[0] and j < x.shape[1]:
        for c in range(x.shape[2]):
            if c > 0 and x[i, j, c] > 100:
                y[i, j, c] = y[i, j, c - 1] + 1
            else:
                y[i, j, c] += x[i, j, c]


@vy.kernel(workgroup=(16, 4))
def averaged(x: vy.In[vy.u8, Literal[3]], y: vy.InOut[vy.u8, Literal[3]]):
    i, j = vy.gid(1), vy.gid(0)
    if i < x.shape[0] and j < x.shape[1]:
        total = vy.u32(0)
        for c in range(x.shape[2]):
            total += vy.u32(x[i, j, c])
        for c in range(x.shape[2]):
            for d in range(x.shape[2]):
                y[i, j, c] += x[i, j, d]
            y[i, j, c] ^= vy.u8(total // x.shape[2])


@pytest.mark.parametrize("kernel", [inverted, smeared, averaged])
@pytest.mark.parametrize("parts", [0, 1, 2, 3, 4, 5])
@pytest.mark.parametrize("others", [0, 2, 3, 4])
def test_images_of_any_depth(kernel: Any, parts: int, others: int) -> None:
    random = np.random.default_rng(parts)
    x = random.integers(0, 255, (6, 70, parts)).astype(np.uint8)
    for shape in ((5, 70), (7, 33)):
        y = random.integers(0, 255, (*shape, others)).astype(np.uint8)
        found, wanted = y.copy(), y.copy()
        kernel(x, found, grid=(5, 2), device="cpu")
        kernel(x, wanted, grid=(5, 2), device="reference")
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("kernel", [inverted, smeared, averaged])
def test_these_have_code_for_three_parts(kernel: Any) -> None:
    assert "if is_3" in kernel.show("cpu", device="cpu")


def test_three_and_four_parts_are_read_at_once() -> None:
    code = source(inverted.program(), "llvm")
    assert "load <96 x i8>" in code
    assert "store <96 x i8>" in code
    assert "store <128 x i8>" in code
