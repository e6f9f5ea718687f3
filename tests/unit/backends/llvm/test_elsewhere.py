"""Machines that this one is not: code for them is made from the same programs, and is whole.

What every machine of this kind can run, runs here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from benchmarks.kernel import Arrays, Kernel
from benchmarks.kernels import KERNELS
from benchmarks.programs import all_programs
from tests.unit.backends.llvm.running import load
from vyre.backends.llvm import image, jit
from vyre.backends.llvm.abi import KERNEL_SYMBOL
from vyre.backends.llvm.emit.module import generate
from vyre.backends.llvm.host import Host
from vyre.backends.llvm.linked import link
from vyre.driver import routing
from vyre.ir import Program
from vyre.opt import OptimizerProfile, optimize

AVX512 = "+avx2,+fma,+f16c,+avx512f,+avx512vl,+avx512bw,+avx512dq"
HOSTS = {
    "aarch64": Host("aarch64-unknown-linux-gnu", "generic", ""),
    "oldest x86": Host("x86_64-unknown-linux-gnu", "x86-64", ""),
    "avx512": Host("x86_64-unknown-linux-gnu", "x86-64-v4", AVX512),
    "riscv64": Host("riscv64-unknown-linux-gnu", "generic-rv64", "+m,+a,+f,+d,+c"),
}
LINKED = {"aarch64": image.MACHINE_AARCH64, "x86_64": image.MACHINE_X86_64}
PROVIDED = {"memcpy", "memmove", "memset", "fma", "fmaf"}


@cache
def optimised(name: str) -> Program:
    """A program of the benchmarks as the backend gets it."""
    route = routing.choose("cpu")
    target = route.backend.target(route.device)
    return optimize(all_programs()[name], OptimizerProfile("release"), target).program


@pytest.mark.parametrize("machine", HOSTS)
def test_benchmark_kernels_compile(machine: str) -> None:
    for name in all_programs():
        if name != "sha256" or machine == "aarch64":  # it is as large as all others together
            compiles(name, HOSTS[machine])


def compiles(name: str, host: Host) -> None:
    text = generate(optimised(name), host).text
    data = jit.compile_text(text, host, jit.LEAN).object
    if host.architecture not in LINKED:
        assert data[:4] == b"\x7fELF"
        return
    linked = link(data, (KERNEL_SYMBOL,))
    assert linked.machine == LINKED[host.architecture]
    assert KERNEL_SYMBOL in linked.exports
    # Helpers of a compiler's own library would not be found when it is loaded.
    assert {symbol for _, symbol, _ in linked.imports} <= PROVIDED


class Plain:
    """Launches code that uses nothing but what every machine of this kind has."""

    def bind(self, program: Program, arrays: Arrays, grid: tuple[int, ...]) -> Callable[[], object]:
        x, y, z = (*grid, 1, 1)[:3]
        bound = [arrays[decl.name] for decl in program.buffers if not decl.is_on_chip]
        places = [(int(array.ctypes.data), array.size) for array in bound]
        return load(program, cpu="generic").bind(places, (x, y, z), keep=bound)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_benchmark_kernels_run_on_any_machine_of_this_kind(kernel: Kernel) -> None:
    data = kernel.data(kernel.sizes["tiny"])
    run = kernel.peers["vyre"](Plain(), data)
    run.prepare()
    run.launch()
    assert kernel.check(kernel.define(data), run.outputs) is None
