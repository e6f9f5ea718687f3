"""Several programs as one dispatch: fusion, hazards between arms, reuse of scratch memory."""

from __future__ import annotations

from vyre.plan.fuse import Decision, Fusion, fuse
from vyre.plan.hazards import Hazard, Separation
from vyre.plan.scratch_reuse import Life, ScratchPool, ScratchReusePlan

__all__ = [
    "Decision",
    "Fusion",
    "Hazard",
    "Life",
    "ScratchPool",
    "ScratchReusePlan",
    "Separation",
    "fuse",
]
