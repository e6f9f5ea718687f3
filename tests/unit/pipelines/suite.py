"""Pipelines with arguments of any length: what a call must give is what its stages give apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Literal

import numpy as np

import vyre as vy
from tests.unit.pipelines.kernels import (
    add,
    before_and_after,
    blur,
    blur_columns,
    blur_rows,
    clip,
    count,
    count_bytes,
    count_units,
    counted_double,
    decode,
    digit_of,
    every_third,
    four_bytes,
    halve,
    hex_digits,
    increase,
    is_large,
    neighbours,
    pairs,
    raise_all,
    scale,
    split_by_bit,
    to_bytes,
    twice,
    widen,
)
from vyre.pipelines import plans
from vyre.pipelines.execute import Remembered
from vyre.plan import tile_cost

LENGTHS = (0, 1, 63, 64, 65, 1000)
Arguments = tuple[Any, ...]


@vy.pipeline
def in_registers(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    t = vy.scratch_like(x)
    u = vy.scratch(vy.f32, len(x))
    scale(3.0, x, t)
    clip(t, u)
    scale(0.5, u, y)


@vy.pipeline
def shorter_scratch(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    t = vy.scratch(vy.f32, len(x) // 2)
    scale(3.0, x, t, elements=len(x))
    clip(t, y, elements=len(x))


@vy.pipeline
def smooth(x: vy.InOut[vy.f32], steps: vy.u32):
    t = vy.scratch(vy.f32, len(x))
    a, b = x, t
    for _ in range(steps):
        blur(a, b)
        a, b = b, a
    vy.copy(a, x)


@vy.pipeline
def chain(x: vy.In[vy.f32]) -> vy.Array[vy.f32]:
    a = vy.scratch_like(x)
    b = vy.scratch_like(x)
    c = vy.scratch_like(x)
    d = vy.scratch_like(x)
    blur(x, a)
    blur(a, b)
    blur(b, c)
    blur(c, d)
    return d


@vy.pipeline
def narrow(x: vy.In[vy.u32], y: vy.Out[vy.u32]):
    t = vy.scratch(vy.u8, len(x))
    to_bytes(x, t)
    widen(t, y)


@vy.pipeline
def zeros_between(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    t = vy.scratch_like(x)
    every_third(x, t)
    scale(2.0, t, y)


@vy.pipeline
def histogram_of_hex(text: vy.In[vy.u8]) -> vy.Array[vy.u32]:
    plain = vy.scratch(vy.u8, len(text) // 2)
    counts = vy.scratch(vy.u32, 256)
    hex_digits(text, plain)
    count_bytes(plain, counts)
    return counts


@vy.pipeline
def in_place(x: vy.InOut[vy.f32]):
    t = vy.scratch_like(x)
    blur(x, t)
    scale(1.5, t, x)
    increase(x)


@vy.pipeline
def diamond(x: vy.In[vy.f32], z: vy.Out[vy.f32]) -> tuple[vy.Array[vy.f32], vy.Array[vy.f32]]:
    t = vy.scratch_like(x)
    left, right = vy.scratch_like(x), vy.scratch_like(x)
    scale(2.0, x, t)
    blur(t, left)
    clip(t, right)
    add(left, right, z)
    return t, right


@vy.pipeline
def nested(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    t = vy.scratch_like(x)
    in_registers(x, t)
    d = chain(t)
    in_registers(d, y)


@vy.pipeline
def sort_bits(keys: vy.InOut[vy.u32], bits: vy.u32):
    other = vy.scratch_like(keys)
    a, b = keys, other
    for k in range(bits):
        digits = vy.scratch_like(keys)
        digit_of(a, k, digits)
        split_by_bit(a, digits, b, grid=1)
        a, b = b, a
    vy.copy(a, keys)


@vy.pipeline
def settle(x: vy.InOut[vy.u32], iterations: vy.InOut[vy.u32]):
    moved = vy.flag()
    while vy.again(moved, most=40):
        halve(x, moved)
        count(iterations, elements=1)


@vy.pipeline
def until_large(x: vy.InOut[vy.f32], iterations: vy.InOut[vy.u32]):
    going, large = vy.flag(), vy.flag()
    while vy.again(going, most=50):
        is_large(x, large, elements=1)
        if vy.when(large):
            count(iterations, elements=1)
        else:
            increase(x)
            count(going, elements=1)


@vy.pipeline
def two_axes(x: vy.In[vy.f32, Literal[2]], y: vy.Out[vy.f32, Literal[2]]):
    t = vy.scratch(vy.f32, (x.shape[0], x.shape[1]))
    blur_rows(x, t)
    blur_columns(t, y)


@vy.pipeline
def quads(text: vy.In[vy.u8]) -> vy.Array[vy.u32]:
    """Four to three, and a halo on the right: the last characters are no whole quad."""
    plain = vy.scratch(vy.u8, len(text) // 4 * 3 + 2)
    hits = vy.scratch(vy.u32, len(plain))
    decode(text, plain, elements=len(text) // 4)
    four_bytes(plain, hits)
    return hits


@vy.pipeline
def units_of_hex(text: vy.In[vy.u8]) -> vy.Array[vy.u32]:
    plain = vy.scratch(vy.u8, len(text) // 2)
    units = vy.scratch(vy.u16, len(plain) // 2)
    counts = vy.scratch(vy.u32, 256)
    hex_digits(text, plain)
    pairs(plain, units)
    count_units(units, counts)
    return counts


@vy.pipeline
def past_the_end(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    t, u = vy.scratch_like(x), vy.scratch(vy.f32, len(x) // 2)
    raise_all(x, t)
    raise_all(t, u, elements=len(x))
    neighbours(u, y)


@vy.pipeline
def beyond_the_grid(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    a, b, c = vy.scratch_like(x), vy.scratch_like(x), vy.scratch_like(x)
    neighbours(x, a)
    neighbours(a, b)
    raise_all(b, c, elements=len(x) // 2)
    neighbours(c, y)


@vy.pipeline
def counted_halo(x: vy.In[vy.f32], y: vy.Out[vy.f32], counter: vy.InOut[vy.u32]):
    t = vy.scratch_like(x)
    counted_double(x, t, counter)
    neighbours(t, y)


@vy.pipeline
def narrow_halo(x: vy.In[vy.u32], y: vy.Out[vy.u32]):
    t = vy.scratch(vy.u8, len(x))
    to_bytes(x, t)
    before_and_after(t, y)


@vy.pipeline
def kept_halo(x: vy.In[vy.f32]) -> tuple[vy.Array[vy.f32], vy.Array[vy.f32]]:
    t, u, v = vy.scratch_like(x), vy.scratch_like(x), vy.scratch_like(x)
    blur(x, t)
    blur(t, u)
    add(t, u, v)
    return t, v


@vy.pipeline
def doubled(x: vy.In[vy.f32]) -> vy.Array[vy.f32]:
    a, b, c = vy.scratch_like(x), vy.scratch(vy.f32, 2 * len(x)), vy.scratch(vy.f32, 2 * len(x))
    neighbours(x, a)
    twice(a, b)
    neighbours(b, c)
    return c


@vy.pipeline
def overwritten(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    """What the second stage writes begins as zeros in the third: it is of no use."""
    t = vy.scratch_like(x)
    blur(x, t)
    neighbours(t, y)
    blur(t, y)


def floats(n: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(n).random(n, dtype=np.float32)


def words(n: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(n).integers(0, 1 << 16, n, dtype=np.uint32)


def text(n: int) -> np.ndarray[Any, Any]:
    digits = np.frombuffer(b"0123456789abcdef", np.uint8)
    return digits[np.random.default_rng(n).integers(0, 16, 2 * n)]


def like(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """An output, not zero before the call."""
    return np.full_like(x, 7)


PIPELINES: dict[str, tuple[Any, Callable[[int], Arguments]]] = {
    "in_registers": (in_registers, lambda n: (floats(n), like(floats(n)))),
    "shorter_scratch": (shorter_scratch, lambda n: (floats(n), like(floats(n)))),
    "smooth_odd": (smooth, lambda n: (floats(n), 3)),
    "smooth_even": (smooth, lambda n: (floats(n), 4)),
    "smooth_none": (smooth, lambda n: (floats(n), 0)),
    "chain": (chain, lambda n: (floats(n),)),
    "narrow": (narrow, lambda n: (words(n), like(words(n)))),
    "zeros_between": (zeros_between, lambda n: (floats(n), like(floats(n)))),
    "histogram_of_hex": (histogram_of_hex, lambda n: (text(n),)),
    "in_place": (in_place, lambda n: (floats(n),)),
    "diamond": (diamond, lambda n: (floats(n), like(floats(n)))),
    "nested": (nested, lambda n: (floats(n), like(floats(n)))),
    "sort_bits": (sort_bits, lambda n: (words(n) % 16, 4)),
    "settle": (settle, lambda n: (words(n), np.zeros(1, np.uint32))),
    "until_large": (until_large, lambda n: (floats(n + 1), np.zeros(1, np.uint32))),
    "doubled": (doubled, lambda n: (floats(n),)),
    "quads": (quads, lambda n: (text(2 * n + 1),)),
    "units_of_hex": (units_of_hex, lambda n: (text(n),)),
    "past_the_end": (past_the_end, lambda n: (floats(n), like(floats(n)))),
    "beyond_the_grid": (beyond_the_grid, lambda n: (floats(n), like(floats(n)))),
    "counted_halo": (
        counted_halo,
        lambda n: (floats(n), like(floats(n)), np.zeros(1, np.uint32)),
    ),
    "narrow_halo": (narrow_halo, lambda n: (words(n), like(words(n)))),
    "overwritten": (overwritten, lambda n: (floats(n), like(floats(n)))),
    "kept_halo": (kept_halo, lambda n: (floats(n),)),
    "two_axes": (two_axes, lambda n: (floats(n * 5).reshape(n, 5), floats(n * 5).reshape(n, 5))),
}


def bits(values: Any) -> list[bytes]:
    """All arrays among some values, as bytes."""
    if isinstance(values, tuple):
        return [each for value in values for each in bits(value)]
    if isinstance(values, vy.DeviceArray):
        values = values.numpy()
    return [values.tobytes()] if isinstance(values, np.ndarray) else []


def copies(arguments: Arguments) -> Arguments:
    return tuple(a.copy() if isinstance(a, np.ndarray) else a for a in arguments)


@contextmanager
def whatever_it_costs() -> Iterator[None]:
    """Fuse whatever is legal, and whatever calls of other tests have found out about it."""
    before, settled = dict(tile_cost.COSTS), plans._settled
    for kind, costs in before.items():
        tile_cost.COSTS[kind] = replace(costs, most=1e9)
    plans._settled = lambda plan, rival, key: Remembered(plan, [])
    try:
        yield
    finally:
        tile_cost.COSTS.update(before)
        plans._settled = settled


def forget() -> None:
    """Drop the plans of all pipelines."""
    for pipeline, _ in PIPELINES.values():
        pipeline.forget()


def differences(name: str, device: str, lengths: tuple[int, ...] = LENGTHS) -> list[str]:
    """The lengths for which a call does not give what the stages give apart."""
    pipeline, make = PIPELINES[name]
    found: list[str] = []
    for n in lengths:
        given = make(n)
        expected = copies(given)
        results = bits(pipeline.apart(*expected, device=device))
        for attempt in ("first", "again"):
            own = copies(given)
            if bits(pipeline(*own, device=device)) != results or bits(own) != bits(expected):
                found.append(f"{name} on {device}, {n} elements, {attempt} call")
        resident = tuple(vy.array(a, device) if isinstance(a, np.ndarray) else a for a in given)
        if bits(pipeline(*resident)) != results or bits(resident) != bits(expected):
            found.append(f"{name} on {device}, {n} elements, device arrays")
    return found


def on_this_driver() -> list[str]:
    """What differs on the WebGPU device of this process, with all tiles that are legal."""
    lengths = (0, 1, 65, 1000)
    with whatever_it_costs():
        return [each for name in PIPELINES for each in differences(name, "wgpu:0", lengths)]
