"""Tuning constants of the CPU backend: thresholds, limits, weights and widths.

The one table of them. A row is a name, its unit, the benchmark that sets it, and its value; below
stands what it decides. The benchmark is a kernel whose code depends on the value, as
`python -m benchmarks.sensitivity` shows for AVX2:

    survey/bfs       a kernel of benchmarks/survey
    kernels/triad    a kernel of benchmarks/kernels
    plain/median     a kernel of benchmarks/plain
    examples/life    a kernel of vyre.examples
    suites/latency   a suite of `python -m benchmarks`, for what no kernel's code shows
    random/tiny-187  a random program: `vyre.conform.fuzz.case_of(187, "tiny")`
    none             no kernel's code changes when the value is halved or doubled: a limit on
                     compile time or code size, or a candidate for deletion

Code reads `heuristics.MAX_VECTOR_LANES`. Numbers that follow from a format, an instruction set or
an overflow are not here: they stand where they are used.
"""

from __future__ import annotations

import ast
from inspect import getsource
from itertools import pairwise
from sys import modules
from typing import Annotated, NamedTuple

from vyre.backends.llvm.abi import STACK_BYTES

# Vector widths: how many lanes run together -------------------------------------------------------
MAX_VECTOR_LANES: Annotated[int, "lanes", "survey/grey_to_rgba"] = 32
"""Widest vector value of a region."""
MIN_VECTOR_LANES: Annotated[int, "lanes", "survey/siphash"] = 4
"""Narrower regions are scalar."""
SATURATING_OPERATIONS: Annotated[int, "operations", "survey/stride_dot"] = 64
"""From here on, one vector per value fills the pipelines; below, two."""
SHORT_BODY_OPERATIONS: Annotated[int, "operations", "survey/backprop_adjust"] = 16
"""Below this, a row of two such vectors runs as one."""
LARGE_BODY_STATEMENTS: Annotated[int, "statements", "none"] = 256
"""From here on, one vector per value: more cost compile time."""
LOOP_CARRIED_REGISTERS: Annotated[int, "vector registers", "survey/rank_sort"] = 12
"""Registers for loop-carried variables."""
VECTOR_REGISTERS: Annotated[int, "vector registers", "kernels/nbody"] = 16
"""Registers for these and the temporaries of an iteration."""
MAX_GATHERED_VECTOR_BITS: Annotated[int, "bits", "survey/time_warp"] = 256
"""Widest register whose lanes are inserted one by one."""
MIN_OPERATIONS_PER_GATHER: Annotated[int, "operations", "survey/syr2k"] = 6
"""With fewer per gather or scatter, a region is scalar."""
MIN_OPERATIONS_PER_NARROW_GATHER: Annotated[int, "operations", "survey/json_depths"] = 8
"""The same, in addition, for narrow elements that a loop traverses."""
SCALAR_JAM_FACTORS: Annotated[tuple[int, ...], "lanes", "kernels/dfa"] = (8, 6, 4)
"""Interleaved scalar lanes, tried in order: they hide the latency of loads."""
SCALAR_REGISTERS: Annotated[int, "scalar registers", "kernels/dfa"] = 12
"""General-purpose registers for the variables of such lanes."""
SCALAR_UNROLL_FACTOR: Annotated[int, "lanes", "examples/histogram"] = 4
"""Unrolled scalar lanes of regions without loops."""
JAMMED_ROWS: Annotated[int, "rows", "kernels/matmul_tiled"] = 4
"""Rows that run together where they load the same elements."""
JAMMED_COLUMN_VECTORS: Annotated[int, "vectors", "survey/column_maxima"] = 4
"""Vectors that run together where they walk down columns."""
MIN_TILE_ROW_LANES: Annotated[int, "lanes", "survey/naive_product"] = 16
"""Shorter rows do not fill vectors, and are re-tiled."""
LANE_FILTER_LANES: Annotated[int, "lanes", "kernels/bfs"] = 32
"""Lanes per vector of the pre-test of a filtered region."""
MIN_NARROWED_LANES: Annotated[int, "lanes", "none"] = 16
"""Lanes of vectors from which on integers are narrowed."""

