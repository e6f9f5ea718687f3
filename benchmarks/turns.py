"""A process that runs one kernel in turns, as often as it is asked to.

`python -m benchmarks.turns survey NAME` or `kernels NAME`: one pinned thread, with the techniques
that `VYRE_WITHOUT` leaves. It compiles, says `ready`, and answers every line with the CPU time of a
launch, the mean of a turn.
"""

import math
import os
import sys
import time
from collections.abc import Callable

from benchmarks.kernels import kernels_named
from benchmarks.suites.bounds import OneThread
from benchmarks.survey import CASES
from benchmarks.survey.case import private_copy
from benchmarks.survey.measure import Side, warm_up
from vyre.config import config

TURN = 0.02
"""Seconds of one turn at least: as many launches as that takes."""


def survey_launch(name: str) -> tuple[Callable[[], object], Callable[[], object]]:
    """How a case of the survey is prepared and launched."""
    case = next(case for case in CASES if case.name == name)
    data = case.data(case.full)
    arguments = private_copy(data)
    given = {output: data[output] for output in case.outputs}
    side = Side(lambda: case.run_vyre(arguments), arguments, given)
    warm_up(case, side)
    return side.reset, side.launch


def kernel_launch(name: str) -> tuple[Callable[[], object], Callable[[], object]]:
    """How a kernel of the benchmarks is prepared and launched."""
    kernel = kernels_named([name])[0]
    run = kernel.peers["vyre"](OneThread({}, config().without), kernel.data(kernel.sizes["quick"]))
    return run.prepare, run.launch


def main() -> None:
    """Answers each line of standard input with a turn."""
    kind, name = sys.argv[1:]
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    prepare, launch = survey_launch(name) if kind == "survey" else kernel_launch(name)

    def once() -> float:
        prepare()
        started = time.process_time()
        launch()
        return time.process_time() - started

    once()
    launches = max(1, math.ceil(TURN / max(once(), 1e-7)))
    print("ready", flush=True)
    for _ in sys.stdin:
        print(sum(once() for _ in range(launches)) / launches, flush=True)


if __name__ == "__main__":
    main()
