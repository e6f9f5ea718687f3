"""Dynamic programming: rows, diagonals and private tables."""
# pyright: standard, reportInvalidTypeForm=false, reportGeneralTypeIssues=false

from collections.abc import Iterator

import numpy as np

import vyre as vy
from benchmarks.kernel import Array, random
from benchmarks.survey.case import Arguments, Case, floats, integers, zeros

LONGEST = 24
QUERY = 31


@vy.kernel
def levenshtein(
    a: vy.In[vy.u8, 2],
    b: vy.In[vy.u8, 2],
    a_length: vy.In[vy.u32],
    b_length: vy.In[vy.u32],
    distance: vy.Out[vy.u32],
):
    """Pairs of words of at most 24 letters, one pair for each invocation."""
    row = vy.local(vy.u32, LONGEST + 1)
    i = vy.gid()
    if i < len(distance):
        n, m = a_length[i], b_length[i]
        for k in range(m + 1):
            row[k] = k
        for r in range(n):
            diagonal = row[0]
            row[0] = r + 1
            for k in range(m):
                above = row[k + 1]
                cost = diagonal if a[i, r] == b[i, k] else diagonal + 1
                row[k + 1] = min(cost, min(above, row[k]) + 1)
                diagonal = above
        distance[i] = row[m]


def levenshtein_data(n: int) -> Arguments:
    return {
        "a": integers(np.uint8, 97, 101, n, LONGEST, seed=1),
        "b": integers(np.uint8, 97, 101, n, LONGEST, seed=2),
        "a_length": integers(np.uint32, 4, LONGEST + 1, n, seed=3),
        "b_length": integers(np.uint32, 4, LONGEST + 1, n, seed=4),
        "distance": zeros(n, dtype=np.uint32),
    }


def diagonals(rows: int, columns: int) -> Iterator[tuple[int, int, int]]:
    """Diagonals of the cells (i, d - i) without row and column 0: d, the first i, and the end."""
    for d in range(2, rows + columns - 1):
        yield d, max(d - columns + 1, 1), min(d, rows)


@vy.kernel
def lcs_diagonal(
    d: vy.i32,
    begin: vy.i32,
    end: vy.i32,
    a: vy.In[vy.u8],
    b: vy.In[vy.u8],
    table: vy.InOut[vy.u32, 2],
):
    i = begin + vy.gid()
    if i < end:
        j = d - i
        if a[i - 1] == b[j - 1]:
            table[i, j] = table[i - 1, j - 1] + 1
        else:
            table[i, j] = max(table[i - 1, j], table[i, j - 1])


def lcs(a: Array, b: Array, table: Array) -> None:
    for d, begin, end in diagonals(*table.shape):
        lcs_diagonal(d, begin, end, a, b, table)


def lcs_data(n: int) -> Arguments:
    a, b = integers(np.uint8, 97, 101, n, seed=1), integers(np.uint8, 97, 101, n + 3, seed=2)
    return {"a": a, "b": b, "table": zeros(n + 1, n + 4, dtype=np.uint32)}


@vy.kernel
def align_diagonal(
    d: vy.i32,
    begin: vy.i32,
    end: vy.i32,
    gap: vy.i32,
    a: vy.In[vy.u8],
    b: vy.In[vy.u8],
    score: vy.InOut[vy.i32, 2],
):
    i = begin + vy.gid()
    if i < end:
        j = d - i
        match = 3 if a[i - 1] == b[j - 1] else -2
        best = max(score[i - 1, j - 1] + match, 0)
        best = max(best, score[i - 1, j] - gap)
        score[i, j] = max(best, score[i, j - 1] - gap)


def smith_waterman(gap: int, a: Array, b: Array, score: Array) -> None:
    for d, begin, end in diagonals(*score.shape):
        align_diagonal(d, begin, end, gap, a, b, score)


def smith_waterman_data(n: int) -> Arguments:
    a, b = integers(np.uint8, 97, 101, n, seed=1), integers(np.uint8, 97, 101, n + 5, seed=2)
    return {"gap": 2, "a": a, "b": b, "score": zeros(n + 1, n + 6, dtype=np.int32)}


@vy.kernel
def knapsack_row(weight: vy.u32, value: vy.u32, before: vy.In[vy.u32], after: vy.Out[vy.u32]):
    c = vy.gid()
    if c < len(before):
        best = before[c]
        if c >= weight:
            best = max(best, before[c - weight] + value)
        after[c] = best


def knapsack(weights: Array, values: Array, a: Array, b: Array) -> None:
    for k in range(0, len(weights), 2):
        knapsack_row(int(weights[k]), int(values[k]), a, b)
        knapsack_row(int(weights[k + 1]), int(values[k + 1]), b, a)


