"""What a device can do: features and limits."""

from __future__ import annotations

from vyre.target.feature import Feature
from vyre.target.target import EMULATED_SUBGROUPS, WEBGPU_DEFAULT_LIMITS, Limits, Target

__all__ = ["EMULATED_SUBGROUPS", "WEBGPU_DEFAULT_LIMITS", "Feature", "Limits", "Target"]
