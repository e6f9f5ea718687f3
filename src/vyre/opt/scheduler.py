"""Runs passes in a sound order until nothing changes, and writes down what happened."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from vyre.analysis import ProgramFacts
from vyre.check import check
from vyre.diagnostics import OptimizerError, Severity
from vyre.diagnostics.codes import optimizer as codes
from vyre.ir import Program
from vyre.ir.gc_pause import collector_paused
from vyre.opt.guard import advice_about, guarded, is_own
from vyre.opt.measure import NO_FIGURES, Figures, Meter
from vyre.opt.metadata import PassPhase, PassRefusalKind, PassRunDecision
from vyre.opt.pass_ import Pass, PassContext, PassResult
from vyre.opt.report import OptimizerRunReport, PassRunMetric
from vyre.record import dataclass
from vyre.target import Target

MAX_ITERATIONS = 50
"""Rounds after which the program must have become smaller, or there are no more of them.

Passes that undo each other do not make it smaller; folding a chain of constants does."""
_SETTLED = PassPhase.DATAFLOW
"""After the first round, values have to settle before passes of later phases look again: these
need to know all of a program, and what is still changing is not worth finding out."""


@dataclass(frozen=True, slots=True)
class PassScheduler:
    """Passes in the order in which they run: what they require first, then by phase.

    After a change every pass is examined again, those of later phases once the earlier ones find
    nothing more to do; one that found nothing to do on this very program is not run again. `verify`
    has the checker look at the program after every change. `is_hot` says that the program runs
    long, so that passes may let it grow.
    """

    passes: Sequence[Pass]
    verify: bool = False
    is_hot: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "passes", in_order(self.passes))

    def run(self, program: Program, target: Target | None = None) -> Program:
        """The optimised program."""
        return self.run_with_report(program, target).program

    def run_with_report(self, program: Program, target: Target | None = None) -> OptimizerRunReport:
        """The optimised program and a row per pass per round."""
        with collector_paused():
            return self._run_with_report(program, target)

    def _run_with_report(self, program: Program, target: Target | None) -> OptimizerRunReport:
        run = _Run(PassContext(target, is_hot=self.is_hot), Meter(), self.verify)
        rows: list[PassRunMetric] = []
        restless: list[str] = []
        size, iteration = 0, 0
        while True:
            if iteration % MAX_ITERATIONS == 0:
                before, size = size, run.size(program)
                if iteration and size >= before:
                    names = ", ".join(restless)
                    raise OptimizerError(codes.NO_CONVERGENCE.at(iterations=iteration, names=names))
            restless.clear()
            for each in self.passes:
                if restless and iteration and each.metadata.phase.value > _SETTLED.value:
                    break
                program, row = run.step(each, program, iteration)
                rows.append(row)
                if row.changed:
                    restless.append(row.pass_name)
            if not restless:
                name = "" if target is None else target.name
                return OptimizerRunReport(program, tuple(rows), target=name)
            iteration += 1


def run_in_order(
    passes: Sequence[Pass], program: Program, context: PassContext, *, verify: bool = False
) -> OptimizerRunReport:
    """Every pass once, in the order given: for lowerings that are no fixpoint.

    Its rows have no figures of the program, which cost a tenth of the time of such passes.
    """
    run = _Run(context, None, verify)
    rows: list[PassRunMetric] = []
    with collector_paused():
        for each in passes:
            program, row = run.step(each, program, 0)
            rows.append(row)
    return OptimizerRunReport(program, tuple(rows))


class _Run:
    """One run of a scheduler over one program."""

    def __init__(self, context: PassContext, meter: Meter | None, verify: bool) -> None:
        self.context = context
        self.meter = meter
        self.verify = verify
        self.done: dict[str, Program] = {}
        """The program on which a pass last found nothing to do."""
        self.measured: tuple[Program, Figures] | None = None

    def step(self, each: Pass, program: Program, iteration: int) -> tuple[Program, PassRunMetric]:
        """One pass in one round."""
        name = each.metadata.name
        row = _Row(each, iteration)
        row.refusal = self._refusal(each)
        if row.refusal is not None:
            row.decision = PassRunDecision.REFUSED
        elif self.done.get(name) is not program:
            start = time.perf_counter_ns()
            row.knew_facts = _has_facts(program)
            analysis, row.result = guarded(each, program, self.context)
            if not analysis.runs:
                self.done[name] = program
                row.decision = PassRunDecision.SKIPPED_ANALYSIS
                row.reason = analysis.reason
            row.runtime_ns = time.perf_counter_ns() - start
        after = program
        if row.result is not None:
            after = self._judged(each, program, row.result.program)
            row.has_facts = _has_facts(program)
        before = self._figures(program)
        return after, row.finished(before, self._figures(after), changed=after is not program)

    def _judged(self, each: Pass, before: Program, after: Program) -> Program:
        # A change that gives an equal program is none, whatever the pass says.
        if after is before or after == before:
            self.done[each.metadata.name] = before
            return before
        if self.verify or not is_own(each):
            self._verify(each, after)
        # The earlier programs are not used again; large ones take much memory.
        self.done.clear()
        return after

    def _refusal(self, each: Pass) -> PassRefusalKind | None:
        needed = each.metadata.requires_caps
        if not needed:
            return None
        if self.context.target is None:
            return PassRefusalKind.NO_TARGET
        if all(self.context.target.has(feature) for feature in needed):
            return None
        return PassRefusalKind.MISSING_CAPABILITY

    def size(self, program: Program) -> int:
        """How many nodes a program has."""
        return self._figures(program).nodes

    def _figures(self, program: Program) -> Figures:
        if self.measured is None or self.measured[0] is not program:
            figures = NO_FIGURES if self.meter is None else self.meter.figures(program)
            self.measured = (program, figures)
        return self.measured[1]

    def _verify(self, each: Pass, program: Program) -> None:
        for problem in check(program, self.context.target):
            if problem.severity is Severity.ERROR:
                raise OptimizerError(
                    codes.BROKEN_PASS.at(
                        problem.location,
                        name=each.metadata.name,
                        problem=f"{problem.code}: {problem.message}",
                        advice=advice_about(each),
                    )
                )


class _Row:
    """A row of the report while its pass is at work."""

    def __init__(self, each: Pass, iteration: int) -> None:
        self.metadata = each.metadata
        self.iteration = iteration
        self.decision = PassRunDecision.SKIPPED_CLEAN
        self.refusal: PassRefusalKind | None = None
        self.result: PassResult | None = None
        self.reason = ""
        self.runtime_ns = 0
        self.knew_facts = False
        self.has_facts = False

    def finished(self, before: Figures, after: Figures, *, changed: bool) -> PassRunMetric:
        """The row, with the figures of the programs before and after."""
        ran = self.result is not None
        if ran:
            decision = PassRunDecision.CHANGED if changed else PassRunDecision.RAN_UNCHANGED
        else:
            decision = self.decision
        return PassRunMetric(
            iteration=self.iteration,
            pass_name=self.metadata.name,
            changed=changed,
            decision=decision,
            refusal_kind=self.refusal,
            required_analyses=self.metadata.requires,
            declared_invalidations=self.metadata.invalidates,
            fact_substrate_reused=ran and self.knew_facts,
            fact_substrate_recomputed=self.has_facts and not self.knew_facts,
            fact_substrate_invalidated=changed,
            before=before,
            after=after,
            runtime_ns=self.runtime_ns,
            rewrites=self.result.rewrites if self.result is not None and changed else 0,
            research_trace=self._notes() or None,
        )

    def _notes(self) -> tuple[str, ...]:
        if self.result is not None:
            return self.result.notes
        return (self.reason,) if self.reason else ()


class _MissingError(Exception):
    """Facts of a program have not been computed."""


def _has_facts(program: Program) -> bool:
    try:
        program.memo(ProgramFacts, _refuse)
    except _MissingError:
        return False
    return True


def _refuse(_: Program) -> ProgramFacts:
    raise _MissingError


def in_order(passes: Iterable[Pass]) -> tuple[Pass, ...]:
    """The passes by phase and then as given, each after the passes that it requires."""
    given = list(passes)
    by_name: dict[str, Pass] = {}
    for each in given:
        name = each.metadata.name
        if name in by_name:
            raise OptimizerError(codes.DUPLICATE_PASS.at(name=name))
        by_name[name] = each
    for each in given:
        for requirement in each.metadata.requires:
            if requirement not in by_name:
                raise OptimizerError(
                    codes.UNKNOWN_REQUIREMENT.at(name=each.metadata.name, requirement=requirement)
                )
    placed: dict[str, Pass] = {}
    for each in sorted(given, key=lambda p: p.metadata.phase.value):
        _place(each, by_name, placed, [])
    return tuple(placed.values())


def _place(each: Pass, by_name: dict[str, Pass], placed: dict[str, Pass], above: list[str]) -> None:
    name = each.metadata.name
    if name in placed:
        return
    if name in above:
        circle = " -> ".join([*above[above.index(name) :], name])
        raise OptimizerError(codes.REQUIREMENT_CYCLE.at(names=circle))
    for requirement in each.metadata.requires:
        _place(by_name[requirement], by_name, placed, [*above, name])
    placed[name] = each
