"""What LLVM is to do for a first launch depends on how much there is to compile."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.shapes import SHAPES
from tests.unit.backends.llvm.running import launch, load
from vyre.backends.llvm import jit
from vyre.backends.llvm.compile import compile_program
from vyre.backends.llvm.tiers import lines_to_compile, pipeline_at_first
from vyre.driver.backend import EmitOptions
from vyre.ir import BufferDecl, DataType, Expr, Node, Program, UnOp

MATHS = """define internal float @vyre_exp_f32(float %x) nounwind memory(none) {how} {{
entry:
  %a = fadd float %x, 1.0
  %b = fmul float %a, %a
  ret float %b
}}
define void @vyre_kernel() {{
"""
CALL = "  %c = call float @vyre_exp_f32(float %d)\n"


@pytest.mark.parametrize(
    ("lines", "pipeline"),
    [(500, jit.STANDARD), (800, jit.SHORT), (3_000, jit.BRISK), (9_000, jit.QUICK)],
)
def test_the_more_there_is_to_compile_the_less_is_done_at_first(
    lines: int, pipeline: jit.Pipeline
) -> None:
    assert pipeline_at_first(SHAPES["straight"](30), "line\n" * lines) is pipeline


def test_functions_in_place_count_wherever_they_are_used() -> None:
    once, often = (MATHS.format(how="alwaysinline") + CALL * n + "}\n" for n in (1, 11))
    assert lines_to_compile(once) == once.count("\n")
    assert lines_to_compile(often) == often.count("\n") + 10 * 4
    called = MATHS.format(how="noinline") + CALL * 11 + "}\n"
    assert lines_to_compile(called) == called.count("\n")


def test_wide_vectors_count_for_more() -> None:
    assert lines_to_compile("add <32 x i8> a, b\n" * 10) == 20


def test_quick_code_calls_functions_and_gives_the_same_bits() -> None:
    x = np.linspace(-90.0, 90.0, 1_000, dtype=np.float32)
    value = Expr.load("x", Expr.gid())
    exp, sin = Expr.unary(UnOp.EXP, value), Expr.unary(UnOp.SIN, value)
    total = exp + sin * Expr.unary(UnOp.EXP, sin)
    program = Program.wrapped(
        [BufferDecl.read("x", 0, DataType.F32), BufferDecl.read_write("y", 1, DataType.F32)],
        (64, 1, 1),
        [Node.store("y", Expr.gid(), total)],
    )
    found: dict[str, bytes] = {}
    for tier in ("quick", "brisk", "short", "full", "hot"):
        artifact = compile_program(program, "native", EmitOptions(tier))
        called = "memory(none) noinline" in artifact.sources["llvm-raw"]
        assert called == (tier in ("quick", "brisk"))
        outputs, _ = launch(load(program, tier=tier), program, {"x": x}, (16, 1, 1), {"y": 1_000})
        found[tier] = outputs["y"].tobytes()
    assert len(set(found.values())) == 1
