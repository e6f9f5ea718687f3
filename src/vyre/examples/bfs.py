"""Distances in a graph: all vertices of a level at once, with a grid sync between levels."""

from __future__ import annotations

import numpy as np

import vyre as vy

FAR = 0xFFFFFFFF


@vy.kernel(workgroup=128)
def distances(
    levels: vy.u32, first: vy.In[vy.u32], edges: vy.In[vy.u32], distance: vy.InOut[vy.u32]
):
    """Rows of a CSR graph: the neighbours of v are edges[first[v]] to edges[first[v + 1] - 1]."""
    v = vy.gid()
    for level in range(levels):
        # Others may be writing this element, so it is read by an atomic too.
        if v < len(distance) and distance.atomic_load(v) == level:
            for e in range(first[v], first[v + 1]):
                distance.atomic_min(edges[e], level + 1)
        vy.grid_sync()


def graph(n: int) -> tuple[np.ndarray, np.ndarray]:
    """A ring with random shortcuts."""
    rng = np.random.default_rng(0)
    sources = np.concatenate([np.arange(n), rng.integers(0, n, n // 4)])
    targets = np.concatenate([(np.arange(n) + 1) % n, rng.integers(0, n, n // 4)])
    order = np.argsort(sources, kind="stable")
    first = np.searchsorted(sources[order], np.arange(n + 1))
    return first.astype(np.uint32), targets[order].astype(np.uint32)


def expected(first: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """The same in numpy, level by level."""
    distance = np.full(len(first) - 1, FAR, np.uint32)
    distance[0] = 0
    frontier = np.array([0])
    while frontier.size:
        level = distance[frontier[0]] + 1
        degrees = first[frontier + 1] - first[frontier]
        starts = np.repeat(first[frontier] - np.cumsum(degrees) + degrees, degrees)
        reached = edges[starts + np.arange(len(starts), dtype=np.uint32)]
        frontier = np.unique(reached[distance[reached] == FAR])
        distance[frontier] = level
    return distance


def main(device: str | None = None, n: int = 2000) -> None:
    first, edges = graph(n)
    answer = expected(first, edges)
    distance = np.full(n, FAR, np.uint32)
    distance[0] = 0
    distances(int(answer.max()), first, edges, distance, device=device)
    np.testing.assert_array_equal(distance, answer)
    print(f"bfs: {n:,} vertices, {len(edges):,} edges, the farthest is {distance.max()} away")


if __name__ == "__main__":
    main()
