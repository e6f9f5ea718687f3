"""Several programs as one dispatch: fusion, hazards between arms, reuse of scratch memory."""

from __future__ import annotations

from vyre.plan.decode_scan import fuse_decode_scan
from vyre.plan.fuse import Decision, Fusion, fuse
from vyre.plan.graph import Graph, GraphBuffer, GraphNode, Role
from vyre.plan.hazards import Hazard, Separation
from vyre.plan.scratch_reuse import Life, ScratchPool, ScratchReusePlan

__all__ = [
    "Decision",
    "Fusion",
    "Graph",
    "GraphBuffer",
    "GraphNode",
    "Hazard",
    "Life",
    "Role",
    "ScratchPool",
    "ScratchReusePlan",
    "Separation",
    "fuse",
    "fuse_decode_scan",
]
