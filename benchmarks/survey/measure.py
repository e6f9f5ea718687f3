"""The process that measures the survey, with one pinned thread or with all of them.

`python -m benchmarks.survey.measure one|all` reads its request as JSON and answers with one line of
JSON for each case. The number of threads is a setting of the process, so each way has its own.
"""

import gc
import json
import math
import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any, Literal

import numpy as np

from benchmarks.peers.c import Compiler
from benchmarks.survey import CASES
from benchmarks.survey.case import Arguments, Case, private_copy, survey_compiler
from benchmarks.survey.foreign_load import ForeignLoad
from vyre import VyreError

Way = Literal["one", "all"]

MOST_FOREIGN = 0.06
"""The part of the machine that others may use during a run; a run with more is repeated."""
MOST_RUNS = 10
"""Runs of one case until it is given up."""
SHORTEST_RUN = 0.6
"""Seconds of a run at least, because foreign load is counted in ticks."""
TURN = 0.02
"""Seconds of one turn at least: as many launches as that takes."""
SETTLE = 0.003
"""Seconds between two looks at whether threads still spin after their work, as OpenMP's do."""
PATIENCE = 0.5
"""Seconds until the next turn starts anyhow."""

CLOCKS: Mapping[Way, Callable[[], float]] = {"one": time.process_time, "all": time.perf_counter}
"""CPU time shows the code, wall time the pool."""


@dataclass(frozen=True)
class Request:
    """What to measure: cases by name, with this number of pairs of turns or until the budget of
    seconds is used up. Tiny sizes are for tests, beside which others run: no run is repeated.
    """

    names: list[str]
    tiny: bool
    pairs: int
    budget: float

    @property
    def most_foreign(self) -> float:
        """The foreign load with which a run still counts."""
        return 1.0 if self.tiny else MOST_FOREIGN

    @property
    def shortest_run(self) -> float:
        """Seconds of a run at least."""
        return 0.0 if self.tiny else SHORTEST_RUN


@dataclass(frozen=True)
class Found:
    """One case, measured one way: seconds of a launch, or the problem."""

    name: str
    c: float = 0.0
    vyre: float = 0.0
    ratio: float = 0.0
    """The median over the pairs of turns; the times are medians by themselves."""
    foreign: float = 0.0
    runs: int = 0
    problem: str = ""


@dataclass(frozen=True)
class Side:
    """vyre or C with arguments of its own."""

    launch: Callable[[], object]
    arguments: Arguments
    given: Arguments
    """The outputs as they were: a launch begins with them, so that all do the same work."""

    def reset(self) -> None:
        """Undo what the last launch wrote."""
        for name, array in self.given.items():
            np.copyto(self.arguments[name], array)

    def once(self, clock: Callable[[], float]) -> float:
        """The time of one launch."""
        self.reset()
        started = clock()
        self.launch()
        return clock() - started


def found_of(case: Case, gcc: Compiler, way: Way, request: Request) -> Found:
    """What was measured; that vyre refuses a case is no problem of those after it."""
    try:
        return measure_case(case, gcc, way, request)
    except VyreError as error:
        return Found(case.name, problem=str(error).splitlines()[0])


def measure_case(case: Case, gcc: Compiler, way: Way, request: Request) -> Found:
    """Results compared first; then runs until one of them had the machine to itself."""
    sides = prepare(case, gcc, request.tiny)
    for side in sides.values():
        side.reset()
        side.launch()
    complaint = case.complaint(sides["c"].arguments, sides["vyre"].arguments)
    if complaint is not None:
        return Found(case.name, problem=f"wrong result: {complaint}")
    warm_up(case, sides["vyre"])
    foreign = 0.0
    for run in range(1, MOST_RUNS + 1):
        load = ForeignLoad()
        times = run_of_turns(sides, CLOCKS[way], request)
        foreign = load.share()
        if foreign <= request.most_foreign:
            ratios = [v / c for v, c in zip(times["vyre"], times["c"], strict=True)]
            c, vyre = median(times["c"]), median(times["vyre"])
            return Found(case.name, c, vyre, median(ratios), foreign, run)
    return Found(case.name, runs=MOST_RUNS, problem=f"foreign load of {foreign:.0%} in every run")


def prepare(case: Case, gcc: Compiler, tiny: bool) -> dict[str, Side]:
    """Both sides on the same data, each in arrays of its own."""
    data = case.data(case.tiny if tiny else case.full)
    given = {name: data[name] for name in case.outputs}
    by_vyre, by_c = private_copy(data), private_copy(data)
    return {
        "vyre": Side(lambda: case.run_vyre(by_vyre), by_vyre, given),
        "c": Side(case.bind_c(gcc, by_c), by_c, given),
    }


def warm_up(case: Case, side: Side) -> None:
    """Have the code made anew of what is hot: nothing is timed while a thread compiles."""
    from vyre.runtime.compiling import finish_improvements

    for _ in range(2):
        for _ in range(3):
            side.reset()
            side.launch()
        for kernel in case.kernels:
            finish_improvements(kernel.program())


def run_of_turns(
    sides: Mapping[str, Side], clock: Callable[[], float], request: Request
) -> dict[str, list[float]]:
    """Seconds of a launch in each turn; both sides in pairs, every other pair in the other order.

    A machine is now faster and now slower for longer than a turn takes, so the two turns of a pair
    see the same machine.
    """
    launches = {
        name: max(1, math.ceil(TURN / max(side.once(time.perf_counter), 1e-7)))
        for name, side in sides.items()
    }
    times: dict[str, list[float]] = {name: [] for name in sides}
    started = time.perf_counter()
    while True:
        pairs, elapsed = len(times["c"]), time.perf_counter() - started
        enough = pairs >= request.pairs or elapsed > request.budget
        if pairs >= 3 and elapsed > request.shortest_run and enough:
            return times
        for name in ("vyre", "c") if pairs % 2 else ("c", "vyre"):
            settle()
            sides[name].once(clock)
            turn = [sides[name].once(clock) for _ in range(launches[name])]
            times[name].append(sum(turn) / len(turn))


def settle() -> None:
    """Wait until no thread of this process spins any more: what came next would share its core."""
    deadline = time.perf_counter() + PATIENCE
    while time.perf_counter() < deadline:
        before = time.process_time()
        time.sleep(SETTLE)
        if time.process_time() - before < 0.1 * SETTLE:
            return


def main() -> None:
    """Measures what the request names, one line of JSON for each case as soon as it is known."""
    way: Way = "one" if sys.argv[1] == "one" else "all"
    if way == "one":
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    request = Request(**json.loads(sys.stdin.read()))
    gcc = survey_compiler()
    for case in CASES:
        if case.name in request.names:
            found: dict[str, Any] = asdict(found_of(case, gcc, way, request))
            print(json.dumps(found), flush=True)
            gc.collect()


if __name__ == "__main__":
    main()
