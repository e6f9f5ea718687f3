"""Calls and rounds of loops begin again by themselves, and nothing else comes out."""

# pyright: reportPrivateUsage=false
from __future__ import annotations

import numpy as np
import pytest

import vyre as vy
from tests.unit.front.devices import run
from vyre.front import functions, lower, unrolled


@vy.func
def thrice(v):
    acc = 0
    for _ in range(3):
        acc += v
    return acc


@vy.kernel(workgroup=1)
def of_two_types(a: vy.In[vy.f32], b: vy.In[vy.i32], r: vy.InOut[vy.f32]):
    for v in (a[0], b[0]):
        r[0] += vy.f32(thrice(v))
    for v in (a[0], b[0]):
        twice = 0
        twice += v
        twice += v
        r[1] += vy.f32(twice)
    for x in (a, b):
        most = 0
        for k in range(len(x)):
            most = max(most, x[k])
        r[2] += vy.f32(most)


def test_each_round_of_a_loop_has_types_of_its_own() -> None:
    a, b = np.array([1.5, 2.5], np.float32), np.array([4, -4], np.int32)
    r = run(of_two_types, a, b, np.zeros(3, np.float32))[2]
    assert r.tolist() == [3 * 1.5 + 3 * 4, 2 * 1.5 + 2 * 4, 2.5 + 4]


@vy.func
def digits(v, base):
    pair = (0, 1)
    for k in range(3):
        pair = (pair[0] + v % base, pair[1] * 2 + k)
        v //= base
    return pair


@vy.func
def mixed(v):
    best = 0
    for w in (v, 7):
        low, high = digits(w, 10)
        if low > best:
            best = low + high
    return best


@vy.kernel(workgroup=8)
def nested(x: vy.In[vy.i64], y: vy.Out[vy.i64]):
    i = vy.gid()
    if i < len(x):
        total = 0
        for base in (3, 10):
            one, two = digits(x[i], base)
            total += one * two + mixed(x[i] + base)
        step = 0
        for k in (1, 2):
            step = mixed(step + k)
        # Of a call that is translated twice: as the second half of a condition.
        if x[i] > 3 and mixed(x[i]) > 1 and i > 0:
            total += mixed(total) + digits(step, 4)[0]
        y[i] = total


def attempts_at(kernel: vy.Kernel[...], patch: pytest.MonkeyPatch) -> tuple[int, str]:
    """How often a kernel is translated from its beginning, and what comes out."""
    count = 0
    attempt = lower._attempt

    def counted(*given):
        nonlocal count
        count += 1
        return attempt(*given)

    patch.setattr(lower, "_attempt", counted)
    source = kernel.source
    made = lower.as_written(source, lower.Specialisation(), lower.Reads(source.source))
    return count, str(made)


def test_what_comes_out_is_what_restarts_from_the_beginning_give() -> None:
    with pytest.MonkeyPatch.context() as patch:
        few, program = attempts_at(nested, patch)
    with pytest.MonkeyPatch.context() as patch:
        for module in (functions, unrolled):
            patch.setattr(module, "apart", lambda ctx, path, translate: translate())
        many, same = attempts_at(nested, patch)
    assert program == same
    assert few < 10 < many
