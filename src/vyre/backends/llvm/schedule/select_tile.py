"""Selects the vector width and jam factor of each region by cost."""

from __future__ import annotations

from dataclasses import replace

from vyre.backends.llvm import heuristics
from vyre.backends.llvm.analysis.column_walks import stores_in_loops, walks_down_columns
from vyre.backends.llvm.analysis.cost_model import CostModel
from vyre.backends.llvm.analysis.pointer_chasing import has_gathers
from vyre.backends.llvm.emit.context import Kernel
from vyre.backends.llvm.rewrites.partition_rows import RowPartition
from vyre.backends.llvm.schedule.lane_filter import lane_filter_of
from vyre.backends.llvm.schedule.tile import ONE_BY_ONE, Tile
from vyre.backends.llvm.schedule.vectors_along_loops import should_vectorise_inner_loops
from vyre.backends.llvm.techniques import Technique


def select_tile(kernel: Kernel, peeling: RowPartition, varying: frozenset[str]) -> Tile:
    """The tile of a parallel region."""
    census = CostModel(kernel, peeling, varying)
    if census.talks:
        return Tile(reason="it prints, or calls what is opaque, lane by lane")
    short = kernel.size[0] < heuristics.MIN_VECTOR_LANES and not kernel.row.startswith("%")
    if short:
        return Tile(
            reason=f"rows have {kernel.size[0]} lanes, fewer than {heuristics.MIN_VECTOR_LANES}"
        )
    if peeling.single:
        return Tile(reason="its guard lets in one lane")
    inner = kernel.allows(Technique.VECTORISE_INNER_LOOPS)
    if inner and should_vectorise_inner_loops(
        kernel, peeling.simplified, peeling.inside, census.apart
    ):
        kernel.applies(Technique.VECTORISE_INNER_LOOPS)
        return Tile(0, 1, peeled=True, reason="vectors run along its inner loops instead")
    narrow = census.scattered_in_loops * heuristics.MIN_OPERATIONS_PER_NARROW_GATHER
    scattered = (
        census.scattered * heuristics.MIN_OPERATIONS_PER_GATHER + narrow >= census.operations
    )
    if scattered and census.scattered:
        width = _within_row(kernel, 2 * _natural(kernel, census))
        if (
            _chases(kernel, census)
            and has_gathers(kernel.host)
            and width >= heuristics.MIN_VECTOR_LANES
        ):
            kernel.applies(Technique.GATHER_CHAINS)
            return Tile(width, axis=0, peeled=True)
        why = f"{census.scattered} gathers for {census.operations} operations"
        return replace(_scalar_tile(kernel, peeling, census), reason=why)
    width = _width(kernel, census)
    if width < heuristics.MIN_VECTOR_LANES or _is_scalar_search(kernel, census):
        why = "its loop diverges and gains nothing from vectors"
        if width < heuristics.MIN_VECTOR_LANES:
            why = f"a vector holds {width} of its widest elements"
        return replace(_scalar_tile(kernel, peeling, census), reason=why)
    rows = _rows(kernel, census, peeling)
    if rows > 1:
        kernel.applies(Technique.JAM_ROWS)
        width = min(width, 2 * _natural(kernel, census))
        return Tile(width, rows, axis=1, peeled=True)
    return _in_bands(kernel, census, peeling, width) or Tile(width, axis=0, peeled=True)


def mask_bits(width: int) -> int:
    """Bits per lane of a mask: the width of the data, so that both use the same registers."""
    return 32 if width <= heuristics.MAX_VECTOR_LANES else 8


def _chases(kernel: Kernel, census: CostModel) -> bool:
    return census.chases and kernel.allows(Technique.GATHER_CHAINS)


def _is_scalar_search(kernel: Kernel, census: CostModel) -> bool:
    """True if a divergent loop gains nothing from vectors: they wait for their last lane."""
    if not census.searches or not kernel.allows(Technique.SCALAR_SEARCH):
        return False
    kernel.applies(Technique.SCALAR_SEARCH)
    return True


