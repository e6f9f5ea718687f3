"""`vyre.conform.run`: the whole suite against one device."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from vyre.conform.against_reference import reference_outputs
from vyre.conform.compare import compare
from vyre.conform.flushing import flushed_trials
from vyre.conform.report import AreaResult, ConformanceReport, Failure
from vyre.conform.subject import Subject
from vyre.conform.suite import AREAS
from vyre.conform.suite.case import Stretch, Trial
from vyre.diagnostics import ArgumentError, CapabilityError, Severity, TrapError, VyreError
from vyre.diagnostics.codes import check as check_codes
from vyre.diagnostics.codes import driver as codes
from vyre.driver.backend import Backend
from vyre.driver.routing import Route
from vyre.ir import DataType
from vyre.opt import OptimizerProfile
from vyre.runtime.reproducer import save_reproducer
from vyre.semantics import Array
from vyre.target import Feature

Progress = Callable[[str, int, int], None]
"""Told the area, how many of its programs are done, and how many there are."""

_DEADLINE = 60.0
"""Seconds that one trial may take; kernels of a wrong backend may loop for ever."""
_NOT_OFFERED = {check_codes.MISSING_FEATURE.code, check_codes.TARGET_LIMIT.code}
_MOST_FAILURES = 200


def run(
    subject: str | Backend | Route,
    areas: Sequence[str] | None = None,
    *,
    profile: str | None = "release",
    reproducers: Path | None = None,
    progress: Progress | None = None,
    trials: Iterable[Trial] | None = None,
) -> ConformanceReport:
    """Run the suite, or some areas of it, against a backend or a device.

    `subject` is a device id, a route, or any object that keeps the contract of backends. Failures
    are kept in the folder `reproducers`, if one is given. `trials` replaces the suite's own.
    """
    chosen = _chosen(areas)
    if profile is not None:
        OptimizerProfile.parse(profile)
    tested = Subject.of(subject)
    report = ConformanceReport(
        tested.name,
        tested.route.device.info.name,
        tuple(sorted(tested.target.features)),
        profile or "none",
    )
    judge = _Judge(tested, profile, report, reproducers)
    for area in chosen:
        found = list(AREAS[area](tested.target)) if trials is None else list(trials)
        result = report.areas.setdefault(area, AreaResult())
        for number, trial in enumerate(found):
            if progress is not None:
                progress(area, number, len(found))
            started = time.perf_counter()
            judge.judge(trial, result)
            result.seconds += time.perf_counter() - started
        if progress is not None:
            progress(area, len(found), len(found))
    return report


def _chosen(areas: Sequence[str] | None) -> list[str]:
    for name in areas or ():
        if name not in AREAS:
            raise ArgumentError(codes.UNKNOWN_AREA.at(name=name, known=", ".join(AREAS)))
    return list(AREAS) if areas is None else list(areas)


class _Judge:
    """Runs trials and enters what they show into a report."""

    def __init__(
        self,
        subject: Subject,
        profile: str | None,
        report: ConformanceReport,
        reproducers: Path | None,
    ) -> None:
        self._subject = subject
        self._profile = profile
        self._report = report
        self._reproducers = reproducers

    def judge(self, trial: Trial, result: AreaResult) -> None:
        """Run one trial; every case of it passes, fails, or is not offered."""
        result.programs += 1
        missing = self._missing(trial)
        if missing is not None:
            result.not_offered += trial.cases
            count = self._report.missing.get(missing, 0)
            self._report.missing[missing] = count + trial.cases
            return
        failures = list(self._failures(trial))
        failed = min(sum(failure.cases for failure in failures), trial.cases)
        result.failed += failed
        result.passed += trial.cases - failed
        room = _MOST_FAILURES - len(self._report.failures)
        if failures and room > 0:
            kept = self._keep(trial)
            self._report.failures += [
                Failure(f.area, f.trial, f.label, f.problem, f.cases, kept) for f in failures[:room]
            ]

    def _missing(self, trial: Trial) -> str | None:
        """What the device lacks for this trial, in words."""
        if trial.ending is not None and trial.ending.is_refusal:
            return None
        if trial.deadline is not None and not self._subject.target.has(Feature.DEADLINE):
            return f"the target {self._subject.target.name} has no deadlines"
        for found in trial.program.check(self._subject.target):
            if found.severity is Severity.ERROR and found.code in _NOT_OFFERED:
                return found.message
        return None

    def _failures(self, trial: Trial) -> Iterator[Failure]:
        if trial.ending is not None:
            problem = self._ending_problem(trial)
            if problem:
                yield Failure(trial.area, trial.name, trial.name, problem, trial.cases)
            return
        if trial.in_place:
            # What the arrays held before is what the reference begins with.
            before = {name: np.array(value) for name, value in trial.inputs.items()}
        else:
            before = trial.inputs
        try:
            outputs = self._run(trial)
        except CapabilityError as lacking:
            # Found by lowering: the checker cannot know every corner of a target.
            yield Failure(trial.area, trial.name, trial.name, f"refused: {lacking}", trial.cases)
            return
        except Exception as problem:  # noqa: BLE001  whatever a backend raises is its failure
            said = f"{type(problem).__name__}: {problem}"
            yield Failure(trial.area, trial.name, trial.name, said, trial.cases)
            return
        yield from self._compared(replace(trial, inputs=before), outputs)

    def _run(self, trial: Trial) -> dict[str, Array]:
        return self._subject.run(
            trial.program,
            trial.inputs,
            trial.grid,
            self._profile,
            trial.sizes,
            trial.deadline or _DEADLINE,
            in_place=trial.in_place,
        )

    def _compared(self, trial: Trial, outputs: dict[str, Array]) -> Iterator[Failure]:
        expected = self._reference(trial, outputs)
        flushed: list[dict[str, Array]] | None = None
        for stretch in trial.stretches or _all_outputs(trial):
            problem, count = _differences(trial, stretch, [expected], outputs)
            if problem:
                # A device may take subnormal operands for zeros; then it must do so consistently.
                if flushed is None:
                    flushed = [self._reference(each, outputs) for each in flushed_trials(trial)]
                problem, count = _differences(trial, stretch, [expected, *flushed], outputs)
            if problem:
                yield Failure(trial.area, trial.name, stretch.label, problem, count)
        for name, known in trial.expected.items():
            element = _element(trial, name)
            wrong = compare(name, element, known, outputs[name], trial.tolerance)
            if wrong is not None:
                yield Failure(trial.area, trial.name, trial.name, f"by definition, {wrong}")

    def _reference(self, trial: Trial, like: dict[str, Array]) -> dict[str, Array]:
        width = self._subject.target.subgroup_width
        return reference_outputs(trial.program, trial.inputs, trial.grid, like, width)

    def _ending_problem(self, trial: Trial) -> str:
        ending = trial.ending
        assert ending is not None
        try:
            self._run(trial)
        except ending.error as error:
            found = error.codes if isinstance(error, VyreError) else ()
            if ending.code is not None and ending.code not in found:
                return f"refused with {', '.join(found)} instead of {ending.code}"
            if ending.tag is not None and isinstance(error, TrapError) and error.tag != ending.tag:
                return f"trapped with {error.tag!r} instead of {ending.tag!r}"
            return ""
        except Exception as other:  # noqa: BLE001  whatever a backend raises is its failure
            return f"ended with {type(other).__name__}: {other}"
        return f"ran, and should have ended with {ending.error.__name__} {ending.code or ''}"

    def _keep(self, trial: Trial) -> str:
        if self._reproducers is None:
            return ""
        return str(
            save_reproducer(trial.program, dict(trial.inputs), trial.grid, self._reproducers)
        )


def _all_outputs(trial: Trial) -> list[Stretch]:
    """Everything that comes out, as one case: the first output stands for the count."""
    names = [decl.name for decl in trial.program.buffers if decl.is_host_output]
    return [Stretch(trial.name, name, 0, -1, trial.tolerance, whole=True) for name in names]


def _differences(
    trial: Trial,
    stretch: Stretch,
    expected: Sequence[dict[str, Array]],
    outputs: dict[str, Array],
) -> tuple[str, int]:
    """What is wrong in a stretch, and how many cases that is."""
    name = stretch.buffer
    end = None if stretch.count < 0 else stretch.start + stretch.count
    wanted = [each[name][stretch.start : end] for each in expected]
    found = outputs[name][stretch.start : end]
    wrong = compare(name, _element(trial, name), wanted, found, stretch.tolerance)
    if wrong is None:
        return "", 0
    return str(wrong), 1 if stretch.whole else min(wrong.count, stretch.cases)


def _element(trial: Trial, name: str) -> DataType:
    decl = trial.program.buffer(name)
    assert decl is not None
    return decl.element
