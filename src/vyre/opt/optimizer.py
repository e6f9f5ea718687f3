"""The one entry: choose passes for a program, run them, say what happened."""

from __future__ import annotations

from dataclasses import replace

from vyre.ir import Program
from vyre.opt.cost_report import CostReport
from vyre.opt.hot_paths import HotPathHints
from vyre.opt.profile import OptimizerProfile
from vyre.opt.registry import missing_passes, registered_passes
from vyre.opt.report import OptimizerRunReport
from vyre.opt.scheduler import PassScheduler
from vyre.opt.selection import chosen_passes, select_passes
from vyre.target import Target


def optimize(
    program: Program,
    profile: OptimizerProfile = OptimizerProfile.RELEASE,
    target: Target | None = None,
    hints: HotPathHints | None = None,
    report: OptimizerRunReport | CostReport | None = None,
    *,
    verify: bool = False,
) -> OptimizerRunReport:
    """The better program, and why it is what it is.

    `hints` are measured times of earlier dispatches, `report` is what an earlier run of this
    function gave: both bring in passes that the program's size alone would not. A cost report of
    this program, made when it was hot, gives what it gave then, without passes that change nothing.
    """
    known = HotPathHints(capacity=0) if hints is None else hints
    if isinstance(report, CostReport):
        if report.is_of(program, target, profile.value):
            made = _run(program, profile, target, known, report, verify=verify, hot=True)
            if made.program.digest() == report.result:
                return made
        report = None
    hot = known.is_hot_program(program)
    return _run(program, profile, target, known, report, verify=verify, hot=hot)


def _run(
    program: Program,
    profile: OptimizerProfile,
    target: Target | None,
    hints: HotPathHints,
    report: OptimizerRunReport | CostReport | None,
    *,
    verify: bool,
    hot: bool,
) -> OptimizerRunReport:
    passes = registered_passes()
    decisions = select_passes([p.metadata for p in passes], profile, program, hints, report)
    scheduler = PassScheduler(chosen_passes(passes, decisions), verify, hot)
    made = scheduler.run_with_report(program, target)
    return replace(
        made, decisions=tuple(decisions), profile=profile.value, missing=missing_passes()
    )
