"""The survey: many kernels as users write them, from many fields, beside the same loops in C."""

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from statistics import geometric_mean

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from benchmarks.peers import OWN_PYTHON, ROOT
from benchmarks.peers.c import version
from benchmarks.report import Options, Report, Suite, Table, duration, versions_of
from benchmarks.survey import CASES
from benchmarks.survey.case import SURVEY_FLAGS, Case
from benchmarks.survey.measure import MOST_FOREIGN, Found, Request, Way

INTRODUCTION = f"""\
{len(CASES)} kernels of the kinds of public suites, written from the documentation and before
anything was measured, none of them tuned. C is the same algorithm as plain loops on the same data,
with the same values known only at run time and the same rounding of floats (`-ffp-contract=off`).
Results are compared first, bit for bit unless functions such as `exp` are involved. Then both take
turns in pairs, and the figure is the median of the ratios vyre / C (below 1 is faster than C): in
CPU time on one pinned thread, which shows the code, and in wall time on all threads, which shows
the pool. Runs during which others used more than {MOST_FOREIGN:.0%} of the machine are repeated.
Means are geometric. Where C spends most of its time in libm, the kernel is reported apart."""

WAYS: Mapping[Way, str] = {"one": "one thread", "all": "all threads"}
SETTINGS: Mapping[Way, Mapping[str, str]] = {
    "one": {"VYRE_THREADS": "1", "OMP_NUM_THREADS": "1"},
    "all": {},
}

Outcomes = Mapping[Way, Mapping[str, Found]]


def run(options: Options) -> Report:
    """Measures the chosen cases in both ways."""
    chosen = cases_named(options.kernels)
    gcc = version(SURVEY_FLAGS)  # first, because without a C compiler there is nothing to measure
    outcomes: Outcomes = {way: measured(chosen, way, options) for way in WAYS}
    return Report(
        suite=SUITE.name,
        title=SUITE.title,
        introduction=INTRODUCTION,
        tables=tables(chosen, outcomes),
        data={way: {n: asdict(f) for n, f in found.items()} for way, found in outcomes.items()},
        versions={"C": gcc, **versions_of("vyre", "llvmlite")},
        scale=options.scale,
        complete=options.complete,
        failures=failures(chosen, outcomes),
    )


def cases_named(names: Sequence[str] | None) -> list[Case]:
    """The cases of these names and kinds; all of them for None. KeyError for an unknown name."""
    for name in names or ():
        if not any(name in (case.name, case.kind) for case in CASES):
            raise KeyError(name)
    return [c for c in CASES if names is None or c.name in names or c.kind in names]


def measured(cases: Sequence[Case], way: Way, options: Options) -> dict[str, Found]:
    """What a process of its own measured of each case; a case it did not come to is a failure."""
    names = [case.name for case in cases]
    budget = 1.0 if options.scale == "quick" else min(options.budget, 5.0)
    request = Request(names, options.scale == "tiny", options.rounds, budget)
    found: dict[str, Found] = {}
    columns = (TextColumn("{task.description:<24}"), BarColumn(), MofNCompleteColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    worker = subprocess.Popen(
        [str(OWN_PYTHON), "-m", "benchmarks.survey.measure", way],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "VYRE_DEVICE": "cpu", **SETTINGS[way]},
    )
    assert worker.stdin is not None
    assert worker.stdout is not None
    with worker, bar:
        worker.stdin.write(json.dumps(asdict(request)))
        worker.stdin.close()
        task = bar.add_task(f"survey, {WAYS[way]}", total=len(cases))
        for line in worker.stdout:
            each = Found(**json.loads(line))
            found[each.name] = each
            bar.advance(task)
    lost = f"the process ended with code {worker.returncode}"
    return {name: found.get(name, Found(name, problem=lost)) for name in names}


def tables(cases: Sequence[Case], outcomes: Outcomes) -> tuple[Table, ...]:
    """Means by kind, every kernel, and apart from these the kernels that measure libm."""
    ordinary = [case for case in cases if not case.libm]
    apart = [case for case in cases if case.libm]
    made = (
        means_by_kind(ordinary, outcomes),
        each_kernel("Every kernel", ordinary, outcomes),
        each_kernel("Kernels whose C is mostly libm", apart, outcomes),
    )
    return tuple(table for table in made if table.rows)


def means_by_kind(cases: Sequence[Case], outcomes: Outcomes) -> Table:
    """The geometric mean of each kind in both ways, its slowest kernel, and the mean of all."""
    kinds: dict[str, list[Case]] = {}
    for case in cases:
        kinds.setdefault(case.kind, []).append(case)
    rows = [mean_row(kind, members, outcomes) for kind, members in kinds.items()]
    if rows:
        rows.append(mean_row("all", cases, outcomes))
    columns = ["kind", "kernels"]
    for title in WAYS.values():
        columns += [title, f"slowest, {title}"]
    return Table("Time relative to C by kind (geometric mean), lower is better", columns, rows)


def mean_row(title: str, cases: Sequence[Case], outcomes: Outcomes) -> list[str]:
    """One kind: a mean and the slowest kernel for each way."""
    row = [title, str(len(cases))]
    for way in WAYS:
        ratios = {
            case.name: outcomes[way][case.name].ratio
            for case in cases
            if not outcomes[way][case.name].problem
        }
        if not ratios:
            row += ["–", "–"]
            continue
        slowest = max(ratios, key=lambda name: ratios[name])
        row += [f"{geometric_mean(ratios.values()):.2f}", f"{slowest} {ratios[slowest]:.2f}"]
    return row


def each_kernel(title: str, cases: Sequence[Case], outcomes: Outcomes) -> Table:
    """C's time and vyre's relative to it, for every case in both ways."""
    rows: list[list[str]] = []
    for case in cases:
        row = [f"{case.kind}: {case.name}"]
        for way in WAYS:
            found = outcomes[way][case.name]
            row += ["–", "–"] if found.problem else [duration(found.c), f"{found.ratio:.2f}"]
        rows.append(row)
    columns = ["kernel", "C, one thread", "vyre", "C, all threads", "vyre"]
    return Table(title, columns, rows, failures(cases, outcomes))


def failures(cases: Sequence[Case], outcomes: Outcomes) -> list[str]:
    """Wrong results, runs that were never undisturbed, and processes that ended."""
    return [
        f"{case.kind}: {case.name}, {title}: {outcomes[way][case.name].problem}"
        for case in cases
        for way, title in WAYS.items()
        if outcomes[way][case.name].problem
    ]


SUITE = Suite("survey", "A survey of kernels beside C", run)
