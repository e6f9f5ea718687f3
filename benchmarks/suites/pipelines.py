"""Pipelines: what fusing the stages saves, and what a call costs."""
# pyright: standard, reportInvalidTypeForm=false, reportGeneralTypeIssues=false

import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

import numpy as np

import vyre as vy
from benchmarks.kernel import Scale
from benchmarks.peers.c import version
from benchmarks.pipelines.contests import C_FLAGS, CONTESTS, Contest, Side, compared
from benchmarks.pipelines.stencils import floats, scale
from benchmarks.report import Options, Report, Suite, Table, duration, verdict, versions_of
from benchmarks.stopwatch import seconds_per_call
from benchmarks.survey.measure import settle

INTRODUCTION = """\
Pipelines on the CPU, on all threads and in wall time, each against the same work done otherwise:
its stages called one by one (`apart`), by hand, or the same algorithm in C with OpenMP. Results are
compared first, bit for bit. Launches and bytes of device memory are counted by the plan of the
call; then both sides take turns in pairs, and the figure is the median of the ratios of pairs."""

WARM: dict[Scale, int] = {"full": 60, "quick": 40, "tiny": 2}
"""Most calls before anything is timed: what is hot has been compiled anew by then, and timed."""
WARM_SECONDS = 12.0
STAGES = (4, 8, 16, 32, 64)
LAUNCH_BOUND = 1.5
GROWTH_BOUND = 2.2
"""Times as long as half as many stages: twice, and what noise adds."""


@dataclass(frozen=True)
class Measured:
    """One contest: counts, seconds of a call, and the median ratio of pairs."""

    name: str
    against: str
    ratio: float = 0.0
    own: float = 0.0
    other: float = 0.0
    launches: int = 0
    stages: int = 0
    bytes_ratio: float = 0.0
    scratch_ratio: float = 0.0
    problem: str = ""


def run(options: Options) -> Report:
    """All contests, then the cost of calls and of compiling."""
    os.environ["VYRE_DEVICE"] = "cpu"
    gcc = version(C_FLAGS)
    wanted = list(CONTESTS)
    found = [measured(contest, options) for contest in wanted]
    calls = launch_cost(options)
    growth = compile_times(options)
    return Report(
        suite=SUITE.name,
        title=SUITE.title,
        introduction=INTRODUCTION,
        tables=(
            counted_table(wanted, found, options),
            time_table(wanted, found, options),
            launch_table(calls, options),
            growth_table(growth, options),
        ),
        data={"contests": [asdict(each) for each in found], "calls": calls, "growth": growth},
        versions={"C": gcc, **versions_of("vyre", "llvmlite")},
        scale=options.scale,
        complete=options.complete,
        failures=[f"{each.name}: {each.problem}" for each in found if each.problem],
    )


def measured(contest: Contest, options: Options) -> Measured:
    """What is counted and timed; a wrong result is not timed."""
    given = contest.data(contest.sizes[options.scale])
    own, other, problem = compared(contest, given)
    if problem:
        return Measured(contest.name, contest.against, problem=f"wrong result: {problem}")
    plan = contest.pipeline.plan(*given, device="cpu")
    times = turns(own, other, options)
    two_arrays = 2 * max(given[0].nbytes, 1)
    return Measured(
        contest.name,
        contest.against,
        median(one / two for one, two in times),
        median(one for one, _ in times),
        median(two for _, two in times),
        len(plan.launches),
        sum(len(each.stages) for each in plan.launches),
        plan.bytes_moved / max(plan.bytes_apart, 1),
        plan.scratch_bytes / two_arrays,
    )


def turns(own: Side, other: Side, options: Options) -> list[tuple[float, float]]:
    """Seconds of a call of both sides, in pairs, every other pair in the other order."""
    warm = time.monotonic() + WARM_SECONDS
    for call in range(WARM[options.scale]):
        once(own)
        if call < WARM["tiny"] or call % 4 == 0:
            once(other)
        if time.monotonic() > warm:
            break
    found: list[tuple[float, float]] = []
    deadline = time.monotonic() + min(options.budget, 10.0)
    while len(found) < options.rounds and (len(found) < 3 or time.monotonic() < deadline):
        if len(found) % 2:
            two = timed(other)
            found.append((timed(own), two))
        else:
            found.append((timed(own), timed(other)))
    return found


def timed(side: Side) -> float:
    """The better of two calls, after threads of the other side have gone to sleep."""
    settle()
    return min(once(side), once(side))


def once(side: Side) -> float:
    """Seconds of a call."""
    side.reset()
    started = time.perf_counter()
    side.launch()
    return time.perf_counter() - started


