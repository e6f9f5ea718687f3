"""The same steps with barriers over the grid in one kernel, and as stages of a pipeline."""
# pyright: standard, reportInvalidTypeForm=false, reportGeneralTypeIssues=false

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import vyre as vy
from benchmarks.pipelines.case import Arguments

GROUP = 64
KEYS = 64
"""Elements of a block, which one invocation goes through."""
DIGITS = 16
FAR = 0xFFFFFFFF
LEVELS = 12
SWEEPS = 25


@vy.func
def total_of_block(x: vy.In[vy.u32], before):
    """The sum of a block."""
    b = vy.gid()
    if b < len(before):
        total = 0
        for i in range(b * KEYS, min((b + 1) * KEYS, len(x))):
            total += x[i]
        before[b] = total


@vy.func
def totals_before(before):
    """What stands before each element, added up."""
    if vy.gid() == 0:
        carried = 0
        for block in range(len(before)):
            own = before[block]
            before[block] = carried
            carried += own


@vy.func
def sums_of_block(x: vy.In[vy.u32], before, y):
    """Running sums within a block, on top of those before."""
    b = vy.gid()
    if b < len(before):
        running = before[b]
        for i in range(b * KEYS, min((b + 1) * KEYS, len(x))):
            running += x[i]
            y[i] = running


@vy.kernel(workgroup=GROUP)
def sums_whole(x: vy.In[vy.u32], before: vy.InOut[vy.u32], y: vy.InOut[vy.u32]):
    """A prefix sum in one kernel."""
    total_of_block(x, before)
    vy.grid_sync()
    totals_before(before)
    vy.grid_sync()
    sums_of_block(x, before, y)


@vy.kernel(workgroup=GROUP)
def total_stage(x: vy.In[vy.u32], before: vy.InOut[vy.u32]):
    """The first stage."""
    total_of_block(x, before)


@vy.kernel(workgroup=GROUP)
def before_stage(before: vy.InOut[vy.u32]):
    """The second stage."""
    totals_before(before)


@vy.kernel(workgroup=GROUP)
def sums_stage(x: vy.In[vy.u32], before: vy.In[vy.u32], y: vy.InOut[vy.u32]):
    """The third stage."""
    sums_of_block(x, before, y)


@vy.pipeline(fuse=False)
def sums_staged(x: vy.In[vy.u32], before: vy.InOut[vy.u32], y: vy.InOut[vy.u32]):
    """A prefix sum in three launches."""
    total_stage(x, before, elements=len(before))
    before_stage(before, grid=1)
    sums_stage(x, before, y, elements=len(before))


