"""What safety costs: every kernel with its bounds checks against the same without any."""

import gc
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median, quantiles
from typing import TYPE_CHECKING

from benchmarks.kernel import Arrays, Kernel, Run, Scale
from benchmarks.kernels import KERNELS, kernels_named
from benchmarks.report import Options, Report, Suite, Table, duration, versions_of

if TYPE_CHECKING:
    from vyre.driver.artifact import Artifact
    from vyre.ir import Program

BOUND = 1.10
TURN = 0.001
"""Seconds of one turn at least: so many launches that the clock's own cost does not count."""
FEWEST = 5
"""Pairs of turns at one place."""
AT_ONE_PLACE = 0.15
"""Seconds of pairs at one place."""
PLACES = 11
"""Places of code and arrays in memory."""
ENOUGH = 0.01
"""An error of the ratio that is small enough."""
SURE = 3
"""Errors that the ratio must be away from the bound."""


@dataclass(frozen=True)
class Budget:
    """Seconds for one kernel: when it is clear what checks cost, and when it is not."""

    least: float
    most: float


INTRODUCTION = """\
Every kernel on the CPU backend with its bounds checks, and compiled without any, which nothing but
this comparison can ask for. One thread, both on the same arrays in short turns side by side; the
figure is the median of the ratios of neighbouring turns. Code and arrays are placed in memory anew
several times, because where they lie matters as much as checks do; the median over the places is
shown with its standard error. What ranges, guards and shapes prove is tested in neither."""


class OneThread:
    """The tool of vyre's implementations, on one thread, with or without checks or techniques."""

    def __init__(self, values: Mapping[str, str], without: frozenset[str] = frozenset()) -> None:
        self._values = values
        self._without = without
        self._made: dict[str, Artifact] = {}
        """What was compiled, to be loaded again."""

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

        made = self._made.get(program.digest())
        if made is None:
            made = compile_program(
                optimize(program).program,
                "native",
                EmitOptions("full", self._values),
                self._without,
            )
            self._made[program.digest()] = made
        kernel = NativeKernel(made.payload, KernelInfo.from_json(made.metadata), process_pool())
        held = [arrays[decl.name] for decl in program.buffers if not decl.is_on_chip]
        places = [(int(array.ctypes.data), array.size) for array in held]
        shape = ((*grid, 1, 1)[0], (*grid, 1, 1)[1], (*grid, 1, 1)[2])
        return kernel.bind(places, shape, threads=1, keep=held)


def run(options: Options) -> Report:
    """Both variants of every chosen kernel in turns."""
    chosen = KERNELS if options.kernels is None else kernels_named(list(options.kernels))
    scale: Scale = "tiny" if options.scale == "tiny" else "quick"
    budget = Budget(0.0, 0.0) if options.scale == "tiny" else Budget(2.0, 8.0)
    found = {
        kernel.name: compare(kernel, scale, budget) for kernel in chosen if "vyre" in kernel.peers
    }
    rows = [
        [
            kernel.title,
            *(duration(found[kernel.name][way]) for way in ("checked", "unchecked")),
            f"{found[kernel.name]['relative']:.2f} ± {found[kernel.name]['error']:.2f}",
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
        tables=(Table("Bounds checks, one thread", columns, rows),),
        data={"seconds": found},
        versions=versions_of("vyre", "llvmlite"),
        scale=options.scale,
        complete=options.complete,
    )


def compare(kernel: Kernel, scale: Scale, budget: Budget) -> dict[str, float]:
    """What checks cost, and how sure that is.

    Where code and arrays happen to lie matters as much as what is looked for, as long as they lie
    there: so both are placed anew many times, and what counts is the median over the places. At one
    place both variants work on the same arrays.
    """
    data = kernel.data(kernel.sizes[scale])
    expected = kernel.define(data)
    tools = {"checked": OneThread({}), "unchecked": OneThread({"bounds": "unchecked"})}
    ratios: list[float] = []
    times: dict[str, list[float]] = {name: [] for name in tools}
    started = time.perf_counter()
    error = 0.0
    while True:
        runs = placed(kernel, tools, data, expected)
        ratios.append(paired(lambda name, runs=runs: seconds(runs[name]), times))
        gc.collect()
        if len(ratios) < PLACES:
            continue
        relative, error = median_and_error(ratios)
        sure = error <= ENOUGH and abs(relative - BOUND) > SURE * error
        if time.perf_counter() - started > (budget.least if sure else budget.most):
            break
    middles = {name: median(found) for name, found in times.items()}
    return {**middles, "relative": relative, "error": error, "places": len(ratios)}


def placed(
    kernel: Kernel, tools: Mapping[str, OneThread], data: Arrays, expected: Arrays
) -> dict[str, Run]:
    """Both variants in memory of their own, with new arrays; their results are checked."""
    private = {key: array.copy() for key, array in data.items()}
    runs: dict[str, Run] = {}
    for name, tool in tools.items():
        runs[name] = kernel.peers["vyre"](tool, private)
        seconds(runs[name])
        complaint = kernel.check(expected, runs[name].outputs)
        if complaint:
            raise AssertionError(f"{kernel.title}, {name}: {complaint}")
    return runs


def paired(measure: Callable[[str], float], times: dict[str, list[float]]) -> float:
    """The median of the ratios of neighbouring turns, both variants in short turns side by side.

    A machine is now faster and now slower for longer than a turn takes, so neighbours see the same
    machine; every other pair is taken in the other order.
    """
    once = max(measure("checked"), measure("unchecked"), 1e-7)
    launches = max(1, math.ceil(TURN / once))
    ratios: list[float] = []
    deadline = time.perf_counter() + AT_ONE_PLACE
    while len(ratios) < FEWEST or time.perf_counter() < deadline:
        order = ("checked", "unchecked") if len(ratios) % 2 else ("unchecked", "checked")
        for name in order:
            times[name].append(sum(measure(name) for _ in range(launches)) / launches)
        ratios.append(times["checked"][-1] / times["unchecked"][-1])
    return median(ratios)


def median_and_error(values: Sequence[float]) -> tuple[float, float]:
    """The median, and how far it is from that of endless measurements, most likely."""
    low, middle, high = quantiles(values, n=4)
    # Of a normal distribution the quartiles are 1.35 deviations apart, and a median is 1.25 times
    # as uncertain as a mean.
    return middle, 1.25 * (high - low) / 1.35 / math.sqrt(len(values))


def seconds(each: Run) -> float:
    """One launch."""
    each.prepare()
    started = time.perf_counter()
    each.launch()
    return time.perf_counter() - started


SUITE = Suite("bounds", "What bounds checks cost", run)
