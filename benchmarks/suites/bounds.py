"""What safety costs: every kernel with its bounds checks against the same without any."""

import gc
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from benchmarks.kernel import Arrays, Kernel, Run, Scale
from benchmarks.kernels import KERNELS, kernels_named
from benchmarks.report import Options, Report, Suite, Table, duration, versions_of

if TYPE_CHECKING:
    from vyre.ir import Program

BOUND = 1.10
LONG = 0.25
"""Seconds of a launch from which on fewer rounds are enough."""

INTRODUCTION = """\
Every kernel on the CPU backend with its bounds checks, and compiled without any, which nothing but
this comparison can ask for. One thread, both in turns; the figure is the best round's time with
checks relative to the best without. What ranges, guards and shapes prove is tested in neither."""


class OneThread:
    """The tool of vyre's implementations, on one thread and with or without checks."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values

    def bind(
        self, program: "Program", arrays: Arrays, grid: tuple[int, ...]
    ) -> Callable[[], object]:
        """A thunk that launches the program on a grid of workgroups."""
        from vyre.backends.llvm.compile import compile_program
        from vyre.backends.llvm.kernel_info import KernelInfo
        from vyre.backends.llvm.launch import NativeKernel
        from vyre.backends.llvm.pool import process_pool
        from vyre.driver.backend import EmitOptions
        from vyre.opt import optimize

        made = compile_program(
            optimize(program).program, "native", EmitOptions("full", self._values)
        )
        kernel = NativeKernel(made.payload, KernelInfo.from_json(made.metadata), process_pool())
        held = [arrays[decl.name] for decl in program.buffers if not decl.is_on_chip]
        places = [(int(array.ctypes.data), array.size) for array in held]
        shape = ((*grid, 1, 1)[0], (*grid, 1, 1)[1], (*grid, 1, 1)[2])
        return kernel.bind(places, shape, threads=1, keep=held)


def run(options: Options) -> Report:
    """Both variants of every chosen kernel in turns."""
    chosen = KERNELS if options.kernels is None else kernels_named(list(options.kernels))
    scale: Scale = "tiny" if options.scale == "tiny" else "quick"
    rounds = 3 if options.scale == "tiny" else 15
    found = {
        kernel.name: compare(kernel, scale, rounds) for kernel in chosen if "vyre" in kernel.peers
    }
    rows = [
        [
            kernel.title,
            *(duration(found[kernel.name][way]) for way in ("checked", "unchecked")),
            f"{found[kernel.name]['checked'] / found[kernel.name]['unchecked']:.2f}",
            f"≤ {BOUND:g}",
        ]
        for kernel in chosen
        if kernel.name in found
    ]
    columns = ["kernel", "with checks", "without", "relative", "bound"]
    return Report(
        suite=SUITE.name,
        title=SUITE.title,
        introduction=INTRODUCTION,
        tables=(Table("Bounds checks, one thread, best round", columns, rows),),
        data={"seconds": found},
        versions=versions_of("vyre", "llvmlite"),
        scale=options.scale,
        complete=options.complete,
    )


def compare(kernel: Kernel, scale: Scale, rounds: int) -> dict[str, float]:
    """The best time of each variant; the results are checked first."""
    data = kernel.data(kernel.sizes[scale])
    expected = kernel.define(data)
    runs: dict[str, Run] = {}
    for name, values in (("checked", {}), ("unchecked", {"bounds": "unchecked"})):
        private = {key: array.copy() for key, array in data.items()}
        runs[name] = kernel.peers["vyre"](OneThread(values), private)
        seconds(runs[name])
        complaint = kernel.check(expected, runs[name].outputs)
        if complaint:
            raise AssertionError(f"{kernel.title}, {name}: {complaint}")
    best = {name: seconds(each) for name, each in runs.items()}
    for _ in range(3 if max(best.values()) > LONG else rounds):
        for name, each in runs.items():
            best[name] = min(best[name], seconds(each))
    gc.collect()
    return best


def seconds(each: Run) -> float:
    """One launch."""
    each.prepare()
    started = time.perf_counter()
    each.launch()
    return time.perf_counter() - started


SUITE = Suite("bounds", "What bounds checks cost", run)
