"""No kernel takes more stack than there is: what LLVM spills is measured, and arrays have room."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from vyre.backends.llvm import compile as native
from vyre.backends.llvm import frames, heuristics, jit
from vyre.backends.llvm import host as hosts
from vyre.backends.llvm.abi import STACK_BYTES
from vyre.backends.llvm.elf import read_elf
from vyre.backends.llvm.loader import load_object, ready_to_load
from vyre.diagnostics import BackendError
from vyre.driver.backend import EmitOptions
from vyre.driver.compilation import CompileOptions
from vyre.ir import Program
from vyre.runtime import run

ROOT = Path(__file__).parents[4]

needs_linker = pytest.mark.skipif(
    sys.platform != "linux" or hosts.native().architecture != "x86_64",
    reason="the probe is machine code of x86-64, linked by vyre",
)

FRAME = """
define void @use(ptr %p) noinline nounwind {{
  store volatile i8 1, ptr %p
  ret void
}}
define i64 @f(i64 %a, i64 %b, i64 %c, i64 %d, i64 %e, i64 %g) nounwind {{
  %array = alloca [{size} x i8], align {align}
  call void @use(ptr %array)
  %x = mul i64 %a, 2
  %y = mul i64 %b, 3
  %z = mul i64 %c, 5
  %u = mul i64 %d, 7
  %v = mul i64 %e, 11
  %w = mul i64 %g, 13
  %s0 = add i64 %x, %y
  %s1 = add i64 %s0, %z
  %s2 = add i64 %s1, %u
  %s3 = add i64 %s2, %v
  %s4 = add i64 %s3, %w
  ret i64 %s4
}}
"""
AARCH64 = hosts.Host("aarch64-unknown-linux-gnu", "generic", "")


def compiled(size: int, align: int, host: hosts.Host, pipeline: jit.Pipeline) -> bytes:
    text = frames.with_probes(FRAME.format(size=size, align=align), host)
    return jit.compile_text(text, host, pipeline).object


@pytest.mark.parametrize("pipeline", [jit.QUICK, jit.STANDARD, jit.FULL], ids=lambda p: p.name)
@pytest.mark.parametrize("align", [1, 64])
@pytest.mark.parametrize("size", [100, 600, 4096, 50_000, 3_000_000])
@pytest.mark.parametrize("host", [hosts.generic(), AARCH64], ids=["native", "aarch64"])
def test_the_size_of_a_frame_is_known(
    host: hosts.Host, size: int, align: int, pipeline: jit.Pipeline
) -> None:
    found = frames.frame_sizes(read_elf(compiled(size, align, host, pipeline))).get("f", 0)
    if size < heuristics.MIN_PROBED_FRAME_BYTES:
        assert found < heuristics.MIN_PROBED_FRAME_BYTES
    else:
        # Where a frame is taken in a loop, its step counts once more.
        assert size <= found <= size + 300 + 4096 * (host is AARCH64)


def test_frames_add_up_along_the_deepest_calls() -> None:
    text = """
    declare double @sin(double)
    define internal void @leaf(ptr %p) noinline nounwind {
      %a = alloca [2000 x i8]
      store volatile ptr %p, ptr %a
      store volatile ptr %a, ptr %p
      ret void
    }
    define internal void @other(ptr %p) noinline nounwind {
      %a = alloca [5000 x i8]
      store volatile ptr %p, ptr %a
      store volatile ptr %a, ptr %p
      ret void
    }
    define internal void @middle(ptr %p) noinline nounwind {
      %a = alloca [9000 x i8]
      store volatile ptr %p, ptr %a
      call void @leaf(ptr %a)
      ret void
    }
    define void @vyre_kernel(ptr %p) nounwind {
      %x = call double @sin(double 1.0)
      store volatile double %x, ptr %p
      call void @middle(ptr %p)
      call void @other(ptr %p)
      ret void
    }
    """
    text = frames.with_probes(textwrap.dedent(text), hosts.generic())
    made = jit.compile_text(text, hosts.generic(), jit.QUICK).object
    found = frames.stack_bytes([made], [text], "vyre_kernel")
    assert 2000 + 9000 + heuristics.MIN_PROBED_FRAME_BYTES <= found < 2000 + 9000 + 2000


@needs_linker
@pytest.mark.parametrize("size", [600, 4096, 4097, 8192, 50_000, 500_000])
@pytest.mark.parametrize("pipeline", [jit.QUICK, jit.STANDARD], ids=lambda p: p.name)
def test_the_probe_leaves_everything_as_it_was(size: int, pipeline: jit.Pipeline) -> None:
    code = load_object(ready_to_load(compiled(size, 64, hosts.generic(), pipeline), ["f"]), ["f"])
    function = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 6)(code.address("f"))
    given = [3, 1, 4, 1, 5, 9]
    assert function(*given) == sum(a * b for a, b in zip(given, (2, 3, 5, 7, 11, 13), strict=True))


ARRAYS = 70
LENGTH = 1024


def arrays(count: int, length: int) -> Program:
    """Every invocation has arrays that only memory can hold."""
    declared = "\n".join(f"buffer a{k}: local u32[{length}]" for k in range(count))
    filled = "\n".join(
        f"a{k}[x[gid.x] % {length}] = x[gid.x] + {k}\na{k}[(x[gid.x] * 7 + 1) % {length}] = 5"
        for k in range(count)
    )
    added = "\n".join(f"s = s * 3 + a{k}[x[gid.x] * 3 % {length}]" for k in range(count))
    return Program.parse(
        f"program workgroup(64, 1, 1)\nbuffer x: read_only u32[] @0\n"
        f"buffer y: read_write u32[] @1\n{declared}\n"
        f'region "arrays" {{ if gid.x < len(y) {{\nlet s = 0\n{filled}\n{added}\n'
        "y[gid.x] = s\n} }"
    )


def expected(x: np.ndarray, count: int) -> np.ndarray:
    total = np.zeros_like(x)
    read = x * 3 % LENGTH
    for k in range(count):
        found = np.where(read == x % LENGTH, x + np.uint32(k), np.uint32(0))
        found[read == (x * 7 + 1) % LENGTH] = 5
        total = total * np.uint32(3) + found
    return total


def emitted(program: Program, tier: str) -> native.KernelInfo:
    artifact = native.compile_program(program, "native", EmitOptions(tier))
    return native.KernelInfo.from_json(artifact.metadata)


@pytest.mark.parametrize("tier", ["auto", "hot", "quick"])
def test_arrays_beyond_a_part_of_the_stack_go_to_scratch_memory(tier: str) -> None:
    few, many = emitted(arrays(4, LENGTH), tier), emitted(arrays(ARRAYS, LENGTH), tier)
    assert many.scratch_bytes > few.scratch_bytes
    assert many.stack_bytes <= STACK_BYTES // 2
    x = np.arange(3000, dtype=np.uint32)
    given = {"x": x, "y": np.zeros_like(x)}
    options = CompileOptions(emit=EmitOptions(tier))
    result = run(arrays(ARRAYS, LENGTH), given, device="cpu", options=options)["y"]
    np.testing.assert_array_equal(result, expected(x, ARRAYS))


def conditions(count: int) -> Program:
    """Values that live long, each made under a condition: quick code spills all of them."""
    made = "\n".join(
        f"let v{k} = 0.0f32\nif s > {k}.0f32 {{ v{k} = s * {k}.5f32 }}" for k in range(count)
    )
    added = "\n".join(f"s = s + v{k}" for k in range(count))
    return Program.parse(
        "program workgroup(64, 1, 1)\nbuffer x: read_only f32[] @0\n"
        'buffer y: read_write f32[] @1\nregion "conditions" { if gid.x < len(y) {\n'
        f"let s = x[gid.x]\n{made}\n{added}\ny[gid.x] = s\n}} }}"
    )


@needs_linker
def test_spilled_registers_count() -> None:
    few, many = emitted(conditions(10), "quick"), emitted(conditions(60), "quick")
    assert many.stack_bytes > few.stack_bytes + 50 * 16


@needs_linker
def test_what_takes_too_much_with_wide_registers_is_made_with_narrow_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program = conditions(60)
    wide = emitted(program, "quick").stack_bytes
    if hosts.native().vector_bits == hosts.generic().vector_bits:
        pytest.skip("this machine has no wider registers than all others")
    monkeypatch.setattr(native, "STACK_BYTES", wide - 1)
    assert emitted(program, "quick").stack_bytes < wide


@needs_linker
def test_what_takes_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "STACK_BYTES", 2000)
    with pytest.raises(BackendError) as caught:
        emitted(conditions(60), "quick")
    assert caught.value.code == "B105"
    assert "split it into several programs" in caught.value.fix


SMALL = """
import os, resource, sys, threading
import numpy as np
import numpy.testing
from vyre.diagnostics import VyreError
from vyre.runtime import compile, run
from tests.unit.backends.llvm.test_frames import ARRAYS, LENGTH, arrays, expected

