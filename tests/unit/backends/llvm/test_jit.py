from __future__ import annotations

import ctypes
import re

import pytest

from vyre.backends.llvm import abi, host, jit
from vyre.backends.llvm.loader import load_object
from vyre.diagnostics import BackendError

PIPELINES = [jit.QUICK, jit.BRISK, jit.SHORT, jit.STANDARD, jit.FULL]
HOSTS = [host.native, host.generic]

MULTIPLY_ADD = """
define float @vyre_kernel(float %a, float %b, float %c) {
  %m = fmul float %a, %b
  %s = fadd float %m, %c
  ret float %s
}
define void @vector(ptr %p, <8 x float> %a, <8 x float> %b) {
  %c = load <8 x float>, ptr %p
  %m = fmul <8 x float> %a, %b
  %s = fadd <8 x float> %m, %c
  store <8 x float> %s, ptr %p
  ret void
}
"""


@pytest.mark.parametrize("target", HOSTS)
@pytest.mark.parametrize("pipeline", PIPELINES, ids=lambda p: p.name)
def test_multiply_and_add_are_never_contracted(target, pipeline: jit.Pipeline) -> None:
    text = jit.assembly(MULTIPLY_ADD, target(), pipeline)
    assert not re.search(r"\bv?fn?m(add|sub|la|ls)", text)
    code = load_object(jit.compile_text(MULTIPLY_ADD, target(), pipeline).object)
    function = ctypes.CFUNCTYPE(ctypes.c_float, *[ctypes.c_float] * 3)(code.address("vyre_kernel"))
    # (1 + 2^-12)^2 - 1 keeps its last bit only when fused.
    x = 1.0 + 2.0**-12
    assert function(x, x, -1.0) == 2.0**-11


@pytest.mark.skipif(not host.native().has_fma, reason="this CPU has no fused multiply-add")
def test_an_explicit_fma_is_one_instruction() -> None:
    source = """
    define <8 x float> @f(<8 x float> %a, <8 x float> %b, <8 x float> %c) {
      %r = call <8 x float> @llvm.fma.v8f32(<8 x float> %a, <8 x float> %b, <8 x float> %c)
      ret <8 x float> %r
    }"""
    assert re.search(r"\bv?fn?m(add|la)", jit.assembly(source, host.native()))


LOOP = """
define void @f(ptr noalias %a, ptr noalias %b, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %p = getelementptr float, ptr %a, i64 %i
  %x = load float, ptr %p
  %y = fmul float %x, 3.0
  %q = getelementptr float, ptr %b, i64 %i
  store float %y, ptr %q
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}
"""


@pytest.mark.parametrize("pipeline", PIPELINES, ids=lambda p: p.name)
def test_loops_are_not_vectorised_by_default(pipeline: jit.Pipeline) -> None:
    assert "x float>" not in jit.optimised_text(LOOP, host.native(), pipeline)


def test_loop_vectorisation_can_be_switched_on() -> None:
    eager = jit.Pipeline("eager", 3, 3, whole_module=True, loop_vectorization=True)
    assert "x float>" in jit.optimised_text(LOOP, host.native(), eager)


def test_stages_are_timed() -> None:
    compiled = jit.compile_text(MULTIPLY_ADD, host.native())
    assert set(compiled.seconds) == {"parse", "optimise", "object"}
    assert all(seconds > 0 for seconds in compiled.seconds.values())


def test_unused_parts_of_the_prelude_are_dropped() -> None:
    text = jit.optimised_text(abi.PRELUDE + MULTIPLY_ADD, host.native())
    assert "vyre_trap" not in text
    assert "vyre_print" not in text


@pytest.mark.parametrize(
    "source", ["define void @f() { ret i32 0 }", "nonsense", "define void @f()"]
)
def test_a_module_llvm_refuses_is_an_error_with_its_reason(source: str) -> None:
    with pytest.raises(BackendError) as caught:
        jit.compile_text(source, host.native())
    assert caught.value.code == "B102"


def test_a_broken_module_is_caught_by_the_verifier() -> None:
    source = """
    define i32 @f(i1 %c) {
    entry:
      br i1 %c, label %a, label %b
    a:
      %x = add i32 1, 2
      br label %b
    b:
      ret i32 %x
    }"""
    with pytest.raises(BackendError) as caught:
        jit.compile_text(source, host.native())
    assert caught.value.code == "B102"


@pytest.mark.parametrize("triple", ["aarch64-unknown-linux-gnu", "x86_64-pc-windows-msvc"])
def test_code_for_other_machines(triple: str) -> None:
    target = host.Host(triple, "generic" if triple.startswith("aarch64") else "x86-64", "")
    assert jit.compile_text(MULTIPLY_ADD, target).object


@pytest.mark.parametrize("pipeline", [jit.QUICK, jit.BRISK], ids=lambda p: p.name)
def test_quick_instruction_selection_sees_no_loads_of_floats(pipeline: jit.Pipeline) -> None:
    source = """
    define void @f(ptr %p, ptr %q) {
      %bits = load i32, ptr %p, align 4
      %x = bitcast i32 %bits to float
      %y = fadd float %x, 1.0
      store float %y, ptr %q, align 4
      ret void
    }"""
    assert pipeline.codegen_level == 0
    assert "load float" not in jit.optimised_text(source, host.native(), pipeline)
