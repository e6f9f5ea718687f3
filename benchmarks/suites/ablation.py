"""What every pass and technique of the CPU backend gains: kernels with it against without it."""

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import Progress, track

from benchmarks.kernels import KERNELS
from benchmarks.peers import OWN_PYTHON, ROOT
from benchmarks.programs import all_programs
from benchmarks.report import Options, Report, Suite, Table, versions_of
from benchmarks.survey import CASES

if TYPE_CHECKING:
    from vyre.ir import Program

GAIN_OF_TWO, GAIN_OF_ONE = 1.05, 1.15
"""What a technique has to gain on two kernels of different kinds, or on one."""
PAIRS = 7
"""Pairs of turns of one comparison."""

INTRODUCTION = f"""\
Every pass and technique of the CPU backend, left out (`VYRE_WITHOUT`) on kernels of the survey and
of the benchmarks whose code changes without it. Two processes, one with and one without it, take
turns on one pinned thread; the figure is the median of the ratios of CPU time without / with, so
more than 1 is a gain. A technique earns its place by {GAIN_OF_TWO - 1:.0%} on two kernels of
different kinds or {GAIN_OF_ONE - 1:.0%} on one, each seen in two runs; then no further kernels are
measured. A dash means that no kernel here has other code without it."""


@dataclass(frozen=True)
class Subject:
    """A kernel that can be run by itself: of which kind, and the programs it launches."""

    suite: str
    name: str
    kind: str
    programs: Sequence["Program"] = field(repr=False)


@dataclass(frozen=True)
class Gain:
    """The time without a technique relative to that with it."""

    subject: Subject
    ratio: float


class Turns:
    """One kernel in a process of its own."""

    def __init__(self, subject: Subject, without: str) -> None:
        self._process = subprocess.Popen(
            [str(OWN_PYTHON), "-m", "benchmarks.turns", subject.suite, subject.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={
                **os.environ,
                "VYRE_DEVICE": "cpu",
                "VYRE_THREADS": "1",
                "VYRE_WITHOUT": without,
            },
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._questions, self._answers = self._process.stdin, self._process.stdout
        if self._answers.readline().strip() != "ready":
            raise RuntimeError(f"{subject.name} without {without or 'nothing'} cannot be run")

    def __enter__(self) -> "Turns":
        return self

    def __exit__(self, *_: object) -> None:
        self._questions.close()
        self._answers.close()
        self._process.wait()

    def turn(self) -> float:
        """CPU time of a launch."""
        self._questions.write("\n")
        self._questions.flush()
        return float(self._answers.readline())


def run(options: Options) -> Report:
    """Measures every switch on the kernels that it changes, until it has earned its place."""
    subjects = list(subjects_of(options))
    changed = changes(subjects, options)
    gains = {switch: measured(switch, found, options) for switch, found in changed.items()}
    rows = [row_of(switch, found, len(changed[switch])) for switch, found in gains.items()]
    columns = ["left out", "kernels with other code", "gains, in the order measured", "earned"]
    return Report(
        suite=SUITE.name,
        title=SUITE.title,
        introduction=INTRODUCTION,
        tables=(Table("Passes and techniques of the CPU backend", columns, rows),),
        data={s: {g.subject.name: g.ratio for g in found} for s, found in gains.items()},
        versions=versions_of("vyre", "llvmlite"),
        scale=options.scale,
        complete=options.complete,
    )


def subjects_of(options: Options) -> Iterator[Subject]:
    """The survey, and the kernels of the benchmarks that are one program."""
    wanted = options.kernels
    for case in CASES:
        if wanted is None or case.name in wanted or case.kind in wanted:
            programs = [kernel.program() for kernel in case.kernels]
            yield Subject("survey", case.name, case.kind, programs)
    programs = all_programs()
    for kernel in KERNELS:
        if kernel.name in programs and (wanted is None or kernel.name in wanted):
            yield Subject("kernels", kernel.name, kernel.name, [programs[kernel.name]])


def changes(subjects: Sequence[Subject], options: Options) -> Mapping[str, list[Subject]]:
    """The subjects whose emitted code is another one without a switch, by switch."""
    from vyre.backends.llvm.emit.module import generate
    from vyre.backends.llvm.host import native
    from vyre.backends.llvm.pipeline import switches
    from vyre.opt import optimize

    found: dict[str, list[Subject]] = {switch: [] for switch in sorted(switches())}
    console = Console(stderr=True, quiet=options.scale == "tiny")
    for subject in track(subjects, "ablation, code", console=console, transient=True):
        programs = [optimize(program).program for program in subject.programs]
        usual = [generate(program, native()).text for program in programs]
        for switch, changed in found.items():
            without = frozenset({switch})
            if usual != [generate(each, native(), without=without).text for each in programs]:
                changed.append(subject)
    return found


def measured(switch: str, subjects: Sequence[Subject], options: Options) -> list[Gain]:
    """Gains on one subject after the other, until they are enough to keep the technique."""
    gains: list[Gain] = []
    console = Console(stderr=True, quiet=options.scale == "tiny")
    with Progress(console=console, transient=True) as bar:
        task = bar.add_task(f"ablation, {switch}", total=len(subjects))
        for subject in in_turn(subjects):
            gain = gain_of(switch, subject)
            if gain.ratio >= GAIN_OF_TWO:
                gain = min(gain, gain_of(switch, subject), key=lambda each: each.ratio)
            gains.append(gain)
            bar.advance(task)
            if has_earned(gains) or options.scale == "tiny":
                break
    return gains


def in_turn(subjects: Sequence[Subject]) -> list[Subject]:
    """One subject of every kind, then the second of every kind, and so on."""
    seen: dict[str, int] = {}
    keyed: list[tuple[int, int, Subject]] = []
    for number, subject in enumerate(subjects):
        seen[subject.kind] = seen.get(subject.kind, 0) + 1
        keyed.append((seen[subject.kind], number, subject))
    return [subject for _, _, subject in sorted(keyed, key=lambda each: each[:2])]


def gain_of(switch: str, subject: Subject) -> Gain:
    """The median over pairs of turns of two processes."""
    with ExitStack() as stack:
        usual, without = (stack.enter_context(Turns(subject, name)) for name in ("", switch))
        ratios: list[float] = []
        for pair in range(PAIRS):
            if pair % 2:
                first = without.turn()
                ratios.append(first / usual.turn())
            else:
                first = usual.turn()
                ratios.append(without.turn() / first)
    return Gain(subject, median(ratios))


def has_earned(gains: Sequence[Gain]) -> bool:
    """Whether what was measured is enough to keep a technique."""
    if any(gain.ratio >= GAIN_OF_ONE for gain in gains):
        return True
    return len({gain.subject.kind for gain in gains if gain.ratio >= GAIN_OF_TWO}) >= 2


def row_of(switch: str, gains: Sequence[Gain], changed: int) -> list[str]:
    """A row of the table; the largest gains first."""
    best = sorted(gains, key=lambda gain: -gain.ratio)[:4]
    shown = ", ".join(f"{gain.subject.name} {gain.ratio:.2f}" for gain in best) or "–"
    return [switch, str(changed), shown, "yes" if has_earned(gains) else "no"]


SUITE = Suite("ablation", "What each technique of the CPU backend gains", run)
