"""What the native runtime of the CPU backend costs: `python -m benchmarks.llvm_runtime`.

Times are the best of several rounds, in one process: compiling and loading a small kernel,
launching it in each way, waking sleeping workers, and the vector functions against the C library's.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import DTypeLike, NDArray

from vyre.backends.llvm import abi, host, jit, native_object, pool
from vyre.backends.llvm.kernel_info import BufferSlot, KernelInfo
from vyre.backends.llvm.launch import NativeKernel
from vyre.backends.llvm.loader import load_object
from vyre.backends.llvm.vector_math import FUNCTIONS, FloatType, VectorMath
from vyre.cache import DiskCache

HEAD = "define void @vyre_kernel(ptr noalias %launch, i64 %first, i64 %last, ptr noalias %scratch)"
EMPTY = f"{HEAD} {{\n  ret void\n}}\n"
TRIAD = f"""{HEAD} {{
entry:
  %buffers = load ptr, ptr %launch
  %a = load ptr, ptr %buffers
  br label %loop
loop:
  %i = phi i64 [ %first, %entry ], [ %next, %loop ]
  %at = shl i64 %i, 3
  %p = getelementptr float, ptr %a, i64 %at
  %x = load <8 x float>, ptr %p, align 4
  %m = fmul <8 x float> %x, splat (float 3.0)
  %s = fadd <8 x float> %m, splat (float 1.0)
  store <8 x float> %s, ptr %p, align 4
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %last
  br i1 %more, label %loop, label %done
done:
  ret void
}}
"""
LOOP = """
define void @loop(ptr %a, ptr %o, i64 %n) {{
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %j, %loop ]
  %pa = getelementptr {scalar}, ptr %a, i64 %i
  %x = load {type}, ptr %pa, align 4
  %r = call {type} @{function}({type} %x{second})
  %po = getelementptr {scalar}, ptr %o, i64 %i
  store {type} %r, ptr %po, align 4
  %j = add i64 %i, {width}
  %more = icmp ult i64 %j, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}}
"""


VECTORS: tuple[tuple[str, FloatType, DTypeLike], ...] = (
    ("float", "f32", np.float32),
    ("double", "f64", np.float64),
)


def best(operation: Callable[[], object], calls: int = 1, rounds: int = 15) -> float:
    """Seconds per call in the best round."""
    fastest = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(calls):
            operation()
        fastest = min(fastest, (time.perf_counter() - start) / calls)
    return fastest


def compile_and_load() -> None:
    text = abi.PRELUDE + TRIAD
    for pipeline in (jit.QUICK, jit.STANDARD, jit.FULL):
        runs = [jit.compile_text(text, host.native(), pipeline).seconds for _ in range(10)]
        stages = {stage: min(run[stage] for run in runs) * 1e3 for stage in runs[0]}
        shown = "  ".join(f"{stage} {ms:.2f}" for stage, ms in stages.items())
        print(f"compile, {pipeline.name:9} {shown} ms")
    code = jit.compile_text(text, host.native()).object
    print(f"load a kernel        {best(lambda: load_object(code)) * 1e3:.3f} ms")
    runtime = native_object.object_bytes(DiskCache("", 0), pool.EXPORTS)
    load = best(lambda: load_object(runtime, ("vyre_pool_reset",)))
    print(f"load the runtime     {load * 1e3:.3f} ms ({len(runtime)} bytes)")


def kernel(source: str, buffers: int, **facts: object) -> NativeKernel:
    slots = tuple(BufferSlot(f"b{i}", "f32", 4, True) for i in range(buffers))
    info = KernelInfo(slots, (1, 1, 1), **facts)  # pyright: ignore[reportArgumentType]
    code = jit.compile_text(abi.PRELUDE + source, host.native()).object
    return NativeKernel(code, info, pool.process_pool())


def launching() -> None:
    arrays = [np.ones(64, np.float32) for _ in range(3)]
    fixed = [(a.ctypes.data, a.size) for a in arrays]
    short, unknown = kernel(EMPTY, 3, group_cost_ns=1), kernel(EMPTY, 3)
    cases: dict[str, Callable[[], object]] = {
        "bound, short": short.bind(fixed, (1, 1, 1)),
        "bound, lock released": unknown.bind(fixed, (1, 1, 1)),
        "addresses": lambda: short.launch_raw(fixed, (1, 1, 1)),
        "bound, all threads": unknown.bind(fixed, (64, 1, 1)),
    }
    taking = short.arrays((1, 1, 1))
    cases["three arrays, short"] = lambda: taking(*arrays)
    for name, launch in cases.items():
        print(f"launch, {name:21} {best(launch, 2000) * 1e6:.2f} µs")


def overhead_of_parallel() -> None:
    data = np.ones(8 * 4096, np.float32)
    work = kernel(TRIAD, 1)
    both = work.bind([(data.ctypes.data, data.size)], (4096, 1, 1), keep=data)
    alone = work.bind([(data.ctypes.data, data.size)], (4096, 1, 1), threads=1, keep=data)
    threads = pool.process_pool().threads
    one, many = best(alone, 500), best(both, 500)
    print(f"work alone {one * 1e6:.2f} µs, on {threads} threads {many * 1e6:.2f} µs: ", end="")
    print(f"{(many - one / threads) * 1e6:.2f} µs above the work")
    times: list[float] = []
    for _ in range(50):
        time.sleep(0.005)
        start = time.perf_counter()
        both()
        times.append(time.perf_counter() - start)
    print(f"the same after 5 ms of sleep: median {sorted(times)[25] * 1e6:.1f} µs")


def nanoseconds(text: str, dtype: DTypeLike, low: float, high: float) -> float:
    code = load_object(jit.compile_text(text, host.native()).object, ("loop",))
    loop = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(
        code.address("loop")
    )
    x: NDArray[np.floating] = np.random.default_rng(1).uniform(low, high, 1 << 13).astype(dtype)
    out = np.empty_like(x)
    return best(lambda: loop(x.ctypes.data, out.ctypes.data, x.size)) / x.size * 1e9


def functions() -> None:
    here = host.native()
    print("ns per element           f32    f64   libm f32   libm f64")
    for name in sorted(FUNCTIONS):
        low, high = (0.05, 0.95) if name in ("asin", "acos") else (0.1, 10.0)
        cells: list[str] = []
        for scalar, kind, dtype in VECTORS:
            width = here.vector_bits // np.dtype(dtype).itemsize // 8
            maths = VectorMath(fma=here.has_fma)
            function = maths.use(name, kind, width)
            type_ = f"<{width} x {scalar}>"
            second = f", {type_} %x" if name in ("pow", "atan2") else ""
            text = maths.text() + LOOP.format(
                scalar=scalar, type=type_, function=function, second=second, width=width
            )
            cells.append(f"{nanoseconds(text, dtype, low, high):6.2f}")
        for scalar, suffix, dtype in (("float", "f", np.float32), ("double", "", np.float64)):
            if name == "rsqrt":
                continue
            second = f", {scalar} %x" if name in ("pow", "atan2") else ""
            takes = ", ".join([scalar] * (2 if second else 1))
            text = f"declare {scalar} @{name}{suffix}({takes})\n" + LOOP.format(
                scalar=scalar, type=scalar, function=name + suffix, second=second, width=1
            )
            cells.append(f"{nanoseconds(text, dtype, low, high):9.2f}")
        print(f"  {name:20} {' '.join(cells)}")


def main() -> None:
    compile_and_load()
    launching()
    overhead_of_parallel()
    functions()


if __name__ == "__main__":
    main()