@vy.pipeline
def two_stages(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    """Two stages of one element each, in one launch."""
    t = vy.scratch_like(x)
    scale(2.0, x, t)
    scale(3.0, t, y)


two_launches = vy.pipeline(fuse=False)(two_stages.__wrapped__)
KERNEL, FUSED, APART = "a kernel", "two stages, bound", "two stages, bound, fuse=False"


def launch_cost(options: Options) -> dict[str, float]:
    """Seconds of bound pipelines of two stages, and of a call of their kernel."""
    x, y = vy.array(np.ones(1, np.float32), "cpu"), vy.array(np.zeros(1, np.float32), "cpu")
    ways: dict[str, Callable[[], object]] = {
        KERNEL: lambda: scale(2.0, x, y),
        FUSED: two_stages.bind(x, y, device="cpu"),
        APART: two_launches.bind(x, y, device="cpu"),
        "two stages, called": lambda: two_stages(x, y),
    }
    for call in ways.values():
        for _ in range(50):
            call()
    rounds = 7 if options.scale == "full" else 3
    return {name: seconds_per_call(call, rounds, 0.02) for name, call in ways.items()}


def compile_times(options: Options) -> dict[str, float]:
    """Seconds of planning and compiling chains of stages, each of a length of its own."""
    found: dict[str, float] = {}
    for stages in STAGES if options.scale != "tiny" else STAGES[:2]:
        best = float("inf")
        for attempt in range(3 if options.scale == "full" else 1):
            chain = chain_of(stages, 1.0 + stages + attempt / 8)
            x = floats(1000)
            started = time.perf_counter()
            chain(x, np.zeros_like(x), device="cpu")
            best = min(best, time.perf_counter() - started)
        found[str(stages)] = best
    return found


def chain_of(stages: int, factor: float) -> Any:
    """A pipeline whose stages differ in a constant, so that none of them is in a cache."""

    @vy.kernel
    def step(x: vy.In[vy.f32], y: vy.Out[vy.f32], k: vy.u32):
        i = vy.gid()
        if i < len(y):
            y[i] = x[i] * factor + vy.f32(k)

    @vy.pipeline
    def chain(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
        a, b = vy.scratch_like(x), vy.scratch_like(x)
        vy.copy(x, a)
        for k in range(stages):
            step(a, b, k)
            a, b = b, a
        vy.copy(a, y)

    return chain


def counted_table(wanted: list[Contest], found: list[Measured], options: Options) -> Table:
    """What the plans say: launches, bytes of device memory, scratch."""
    rows: list[list[str]] = []
    for contest, each in zip(wanted, found, strict=True):
        bounds = [
            (each.bytes_ratio, contest.bytes_bound, "bytes"),
            (each.scratch_ratio, contest.scratch_bound, "scratch"),
        ]
        said = [
            f"{what} ≤ {bound:g}: {verdict(value <= bound, options)}"
            for value, bound, what in bounds
            if bound is not None
        ]
        counts = f"{each.launches} of {each.stages}"
        shown = [counts, f"{each.bytes_ratio:.3f}", f"{each.scratch_ratio:.3f}", "; ".join(said)]
        rows.append([contest.name, *(shown if not each.problem else [each.problem, "", "", ""])])
    notes = [
        "Launches of the plan, of as many stages; bytes of device memory against those of the "
        "stages apart; scratch against two arrays of the size of the first argument. A loop that "
        "the device ends is counted for one iteration."
    ]
    columns = ["pipeline", "launches", "bytes / apart", "scratch / two arrays", "bounds"]
    return Table("Counted", columns, rows, notes)


def time_table(wanted: list[Contest], found: list[Measured], options: Options) -> Table:
    """Ratios of wall times, each with its bound."""
    rows: list[list[str]] = []
    for contest, each in zip(wanted, found, strict=True):
        row = [contest.name, contest.against]
        if each.problem:
            rows.append([*row, "", "", each.problem, f"≤ {contest.bound:g}", "broken"])
            continue
        holds = verdict(each.ratio <= contest.bound, options)
        own, other = duration(each.own), duration(each.other)
        rows.append([*row, own, other, f"{each.ratio:.3f}", f"≤ {contest.bound:g}", holds])
    columns = ["pipeline", "against", "pipeline takes", "the other takes", "ratio", "bound", ""]
    return Table("Time of a call", columns, rows)


def launch_table(calls: dict[str, float], options: Options) -> Table:
    """What a call costs when there is nothing to do."""
    rows: list[list[str]] = []
    for name, seconds in calls.items():
        ratio = seconds / calls[KERNEL]
        row = [name, duration(seconds), f"{ratio:.2f}", "", ""]
        if name in (FUSED, APART):
            row[3:] = [f"≤ {LAUNCH_BOUND:g}", verdict(ratio <= LAUNCH_BOUND, options)]
        rows.append(row)
    return Table("A call on one element", ["what", "time", "/ a kernel", "bound", ""], rows)


def growth_table(growth: dict[str, float], options: Options) -> Table:
    """Compile time by the number of stages, each against half as many."""
    rows: list[list[str]] = []
    before: float | None = None
    for stages, seconds in growth.items():
        row = [f"{stages} stages", duration(seconds), "", "", ""]
        if before is not None:
            ratio = seconds / before
            holds = verdict(ratio <= GROWTH_BOUND, options)
            row[2:] = [f"{ratio:.2f}", f"≤ {GROWTH_BOUND:g}", holds]
        rows.append(row)
        before = seconds
    columns = ["chain", "first call", "against half", "bound", ""]
    return Table("Compiling a chain of elementwise stages", columns, rows)


SUITE = Suite("pipelines", "Pipelines", run)
