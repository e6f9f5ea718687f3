"""Pipelines with counted scratch: selections, counts of counts, loops, overflow."""

from __future__ import annotations

from typing import Any

import numpy as np

import vyre as vy
from tests.unit.pipelines.suite import bits, copies


@vy.kernel
def mark(x: vy.In[vy.u32], below: vy.u32, kept: vy.Out[vy.u32]):
    i = vy.gid()
    if i < len(x) and x[i] < below:
        kept[i] = vy.u32(1)


@vy.kernel(workgroup=1)
def select(x: vy.In[vy.u32], kept: vy.In[vy.u32], found: vy.Out[vy.u32], n: vy.Out[vy.u32]):
    if vy.gid() == 0:
        at = vy.u32(0)
        for i in range(min(len(x), len(kept))):
            if kept[i] != 0:
                found[at] = x[i]
                at += vy.u32(1)
        n[0] = at


@vy.kernel(workgroup=1)
def without_repeats(x: vy.In[vy.u32], found: vy.Out[vy.u32], n: vy.Out[vy.u32]):
    if vy.gid() == 0:
        at = vy.u32(0)
        for i in range(len(x)):
            if i == 0 or x[i] != x[i - 1]:
                found[at] = x[i]
                at += vy.u32(1)
        n[0] = at


@vy.kernel
def twice(x: vy.In[vy.u32], y: vy.Out[vy.u32]):
    i = vy.gid()
    if i < len(y):
        y[i] = vy.u32(2) * x[i]


@vy.kernel
def add_one(x: vy.InOut[vy.u32]):
    i = vy.gid()
    if i < len(x):
        x[i] += vy.u32(1)


@vy.kernel
def histogram(x: vy.In[vy.u32], counts: vy.InOut[vy.u32]):
    i = vy.gid()
    if i < len(x):
        counts.atomic_add(x[i] % vy.u32(16), 1)


@vy.kernel
def beyond(x: vy.In[vy.u32], out: vy.Out[vy.u32]):
    i = vy.gid()
    if i < len(out):
        out[i] = x[i] + vy.u32(1000) * len(x)


@vy.kernel
def fill_all(x: vy.Out[vy.u32], n: vy.Out[vy.u32], many: vy.u32):
    i = vy.gid()
    if i < len(x):
        x[i] = vy.u32(i) + vy.u32(7)
    if i == 0:
        n[0] = many


@vy.kernel(workgroup=64)
def sums(x: vy.In[vy.u32], out: vy.InOut[vy.u32]):
    part = vy.shared(vy.u32, 64)
    part[vy.lid()] = x[vy.gid()]
    vy.barrier()
    if vy.lid() == 0 and vy.gid() < len(x):
        total = vy.u32(0)
        for k in range(64):
            total += part[k]
        out.atomic_add(0, total)


@vy.pipeline
def selected(x: vy.In[vy.u32], below: vy.u32, start: vy.u32) -> vy.Array[vy.u32]:
    kept = vy.scratch_like(x)
    n = vy.scratch(vy.u32, 1)
    found = vy.scratch(vy.u32, vy.at_most(len(x), start=start), count=n)
    mark(x, below, kept)
    select(x, kept, found, n, grid=1)
    doubled = vy.scratch_like(found)
    twice(found, doubled)
    add_one(doubled)
    return doubled


@vy.pipeline
def counts_of_counts(x: vy.In[vy.u32], below: vy.u32, counts: vy.InOut[vy.u32]):
    kept = vy.scratch_like(x)
    n, m = vy.scratch(vy.u32, 1), vy.scratch(vy.u32, 1)
    found = vy.scratch(vy.u32, vy.at_most(len(x), start=8), count=n)
    mark(x, below, kept)
    add_one(counts)
    select(x, kept, found, n, grid=1)
    unique = vy.scratch(vy.u32, vy.at_most(len(found), start=4), count=m)
    without_repeats(found, unique, m, grid=1)
    histogram(unique, counts)
    add_one(counts)


@vy.pipeline
def beyond_the_count(many: vy.u32, room: vy.u32, out: vy.Out[vy.u32]) -> vy.Array[vy.u32]:
    n = vy.scratch(vy.u32, 1)
    x = vy.scratch(vy.u32, vy.at_most(room, start=16), count=n)
    fill_all(x, n, many)
    beyond(x, out)
    return x


@vy.pipeline
def total(many: vy.u32, room: vy.u32, out: vy.Out[vy.u32]):
    n = vy.scratch(vy.u32, 1)
    x = vy.scratch(vy.u32, vy.at_most(room), count=n)
    fill_all(x, n, many)
    histogram(x, out)
    sums(x, out)


@vy.kernel
def few_of(x: vy.In[vy.u32], out: vy.Out[vy.u32]):
    i = vy.gid()
    if i < len(out):
        out[i] = x[i * vy.u32(283_334)] + len(x)


@vy.pipeline
def long(many: vy.u32, room: vy.u32, out: vy.Out[vy.u32]):
    n = vy.scratch(vy.u32, 1)
    x = vy.scratch(vy.u32, vy.at_most(room), count=n)
    fill_all(x, n, many)
    y = vy.scratch_like(x)
    twice(x, y)
    few_of(y, out)


@vy.pipeline
def again_and_again(x: vy.In[vy.u32], steps: vy.u32, counts: vy.InOut[vy.u32]):
    n = vy.scratch(vy.u32, 1)
    found = vy.scratch(vy.u32, vy.at_most(len(x), start=2), count=n)
    for k in range(steps):
        kept = vy.scratch_like(x)
        mark(x, (steps - k) * 4, kept)
        select(x, kept, found, n, grid=1)
        histogram(found, counts)


def words(n: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(n).integers(0, 40, n, dtype=np.uint32)


def sixteen() -> np.ndarray[Any, Any]:
    return np.arange(16, dtype=np.uint32)


CUTS = ((0, 5), (20, 1), (50, 1000))
CASES: list[tuple[Any, tuple[Any, ...]]] = [
    *((selected, (words(n), below, start)) for n in (0, 1, 64, 300) for below, start in CUTS),
    *((counts_of_counts, (words(n), below, sixteen())) for n in (0, 1, 500) for below in (0, 30)),
    *(
        (beyond_the_count, (many, 100, np.full(150, 3, np.uint32)))
        for many in (0, 1, 16, 17, 63, 100)
    ),
    *((total, (many, 1000, np.full(16, 3, np.uint32))) for many in (0, 65, 1000)),
    (again_and_again, (words(200), 9, sixteen())),
]
LONG: list[tuple[Any, tuple[Any, ...]]] = [
    (long, (many, 4_300_000, np.zeros(16, np.uint32))) for many in (3, 4_250_001)
]


def differences(device: str, *, is_long: bool) -> list[str]:
    """The cases in which a call does not give what the stages give apart."""
    found: list[str] = []
    for number, (pipeline, given) in enumerate(LONG if is_long else CASES):
        pipeline.forget()
        expected = copies(given)
        results = bits(pipeline.apart(*expected, device=device))
        for attempt in ("first", "again"):
            own = copies(given)
            if bits(pipeline(*own, device=device)) != results or bits(own) != bits(expected):
                found.append(f"{pipeline.__name__} on {device}, case {number}, {attempt} call")
    return found


def on_this_driver() -> list[str]:
    """What differs on the WebGPU device of this process."""
    return [*differences("wgpu:0", is_long=False), *differences("wgpu:0", is_long=True)]
