"""The CPU passes, between the optimizer and emission of LLVM IR.

Each runs once, in this order. What they establish besides the program is in `LaunchFacts`.

The rewrites in `rewrites` are no passes. A program cannot say what each of them needs:

- `partition_rows` and `simplify_indices` hold for the steady state of a row; its other lanes run
  the original statements, and no program says of an access that it needs no bounds check.
- `rebase_loops` is part of `simplify_indices`: a test per row selects it.
- `unroll_struct_loops` unrolls for speculated strides; the version for other strides keeps loops.
- `narrow_integers` pays from a number of lanes on, which is known after the partition.
- `full_unrolling`, `unread_bindings` and `rebuilt_accesses` are what passes and rewrites share.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from vyre.backends.llvm.host import Host
from vyre.backends.llvm.pass_context import CpuContext, CpuPass, LaunchFacts
from vyre.backends.llvm.passes.canonicalise_reductions import CanonicaliseReductions
from vyre.backends.llvm.passes.cluster_stores import ClusterStores
from vyre.backends.llvm.passes.compact_leaders import CompactLeaders
from vyre.backends.llvm.passes.grid_stride_loops import GridStrideLoops
from vyre.backends.llvm.passes.if_convert_exchanges import IfConvertExchanges
from vyre.backends.llvm.passes.interchange_axes import InterchangeAxes
from vyre.backends.llvm.passes.lower_subgroups import LowerSubgroups
from vyre.backends.llvm.passes.retile_workgroups import RetileWorkgroups
from vyre.backends.llvm.passes.specialise_trip_counts import SpecialiseTripCounts
from vyre.backends.llvm.passes.structure_returns import StructureReturns
from vyre.backends.llvm.passes.unroll_grid_stride import UnrollGridStride
from vyre.backends.llvm.techniques import Technique
from vyre.ir import Program
from vyre.opt.report import OptimizerRunReport
from vyre.opt.scheduler import run_in_order
from vyre.record import dataclass
from vyre.rewrite.unique_names import with_unique_names

CPU_PASSES: tuple[CpuPass, ...] = (
    LowerSubgroups(),  # first: it makes barriers, and the others look for them
    CompactLeaders(),  # on what LowerSubgroups made of the lanes of subgroups
    StructureReturns(),  # early: analyses see the guards that returns are
    InterchangeAxes(),  # strides along x decide all that follows
    RetileWorkgroups(),  # depends on whether InterchangeAxes made rows short
    IfConvertExchanges(),  # branches that would diverge; before loops are analysed
    CanonicaliseReductions(),  # loops that can be vectorised once their branches are selects
    GridStrideLoops(),  # needs the loop as it was written
    UnrollGridStride(),  # only loops that GridStrideLoops made
    ClusterStores(),  # moves no loop; before versions of the program are made
    SpecialiseTripCounts(),  # last: what follows would see every loop five times
)


NEEDED = frozenset({"lower_subgroups"})
"""Passes that emission depends on: they are never left out."""


def switches() -> frozenset[str]:
    """Names of the passes and techniques that can be switched off."""
    passes = {each.metadata.name for each in CPU_PASSES} - NEEDED
    return frozenset(passes | {technique.label for technique in Technique})


@dataclass(frozen=True, slots=True)
class Lowered:
    """A program after the CPU passes, and the requirements on its launch."""

    program: Program
    facts: LaunchFacts
    report: OptimizerRunReport


def lower(
    program: Program,
    host: Host,
    *,
    thorough: bool = True,
    without: AbstractSet[str] = frozenset(),
    verify: bool = False,
) -> Lowered:
    """Run the passes, except those named in `without`; `verify` checks the program after each."""
    context = CpuContext(host, thorough=thorough)
    passes = [each for each in CPU_PASSES if each.metadata.name not in without - NEEDED]
    report = run_in_order(passes, with_unique_names(program), context, verify=verify)
    return Lowered(report.program, context.facts, report)


__all__ = ["CPU_PASSES", "Lowered", "lower", "switches"]
