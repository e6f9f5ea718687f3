"""Every kernel by every peer: results checked, then timed in turns, then compared with C."""

import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from benchmarks.interleave import Plan, measure
from benchmarks.kernel import Arrays, Kernel
from benchmarks.kernels import KERNELS, kernels_named
from benchmarks.peers import PEERS, PeerMissingError, peer_named
from benchmarks.remote import PeerFailedError, Remote
from benchmarks.report import Options, Report, Statistic, Suite, Table, duration

YARDSTICK = "c"
UNWRITTEN = "not written"

INTRODUCTION = """\
Each kernel is solved by every peer on the same data. Each result is first compared with a
definition in numpy or the standard library; then all peers take turns in a shuffled order, round
after round, each in its own process with the threads it uses by default. The time is wall to wall,
from host arrays to host arrays, and the figure is the median over the rounds, relative to C (below
1 is faster than C). C is the same algorithm as plain loops, compiled as the versions say."""


@dataclass(frozen=True)
class Outcome:
    """One peer on one kernel: seconds per round, or why there are none."""

    seconds: Sequence[float] = ()
    first: float = 0.0
    problem: str = ""

    def figure(self, statistic: Statistic) -> float | None:
        """The one number; None when nothing was measured."""
        if not self.seconds:
            return None
        return median(self.seconds) if statistic == "median" else min(self.seconds)


@dataclass
class Results:
    """Everything measured in one run."""

    statistic: Statistic = "median"
    outcomes: dict[str, dict[str, Outcome]] = field(default_factory=dict[str, dict[str, Outcome]])
    versions: dict[str, str] = field(default_factory=dict[str, str])
    missing: dict[str, str] = field(default_factory=dict[str, str])

    def ratio(self, kernel: str, peer: str) -> float | None:
        """The peer's figure relative to C's."""
        mine, yardstick = self.figure(kernel, peer), self.figure(kernel, YARDSTICK)
        return None if mine is None or yardstick is None else mine / yardstick

    def figure(self, kernel: str, peer: str) -> float | None:
        """The peer's seconds."""
        return self.outcomes[kernel].get(peer, Outcome()).figure(self.statistic)


