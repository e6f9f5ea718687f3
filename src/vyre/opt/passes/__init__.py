"""The passes of vyre, one file each; within a phase they run in this order."""

from __future__ import annotations

from vyre.opt.pass_ import Pass
from vyre.opt.passes.cse import Cse
from vyre.opt.passes.dce import Dce
from vyre.opt.passes.fold_branches import FoldBranches
from vyre.opt.passes.inline_regions import InlineRegions
from vyre.opt.passes.propagate import Propagate
from vyre.opt.passes.redundant_loads import RedundantLoads
from vyre.opt.passes.simplify import Simplify
from vyre.opt.passes.trip_zero import TripZero

PASSES: tuple[type[Pass], ...] = (
    InlineRegions,
    Simplify,
    Propagate,
    Dce,
    Cse,
    FoldBranches,
    TripZero,
    RedundantLoads,
)
