"""Barriers over the grid: one kernel that has them, against a launch for each step."""

import os
from dataclasses import asdict, dataclass
from statistics import median

import numpy as np

from benchmarks.pipelines.case import disagreement
from benchmarks.pipelines.contests import Side, side_of
from benchmarks.pipelines.grid_barriers import BARRIER_CASES, BarrierCase
from benchmarks.report import Options, Report, Suite, Table, duration, verdict, versions_of
from benchmarks.suites.pipelines import turns

SIZES = {"full": (1 << 12, 1 << 20), "quick": (1 << 12, 1 << 18), "tiny": (500,)}
BOUND = 1.1
"""The kernel may take this part of the time of the better way of launching its steps."""

INTRODUCTION = """\
Four algorithms whose steps need all of the step before, each written twice with the same functions:
as one kernel with `vy.grid_sync()` between the steps, and as a pipeline with a launch for each step
(`fuse=False`). On the CPU the kernel is split at its barriers, and the segments are phases of one
job of the thread pool, of which the last thread to finish opens the next; the pipeline hands its
launches to the pool at once; and *one by one* is a call from Python for each step. Results are
compared first, bit for bit. Then two sides at a time take turns in pairs, in wall time on all
threads, and ratios are medians over the pairs."""


@dataclass(frozen=True)
class Measured:
    """One algorithm at one size: seconds of the kernel, and its ratios to the other ways."""

    name: str
    size: int
    barriers: int
    seconds: float = 0.0
    to_pipeline: float = 0.0
    to_launches: float = 0.0
    problem: str = ""


def run(options: Options) -> Report:
    """All algorithms at all sizes."""
    os.environ["VYRE_DEVICE"] = "cpu"
    found = [
        measured(case, size, options) for case in BARRIER_CASES for size in SIZES[options.scale]
    ]
    return Report(
        suite=SUITE.name,
        title=SUITE.title,
        introduction=INTRODUCTION,
        tables=(table(found, options),),
        data={"cases": [asdict(each) for each in found]},
        versions=versions_of("vyre", "llvmlite"),
        scale=options.scale,
        complete=options.complete,
        failures=[f"{each.name}: {each.problem}" for each in found if each.problem],
    )


def measured(case: BarrierCase, size: int, options: Options) -> Measured:
    """What is timed; a wrong result is not timed."""
    kernel, pipeline, launches = sides(case, size)
    outcomes: list[list[np.ndarray]] = []
    for side in (kernel, pipeline, launches):
        side.reset()
        outcomes.append([each.copy() for each in side.results(side.launch())])
    problem = disagreement(outcomes[2], outcomes[0]) or disagreement(outcomes[2], outcomes[1])
    if problem:
        return Measured(case.name, size, case.barriers, problem=problem)
    first, second = turns(kernel, pipeline, options), turns(kernel, launches, options)
    return Measured(
        case.name,
        size,
        case.barriers,
        median(one for one, _ in first + second),
        median(one / two for one, two in first),
        median(one / two for one, two in second),
    )


def sides(case: BarrierCase, size: int) -> tuple[Side, Side, Side]:
    """The kernel, the pipeline, and the stages called one by one."""
    given, invocations = case.data(size), case.elements(size)

    def whole(*arguments: object) -> None:
        case.whole(*arguments, elements=invocations)

    calls = (whole, case.staged, case.staged.apart)
    one, two, three = (side_of(call, case.changed, given) for call in calls)
    return one, two, three


def table(found: list[Measured], options: Options) -> Table:
    """Ratios, each against its bound."""
    rows: list[list[str]] = []
    for each in found:
        row = [each.name, f"{each.size:_}".replace("_", " "), str(each.barriers)]
        if each.problem:
            rows.append([*row, each.problem, "", "", "", "broken"])
            continue
        holds = verdict(max(each.to_pipeline, each.to_launches) <= BOUND, options)
        ratios = [f"{each.to_pipeline:.2f}", f"{each.to_launches:.2f}"]
        rows.append([*row, duration(each.seconds), *ratios, f"≤ {BOUND:g}", holds])
    columns = ["algorithm", "size", "barriers", "kernel", "/ pipeline", "/ one by one", "bound", ""]
    return Table("A kernel with barriers over the grid", columns, rows)


SUITE = Suite("grid-barriers", "Barriers over the grid", run)
