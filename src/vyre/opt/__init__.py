"""IR to better IR: passes, how they are chosen and scheduled, and a report of every decision."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vyre.opt.explanation import explain, summarize, total_savings
    from vyre.opt.hot_paths import HotPathHints, RegionRecord
    from vyre.opt.metadata import (
        CostModelFamily,
        PassBoundaryClass,
        PassMetadata,
        PassPhase,
        PassRefusalKind,
        PassRunDecision,
    )
    from vyre.opt.optimizer import optimize
    from vyre.opt.pass_ import Pass, PassAnalysis, PassContext, PassResult, vyre_pass
    from vyre.opt.profile import OptimizerProfile
    from vyre.opt.registry import missing_passes, pass_by_name, registered_passes
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
    "missing_passes",
    "optimize",
    "pass_by_name",
    "registered_passes",
    "registered_passes_for",
    "select_passes",
    "summarize",
    "total_savings",
    "vyre_pass",
]

# A warm start reads hints and runs no pass, so the passes are imported on first use.
_HOMES = {
    "CostModelFamily": "metadata",
    "HotPathHints": "hot_paths",
    "MAX_ITERATIONS": "scheduler",
    "OptimizerProfile": "profile",
    "OptimizerRunReport": "report",
    "Pass": "pass_",
    "PassAnalysis": "pass_",
    "PassBoundaryClass": "metadata",
    "PassContext": "pass_",
    "PassMetadata": "metadata",
    "PassPhase": "metadata",
    "PassRefusalKind": "metadata",
    "PassResult": "pass_",
    "PassRunDecision": "metadata",
    "PassRunMetric": "report",
    "PassScheduler": "scheduler",
    "PassSelectionDecision": "selection",
    "PassSelectionReason": "selection",
    "RegionRecord": "hot_paths",
    "explain": "explanation",
    "missing_passes": "registry",
    "optimize": "optimizer",
    "pass_by_name": "registry",
    "registered_passes": "registry",
    "registered_passes_for": "selection",
    "select_passes": "selection",
    "summarize": "explanation",
    "total_savings": "explanation",
    "vyre_pass": "pass_",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
