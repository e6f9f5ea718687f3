"""Sorting and selection: networks, small rows, ranks, merges, searches, the largest few."""
# pyright: standard, reportInvalidTypeForm=false, reportGeneralTypeIssues=false

import numpy as np

import vyre as vy
from benchmarks.kernel import Array
from benchmarks.survey.case import Arguments, Case, floats, integers, zeros

WIDTH = 32
LARGEST = 8


@vy.kernel
def bitonic_step(stride: vy.u32, block: vy.u32, x: vy.InOut[vy.u32]):
    i = vy.gid()
    if i < len(x):
        other = i ^ stride
        if other > i and other < len(x):
            a, b = x[i], x[other]
            if (a > b) == ((i & block) == 0):
                x[i] = b
                x[other] = a


def bitonic_sort(x: Array) -> None:
    block = 2
    while block <= len(x):
        stride = block // 2
        while stride > 0:
            bitonic_step(stride, block, x)
            stride //= 2
        block *= 2


def bitonic_sort_data(n: int) -> Arguments:
    return {"x": integers(np.uint32, 0, 2**32 - 1, n)}


@vy.kernel
def insertion_rows(x: vy.InOut[vy.f32, 2]):
    i = vy.gid()
    if i < x.shape[0]:
        for k in range(1, x.shape[1]):
            value = x[i, k]
            j = k
            while j > 0 and x[i, j - 1] > value:
                x[i, j] = x[i, j - 1]
                j -= 1
            x[i, j] = value


def insertion_rows_data(n: int) -> Arguments:
    return {"x": floats(n, 24)}


@vy.kernel
def rank_sort(x: vy.In[vy.f32], out: vy.Out[vy.f32]):
    """Each element counts those before it; equal ones keep their order."""
    i = vy.gid()
    if i < len(x):
        rank = 0
        for j in range(len(x)):
            if x[j] < x[i] or (x[j] == x[i] and j < i):
                rank += 1
        out[rank] = x[i]


def rank_sort_data(n: int) -> Arguments:
    return {"x": np.round(floats(n, high=1000.0)), "out": zeros(n)}


@vy.kernel
def merge_sorted(a: vy.In[vy.u32], b: vy.In[vy.u32], out: vy.Out[vy.u32]):
    """Each element of a finds its place by a binary search in b, and the other way around."""
    i = vy.gid()
    if i < len(a) + len(b):
        if i < len(a):
            value, low, high = a[i], 0, len(b)
            while low < high:
                middle = (low + high) // 2
                if b[middle] < value:
                    low = middle + 1
                else:
                    high = middle
            out[i + low] = value
        else:
            j = i - len(a)
            value, low, high = b[j], 0, len(a)
            while low < high:
                middle = (low + high) // 2
                if a[middle] <= value:
                    low = middle + 1
                else:
                    high = middle
            out[j + low] = value