# Cost model: what an access or an operation counts ------------------------------------------------
ASSUMED_TRIP_COUNT: Annotated[int, "iterations", "survey/ip_checksums"] = 8
"""Iterations of a loop whose trip count is unknown."""
MAX_ASSUMED_EXECUTIONS: Annotated[int, "iterations", "none"] = ASSUMED_TRIP_COUNT**3
"""Bounds the product of such trip counts in a loop nest."""
GATHERS_PER_ATOMIC: Annotated[int, "gathers", "random/tiny-187"] = 2
"""Cost of an atomic."""
HORIZONTAL_REDUCTION_OPERATIONS: Annotated[int, "operations", "none"] = 4
"""Cost of a reduction across the lanes of a vector."""
DIVISION_OPERATIONS: Annotated[int, "operations", "survey/adler32"] = 6
"""Cost of a division by a literal: products, high halves, shifts."""
DEINTERLEAVE_OPERATIONS: Annotated[int, "operations", "survey/particle_steps"] = 3
"""Cost of shuffling one member of a structure into its register."""
PRIVATE_ARRAY_OPERATIONS: Annotated[int, "operations", "random/quick-91"] = 4
"""Credit of an access to an interleaved private array at a uniform index."""
MAX_FULL_UNROLL_ITERATIONS: Annotated[int, "iterations", "plain/scanner"] = 16
"""Greatest trip count of a loop that LLVM unrolls fully."""
OPERATIONS_PER_NS: Annotated[int, "operations per ns", "survey/small_lu"] = 32
"""Throughput in the estimate of how long a launch takes."""

# Loops: vectors along iterations, versions, unrolling ---------------------------------------------
MIN_VECTORISED_TRIP_COUNT: Annotated[int, "iterations", "none"] = 32
"""Shorter inner loops are vectorised across lanes instead."""
MAX_ITERATIONS_PER_VECTOR: Annotated[int, "iterations", "survey/int8_linear"] = 64
"""Widest vector along an inner loop."""
MIN_ITERATIONS_PER_VECTOR: Annotated[int, "iterations", "survey/int8_linear"] = 8
"""Narrowest vector along an inner loop."""
ACCUMULATOR_REGISTERS: Annotated[int, "vector registers", "survey/int8_linear"] = 8
"""Registers for the accumulators of reductions."""
STORED_VALUE_REGISTERS: Annotated[int, "vector registers", "kernels/sort_count"] = 4
"""Registers for values of iterations that are stored."""
SATURATING_ITERATION_OPERATIONS: Annotated[int, "operations", "none"] = 24
"""Above this, one register of iterations fills the pipelines."""
MAX_SHORT_VECTOR_OPERATIONS: Annotated[int, "operations", "none"] = 64
"""Above this, no second loop of short vectors is emitted."""
MAX_TINY_TRIP_COUNT: Annotated[int, "iterations", "random/kernels-861"] = 8
"""Loops up to this are too short for any preparation."""
MAX_ALL_ACTIVE_NODES: Annotated[int, "IR nodes", "none"] = 256
"""Largest loop emitted twice: with all lanes active, and masked."""
MAX_VERSIONED_LOOP_NODES: Annotated[int, "IR nodes", "random/kernels-705"] = 128
"""Largest loop versioned for indices in bounds."""
MAX_VERSIONED_OFFSET: Annotated[int, "elements", "none"] = 1 << 20
"""Greatest offset of an index that such a version tests."""
MAX_VERSIONED_INDICES: Annotated[int, "indices", "none"] = 4
"""Other affine indices worth a test before the loop."""
MAX_JAM_FACTOR: Annotated[int, "iterations", "kernels/dfa"] = 4
"""Iterations per scalar lane before the next lane runs."""
MAX_JAMMED_NODES: Annotated[int, "IR nodes", "kernels/decode_scan"] = 1024
"""Size of all copies of such a loop's body together."""
SPECIALISED_TRIP_COUNTS: Annotated[tuple[int, ...], "iterations", "survey/brighten_channels"] = (
    3,
    4,
    1,
    2,
)
"""Trip counts for which versions of a region are emitted."""
MAX_SPECIALISED_STATEMENTS: Annotated[int, "statements", "survey/layer_norm"] = 24
"""Largest region that is specialised for trip counts."""
MAX_STRUCT_LOOP_ITERATIONS: Annotated[int, "iterations", "survey/ip_checksums"] = 16
"""Longest loop over the members of a structure that is unrolled."""
MAX_STRUCT_LOOP_STATEMENTS: Annotated[int, "statements", "none"] = 128
"""Largest loop nest after such unrolling."""
MAX_FOLDED_DEPTH: Annotated[int, "IR levels", "none"] = 3
"""Deepest index term that counts as folded in that size."""
MAX_STRUCT_LOOP_STRIDE: Annotated[int, "elements", "none"] = 64
"""Greatest stride across lanes of a loop that is so unrolled."""
MAX_REDUCTION_LOOP_NODES: Annotated[int, "IR nodes", "none"] = 128
"""Largest loop whose reductions are canonicalised."""
MAX_EXCHANGED_ELEMENTS: Annotated[int, "elements", "none"] = 4
"""Most elements of an exchange that is if-converted."""
MIN_GRID_STRIDE_LANES: Annotated[int, "lanes", "none"] = 64
"""Shorter rows do not pay for the guard in each iteration."""
MAX_GRID_STRIDE_VARIABLES: Annotated[int, "variables", "none"] = 2
"""Loop-carried variables: between two iterations they are in memory."""
MAX_GRID_STRIDE_STATEMENTS: Annotated[int, "statements", "none"] = 16
"""Largest grid-stride loop that is versioned."""
GRID_STRIDE_UNROLL_FACTOR: Annotated[int, "iterations", "survey/stride_dot"] = 4
"""Iterations per unrolled one; with 8, hardware prefetchers lose streams."""
MAX_GRID_STRIDE_UNROLL_NODES: Annotated[int, "IR nodes", "survey/stride_dot"] = 24
"""Largest body that is bound by memory, and unrolled."""
MAX_WORKGROUPS_PER_ROW: Annotated[int, "workgroups", "survey/stride_dot"] = 16
"""Longest row of workgroups with loops or barriers."""
SAFEPOINT_ITERATIONS: Annotated[int, "iterations", "survey/time_warp"] = 1 << 16
"""Iterations of all loops together between two polls."""
MAX_BOUNDED_COUNTER_BITS: Annotated[int, "bits", "random/python-172"] = 16
"""Widest induction variable whose range bounds the trip count."""

