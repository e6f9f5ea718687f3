"""The passes of vyre, one file each; within a phase they run in this order."""

from __future__ import annotations

from vyre.opt.pass_ import Pass
from vyre.opt.passes.cse import Cse
from vyre.opt.passes.dce import Dce
from vyre.opt.passes.dead_buffers import DeadBuffers
from vyre.opt.passes.dead_stores import DeadStores
from vyre.opt.passes.elide_bounds import ElideBounds
from vyre.opt.passes.fold_branches import FoldBranches
from vyre.opt.passes.forward_stores import ForwardStores
from vyre.opt.passes.hoist_invariants import HoistInvariants
from vyre.opt.passes.if_convert import IfConvert
from vyre.opt.passes.inline_regions import InlineRegions
from vyre.opt.passes.merge_regions import MergeRegions
from vyre.opt.passes.propagate import Propagate
from vyre.opt.passes.reduce_strength import ReduceStrength
from vyre.opt.passes.redundant_loads import RedundantLoads
from vyre.opt.passes.simplify import Simplify
from vyre.opt.passes.trip_zero import TripZero
from vyre.opt.passes.unroll import Unroll

PASSES: tuple[type[Pass], ...] = (
    MergeRegions,
    InlineRegions,
    Simplify,
    Propagate,
    Dce,
    Cse,
    ElideBounds,
    TripZero,
    FoldBranches,
    IfConvert,
    HoistInvariants,
    Unroll,
    ForwardStores,
    RedundantLoads,
    DeadStores,
    DeadBuffers,
    ReduceStrength,
)
