"""Why passes are chosen or not, and how strong the evidence is."""

from __future__ import annotations

from enum import StrEnum


class PassSelectionReason(StrEnum):
    """Why a pass was chosen or not."""

    ALWAYS_ON = "always_on"
    PROGRAM_SHAPE = "program_shape"
    HOT_PATH_TELEMETRY = "hot_path_telemetry"
    PASS_COST_REPORT = "pass_cost_report"
    REQUIRED_DEPENDENCY = "required_dependency"
    PROFILE_REJECTED = "profile_rejected"
    BELOW_THRESHOLD = "below_threshold"
    CHANGES_NOTHING = "changes_nothing"


PRIORITIES: dict[PassSelectionReason, int] = {
    PassSelectionReason.HOT_PATH_TELEMETRY: 500,
    PassSelectionReason.PASS_COST_REPORT: 400,
    PassSelectionReason.PROGRAM_SHAPE: 300,
    PassSelectionReason.ALWAYS_ON: 200,
    PassSelectionReason.REQUIRED_DEPENDENCY: 100,
    PassSelectionReason.BELOW_THRESHOLD: 0,
    PassSelectionReason.PROFILE_REJECTED: 0,
    PassSelectionReason.CHANGES_NOTHING: 0,
}
"""How strong the evidence is; the higher, the stronger."""

__all__ = ["PRIORITIES", "PassSelectionReason"]