# Rows: borders, lines and structures in the index space -------------------------------------------
MAX_AFFINE_NODES: Annotated[int, "IR nodes", "survey/brighten_channels"] = 40
"""Larger expressions, after substitution, are not analysed."""
MIN_PERIOD_LANES: Annotated[int, "lanes", "random/tiny-187"] = 64
"""Least literal divisor that splits a row into lines."""
MIN_CONTIGUOUS_PERIOD_LANES: Annotated[int, "lanes", "random/python-143"] = 256
"""The same where lanes divide fast, or accesses are contiguous anyway."""
MAX_GUARD_STRIDE: Annotated[int, "elements", "none"] = 64
"""Greatest stride across lanes of a guard that bounds a row."""
MAX_PROVEN_STRIDE: Annotated[int, "elements", "none"] = 64
"""Accesses with a greater stride across lanes keep their checks."""
MAX_BORDER_LANES: Annotated[int, "lanes", "none"] = 16
"""Lanes at a border that may take another branch."""
MAX_ROW_CONDITIONS: Annotated[int, "accesses", "none"] = 24
"""Accesses in loops proven once per row; others keep their checks."""
MAX_REBASED_TERMS: Annotated[int, "terms", "none"] = 16
"""Terms of an index that a loop is rebased to."""
MAX_INDEX_ASSUMPTIONS: Annotated[int, "assumptions", "survey/cloth"] = 24
"""Assumptions under which indices are simplified."""
MAX_PERIODS: Annotated[int, "expressions", "none"] = 8
"""Remainders and quotients that only values and conditions use."""
MIN_LINE_QUARTER_STEPS: Annotated[tuple[int, ...], "quarters of a step", "survey/xor_key"] = (5, 8)
"""Shortest line: with an overlapping remainder, and without."""
MIN_LINE_LANES: Annotated[int, "lanes", "random/passes-124"] = 16
"""Shortest line that pays for its prologue."""
MAX_SCALAR_TAIL_LANES: Annotated[int, "lanes", "survey/ising"] = 16
"""Lanes at a line's end that run without vectors."""
SCALAR_BACKOFF_FACTOR: Annotated[int, "ratio", "survey/time_warp"] = 4
"""Growth of the scalar lanes each time vectors were impossible again."""
MAX_TRIANGULAR_ROW_LANES: Annotated[int, "lanes", "none"] = 128
"""Longest row that a triangular guard leaves in vectors."""
MAX_STRUCT_MEMBERS: Annotated[int, "members", "survey/chacha20"] = 16
"""Largest structure that is accessed in full."""
MAX_PARTIAL_STRUCT_MEMBERS: Annotated[int, "members", "survey/kinetic_energies"] = 4
"""Largest structure that is accessed in part."""
ASSUMED_STRUCT_MEMBERS: Annotated[int, "members", "random/kernels-176"] = 3
"""Size of a structure of which only single members are accessed."""
SPECULATED_STRUCT_SIZES: Annotated[tuple[int, ...], "members", "survey/viterbi"] = (4, 3, 2, 8)
"""Sizes tried where the member index is uniform along a row."""
MAX_STRUCT_VERSION_STATEMENTS: Annotated[int, "statements", "survey/viterbi"] = 20
"""Largest region versioned for two structure sizes."""
MAX_ROW_VARIABLE_BYTES: Annotated[int, "bytes", "survey/stride_dot"] = 16384
"""Loop-carried variables of a row of workgroups: half of the L1 cache."""
MAX_ROW_WORKGROUP_BYTES: Annotated[int, "bytes", "none"] = 65536
"""Workgroup memory of all workgroups of a row."""

