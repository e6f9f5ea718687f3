"""Fixpoints on graphs: breadth-first search in both directions, and a dataflow of bit sets."""
# pyright: standard, reportInvalidTypeForm=false, reportGeneralTypeIssues=false

import numpy as np

import vyre as vy
from benchmarks.kernel import Array
from benchmarks.kernels.bfs import by_frontier
from benchmarks.pipelines.case import Arguments, PipelineCase
from benchmarks.pipelines.stencils import count_one

FAR = 0xFFFFFFFF


@vy.kernel
def begin(level: vy.InOut[vy.u32], front: vy.Out[vy.u32], seen: vy.Out[vy.u32]):
    """Vertices of level 0 are the first front; a bit for each vertex."""
    word = vy.gid()
    if word < len(front):
        found = 0
        for k in range(32):
            v = word * 32 + k
            if v < len(level) and level[v] == 0:
                found = found | 1 << k
        front[word] = found
        seen[word] = found


@vy.kernel
def measure(front: vy.In[vy.u32], size: vy.InOut[vy.u32]):
    """How many vertices the front has."""
    word = vy.gid()
    if word < len(front) and front[word] != 0:
        size.atomic_add(0, vy.popcount(front[word]))


@vy.kernel
def decide(size: vy.In[vy.u32], most: vy.u32, few: vy.Out[vy.u32]):
    """Sets the flag if the front is small."""
    if vy.gid() == 0 and size[0] < most:
        few[0] = 1


@vy.kernel
def push(
    first: vy.In[vy.u32],
    edges: vy.In[vy.u32],
    front: vy.In[vy.u32],
    seen: vy.In[vy.u32],
    depth: vy.In[vy.u32],
    level: vy.InOut[vy.u32],
    after: vy.InOut[vy.u32],
):
    """From each vertex of the front to those that were not seen."""
    word = vy.gid()
    if word < len(front):
        bits = front[word]
        while bits != 0:
            v = word * 32 + vy.ctz(bits)
            bits = bits & (bits - 1)
            for e in range(first[v], first[v + 1]):
                u = edges[e]
                if seen[u >> 5] >> (u & 31) & 1 == 0:
                    level.atomic_min(u, depth[0] + 1)
                    after.atomic_or(u >> 5, vy.u32(1) << (u & 31))


@vy.kernel
def pull(
    first: vy.In[vy.u32],
    edges: vy.In[vy.u32],
    front: vy.In[vy.u32],
    seen: vy.In[vy.u32],
    depth: vy.In[vy.u32],
    level: vy.InOut[vy.u32],
    after: vy.InOut[vy.u32],
):
    """To each vertex that was not seen from one of the front."""
    word = vy.gid()
    if word < len(front):
        found = 0
        bits = ~seen[word]
        while bits != 0:
            v = word * 32 + vy.ctz(bits)
            bits = bits & (bits - 1)
            if v < len(level):
                for e in range(first[v], first[v + 1]):
                    u = edges[e]
                    if front[u >> 5] >> (u & 31) & 1 != 0:
                        level[v] = depth[0] + 1
                        found = found | vy.u32(1) << (v & 31)
                        break
        after[word] = found


@vy.kernel
def advance(
    after: vy.InOut[vy.u32],
    front: vy.InOut[vy.u32],
    seen: vy.InOut[vy.u32],
    moved: vy.InOut[vy.u32],
):
    """What was found is the next front."""
    word = vy.gid()
    if word < len(front):
        found = after[word]
        front[word] = found
        seen[word] = seen[word] | found
        after[word] = 0
        if found != 0:
            moved.atomic_max(0, 1)