program = arrays(ARRAYS, LENGTH)
compiled = compile(program, device="cpu")
compiled.load()
needed = compiled.compilation.artifacts[0].metadata["stack_bytes"]
assert sys.platform != "linux" or needed > 1 << 17, needed
x = np.arange(3000, dtype=np.uint32)
ended = []

def launch():
    for grid in (1, None, None):
        given = {"x": x, "y": np.zeros_like(x)}
        try:
            found = run(program, given, grid=grid, device="cpu")["y"]
        except VyreError as problem:
            ended.append((problem.code, problem.fix))
            return
        np.testing.assert_array_equal(found[:64], expected(x, ARRAYS)[:64])
        if grid is None:
            np.testing.assert_array_equal(found, expected(x, ARRAYS))
    ended.append("right")
"""


def in_a_process(script: str, **environment: str) -> str:
    """What a script prints; in a process of its own, for a stack that overflows ends it."""
    variables = dict(os.environ, VYRE_CACHE_BYTES="0", PYTHONPATH=f"{ROOT}/src:{ROOT}")
    done = subprocess.run(
        [sys.executable, "-c", SMALL + textwrap.dedent(script)],
        env=variables | environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, (done.returncode, done.stderr)
    return done.stdout.strip()


@pytest.mark.parametrize("threads", ["1", "3"])
def test_a_thread_with_little_stack_leaves_the_work_to_others(threads: str) -> None:
    script = """
    threading.stack_size(1 << 16)
    several = [threading.Thread(target=launch) for _ in range(3)]
    for thread in several:
        thread.start()
    for thread in several:
        thread.join()
    launch()
    print(ended)
    """
    assert in_a_process(script, VYRE_THREADS=threads) == str(["right"] * 4)


@needs_linker
def test_a_thread_with_little_stack_and_no_other_is_told_how_much_is_needed() -> None:
    script = """
    threading.stack_size(1 << 16)
    begun = threading.Event()
    small = threading.Thread(target=lambda: (begun.wait(), launch()))
    small.start()
    if os.getuid() == 0:
        os.setuid(65534)
    resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
    begun.set()
    small.join()
    (code, fix), = ended
    print(code, "threading.stack_size(" in fix)
    """
    assert in_a_process(script, VYRE_THREADS="2") == "B106 True"
