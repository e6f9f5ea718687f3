"""A report in words: why each pass ran or not, what it changed, and what that saved."""

from __future__ import annotations

from collections.abc import Iterable

from vyre.opt.metadata import PassRefusalKind, PassRunDecision
from vyre.opt.report import MEASURED, OptimizerRunReport, PassRunMetric
from vyre.opt.selection_reasons import PassSelectionReason
from vyre.record import dataclass

_WHY = {
    PassSelectionReason.ALWAYS_ON: "always on",
    PassSelectionReason.PROGRAM_SHAPE: "the program is large enough",
    PassSelectionReason.HOT_PATH_TELEMETRY: "the program is hot",
    PassSelectionReason.PASS_COST_REPORT: "an earlier report shows that it pays",
    PassSelectionReason.REQUIRED_DEPENDENCY: "another pass requires it",
    PassSelectionReason.PROFILE_REJECTED: "the profile does not want it",
    PassSelectionReason.BELOW_THRESHOLD: "the program is too small for it",
    PassSelectionReason.CHANGES_NOTHING: "an earlier report shows that it changes nothing",
}
_REFUSED = {
    PassRefusalKind.MISSING_CAPABILITY: "the target lacks what it needs",
    PassRefusalKind.NO_TARGET: "it needs to know the target",
}
_UNITS = {
    "nodes": "statements",
    "static_storage_bytes": "bytes of buffers",
    "instruction_count": "instructions",
    "memory_op_count": "memory operations",
    "atomic_op_count": "atomics",
    "barrier_count": "barriers",
    "control_flow_count": "branches and loops",
    "register_pressure": "live names",
}
"""The figures that a person wants to see; the size of the tree itself is not among them."""


@dataclass(frozen=True, slots=True)
class PassSummary:
    """What one pass did in a whole run."""

    name: str
    ran: int
    """Rounds in which it ran."""
    changed: int
    """Rounds in which it changed the program."""
    rewrites: int
    runtime_ns: int
    saved: dict[str, int]
    """By figure, how much less there is because of it; negative when there is more."""
    outcome: str
    notes: tuple[str, ...]


def summarize(report: OptimizerRunReport) -> list[PassSummary]:
    """One summary per pass that was scheduled, in the order in which they run."""
    rows: dict[str, list[PassRunMetric]] = {}
    for row in report.passes:
        rows.setdefault(row.pass_name, []).append(row)
    return [_summary(name, found) for name, found in rows.items()]


def total_savings(report: OptimizerRunReport) -> dict[str, int]:
    """By figure, how much less there is at the end than at the start."""
    if not report.passes:
        return dict.fromkeys(MEASURED, 0)
    first, last = report.passes[0], report.passes[-1]
    return {name: getattr(first.before, name) - getattr(last.after, name) for name in MEASURED}


def explain(report: OptimizerRunReport) -> str:
    """The report as lines of text."""
    reasons = {decision.metadata.name: _WHY[decision.reason] for decision in report.decisions}
    summaries = summarize(report)
    spent = sum(summary.runtime_ns for summary in summaries)
    where = f" for {report.target}" if report.target else ""
    title = report.profile or "these passes"
    lines = [
        f"{title}{where}: {_count(report.iterations, 'round')}, {spent / 1e6:.1f} ms",
        f"  saved in all: {_saved(total_savings(report)) or 'nothing'}",
    ]
    for summary in summaries:
        why = reasons.get(summary.name)
        chosen = f" [{why}]" if why else ""
        lines.append(f"  {summary.name:<22}{summary.outcome}{chosen}")
        lines += [f"  {'':<22}  {note}" for note in summary.notes]
    for decision in report.decisions:
        if not decision.selected:
            lines.append(f"  {decision.metadata.name:<22}not chosen [{_WHY[decision.reason]}]")
    for each in report.missing:
        lines.append(f"  {each.name:<22}missing: {each.origin}: {each.reason}")
        lines.append(f"  {'':<22}  {each.remedy}")
    return "\n".join(lines)


def _summary(name: str, rows: list[PassRunMetric]) -> PassSummary:
    saved = {figure: sum(row.reduction(figure) for row in rows) for figure in MEASURED}
    # What a pass said when it last ran is what holds of the result.
    notes = next((row.research_trace or () for row in reversed(rows) if row.ran), ())
    changed = sum(row.changed for row in rows)
    return PassSummary(
        name=name,
        ran=sum(row.ran for row in rows),
        changed=changed,
        rewrites=sum(row.rewrites for row in rows),
        runtime_ns=sum(row.runtime_ns for row in rows),
        saved=saved,
        outcome=_outcome(rows, changed, saved),
        notes=notes,
    )


def _outcome(rows: list[PassRunMetric], changed: int, saved: dict[str, int]) -> str:
    if changed:
        places = sum(row.rewrites for row in rows)
        rewrites = f"{_count(places, 'rewrite')} in " if places else "changed the program in "
        savings = _saved(saved)
        return f"{rewrites}{_count(changed, 'round')}" + (f": {savings}" if savings else "")
    refusals = [row.refusal_kind for row in rows if row.refusal_kind is not None]
    if refusals:
        return f"refused: {_REFUSED[refusals[0]]}"
    if any(row.decision is PassRunDecision.RAN_UNCHANGED for row in rows):
        return "ran and found nothing to do"
    # The latest look is what holds of the result.
    looks = [row for row in rows if row.decision is PassRunDecision.SKIPPED_ANALYSIS]
    reason = next((row.research_trace[0] for row in reversed(looks) if row.research_trace), "")
    return f"skipped: {reason or 'nothing here for it'}"


def _saved(savings: dict[str, int]) -> str:
    parts: Iterable[str] = (
        f"{-amount:+d} {unit}" for figure, unit in _UNITS.items() if (amount := savings[figure])
    )
    return ", ".join(parts)


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