def knapsack_data(n: int) -> Arguments:
    weights = random(1).integers(1, max(n // 5, 2), 30).astype(np.uint32)
    values = random(2).integers(1, 1000, 30).astype(np.uint32)
    a = zeros(n, dtype=np.uint32)
    return {"weights": weights, "values": values, "a": a, "b": a.copy()}


@vy.kernel
def viterbi_step(
    seen: vy.u32,
    move: vy.In[vy.f32, 2],
    emit: vy.In[vy.f32, 2],
    before: vy.In[vy.f32],
    after: vy.Out[vy.f32],
    back: vy.Out[vy.u32],
):
    """Costs, the least of which wins."""
    s = vy.gid()
    if s < len(after):
        best, where = before[0] + move[0, s], 0
        for p in range(1, len(before)):
            cost = before[p] + move[p, s]
            if cost < best:
                best, where = cost, p
        after[s] = best + emit[s, seen]
        back[s] = where


def viterbi(seen: Array, move: Array, emit: Array, a: Array, b: Array, back: Array) -> None:
    for t in range(0, len(seen), 2):
        viterbi_step(int(seen[t]), move, emit, a, b, back[t])
        viterbi_step(int(seen[t + 1]), move, emit, b, a, back[t + 1])


def viterbi_data(n: int) -> Arguments:
    return {
        "seen": integers(np.uint32, 0, 10, 12, seed=1),
        "move": floats(n, n, seed=2),
        "emit": floats(n, 10, seed=3),
        "a": floats(n, seed=4),
        "b": zeros(n),
        "back": zeros(12, n, dtype=np.uint32),
    }


@vy.kernel(workgroup=(64, 4))
def floyd_step(k: vy.u32, distance: vy.InOut[vy.u32, 2]):
    i, j = vy.gid(1), vy.gid(0)
    if i < distance.shape[0] and j < distance.shape[1] and i != k and j != k:
        distance[i, j] = min(distance[i, j], distance[i, k] + distance[k, j])


def floyd_warshall(distance: Array) -> None:
    for k in range(len(distance)):
        floyd_step(k, distance)


def floyd_warshall_data(n: int) -> Arguments:
    distance = integers(np.uint32, 1, 1000, n, n)
    distance[np.arange(n), np.arange(n)] = 0
    return {"distance": distance}


@vy.kernel
def time_warp(query: vy.In[vy.f32], series: vy.In[vy.f32, 2], cost: vy.Out[vy.f32]):
    """Dynamic time warping of a query of 31 points against each row."""
    row = vy.local(vy.f32, QUERY)
    i = vy.gid()
    if i < len(cost):
        for k in range(QUERY):
            row[k] = vy.math.inf
        corner = 0.0
        for t in range(series.shape[1]):
            diagonal, left = corner, vy.math.inf
            corner = vy.math.inf
            for k in range(QUERY):
                above = row[k]
                here = abs(series[i, t] - query[k]) + min(diagonal, min(above, left))
                row[k] = here
                diagonal, left = above, here
        cost[i] = row[QUERY - 1]


def time_warp_data(n: int) -> Arguments:
    return {"query": floats(QUERY, seed=1), "series": floats(n, 40, seed=2), "cost": zeros(n)}


CASES = (
    Case(
        "levenshtein",
        "dynamic",
        [levenshtein],
        levenshtein_data,
        5001,
        37,
        ["distance"],
        ["distance"],
    ),
    Case("lcs", "dynamic", [lcs_diagonal], lcs_data, 1000, 19, ["table"], ["table"], lcs),
    Case(
        "smith_waterman",
        "dynamic",
        [align_diagonal],
        smith_waterman_data,
        1000,
        19,
        ["score"],
        ["score"],
        smith_waterman,
    ),
    Case(
        "knapsack",
        "dynamic",
        [knapsack_row],
        knapsack_data,
        50_001,
        131,
        ["a", "b"],
        ["weights", "a"],
        knapsack,
    ),
    Case(
        "viterbi",
        "dynamic",
        [viterbi_step],
        viterbi_data,
        400,
        37,
        ["a", "b", "back"],
        ["seen", "emit"],
        viterbi,
    ),
    Case(
        "floyd_warshall",
        "dynamic",
        [floyd_step],
        floyd_warshall_data,
        200,
        19,
        ["distance"],
        ["distance"],
        floyd_warshall,
    ),
    Case(
        "time_warp",
        "dynamic",
        [time_warp],
        time_warp_data,
        4001,
        37,
        ["cost"],
        ["series"],
    ),
)