# Memory: access patterns, prefetching, private copies ---------------------------------------------
MAX_WHOLE_STRUCT_STRIDE: Annotated[int, "elements", "survey/brighten_channels"] = 4
"""Greatest stride whose structures are accessed as a whole."""
MAX_STRUCT_STRIDE: Annotated[int, "elements", "survey/ip_checksums"] = 16
"""Greatest stride accessed in pieces: never slower than lane by lane."""
MIN_TRANSPOSED_BYTES: Annotated[int, "bytes", "examples/decode_scan"] = 8
"""Shortest piece of a structure that is worth a load."""
MIN_TRANSPOSED_MEMBERS: Annotated[int, "members", "survey/particle_steps"] = 4
"""Smallest structure that is transposed."""
PREFETCH_DISTANCE: Annotated[int, "bytes", "kernels/triad"] = 768
"""What arrives meanwhile. Twice as many are as bad as none."""
CACHE_LINE_BYTES: Annotated[int, "bytes", "kernels/triad"] = 64
"""Distance between two prefetches: a cache line of nearly all machines."""
MAX_PREFETCHED_NODES: Annotated[int, "IR nodes", "survey/grey_to_rgba"] = 48
"""Largest region that is bound by memory."""
MAX_PREFETCHED_STREAMS: Annotated[int, "streams", "kernels/stencil"] = 4
"""With more, enough loads are in flight at any time."""
NONTEMPORAL_BYTES: Annotated[int, "bytes", "survey/grey_to_rgba"] = 32 << 20
"""Buffers from this size on are evicted before they are read."""
MIN_NONTEMPORAL_LANES: Annotated[int, "lanes", "examples/radix_sort"] = 128
"""Shortest row that fills whole cache lines."""
MAX_TYPE_BOUND_BITS: Annotated[int, "bits", "survey/find_roots"] = 16
"""Widest type whose own maximum is a useful bound of an index."""
SCANNED_BYTES_PER_LANE: Annotated[int, "bytes", "kernels/dfa"] = 64
"""Part of a buffer that is scanned for its greatest element, per lane."""
SCANNED_BYTES: Annotated[int, "bytes", "kernels/dfa"] = 4096
"""Part that is scanned for any number of lanes."""
MIN_LEADER_STRIDE: Annotated[int, "lanes", "survey/class_ballots"] = 8
"""Fewest lanes per leader for which leaders are compacted: vectors hold fewer of them."""
MAX_COMPRESSED_LANES: Annotated[int, "lanes", "survey/filter_chunks"] = 32
"""Elements that are packed at once; fewer than the bits of a mask."""
MAX_RECOMPUTED_NODES: Annotated[int, "IR nodes", "survey/class_ballots"] = 64
"""Largest value that a lane computes for another one instead of loading it."""
MAX_PREDICATED_STORE_NODES: Annotated[int, "IR nodes", "none"] = 8
"""Largest store that is predicated, not branched around."""
MAX_STACK_ARRAY_BYTES: Annotated[int, "bytes", "none"] = 1 << 14
"""Larger private arrays are in scratch memory."""
MAX_STACK_ARRAYS_BYTES: Annotated[int, "bytes", "none"] = STACK_BYTES // 4
"""The same for all arrays together."""
MAX_CACHED_ARRAY_BYTES: Annotated[int, "bytes", "none"] = 1 << 14
"""Private arrays of a vector that fit into the L1 cache."""
MAX_REGISTER_ARRAY_BYTES: Annotated[int, "bytes", "none"] = 512
"""Largest array that LLVM may keep in registers."""
MAX_PRIVATISED_BYTES: Annotated[int, "bytes", "survey/sssp"] = 1 << 18
"""Largest private copy of a buffer that is reduced to, and all sums of blocks together."""
MAX_PRIVATISED_BUFFERS: Annotated[int, "buffers", "none"] = 4
"""Buffers of a kernel with private copies."""
MIN_INVOCATIONS_PER_ELEMENT: Annotated[int, "invocations", "examples/histogram"] = 2
"""With fewer per element, private copies do not pay."""
REDUCTIONS_PER_LOOP: Annotated[int, "invocations", "kernels/bfs"] = 16
"""Weight of an invocation that reduces in a loop."""
MAX_BLOCKS: Annotated[int, "blocks", "survey/atomic_sum"] = 1024
"""Blocks of a launch."""
MIN_BLOCKS: Annotated[int, "blocks", "survey/stride_dot"] = 32
"""Where there are as many workgroups; fewer would leave threads without work."""
MIN_BLOCK_INVOCATIONS: Annotated[int, "invocations", "survey/atomic_sum"] = 4096
"""More blocks than MIN_BLOCKS are at least as long: each has its slots to clear and to sum up."""