def merge_sorted_data(n: int) -> Arguments:
    a = np.sort(integers(np.uint32, 0, 4 * n, n, seed=1))
    b = np.sort(integers(np.uint32, 0, 4 * n, n // 2, seed=2))
    return {"a": a, "b": b, "out": zeros(len(a) + len(b), dtype=np.uint32)}


@vy.kernel
def median_rows(x: vy.In[vy.u16, 2], out: vy.Out[vy.u16]):
    """Quickselect in a private copy of each row."""
    row = vy.local(vy.u16, WIDTH)
    i = vy.gid()
    if i < x.shape[0]:
        for k in range(WIDTH):
            row[k] = x[i, k]
        low, high = 0, WIDTH - 1
        while low < high:
            pivot = row[(low + high) // 2]
            left, right = low, high
            while left <= right:
                while row[left] < pivot:
                    left += 1
                while row[right] > pivot:
                    right -= 1
                if left <= right:
                    row[left], row[right] = row[right], row[left]
                    left += 1
                    right -= 1
            if right >= WIDTH // 2:
                high = right
            elif left <= WIDTH // 2:
                low = left
            else:
                break
        out[i] = row[WIDTH // 2]


def median_rows_data(n: int) -> Arguments:
    x = integers(np.uint16, 0, 1000, n, WIDTH)
    return {"x": x, "out": zeros(n, dtype=np.uint16)}


@vy.kernel
def top_k(x: vy.In[vy.f32, 2], value: vy.Out[vy.f32, 2], place: vy.Out[vy.u32, 2]):
    """The eight largest of each row, largest first, kept in order while the row goes by."""
    best = vy.local(vy.f32, LARGEST)
    where = vy.local(vy.u32, LARGEST)
    i = vy.gid()
    if i < x.shape[0]:
        for k in range(LARGEST):
            best[k] = -vy.math.inf
            where[k] = 0
        for j in range(x.shape[1]):
            v = x[i, j]
            if v > best[LARGEST - 1]:
                k = LARGEST - 1
                while k > 0 and best[k - 1] < v:
                    best[k] = best[k - 1]
                    where[k] = where[k - 1]
                    k -= 1
                best[k] = v
                where[k] = j
        for k in range(LARGEST):
            value[i, k] = best[k]
            place[i, k] = where[k]


def top_k_data(n: int) -> Arguments:
    x = floats(n, 201)
    return {"x": x, "value": zeros(n, LARGEST), "place": zeros(n, LARGEST, dtype=np.uint32)}


@vy.kernel
def lower_bound(table: vy.In[vy.f32], wanted: vy.In[vy.f32], place: vy.Out[vy.u32]):
    i = vy.gid()
    if i < len(wanted):
        low, high = 0, len(table)
        while low < high:
            middle = (low + high) // 2
            if table[middle] < wanted[i]:
                low = middle + 1
            else:
                high = middle
        place[i] = low


def lower_bound_data(n: int) -> Arguments:
    table = np.sort(floats(n // 3, seed=1))
    return {"table": table, "wanted": floats(n, seed=2), "place": zeros(n, dtype=np.uint32)}


@vy.kernel
def filter_chunks(x: vy.In[vy.u32], start: vy.In[vy.u32], kept: vy.InOut[vy.u32]):
    """A quarter of the elements, in order; `start` says where those of each chunk go."""
    i = vy.gid()
    if i < len(start):
        n = start[i]
        for k in range(4096 * i, min(4096 * i + 4096, len(x))):
            if x[k] % 4 == 0:
                kept[n] = x[k]
                n += 1


def filter_chunks_data(n: int) -> Arguments:
    x = integers(np.uint32, 0, 2**32 - 1, n)
    before = np.concatenate([[0], np.cumsum(x % 4 == 0)])
    start = before[:-1:4096].astype(np.uint32)
    return {"x": x, "start": start, "kept": zeros(int(before[-1]), dtype=np.uint32)}


CASES = (
    Case(
        "filter_chunks",
        "sorting",
        [filter_chunks],
        filter_chunks_data,
        1_000_001,
        9001,
        ["kept"],
        ["x", "start"],
    ),
    Case(
        "bitonic_sort",
        "sorting",
        [bitonic_step],
        bitonic_sort_data,
        65_536,
        128,
        ["x"],
        ["x"],
        bitonic_sort,
    ),
    Case(
        "insertion_rows", "sorting", [insertion_rows], insertion_rows_data, 10_001, 37, ["x"], ["x"]
    ),
    Case("rank_sort", "sorting", [rank_sort], rank_sort_data, 4001, 131, ["out"], ["x"]),
    Case(
        "merge_sorted",
        "sorting",
        [merge_sorted],
        merge_sorted_data,
        100_001,
        131,
        ["out"],
        ["a", "b"],
    ),
    Case("median_rows", "sorting", [median_rows], median_rows_data, 10_001, 37, ["out"], ["out"]),
    Case("top_k", "sorting", [top_k], top_k_data, 4001, 37, ["value", "place"], ["x"]),
    Case(
        "lower_bound",
        "sorting",
        [lower_bound],
        lower_bound_data,
        200_001,
        131,
        ["place"],
        ["table", "wanted"],
    ),
)
