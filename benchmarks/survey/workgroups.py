"""Workgroups: what invocations compute together, bit masks, and what passes a test, in order."""
# pyright: standard, reportInvalidTypeForm=false, reportGeneralTypeIssues=false

import numpy as np

import vyre as vy
from benchmarks.survey.case import Arguments, Case, floats, integers, zeros

GROUP = 256
CHUNK = 4096


@vy.kernel(workgroup=GROUP)
def group_totals(x: vy.In[vy.u32], total: vy.Out[vy.u32]):
    sum_ = vy.group.reduce("add", x[vy.gid()])
    if vy.lid() == 0:
        total[vy.wid()] = sum_


def group_totals_data(n: int) -> Arguments:
    total = zeros(-(-n // GROUP), dtype=np.uint32)
    return {"x": integers(np.uint32, 0, 1 << 32, n), "total": total}


@vy.kernel(workgroup=GROUP)
def group_prefix(x: vy.In[vy.u32], y: vy.Out[vy.u32]):
    i = vy.gid()
    y[i] = vy.group.scan("add", x[i])


def group_prefix_data(n: int) -> Arguments:
    return {"x": integers(np.uint32, 0, 1 << 32, n), "y": zeros(n, dtype=np.uint32)}


@vy.kernel(workgroup=GROUP)
def group_highest(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    y[i] = vy.group.scan("max", x[i], exclusive=True)


def group_highest_data(n: int) -> Arguments:
    return {"x": floats(n, low=-1.0), "y": zeros(n)}


@vy.kernel(workgroup=GROUP)
def group_compact(x: vy.In[vy.f32], y: vy.Out[vy.f32], count: vy.Out[vy.u32]):
    i = vy.gid()
    keep = x[i] > 0.5
    place, kept = vy.group.compact(keep)
    if keep:
        y[vy.wid() * GROUP + place] = x[i]
    if vy.lid() == 0:
        count[vy.wid()] = kept


def group_compact_data(n: int) -> Arguments:
    count = zeros(-(-n // GROUP), dtype=np.uint32)
    return {"x": floats(n), "y": zeros(count.size * GROUP), "count": count}


@vy.kernel(workgroup=1)
def chunk_filter(x: vy.In[vy.u32], y: vy.Out[vy.u32], count: vy.Out[vy.u32]):
    first = vy.wid() * CHUNK
    kept: vy.u32 = 0
    for k in range(first, min(first + CHUNK, len(x))):
        if x[k] < 1 << 30:
            y[first + kept] = x[k]
            kept += 1
    count[vy.wid()] = kept


def chunk_filter_data(n: int) -> Arguments:
    count = zeros(-(-n // CHUNK), dtype=np.uint32)
    y = zeros(n, dtype=np.uint32)
    return {"x": integers(np.uint32, 0, 1 << 32, n), "y": y, "count": count}


def run_chunk_filter(x: object, y: object, count: np.ndarray) -> None:
    chunk_filter(x, y, count, grid=count.size)


def in_groups(kernel: object) -> object:
    """The launch of a kernel with as many workgroups as its input fills."""

    def launch(x: np.ndarray, *outputs: np.ndarray, **named: np.ndarray) -> None:
        kernel(x, *outputs, **named, grid=-(-len(x) // GROUP))  # pyright: ignore[reportCallIssue]

    return launch


@vy.kernel(workgroup=GROUP)
def line_masks(text: vy.In[vy.u8], mask: vy.Out[vy.u32]):
    i = vy.gid()
    found = vy.subgroup.ballot(text[i] == ord("\n"))
    if vy.subgroup.lane() == 0:
        mask[i // 32] = found[0]


def line_masks_data(n: int) -> Arguments:
    return {"text": integers(np.uint8, 0, 64, n), "mask": zeros(-(-n // 32), dtype=np.uint32)}


def run_line_masks(text: np.ndarray, mask: np.ndarray) -> None:
    line_masks(text, mask, elements=len(text))


CASES = (
    Case(
        "group_totals",
        "workgroups",
        [group_totals],
        group_totals_data,
        4_000_001,
        777,
        ["total"],
        ["x"],
        in_groups(group_totals),  # pyright: ignore[reportArgumentType]
    ),
    Case(
        "group_prefix",
        "workgroups",
        [group_prefix],
        group_prefix_data,
        4_000_001,
        777,
        ["y"],
        ["x"],
    ),
    Case(
        "group_highest",
        "workgroups",
        [group_highest],
        group_highest_data,
        4_000_001,
        777,
        ["y"],
        ["x"],
    ),
    Case(
        "group_compact",
        "workgroups",
        [group_compact],
        group_compact_data,
        4_000_001,
        777,
        ["y", "count"],
        ["x"],
        in_groups(group_compact),  # pyright: ignore[reportArgumentType]
    ),
    Case(
        "chunk_filter",
        "workgroups",
        [chunk_filter],
        chunk_filter_data,
        4_000_001,
        9777,
        ["y", "count"],
        ["x"],
        run_chunk_filter,
    ),
    Case(
        "line_masks",
        "workgroups",
        [line_masks],
        line_masks_data,
        16_000_001,
        777,
        ["mask"],
        ["text"],
        run_line_masks,
    ),
)
