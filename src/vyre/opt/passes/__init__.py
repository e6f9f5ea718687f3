"""The passes of vyre, one file each; within a phase they run in this order."""

from __future__ import annotations

from vyre.opt.pass_ import Pass
from vyre.opt.passes.aggregate_atomics import AggregateAtomics
from vyre.opt.passes.coalesce_barriers import CoalesceBarriers
from vyre.opt.passes.cse import Cse
from vyre.opt.passes.dce import Dce
from vyre.opt.passes.dead_buffers import DeadBuffers
from vyre.opt.passes.dead_stores import DeadStores
from vyre.opt.passes.decode_scan_fuse import DecodeScanFuse
from vyre.opt.passes.dissolve_arrays import DissolveArrays
from vyre.opt.passes.downgrade_barriers import DowngradeBarriers
from vyre.opt.passes.elide_bounds import ElideBounds
from vyre.opt.passes.fold_branches import FoldBranches
from vyre.opt.passes.forward_stores import ForwardStores
from vyre.opt.passes.fuse_elementwise import FuseElementwise
from vyre.opt.passes.hoist_invariants import HoistInvariants
from vyre.opt.passes.if_convert import IfConvert
from vyre.opt.passes.inline_regions import InlineRegions
from vyre.opt.passes.merge_regions import MergeRegions
from vyre.opt.passes.pack_bytes import PackBytes
from vyre.opt.passes.promote_to_workgroup import PromoteToWorkgroup
from vyre.opt.passes.propagate import Propagate
from vyre.opt.passes.reduce_strength import ReduceStrength
from vyre.opt.passes.redundant_loads import RedundantLoads
from vyre.opt.passes.simplify import Simplify
from vyre.opt.passes.split_variables import SplitVariables
from vyre.opt.passes.trip_zero import TripZero
from vyre.opt.passes.unroll import Unroll

PASSES: tuple[type[Pass], ...] = (
    MergeRegions,
    InlineRegions,
    SplitVariables,
    Simplify,
    Propagate,
    Dce,
    DissolveArrays,
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
    PackBytes,
    DecodeScanFuse,
    PromoteToWorkgroup,
    FuseElementwise,
    DowngradeBarriers,
    CoalesceBarriers,
    AggregateAtomics,
    ReduceStrength,
)