# Compile time and code size -----------------------------------------------------------------------
LARGE_PROGRAM_STATEMENTS: Annotated[int, "statements", "kernels/sha256"] = 250
"""Larger programs get no code that grows: compile time would."""
MAX_INLINE_SLOW_PATHS: Annotated[int, "slow paths", "survey/ising"] = 8
"""Bounds slow paths emitted inline; further ones are calls."""
MAX_INLINE_MATHS_CALLS: Annotated[int, "calls", "survey/softmax"] = 48
"""Calls up to which vector functions are inlined, at milliseconds each."""
LONG_BLOCK_LINES: Annotated[int, "lines of LLVM IR", "survey/time_warp"] = 32
"""Longer basic blocks are ended: see `Builder.breathe`."""
MIN_OUTLINED_LINES: Annotated[int, "lines of LLVM IR", "none"] = 510
"""Kernels from which on cold code is outlined."""
MAX_UNROLLED_STATEMENTS: Annotated[int, "statements", "none"] = 100
"""Programs up to which LLVM unrolls loops at first."""
MAX_UNROLLED_LOOPS: Annotated[int, "loops", "survey/binomial_american"] = 4
"""Loops of constant trip count up to which it does."""
MAX_STANDARD_LINES: Annotated[int, "lines of LLVM IR", "survey/time_warp"] = 560
"""First launches up to this wait for the pipeline `standard`."""
MAX_SHORT_LINES: Annotated[int, "lines of LLVM IR", "survey/cloth"] = 2_500
"""Up to this for `short`, whose code is nearly as fast."""
MAX_BRISK_LINES: Annotated[int, "lines of LLVM IR", "kernels/sha256"] = 7_000
"""Up to this for `brisk`, whose code takes half as long again."""
MAX_LEAN_LINES: Annotated[int, "lines of LLVM IR", "random/python-70"] = 2_500
"""Up to this for `lean`, in large programs."""
MAX_HOT_FULL_LINES: Annotated[int, "lines of LLVM IR", "kernels/sha256"] = 6_000
"""Hot kernels up to this get the pipeline `full`, in the background."""
MAX_HOT_LEAN_LINES: Annotated[int, "lines of LLVM IR", "survey/ising"] = 12_000
"""Up to this they get `lean`."""
MAX_HOT_BRISK_LINES: Annotated[int, "lines of LLVM IR", "none"] = 40_000
"""Up to this they get `brisk`; with more, the quick code stays."""
MIN_PROBED_FRAME_BYTES: Annotated[int, "bytes", "survey/time_warp"] = 512
"""Smaller stack frames are not probed, and count as this size."""
SPIN_NS: Annotated[int, "ns", "suites/latency"] = 200_000
"""An idle worker spins before it sleeps: longer than Python takes between launches."""
SHORT_LAUNCH_NS: Annotated[int, "ns", "suites/latency"] = 5_000
"""Sequences that are done sooner keep the interpreter's lock, as such launches do. A block of
memory that is cleared or copied is taken to need as long."""


# Reading the table --------------------------------------------------------------------------------


class Row(NamedTuple):
    """A constant of this table, for pages and tests."""

    area: str
    name: str
    value: int | tuple[int, ...]
    unit: str
    benchmark: str
    decides: str


def rows() -> list[Row]:
    """All rows, as they are written above."""
    source = getsource(modules[__name__])
    areas = {
        number: line.strip("# -")
        for number, line in enumerate(source.splitlines(), 1)
        if line.startswith("# ") and line.endswith("---")
    }
    found: list[Row] = []
    body = ast.parse(source).body
    for node, after in pairwise(body):
        match node, after:
            case (
                ast.AnnAssign(
                    ast.Name(name),
                    ast.Subscript(_, ast.Tuple([_, ast.Constant(unit), ast.Constant(benchmark)])),
                ),
                ast.Expr(ast.Constant(decides)),
            ):
                area = areas[max(number for number in areas if number < node.lineno)]
                value = globals()[name]
                found.append(Row(area, name, value, str(unit), str(benchmark), str(decides)))
            case _:
                pass
    return found
