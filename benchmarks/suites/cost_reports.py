"""What a cost report saves the next process that compiles a program that was hot."""

import gc
import os
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import geometric_mean, median
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.executed import Launch
from benchmarks.plain_launches import ELEMENTS, LARGE, LARGE_SIDE, SIDE, launches
from benchmarks.programs import all_programs, plain_programs
from benchmarks.report import Options, Report, Suite, Table, duration, verdict, versions_of

if TYPE_CHECKING:
    from vyre.driver.routing import Route
    from vyre.ir import Program
    from vyre.opt import HotPathHints
    from vyre.opt.cost_report import CostReport
    from vyre.runtime import CompiledProgram

LEAST_PROGRAMS = 10
"""For so many programs at least, each of the bounds has to hold."""
HOT_SPEED = 1.05
"""Launches may take this part of those of the code for hot programs."""
WAYS = {"cold": "no report", "reported": "report", "kept": "report and code"}
"""What the cache has when the process begins."""

INTRODUCTION = """\
A program that was hot leaves a cost report in the cache, beside its code: the passes that changed
it. Here a process without hints compiles it again: with an empty cache; with the report alone, as
with other options than before; and with the report and the code for hot programs that it leads to,
which is the usual case. Programs are those of benchmarks/plain, as one writes them first, and of
the kernel suite. Times are CPU times of one pinned thread, the ways take turns, and figures are
medians. Launches are of the code that the first call gets, on a million elements unless the
program declares 4 096."""


@dataclass(frozen=True)
class Measured:
    """One program: CPU seconds, and launches relative to those of the code for hot programs."""

    name: str
    passes: int
    changing: int
    all_passes: float
    by_report: float
    ready: Mapping[str, float]
    """By way, from the program to code that can be launched."""
    launches: Mapping[str, float]
    """By way; empty if there are no arguments for the program."""


def run(options: Options) -> Report:
    """Compiling of all programs, and launches of those for which there are arguments."""
    plain, tuned = plain_programs(), all_programs()
    rounds, size = {"full": (9, LARGE), "quick": (3, LARGE), "tiny": (1, ELEMENTS)}[options.scale]
    if options.scale == "tiny":
        plain, tuned = {name: plain[name] for name in ("matmul", "scanner")}, {}
    large = launches(size, SIDE if size == ELEMENTS else LARGE_SIDE)
    small = launches()
    given = {name: large[name] if fits(plain[name], large[name]) else small[name] for name in plain}
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        found = [
            measured(f"{name}, as first written", program, rounds, given[name])
            for name, program in plain.items()
        ]
        found += [measured(name, program, rounds, None) for name, program in tuned.items()]
    finally:
        os.sched_setaffinity(0, before)
    return Report(
        suite=SUITE.name,
        title=SUITE.title,
        introduction=INTRODUCTION,
        tables=(compile_table(found, options), launch_table(found, options)),
        data={"programs": [asdict(each) for each in found]},
        versions=versions_of("vyre", "llvmlite"),
        scale=options.scale,
        complete=options.complete,
    )


def fits(program: "Program", given: Launch) -> bool:
    """True if arguments have the lengths that a program declares."""
    found = (program.buffer(name) for name in given.inputs)
    declared = {decl.name: decl.count for decl in found if decl is not None and decl.count}
    return all(given.inputs[name].size == count for name, count in declared.items())


def measured(name: str, program: "Program", rounds: int, given: Launch | None) -> Measured:
    """Every way in turns, on programs that nothing is known of."""
    from vyre.opt import HotPathHints, OptimizerProfile, optimize

    text, report = str(program), report_of(program)
    target = route().backend.target(route().device)
    again, release = type(program).parse, OptimizerProfile.RELEASE
    optimised: tuple[list[float], list[float]] = ([], [])
    ready: dict[str, list[float]] = {way: [] for way in WAYS}
    made: dict[str, CompiledProgram] = {}
    for _ in range(rounds):
        one, two = again(text), again(text)
        hot, cold = hot_hints(one), HotPathHints()
        two.digest()
        optimised[0].append(cpu_seconds(lambda p=one, h=hot: optimize(p, release, target, h)))
        optimised[1].append(
            cpu_seconds(lambda p=two, h=cold: optimize(p, release, target, h, report))
        )
        for way in WAYS:
            with tempfile.TemporaryDirectory() as folder:
                process = new_process(way, text, Path(folder))
                started = time.process_time()
                made[way] = process()
                ready[way].append(time.process_time() - started)
    return Measured(
        name,
        len({cost.name for cost in report.passes}),
        len(report.changing),
        median(optimised[0]),
        median(optimised[1]),
        {way: median(times) for way, times in ready.items()},
        {} if given is None else launch_times(made, hot_code(text), given, rounds),
    )


