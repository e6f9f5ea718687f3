"""Loops that the device ends: their iterations are counted, so that one too many is seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import vyre as vy
from tests.unit.pipelines.kernels import blur, count, halve, increase, is_large
from tests.unit.pipelines.suite import bits, copies, floats


@vy.kernel
def count_down(left: vy.InOut[vy.u32], going: vy.InOut[vy.u32]):
    if vy.gid() == 0 and left[0] > 0:
        left[0] -= vy.u32(1)
        going[0] = vy.u32(1)


@vy.kernel
def store_some(x: vy.In[vy.u32], left: vy.In[vy.u32], y: vy.Out[vy.u32]):
    i = vy.gid()
    if i < len(x) and i % 3 == left[0] % 3:
        y[(i + 1) % len(y)] = x[i] + left[0]


@vy.kernel
def add_to(x: vy.In[vy.u32], total: vy.InOut[vy.u32]):
    i = vy.gid()
    if i < len(x):
        total.atomic_add(i % vy.u32(8), x[i])


@vy.kernel
def is_odd(left: vy.In[vy.u32], odd: vy.Out[vy.u32]):
    if vy.gid() == 0:
        odd[0] = left[0] % 2


@vy.kernel(workgroup=64)
def reverse_groups(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    part = vy.shared(vy.f32, 64)
    part[vy.lid()] = x[vy.gid()]
    vy.barrier()
    y[vy.gid()] = part[63 - vy.lid()]


@vy.pipeline
def ping_pong(x: vy.InOut[vy.f32], left: vy.InOut[vy.u32], ran: vy.InOut[vy.u32]):
    going = vy.flag()
    t = vy.scratch_like(x)
    a, b = x, t
    while vy.again(going, most=1000):
        blur(a, b)
        a, b = b, a
        count(ran, elements=1)
        count_down(left, going, elements=1)
    vy.copy(a, x)


@vy.pipeline
def outputs(x: vy.In[vy.u32], left: vy.InOut[vy.u32], total: vy.InOut[vy.u32]) -> vy.Array[vy.u32]:
    going = vy.flag()
    y = vy.scratch_like(x)
    while vy.again(going, most=1000):
        store_some(x, left, y)
        add_to(y, total)
        count_down(left, going, elements=1)
    return y


@vy.pipeline
def branches(
    x: vy.InOut[vy.f32], left: vy.InOut[vy.u32], odd_ones: vy.InOut[vy.u32], ran: vy.InOut[vy.u32]
):
    going, odd = vy.flag(), vy.flag()
    while vy.again(going, most=1000):
        is_odd(left, odd, elements=1)
        if vy.when(odd):
            t = vy.scratch_like(x)
            reverse_groups(x, t)
            vy.copy(t, x)
            count(odd_ones, elements=1)
        else:
            increase(x)
        count(ran, elements=1)
        count_down(left, going, elements=1)


@vy.pipeline
def nested(left: vy.InOut[vy.u32], ran: vy.InOut[vy.u32], inner: vy.InOut[vy.u32]):
    going, moved = vy.flag(), vy.flag()
    while vy.again(going, most=100):
        x = vy.scratch(vy.u32, 3)
        add_to(left, x)
        while vy.again(moved, most=40):
            halve(x, moved)
            count(inner, elements=1)
        count(ran, elements=1)
        count_down(left, going, elements=1)


@vy.pipeline
def until_one_is_large(x: vy.InOut[vy.f32], most: vy.u32) -> vy.Array[vy.f32]:
    going, large = vy.flag(), vy.flag()
    last = vy.scratch_like(x)
    while vy.again(going, most=most):
        last = vy.scratch_like(x)  # the array of the last iteration is returned
        blur(x, last)
        is_large(x, large, elements=1)
        if vy.when(large):
            pass
        else:
            increase(x)
            count(going, elements=1)
    return last


def number(value: int) -> np.ndarray[Any, Any]:
    return np.array([value], np.uint32)


def _words() -> np.ndarray[Any, Any]:
    return np.arange(100, dtype=np.uint32)


CASES: list[tuple[Any, Callable[[], tuple[Any, ...]]]] = [
    *((ping_pong, lambda n=n: (floats(100), number(n), number(0))) for n in (0, 1, 62, 63, 64)),
    *((outputs, lambda n=n: (_words(), number(n), np.zeros(8, np.uint32))) for n in (0, 1, 2, 7)),
    *((branches, lambda n=n: (floats(128), number(n), number(0), number(0))) for n in (0, 5)),
    *((nested, lambda n=n: (number(n), number(0), number(0))) for n in (0, 3)),
    (until_one_is_large, lambda: (floats(50), 50)),
]


def differences(device: str) -> list[str]:
    """The cases in which a call does not give what the stages give apart."""
    found: list[str] = []
    for at, (pipeline, make) in enumerate(CASES):
        given = make()
        expected = copies(given)
        results = bits(pipeline.apart(*expected, device=device))
        for attempt in ("first", "again"):
            own = copies(given)
            if bits(pipeline(*own, device=device)) != results or bits(own) != bits(expected):
                found.append(f"{pipeline.__name__} on {device}, case {at}, {attempt} call")
    return found


def waits() -> list[tuple[str, int, int]]:
    """How often the host waits for the WebGPU device in loops of many iterations."""
    from vyre.driver import routing

    recorder: Any = routing.choose("wgpu:0").device
    found: list[tuple[str, int, int]] = []
    for pipeline, n, rest in ((ping_pong, 100, 1), (branches, 60, 2)):
        x, waited = vy.array(floats(128), "wgpu:0"), 0
        for _ in range(3):
            given = [vy.array(number(each), "wgpu:0") for each in (n, *[0] * rest)]
            before = recorder.recorder.waits
            pipeline(x, *given)
            waited = recorder.recorder.waits - before
        found.append((pipeline.__name__, n, waited))
    return found


def on_this_driver() -> list[str]:
    """What differs on the WebGPU device of this process."""
    return differences("wgpu:0")