def run(options: Options) -> Report:
    """Measures the chosen kernels with the chosen peers."""
    chosen = KERNELS if options.kernels is None else kernels_named(list(options.kernels))
    names = list(options.peers or (peer.name for peer in PEERS))
    results = Results(options.statistic)
    columns = (TextColumn("{task.description:<24}"), BarColumn(), MofNCompleteColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    with started(names, results) as remotes, bar:
        task = bar.add_task("starting", total=len(chosen))
        for kernel in chosen:
            bar.update(task, description=kernel.title)
            results.outcomes[kernel.name] = measure_kernel(kernel, remotes, options)
            bar.advance(task)
    return Report(
        suite=SUITE.name,
        title=SUITE.title,
        introduction=INTRODUCTION,
        tables=(table(chosen, names, results, options),),
        data={
            "statistic": options.statistic,
            "kernels": {
                name: {peer: asdict(outcome) for peer, outcome in row.items()}
                for name, row in results.outcomes.items()
            },
        },
        versions=results.versions,
        scale=options.scale,
        complete=options.complete,
        failures=failures(chosen, results),
    )


@contextmanager
def started(names: Sequence[str], results: Results) -> Generator[list[Remote]]:
    """The processes of all peers that are there; the others are noted as missing."""
    remotes: list[Remote] = []
    try:
        for name in names:
            remote = Remote(peer_named(name))
            remotes.append(remote)
            try:
                remote.start()
                results.versions[remote.peer.title] = remote.version
            except PeerMissingError as error:
                remotes.remove(remote)
                results.missing[name] = str(error)
                results.versions[remote.peer.title] = "missing"
        yield remotes
    finally:
        for remote in remotes:
            remote.stop()


def measure_kernel(
    kernel: Kernel, remotes: Sequence[Remote], options: Options
) -> dict[str, Outcome]:
    """Data to every peer, every result checked, the right ones timed in turns."""
    data = kernel.data(kernel.sizes[options.scale])
    expected = kernel.define(data)
    outcomes: dict[str, Outcome] = {}
    ready: list[Remote] = []
    with tempfile.TemporaryDirectory(dir=memory_folder()) as folder:
        place = Path(folder) / "data"
        place.mkdir()
        for name, array in data.items():
            np.save(place / f"{name}.npy", array)
        for remote in remotes:
            outcome = prepare(kernel, remote, place, expected)
            outcomes[remote.peer.name] = outcome
            if not outcome.problem:
                ready.append(remote)
    measured = measure(ready, Plan(options.rounds, options.budget))
    for remote in ready:
        name = remote.peer.name
        got = measured[name]
        if isinstance(got, str):
            outcomes[name] = Outcome(problem=last_line(got))
        else:
            outcomes[name] = Outcome(tuple(got), outcomes[name].first)
            remote.ask("unload")
    return outcomes


def prepare(kernel: Kernel, remote: Remote, data: Path, expected: Arrays) -> Outcome:
    """Loads the kernel into the peer and compares its result with the definition."""
    name = remote.peer.name
    if name not in kernel.peers:
        return Outcome(problem=UNWRITTEN)
    try:
        first = remote.load(kernel.name, data)
        with tempfile.TemporaryDirectory(dir=memory_folder()) as folder:
            remote.ask("result", folder=folder)
            actual = {path.stem: np.load(path) for path in Path(folder).glob("*.npy")}
    except PeerFailedError as error:
        return Outcome(problem=last_line(str(error)))
    complaint = kernel.check(expected, actual)
    return Outcome(problem=f"wrong result: {complaint}") if complaint else Outcome(first=first)


def memory_folder() -> str | None:
    """A folder in memory where the system has one: the data is large and short-lived."""
    shared = Path("/dev/shm")
    return str(shared) if shared.is_dir() else None


def last_line(text: str) -> str:
    """What a traceback comes to."""
    return text.strip().splitlines()[-1] if text.strip() else "failed"


def table(
    kernels: Sequence[Kernel], names: Sequence[str], results: Results, options: Options
) -> Table:
    """Ratios to C, with C's own time and rate, and vyre's bound where there is one."""
    peers = [name for name in names if name != YARDSTICK]
    titles = [peer_named(name).title for name in peers]
    rows = [
        [
            kernel.title,
            size(kernel.sizes[options.scale]),
            *yardstick(kernel, results, options),
            *(cell(results, kernel.name, name) for name in peers),
            f"≤ {kernel.bound:g}" if kernel.bound is not None else "",
        ]
        for kernel in kernels
    ]
    notes = [f"{peer_named(name).title} is missing: {why}" for name, why in results.missing.items()]
    notes += unwritten(kernels, results)
    notes += failures(kernels, results)
    notes += remarks(kernels, names)
    columns = ["kernel", "size", "C", "C's rate", *titles, "vyre's bound"]
    title = f"Time relative to C ({options.statistic} of the rounds), lower is better"
    return Table(title, columns, rows, notes)


def failures(kernels: Sequence[Kernel], results: Results) -> list[str]:
    """Every wrong result and every crash, in words."""
    return [
        f"{kernel.title}, {peer_named(name).title}: {outcome.problem}"
        for kernel in kernels
        for name, outcome in results.outcomes[kernel.name].items()
        if outcome.problem not in ("", UNWRITTEN)
    ]


def unwritten(kernels: Sequence[Kernel], results: Results) -> list[str]:
    """Which peers have no implementation of which kernels."""
    gaps: dict[str, list[str]] = {}
    for kernel in kernels:
        for name, outcome in results.outcomes[kernel.name].items():
            if outcome.problem == UNWRITTEN:
                gaps.setdefault(name, []).append(kernel.title)
    return [f"Not written for {peer_named(n).title}: {', '.join(t)}." for n, t in gaps.items()]


def remarks(kernels: Sequence[Kernel], names: Sequence[str]) -> list[str]:
    """What a kernel says about a peer that does something else than the others."""
    said: dict[str, list[str]] = {}
    for kernel in kernels:
        for name in names:
            if name in kernel.notes:
                remark = f"{peer_named(name).title} uses {kernel.notes[name]} for"
                said.setdefault(remark, []).append(kernel.title)
    return [f"{remark} {'; '.join(titles)}." for remark, titles in said.items()]


def cell(results: Results, kernel: str, peer: str) -> str:
    """A ratio, or the word for there being none."""
    ratio = results.ratio(kernel, peer)
    if ratio is not None:
        return f"{ratio:.2f}"
    if peer in results.missing:
        return "missing"
    outcome = results.outcomes[kernel].get(peer, Outcome())
    if outcome.problem == UNWRITTEN:
        return "–"
    figure = results.figure(kernel, peer)
    return "failed" if figure is None else duration(figure)


def yardstick(kernel: Kernel, results: Results, options: Options) -> tuple[str, str]:
    """C's time and the rate of work it comes to."""
    time = results.figure(kernel.name, YARDSTICK)
    if time is None:
        return "–", "–"
    rate = kernel.work(kernel.sizes[options.scale]) / time
    return duration(time), f"{rate / 1e9:.3g} G{kernel.unit}"


def size(n: int) -> str:
    """A count as people say it: 16 Mi, 64 Ki, 1000."""
    for factor, unit in ((1 << 20, " Mi"), (1 << 10, " Ki")):
        if n >= factor and n % factor == 0:
            return f"{n // factor}{unit}"
    return str(n)


SUITE = Suite("kernels", "Kernels against C, numpy, numba, taichi and PoCL", run)