@vy.pipeline
def bfs(
    first: vy.In[vy.u32],
    edges: vy.In[vy.u32],
    level: vy.InOut[vy.u32],
    most: vy.u32,
    rounds: vy.InOut[vy.u32],
):
    """Levels from the vertices of level 0, in the direction that has less to do."""
    words = -(-len(level) // 32)
    front, seen, after = (
        vy.scratch(vy.u32, words),
        vy.scratch(vy.u32, words),
        vy.scratch(vy.u32, words),
    )
    depth = vy.scratch(vy.u32, 1)
    moved, few = vy.flag(), vy.flag()
    begin(level, front, seen, elements=words)
    while vy.again(moved, most=len(level) + 1):
        size = vy.scratch(vy.u32, 1)
        measure(front, size)
        decide(size, most, few, elements=1)
        if vy.when(few):
            push(first, edges, front, seen, depth, level, after, elements=words)
        else:
            pull(first, edges, front, seen, depth, level, after, elements=words)
        advance(after, front, seen, moved, elements=words)
        count_one(depth, elements=1)
        count_one(rounds, elements=1)


def both_ways(n: int, degree: int) -> tuple[Array, Array]:
    """A random graph of n vertices and about n * degree edges, each in both directions."""
    random = np.random.default_rng(n)
    sources = random.integers(0, max(n, 1), n * degree // 2)
    targets = random.integers(0, max(n, 1), n * degree // 2)
    one, two = np.concatenate([sources, targets]), np.concatenate([targets, sources])
    order = np.argsort(one.astype(np.uint32), kind="stable")
    first = np.zeros(n + 1, np.uint32)
    first[1:] = np.cumsum(np.bincount(one, minlength=n)[:n])
    return first, two[order].astype(np.uint32)


def bfs_data(n: int, degree: int = 4) -> Arguments:
    first, edges = both_ways(n, degree)
    level = np.full(n, FAR, np.uint32)
    level[:1] = 0
    return first, edges, level, max(n // 16, 1), np.zeros(1, np.uint32)


def define_bfs(first: Array, edges: Array, level: Array, most: int, rounds: Array) -> list[Array]:
    if not level.size:
        return [level, np.ones(1, np.uint32)]
    levels = by_frontier(first, edges)
    deepest = int(levels[levels != FAR].max())
    return [levels, np.array([deepest + 1], np.uint32)]


@vy.kernel
def flow(
    first: vy.In[vy.u32],
    edges: vy.In[vy.u32],
    made: vy.In[vy.u32],
    ended: vy.In[vy.u32],
    before: vy.In[vy.u32],
    after: vy.Out[vy.u32],
    words: vy.u32,
    moved: vy.InOut[vy.u32],
):
    """What reaches a node from those before it, less what ends there, and what begins there."""
    i = vy.gid()
    if i < len(after):
        node, word = i // words, i % words
        into = 0
        for e in range(first[node], first[node + 1]):
            into = into | before[edges[e] * words + word]
        value = made[i] | into & ~ended[i]
        after[i] = value
        if value != before[i]:
            moved.atomic_max(0, 1)


@vy.pipeline
def reaching(
    first: vy.In[vy.u32],
    edges: vy.In[vy.u32],
    made: vy.In[vy.u32],
    ended: vy.In[vy.u32],
    words: vy.u32,
    rounds: vy.InOut[vy.u32],
) -> vy.Array[vy.u32]:
    """Sets of bits that grow until no node changes."""
    a, b = vy.scratch_like(made), vy.scratch_like(made)
    moved = vy.flag()
    while vy.again(moved, most=len(made) + 1):
        flow(first, edges, made, ended, a, b, words, moved)
        a, b = b, a
        count_one(rounds, elements=1)
    return a


def flow_data(n: int, words: int) -> Arguments:
    """A graph of control flow: each node follows the one before it and, often, another."""
    random = np.random.default_rng(n)
    counts = random.integers(1, 4, n)
    counts[:1] = 0
    first = np.zeros(n + 1, np.uint32)
    first[1:] = np.cumsum(counts)
    nodes = np.repeat(np.arange(n), counts)
    # Mostly what stands just before, sometimes from anywhere: loops and long jumps.
    near = np.maximum(nodes - random.integers(1, 40, nodes.size), 0)
    edges = np.where(
        random.random(nodes.size) < 0.3, random.integers(0, max(n, 1), nodes.size), near
    )
    made = np.zeros(n * words, np.uint32)
    places = random.integers(0, max(n * words, 1), n)
    made[places] = 1 << random.integers(0, 32, n, dtype=np.uint32)
    ended = random.integers(0, 1 << 32, n * words, dtype=np.uint32)
    ended &= random.integers(0, 1 << 32, n * words, dtype=np.uint32)
    return first, edges.astype(np.uint32), made, ended, words, np.zeros(1, np.uint32)


def define_flow(
    first: Array, edges: Array, made: Array, ended: Array, words: int, rounds: Array
) -> list[Array]:
    count = int(rounds[0])
    n = first.size - 1
    a, made, ended = (each.reshape(n, words) for each in (np.zeros_like(made), made, ended))
    some = np.flatnonzero(np.diff(first.astype(np.int64)))
    while True:
        into = np.zeros_like(a)
        if some.size:
            into[some] = np.bitwise_or.reduceat(a[edges], first[some])
        after = made | into & ~ended
        count += 1
        changed, a = not np.array_equal(a, after), after
        if not changed:
            return [np.array([count], np.uint32), a.reshape(-1)]


CASES = (
    PipelineCase(11, "breadth-first search", bfs, bfs_data, define_bfs, (2, 4)),
    PipelineCase(
        13,
        "dataflow of bit sets",
        reaching,
        lambda n: flow_data(-(-n // 32), 32),
        define_flow,
        (5,),
    ),
)
