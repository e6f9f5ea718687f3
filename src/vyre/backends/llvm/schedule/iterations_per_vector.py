"""How many iterations of an inner loop one vector holds, and which results cost it no register."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre import ir
from vyre.backends.llvm import heuristics
from vyre.backends.llvm.analysis.conditional_counts import count_of
from vyre.backends.llvm.analysis.loop_vectorization import VectorizableLoop
from vyre.backends.llvm.analysis.packed_bits import packed_bits_of
from vyre.backends.llvm.schedule.vectors_along_loops import can_look_up
from vyre.backends.llvm.techniques import Technique
from vyre.ir.walk import without_blocks

if TYPE_CHECKING:
    from vyre.backends.llvm.emit.expressions import LaneContext


def counts_of(lanes: LaneContext, loop: ir.Loop, plan: VectorizableLoop) -> set[str]:
    """Reductions that are computed as population counts of the iterations' flags.

    Where a vector holds bytes, that costs less than a sum per iteration.
    """
    if {lanes.buffer(access.buffer).decl.element.size_bytes for access in plan.accesses} != {1}:
        return set()
    env = lanes.kernel.env
    uncounted = {
        statement.name
        for statement in without_blocks(loop.body)
        if isinstance(statement, ir.Assign) and count_of(statement, env) is None
    }
    return set(plan.results.keys() - plan.followed - uncounted)


def packed_by(lanes: LaneContext, loop: ir.Loop, plan: VectorizableLoop) -> set[str]:
    """Reductions that put a flag of each iteration into a bit of its own.

    A comparison of vectors gives such bits at once; as a reduction, every iteration would shift its
    flag into a word, and the words would be joined.
    """
    if not lanes.kernel.allows(Technique.PACK_BITS):
        return set()
    env = lanes.kernel.env
    assigned = [s for s in without_blocks(loop.body) if isinstance(s, ir.Assign)]
    integers = {name for name in plan.results if env.variables[name].is_integer}
    others = {s.name for s in assigned if s.name in integers and not packed_bits_of(s, loop, env)}
    packed = integers - plan.followed - others
    if packed:
        lanes.kernel.applies(Technique.PACK_BITS)
    return packed


def iterations_per_vector(lanes: LaneContext, loop: ir.Loop, plan: VectorizableLoop) -> list[int]:
    """Iterations per vector: as many as fill the registers, then a few; none if that gathers."""
    bits = lanes.kernel.host.vector_bits
    if plan.appends:
        # Of one register: vectors of several would be packed through memory.
        stores = (store for append in plan.appends for store in append.stores)
        sizes = [lanes.buffer(store.buffer).decl.element.size_bytes or 1 for store in stores]
        return [min(bits // (8 * max(sizes)), heuristics.MAX_COMPRESSED_LANES)]
    counts = counts_of(lanes, loop, plan)
    types = lanes.kernel.types
    packed = packed_by(lanes, loop, plan)
    gathered = sum(types[name].bits or 0 for name in plan.results.keys() - counts - packed)
    gathered += sum(
        (types[best.name].bits or 0) + (types[loop.var].bits or 0) for best in plan.bests
    )
    most = min([heuristics.MAX_ITERATIONS_PER_VECTOR, *(types[name].bits or 0 for name in packed)])
    if isinstance(loop.start, ir.Lit) and isinstance(loop.stop, ir.Lit):
        while most > int(loop.stop.value) - int(loop.start.value):
            most //= 2
    while (
        most > heuristics.MIN_ITERATIONS_PER_VECTOR
        and most * gathered > heuristics.ACCUMULATOR_REGISTERS * bits
    ):
        most //= 2
    if plan.stores or plan.costly:
        busy = (
            plan.costly
            or plan.followed
            or plan.operations > heuristics.SATURATING_ITERATION_OPERATIONS
        )
        registers = 1 if busy else heuristics.STORED_VALUE_REGISTERS
        while most > heuristics.MIN_ITERATIONS_PER_VECTOR and most * plan.widest > registers * bits:
            most //= 2
    few = (
        most > heuristics.MIN_ITERATIONS_PER_VECTOR
        and plan.operations <= heuristics.MAX_SHORT_VECTOR_OPERATIONS
    )
    widths = [most, heuristics.MIN_ITERATIONS_PER_VECTOR] if few else [most]
    return [each for each in widths if can_look_up(lanes.kernel, plan.lookups, each)]


__all__ = ["counts_of", "iterations_per_vector", "packed_by"]