def sums_data(n: int) -> Arguments:
    """Words, and room for the sums of blocks."""
    x = np.random.default_rng(n).integers(0, 1 << 32, n, dtype=np.uint32)
    return x, np.zeros(-(-n // KEYS), np.uint32), np.zeros_like(x)


@vy.func
def count_digit(shift, keys: vy.In[vy.u32], counts):
    """How many keys of a block have each digit."""
    own = vy.local(vy.u32, DIGITS)
    block, blocks = vy.gid(), len(counts) // DIGITS
    if block < blocks:
        for i in range(block * KEYS, min((block + 1) * KEYS, len(keys))):
            own[keys[i] >> shift & 15] += 1
        for digit in range(DIGITS):
            counts[vy.u32(digit) * blocks + block] = own[digit]


@vy.func
def move_by_digit(shift, keys: vy.In[vy.u32], before, out):
    """Keys in the order of a digit."""
    at = vy.local(vy.u32, DIGITS)
    block, blocks = vy.gid(), len(before) // DIGITS
    if block < blocks:
        for digit in range(DIGITS):
            at[digit] = before[vy.u32(digit) * blocks + block]
        for i in range(block * KEYS, min((block + 1) * KEYS, len(keys))):
            digit = keys[i] >> shift & 15
            out[at[digit]] = keys[i]
            at[digit] += 1


@vy.kernel(workgroup=GROUP)
def sort_whole(keys: vy.InOut[vy.u32], other: vy.InOut[vy.u32], counts: vy.InOut[vy.u32]):
    """A radix sort in one kernel, two digits an iteration."""
    for two in range(4):
        count_digit(8 * two, keys, counts)
        vy.grid_sync()
        totals_before(counts)
        vy.grid_sync()
        move_by_digit(8 * two, keys, counts, other)
        vy.grid_sync()
        count_digit(8 * two + 4, other, counts)
        vy.grid_sync()
        totals_before(counts)
        vy.grid_sync()
        move_by_digit(8 * two + 4, other, counts, keys)
        vy.grid_sync()


@vy.kernel(workgroup=GROUP)
def count_stage(shift: vy.u32, keys: vy.In[vy.u32], counts: vy.InOut[vy.u32]):
    """The first stage of a digit."""
    count_digit(shift, keys, counts)


@vy.kernel(workgroup=GROUP)
def move_stage(shift: vy.u32, keys: vy.In[vy.u32], before: vy.In[vy.u32], out: vy.InOut[vy.u32]):
    """The third stage of a digit."""
    move_by_digit(shift, keys, before, out)


@vy.pipeline(fuse=False)
def sort_staged(keys: vy.InOut[vy.u32], other: vy.InOut[vy.u32], counts: vy.InOut[vy.u32]):
    """A radix sort in three launches for each digit."""
    a, b = keys, other
    for digit in range(8):
        count_stage(4 * digit, a, counts, elements=len(counts) // 16)
        before_stage(counts, grid=1)
        move_stage(4 * digit, a, counts, b, elements=len(counts) // 16)
        a, b = b, a


def sort_data(n: int) -> Arguments:
    """Keys, and room for as many and for the counts of digits."""
    keys = np.random.default_rng(n).integers(0, 1 << 32, n, dtype=np.uint32)
    return keys, np.zeros_like(keys), np.zeros(DIGITS * -(-n // KEYS), np.uint32)


@vy.func
def reach(level, first: vy.In[vy.u32], edges: vy.In[vy.u32], distance):
    """From all vertices of a level to their neighbours."""
    v = vy.gid()
    if v < len(distance) and distance.atomic_load(v) == level:
        for e in range(first[v], first[v + 1]):
            distance.atomic_min(edges[e], level + 1)


@vy.kernel(workgroup=GROUP)
def search_whole(first: vy.In[vy.u32], edges: vy.In[vy.u32], distance: vy.InOut[vy.u32]):
    """A breadth-first search in one kernel."""
    for level in range(LEVELS):
        reach(vy.u32(level), first, edges, distance)
        vy.grid_sync()


@vy.kernel(workgroup=GROUP)
def reach_stage(
    level: vy.u32, first: vy.In[vy.u32], edges: vy.In[vy.u32], distance: vy.InOut[vy.u32]
):
    """One level."""
    reach(level, first, edges, distance)


@vy.pipeline(fuse=False)
def search_staged(first: vy.In[vy.u32], edges: vy.In[vy.u32], distance: vy.InOut[vy.u32]):
    """A breadth-first search in one launch for each level."""
    for level in range(LEVELS):
        reach_stage(level, first, edges, distance, elements=len(distance))


def search_data(n: int) -> Arguments:
    """A random graph of four edges to a vertex, and the vertex where the search begins."""
    edges = np.random.default_rng(n).integers(0, n, 4 * n, dtype=np.uint32)
    distance = np.full(n, FAR, np.uint32)
    distance[0] = 0
    return np.arange(0, 4 * n + 1, 4, dtype=np.uint32), edges, distance


@vy.func
def relax(x: vy.In[vy.f32], rhs: vy.In[vy.f32], y):
    """One sweep, from one array to the other."""
    i, n = vy.gid(), len(rhs)
    if i < n:
        y[i] = (x[max(i, 1) - 1] + x[min(i + 1, n - 1)] + rhs[i]) * 0.5


@vy.kernel(workgroup=GROUP)
def relax_whole(x: vy.InOut[vy.f32], rhs: vy.In[vy.f32], y: vy.InOut[vy.f32]):
    """Jacobi sweeps in one kernel."""
    for _ in range(SWEEPS):
        relax(x, rhs, y)
        vy.grid_sync()
        relax(y, rhs, x)
        vy.grid_sync()


@vy.kernel(workgroup=GROUP)
def relax_stage(x: vy.In[vy.f32], rhs: vy.In[vy.f32], y: vy.InOut[vy.f32]):
    """One sweep."""
    relax(x, rhs, y)


@vy.pipeline(fuse=False)
def relax_staged(x: vy.InOut[vy.f32], rhs: vy.In[vy.f32], y: vy.InOut[vy.f32]):
    """Jacobi sweeps, a launch each."""
    for _ in range(SWEEPS):
        relax_stage(x, rhs, y)
        relax_stage(y, rhs, x)


def relax_data(n: int) -> Arguments:
    """A right side, and zeros."""
    rhs = np.random.default_rng(n).random(n, dtype=np.float32)
    return np.zeros_like(rhs), rhs, np.zeros_like(rhs)


@dataclass(frozen=True)
class BarrierCase:
    """One algorithm in both forms, on the same arguments."""

    name: str
    whole: Any
    staged: Any
    data: Callable[[int], Arguments]
    changed: tuple[int, ...]
    barriers: int
    """Barriers over the grid in a call of the kernel."""
    elements: Callable[[int], int]
    """Invocations of the kernel, by the size."""


def blocks(n: int) -> int:
    """One invocation for each block."""
    return -(-n // KEYS)


BARRIER_CASES = (
    BarrierCase("prefix sum", sums_whole, sums_staged, sums_data, (1, 2), 2, blocks),
    BarrierCase("radix sort", sort_whole, sort_staged, sort_data, (0, 1, 2), 24, blocks),
    BarrierCase(
        "breadth-first search", search_whole, search_staged, search_data, (2,), LEVELS, int
    ),
    BarrierCase("Jacobi sweeps", relax_whole, relax_staged, relax_data, (0, 2), 2 * SWEEPS, int),
)