def new_process(way: str, text: str, folder: Path) -> Callable[[], "CompiledProgram"]:
    """The first compilation of a process, which has the cache that earlier ones left."""
    from vyre.cache import DiskCache
    from vyre.ir import Program
    from vyre.opt import HotPathHints
    from vyre.runtime import compile
    from vyre.runtime.cost_reports import keep_report

    store = DiskCache(folder, 1 << 28)
    earlier = Program.parse(text)
    if way == "kept":
        compile(earlier, device="cpu", hints=hot_hints(earlier), cache=store)
    elif way == "reported":
        found = hot_code(text)
        keep_report(found.compilation, found.target, store)
    program = Program.parse(text)

    def process() -> "CompiledProgram":
        found = compile(program, device="cpu", hints=HotPathHints(), cache=store)
        found.load()
        return found

    gc.collect()
    return process


def launch_times(
    made: Mapping[str, "CompiledProgram"], hot: "CompiledProgram", given: Launch, rounds: int
) -> dict[str, float]:
    """Launches of the first code, relative to those of the code for hot programs."""
    arrays = {name: np.array(each) for name, each in given.inputs.items()}
    times: dict[str, list[float]] = {way: [] for way in (*made, "hot")}
    for turn in range(2 * rounds + 3):
        for way, code in {**made, "hot": hot}.items():
            spent = launch_seconds(code, arrays, given)
            if turn > 2:
                times[way].append(spent)
    return {way: median(times[way]) / median(times["hot"]) for way in made}


def launch_seconds(
    code: "CompiledProgram", arrays: Mapping[str, np.ndarray], given: Launch
) -> float:
    """The better of two launches."""
    from vyre.runtime.run import dispatch

    return min(
        cpu_seconds(lambda: dispatch(code, arrays, given.grid, in_place=True)) for _ in range(2)
    )


def cpu_seconds(operation: Callable[[], object]) -> float:
    """CPU seconds of one call."""
    started = time.process_time()
    operation()
    return time.process_time() - started


def route() -> "Route":
    """The CPU."""
    from vyre.driver import routing

    return routing.choose("cpu")


def hot_hints(program: "Program") -> "HotPathHints":
    """Hints that say that the program runs long."""
    from vyre.opt import HotPathHints
    from vyre.opt.hot_paths import hint_keys

    hints = HotPathHints()
    hints.record(hint_keys(program)[0], hints.hot_threshold_ns, 0)
    return hints


def hot_code(text: str) -> "CompiledProgram":
    """What an earlier process made when the program was hot."""
    from vyre.cache import DiskCache
    from vyre.ir import Program
    from vyre.runtime import compile

    program = Program.parse(text)
    return compile(program, device="cpu", hints=hot_hints(program), cache=DiskCache("", 0))


def report_of(program: "Program") -> "CostReport":
    """The report of a run of all passes."""
    from vyre.opt import OptimizerProfile, optimize
    from vyre.opt.cost_report import CostReport

    target = route().backend.target(route().device)
    full = optimize(program, OptimizerProfile.RELEASE, target, hot_hints(program))
    found = CostReport.of(full, program, target)
    assert found is not None
    return found


def compile_table(found: list[Measured], options: Options) -> Table:
    """Optimising with and without a report, and the time to code in each way."""
    rows = [
        [
            each.name,
            f"{each.passes} → {each.changing}",
            f"{duration(each.all_passes)} → {duration(each.by_report)}",
            f"{each.by_report / each.all_passes:.2f}",
            *(duration(each.ready[way]) for way in WAYS),
            f"{each.ready['reported'] / each.ready['cold']:.2f}",
            f"{each.ready['kept'] / each.ready['cold']:.2f}",
        ]
        for each in found
    ]
    mean = ["geometric mean", "", ""]
    mean.append(f"{geometric_mean(each.by_report / each.all_passes for each in found):.2f}")
    mean += ["", "", ""]
    for way in ("reported", "kept"):
        mean.append(f"{geometric_mean(e.ready[way] / e.ready['cold'] for e in found):.2f}")
    less = sum(each.by_report < each.all_passes for each in found)
    sooner = sum(each.ready["kept"] < each.ready["cold"] for each in found)
    notes = [
        f"Optimising takes less time by a report in {less} of {len(found)}, at least "
        f"{LEAST_PROGRAMS}: {verdict(less >= LEAST_PROGRAMS, options)}.",
        f"Code is ready sooner with report and code in {sooner} of {len(found)}, at least "
        f"{LEAST_PROGRAMS}: {verdict(sooner >= LEAST_PROGRAMS, options)}.",
    ]
    columns = ["program", "passes", "optimising", "ratio"]
    columns += [*WAYS.values(), "report / none", "report and code / none"]
    return Table("From the program to code", columns, [*rows, mean], notes)


def launch_table(found: list[Measured], options: Options) -> Table:
    """How fast the code of the first call is."""
    launched = [each for each in found if each.launches]
    rows = [[each.name, *(f"{each.launches[way]:.2f}" for way in WAYS)] for each in launched]
    fast = sum(each.launches["kept"] <= HOT_SPEED for each in launched)
    notes = [
        f"With report and code at most {HOT_SPEED:g} in {fast} of {len(launched)}, at least "
        f"{LEAST_PROGRAMS}: {verdict(fast >= LEAST_PROGRAMS, options)}."
    ]
    title = "The first launch, relative to code for hot programs"
    return Table(title, ["program", *WAYS.values()], rows, notes)


SUITE = Suite("cost-reports", "What cost reports save", run)
