"""Graphs in rows of neighbours (CSR): ranks, paths, components, triangles, matrices, similarity."""
# pyright: standard, reportInvalidTypeForm=false, reportGeneralTypeIssues=false

import numpy as np

import vyre as vy
from benchmarks.kernel import Array, random
from benchmarks.survey.case import Arguments, Case, floats, integers, zeros

FAR = 0xFFFFFFFF
DEGREE = 8


def graph(n: int, *, both_ways: bool) -> tuple[Array, Array]:
    """A random graph of a few hubs and many others; the neighbours of a row are sorted."""
    rng = random()
    sources = rng.integers(0, n, n * DEGREE)
    targets = (n * rng.random(n * DEGREE) ** 2).astype(np.int64)
    if both_ways:
        sources, targets = np.concatenate([sources, targets]), np.concatenate([targets, sources])
    edges = np.unique(sources[sources != targets] * n + targets[sources != targets])
    first = np.searchsorted(edges // n, np.arange(n + 1))
    return first.astype(np.uint32), (edges % n).astype(np.uint32)


@vy.kernel
def rank_step(
    first: vy.In[vy.u32],
    source: vy.In[vy.u32],
    degree: vy.In[vy.u32],
    before: vy.In[vy.f32],
    after: vy.Out[vy.f32],
):
    v = vy.gid()
    if v < len(after):
        total = 0.0
        for e in range(first[v], first[v + 1]):
            u = source[e]
            total += before[u] / vy.f32(degree[u])
        after[v] = 0.15 / vy.f32(len(after)) + 0.85 * total


def pagerank(
    steps: int, first: Array, source: Array, degree: Array, rank: Array, other: Array
) -> None:
    for _ in range(steps):
        rank_step(first, source, degree, rank, other)
        rank_step(first, source, degree, other, rank)


def pagerank_data(n: int) -> Arguments:
    first, source = graph(n, both_ways=False)
    degree = np.maximum(np.bincount(source, minlength=n), 1).astype(np.uint32)
    rank = np.full(n, 1 / n, np.float32)
    return {
        "steps": 2,
        "first": first,
        "source": source,
        "degree": degree,
        "rank": rank,
        "other": zeros(n),
    }


@vy.kernel
def relax(
    first: vy.In[vy.u32],
    target: vy.In[vy.u32],
    weight: vy.In[vy.u32],
    before: vy.In[vy.u32],
    after: vy.InOut[vy.u32],
):
    v = vy.gid()
    if v < len(before) and before[v] != FAR:
        for e in range(first[v], first[v + 1]):
            after.atomic_min(target[e], before[v] + weight[e])


def sssp(
    steps: int, first: Array, target: Array, weight: Array, distance: Array, next_distance: Array
) -> None:
    for _ in range(steps):
        relax(first, target, weight, distance, next_distance)
        relax(first, target, weight, next_distance, distance)


def sssp_data(n: int) -> Arguments:
    first, target = graph(n, both_ways=True)
    weight = integers(np.uint32, 1, 100, len(target))
    distance = np.full(n, FAR, np.uint32)
    distance[0] = 0
    return {
        "steps": 3,
        "first": first,
        "target": target,
        "weight": weight,
        "distance": distance,
        "next_distance": distance.copy(),
    }


@vy.kernel
def smallest_label(
    first: vy.In[vy.u32], target: vy.In[vy.u32], before: vy.In[vy.u32], after: vy.Out[vy.u32]
):
    v = vy.gid()
    if v < len(after):
        label = before[v]
        for e in range(first[v], first[v + 1]):
            label = min(label, before[target[e]])
        after[v] = label


def components(steps: int, first: Array, target: Array, label: Array, other: Array) -> None:
    for _ in range(steps):
        smallest_label(first, target, label, other)
        smallest_label(first, target, other, label)


def components_data(n: int) -> Arguments:
    first, target = graph(n, both_ways=True)
    label = random(2).permutation(n).astype(np.uint32)
    other = np.full(n, FAR, np.uint32)
    return {"steps": 2, "first": first, "target": target, "label": label, "other": other}


@vy.kernel
def triangles(first: vy.In[vy.u32], target: vy.In[vy.u32], count: vy.Out[vy.u32]):
    """Common neighbours of v and each larger neighbour u, if they are larger still."""
    v = vy.gid()
    if v < len(count):
        found: vy.u32 = 0
        for e in range(first[v], first[v + 1]):
            u = target[e]
            if u > v:
                a, b = e + 1, first[u]
                while a < first[v + 1] and b < first[u + 1]:
                    if target[a] == target[b]:
                        found += 1
                        a += 1
                        b += 1
                    elif target[a] < target[b]:
                        a += 1
                    else:
                        b += 1
        count[v] = found


def triangles_data(n: int) -> Arguments:
    first, target = graph(n, both_ways=True)
    return {"first": first, "target": target, "count": zeros(n, dtype=np.uint32)}


@vy.kernel
def spmv(
    first: vy.In[vy.u32],
    column: vy.In[vy.u32],
    value: vy.In[vy.f32],
    x: vy.In[vy.f32],
    y: vy.Out[vy.f32],
):
    row = vy.gid()
    if row < len(y):
        total = 0.0
        for e in range(first[row], first[row + 1]):
            total += value[e] * x[column[e]]
        y[row] = total


def spmv_data(n: int) -> Arguments:
    first, column = graph(n, both_ways=False)
    value, x = floats(len(column), seed=2), floats(n, seed=3)
    return {"first": first, "column": column, "value": value, "x": x, "y": zeros(n)}


@vy.kernel
def bottom_up(
    level: vy.u32,
    first: vy.In[vy.u32],
    target: vy.In[vy.u32],
    distance: vy.In[vy.u32],
    reached: vy.InOut[vy.u32],
):
    """A vertex that was not reached looks for a neighbour of the last level."""
    v = vy.gid()
    if v < len(distance):
        if distance[v] == FAR:
            for e in range(first[v], first[v + 1]):
                if distance[target[e]] == level:
                    reached[v] = level + 1
                    break
        else:
            reached[v] = distance[v]


def bfs_bottom_up(steps: int, first: Array, target: Array, distance: Array, other: Array) -> None:
    for level in range(0, 2 * steps, 2):
        bottom_up(level, first, target, distance, other)
        bottom_up(level + 1, first, target, other, distance)


def bfs_bottom_up_data(n: int) -> Arguments:
    first, target = graph(n, both_ways=True)
    distance = np.full(n, FAR, np.uint32)
    distance[n - 1] = 0
    return {
        "steps": 2,
        "first": first,
        "target": target,
        "distance": distance,
        "other": np.full(n, FAR, np.uint32),
    }


@vy.kernel
def jaccard(
    first: vy.In[vy.u32], target: vy.In[vy.u32], pairs: vy.In[vy.u32, 2], share: vy.Out[vy.f32]
):
    """Common neighbours of each pair by binary search in the longer row."""
    i = vy.gid()
    if i < len(share):
        u, v = pairs[i, 0], pairs[i, 1]
        if first[u + 1] - first[u] > first[v + 1] - first[v]:
            u, v = v, u
        common: vy.u32 = 0
        for e in range(first[u], first[u + 1]):
            low, high = first[v], first[v + 1]
            while low < high:
                middle = (low + high) // 2
                if target[middle] < target[e]:
                    low = middle + 1
                else:
                    high = middle
            if low < first[v + 1] and target[low] == target[e]:
                common += 1
        both = first[u + 1] - first[u] + first[v + 1] - first[v] - common
        share[i] = vy.f32(common) / vy.f32(max(both, 1))


def jaccard_data(n: int) -> Arguments:
    first, target = graph(n, both_ways=True)
    pairs = integers(np.uint32, 0, n, n, 2, seed=4)
    return {"first": first, "target": target, "pairs": pairs, "share": zeros(n)}


@vy.kernel
def find_roots(parent: vy.In[vy.u32], root: vy.Out[vy.u32]):
    i = vy.gid()
    if i < len(parent):
        node = i
        while parent[node] != node:
            node = parent[node]
        root[i] = node


def find_roots_data(n: int) -> Arguments:
    parent = np.maximum(np.arange(n) - integers(np.int64, 0, 50, n), 0).astype(np.uint32)
    parent[::97] = np.arange(0, n, 97)
    return {"parent": parent, "root": zeros(n, dtype=np.uint32)}


CASES = (
    Case("find_roots", "graph", [find_roots], find_roots_data, 200_001, 503, ["root"], ["parent"]),
    Case(
        "pagerank",
        "graph",
        [rank_step],
        pagerank_data,
        30_001,
        131,
        ["rank", "other"],
        ["rank"],
        pagerank,
    ),
    Case(
        "sssp",
        "graph",
        [relax],
        sssp_data,
        10_001,
        131,
        ["distance", "next_distance"],
        ["distance"],
        sssp,
    ),
    Case(
        "components",
        "graph",
        [smallest_label],
        components_data,
        20_001,
        131,
        ["label", "other"],
        ["label"],
        components,
    ),
    Case("triangles", "graph", [triangles], triangles_data, 10_001, 131, ["count"], ["count"]),
    Case("spmv", "graph", [spmv], spmv_data, 50_001, 131, ["y"], ["y"]),
    Case(
        "bfs_bottom_up",
        "graph",
        [bottom_up],
        bfs_bottom_up_data,
        50_001,
        131,
        ["distance", "other"],
        ["distance"],
        bfs_bottom_up,
    ),
    Case("jaccard", "graph", [jaccard], jaccard_data, 10_001, 131, ["share"], ["share"]),
)
