"""Which passes a program gets: by profile, by its shape, and by what was measured of it.

Cheap passes always run. An expensive family runs when the program is large enough in the way that
family profits from, when the program is known to be hot, or when an earlier report shows that the
pass made something smaller. What a chosen pass requires is chosen with it. Where a full run on this
very program is known, the passes that changed nothing in it are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from vyre.ir import Program, Region
from vyre.ir.walk import walk_stmts
from vyre.opt.cost_report import CostReport
from vyre.opt.hot_paths import HotPathHints
from vyre.opt.metadata import CostModelFamily, PassMetadata
from vyre.opt.pass_ import Pass
from vyre.opt.profile import OptimizerProfile
from vyre.opt.registry import registered_passes
from vyre.opt.report import OptimizerRunReport
from vyre.opt.selection_reasons import PRIORITIES, PassSelectionReason

MIN_LOOP_NODES = 12
MIN_MEMORY_BYTES = 16 * 1024
MIN_FUSION_REGIONS = 2
MIN_DATAFLOW_NODES = 64
MIN_MEGAKERNEL_NODES = 512


_NOT_CHOSEN = (
    PassSelectionReason.PROFILE_REJECTED,
    PassSelectionReason.BELOW_THRESHOLD,
    PassSelectionReason.CHANGES_NOTHING,
)


def _nodes(program: Program) -> int:
    """As `stats().node_count`, without counting anything else."""
    return program.memo("node_count", lambda p: sum(1 for _ in walk_stmts(p.entry)))


def _top_level_regions(program: Program) -> int:
    return sum(isinstance(statement, Region) for statement in program.entry)


# What a family needs to see in a program before it is worth its time.
_THRESHOLDS: dict[CostModelFamily, Callable[[Program], bool]] = {
    CostModelFamily.LOOP: lambda p: _nodes(p) >= MIN_LOOP_NODES,
    CostModelFamily.MEMORY: lambda p: p.estimate_peak_bytes() >= MIN_MEMORY_BYTES,
    CostModelFamily.FUSION: lambda p: _top_level_regions(p) >= MIN_FUSION_REGIONS,
    CostModelFamily.DATAFLOW: lambda p: _nodes(p) >= MIN_DATAFLOW_NODES,
    CostModelFamily.MEGAKERNEL: lambda p: _nodes(p) >= MIN_MEGAKERNEL_NODES,
}


class PassSelectionDecision(NamedTuple):
    """Whether one pass runs on a program, and why."""

    metadata: PassMetadata
    selected: bool
    reason: PassSelectionReason
    priority: int


def select_passes(
    metadata: Iterable[PassMetadata],
    profile: OptimizerProfile,
    program: Program,
    hints: HotPathHints,
    report: OptimizerRunReport | CostReport | None = None,
) -> list[PassSelectionDecision]:
    """One decision per row of `metadata`, in the same order.

    The report of an earlier run adds the passes that paid. A cost report of this very program
    chooses the passes that changed it, and no others.
    """
    rows = list(metadata)
    if isinstance(report, CostReport):
        reasons = {row.name: _reported_reason(row, profile, report) for row in rows}
    else:
        hot = hints.is_hot_program(program)
        paid = frozenset[str]()
        if report is not None and report.is_evidence:
            paid = report.cost_reducing_passes()
        reasons = {row.name: _initial_reason(row, profile, program, hot, paid) for row in rows}
    chosen = _with_requirements(rows, {n for n, why in reasons.items() if why not in _NOT_CHOSEN})
    decisions: list[PassSelectionDecision] = []
    for row in rows:
        reason = reasons[row.name]
        if row.name in chosen and reason in _NOT_CHOSEN:
            reason = PassSelectionReason.REQUIRED_DEPENDENCY
        decisions.append(PassSelectionDecision(row, row.name in chosen, reason, PRIORITIES[reason]))
    return decisions


def registered_passes_for(
    profile: OptimizerProfile,
    program: Program,
    hints: HotPathHints,
    report: OptimizerRunReport | CostReport | None = None,
) -> list[Pass]:
    """The registered passes that `program` gets."""
    passes = registered_passes()
    decisions = select_passes([p.metadata for p in passes], profile, program, hints, report)
    return chosen_passes(passes, decisions)


def chosen_passes(passes: Sequence[Pass], decisions: Sequence[PassSelectionDecision]) -> list[Pass]:
    """The passes whose decisions say that they run."""
    return [p for p, decision in zip(passes, decisions, strict=True) if decision.selected]


def _reported_reason(
    row: PassMetadata, profile: OptimizerProfile, report: CostReport
) -> PassSelectionReason:
    if not profile.accepts(row):
        return PassSelectionReason.PROFILE_REJECTED
    if row.name in report.changing:
        return PassSelectionReason.PASS_COST_REPORT
    return PassSelectionReason.CHANGES_NOTHING


def _initial_reason(
    row: PassMetadata,
    profile: OptimizerProfile,
    program: Program,
    hot: bool,
    paid: frozenset[str],
) -> PassSelectionReason:
    if not profile.accepts(row):
        return PassSelectionReason.PROFILE_REJECTED
    if hot:
        return PassSelectionReason.HOT_PATH_TELEMETRY
    if row.name in paid:
        return PassSelectionReason.PASS_COST_REPORT
    large_enough = _THRESHOLDS.get(row.cost_model_family)
    if large_enough is None:
        return PassSelectionReason.ALWAYS_ON
    if large_enough(program):
        return PassSelectionReason.PROGRAM_SHAPE
    return PassSelectionReason.BELOW_THRESHOLD


def _with_requirements(rows: Iterable[PassMetadata], chosen: set[str]) -> set[str]:
    requires = {row.name: row.requires for row in rows}
    waiting = list(chosen)
    while waiting:
        for requirement in requires[waiting.pop()]:
            # What is not among the rows is the scheduler's to refuse.
            if requirement in requires and requirement not in chosen:
                chosen.add(requirement)
                waiting.append(requirement)
    return chosen


__all__ = [
    "MIN_DATAFLOW_NODES",
    "MIN_FUSION_REGIONS",
    "MIN_LOOP_NODES",
    "MIN_MEGAKERNEL_NODES",
    "MIN_MEMORY_BYTES",
    "PRIORITIES",
    "PassSelectionDecision",
    "PassSelectionReason",
    "chosen_passes",
    "registered_passes_for",
    "select_passes",
]