def _scalar_tile(kernel: Kernel, peeling: RowPartition, census: CostModel) -> Tile:
    jams = census.chained and kernel.allows(Technique.INTERLEAVE_SCALARS)
    if not census.diverges and census.has_loop and not jams:
        # Out-of-order execution overlaps iterations without help.
        return Tile(0, 1, peeled=True)
    if not census.diverges and census.has_loop:
        kernel.applies(Technique.INTERLEAVE_SCALARS)
        fits = [
            jam
            for jam in heuristics.SCALAR_JAM_FACTORS
            if census.scalars * jam <= heuristics.SCALAR_REGISTERS
        ]
        return Tile(0, fits[0] if fits else heuristics.SCALAR_JAM_FACTORS[-1], axis=0, peeled=True)
    if not census.diverges:
        return Tile(0, heuristics.SCALAR_UNROLL_FACTOR, axis=0, lock_step=False, peeled=True)
    sieve = lane_filter_of(peeling, census) if kernel.allows(Technique.LANE_FILTER) else None
    if sieve is not None:
        kernel.applies(Technique.LANE_FILTER)
        return Tile(0, 1, peeled=True, sieve=sieve)
    known = peeling.inside or peeling.by_facts
    return Tile(0, 1, peeled=True) if known else ONE_BY_ONE


def _natural(kernel: Kernel, census: CostModel) -> int:
    """Lanes of one vector register of the elements that are computed with.

    A power of two: vectors of other lengths have gaps between them in memory.
    """
    fitting = max(_register_bits(kernel, census) // (8 * census.widest), 1)
    return 1 << fitting.bit_length() - 1


def _register_bits(kernel: Kernel, census: CostModel) -> int:
    """The profitable register width: vectors that are inserted lane by lane stay short."""
    bits = kernel.host.vector_bits
    return min(bits, heuristics.MAX_GATHERED_VECTOR_BITS) if census.scattered else bits


def _width(kernel: Kernel, census: CostModel) -> int:
    bits = _register_bits(kernel, census)
    natural = _natural(kernel, census)
    if census.scattered and not kernel.thorough:
        # Every inserted lane is code, and the first launch waits for its compilation.
        return _within_row(kernel, natural)
    if census.diverges_in_loop:
        width = natural if census.statements >= heuristics.LARGE_BODY_STATEMENTS else 4 * natural
    elif census.has_loop:
        width = natural
        while width < 4 * natural and _fits(2 * width // natural, census):
            width *= 2
    else:
        width = bits // (8 * census.narrowest)
        if census.operations < heuristics.SATURATING_OPERATIONS:
            width *= 2
        if census.operations < heuristics.SHORT_BODY_OPERATIONS and kernel.size[0] == 2 * width:
            # The whole row at once.
            width *= 2
    return _within_row(kernel, min(width, heuristics.MAX_VECTOR_LANES))


def _within_row(kernel: Kernel, width: int) -> int:
    """`width` halved until it fits into a row of static extent."""
    if not kernel.row.startswith("%"):
        while width > kernel.size[0]:
            width //= 2
    return width


def _fits(vectors: int, census: CostModel) -> bool:
    """True if registers hold this number of vectors per loop variable."""
    if census.statements >= heuristics.LARGE_BODY_STATEMENTS:
        return False
    return (
        vectors * census.carried <= heuristics.LOOP_CARRIED_REGISTERS
        and vectors * census.pressure <= heuristics.VECTOR_REGISTERS
    )


def _rows(kernel: Kernel, census: CostModel, peeling: RowPartition) -> int:
    """Rows along y that are jammed: their loop loads the same elements.

    Lanes of several rows would meet in the slots of a block reduction.
    """
    if kernel.accumulators or not census.reuses_rows or not kernel.allows(Technique.JAM_ROWS):
        return 1
    if peeling.depends_on_y() or peeling.begins_late():
        return 1
    return heuristics.JAMMED_ROWS if kernel.size[1] % heuristics.JAMMED_ROWS == 0 else 1


def _in_bands(kernel: Kernel, census: CostModel, peeling: RowPartition, width: int) -> Tile | None:
    """Jammed vectors that walk down the columns of a matrix.

    Each iteration advances by a whole row of the matrix. Where vectors end inside a cache line, the
    vectors beside them fetch that line again, so there should be few such ends. Where registers do
    not hold `JAMMED_COLUMN_VECTORS` full vectors, or the loop stores, they are shorter.
    """
    if not kernel.allows(Technique.JAM_COLUMNS):
        return None
    if (
        census.diverges
        or census.scattered
        or not census.has_loop
        or not walks_down_columns(peeling)
    ):
        return None
    natural = _natural(kernel, census)
    short = min(width, 2 * natural)
    for lanes in (short,) if stores_in_loops(peeling.simplified) else (width, short):
        if (
            heuristics.JAMMED_COLUMN_VECTORS * lanes // natural * max(census.pressure, 1)
            <= heuristics.VECTOR_REGISTERS
        ):
            kernel.applies(Technique.JAM_COLUMNS)
            return Tile(lanes, heuristics.JAMMED_COLUMN_VECTORS, axis=0, peeled=True)
    return None
