"""IR to better IR: passes, how they are chosen and scheduled, and a report of every decision."""

from __future__ import annotations

from vyre.opt.explain import explain, summarize, total_savings
from vyre.opt.hot_paths import HotPathHints, RegionRecord
from vyre.opt.metadata import (
    CostModelFamily,
    PassBoundaryClass,
    PassMetadata,
    PassPhase,
    PassRefusalKind,
    PassRunDecision,
)
from vyre.opt.optimize import optimize
from vyre.opt.pass_ import Pass, PassAnalysis, PassContext, PassResult, vyre_pass
from vyre.opt.profile import OptimizerProfile
from vyre.opt.registry import pass_by_name, registered_passes
from vyre.opt.report import OptimizerRunReport, PassRunMetric
from vyre.opt.scheduler import MAX_ITERATIONS, PassScheduler
from vyre.opt.selection import (
    PassSelectionDecision,
    PassSelectionReason,
    registered_passes_for,
    select_passes,
)

__all__ = [
    "MAX_ITERATIONS",
    "CostModelFamily",
    "HotPathHints",
    "OptimizerProfile",
    "OptimizerRunReport",
    "Pass",
    "PassAnalysis",
    "PassBoundaryClass",
    "PassContext",
    "PassMetadata",
    "PassPhase",
    "PassRefusalKind",
    "PassResult",
    "PassRunDecision",
    "PassRunMetric",
    "PassScheduler",
    "PassSelectionDecision",
    "PassSelectionReason",
    "RegionRecord",
    "explain",
    "optimize",
    "pass_by_name",
    "registered_passes",
    "registered_passes_for",
    "select_passes",
    "summarize",
    "total_savings",
    "vyre_pass",
]
