"""Elementwise stages and stencils: in registers, with halos, in place, until they have settled."""
# pyright: standard, reportInvalidTypeForm=false, reportGeneralTypeIssues=false

from math import isqrt
from typing import Literal

import numpy as np

import vyre as vy
from benchmarks.kernel import Array
from benchmarks.pipelines.case import Arguments, PipelineCase

f32 = np.float32


@vy.kernel
def saxpy(a: vy.f32, x: vy.In[vy.f32], y: vy.In[vy.f32], z: vy.Out[vy.f32]):
    """A multiple of x added to y."""
    i = vy.gid()
    if i < len(z):
        z[i] = a * x[i] + y[i]


@vy.kernel
def clip(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    """Values from a quarter to three quarters."""
    i = vy.gid()
    if i < len(y):
        y[i] = min(max(x[i], 0.25), 0.75)


@vy.kernel
def scale(a: vy.f32, x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    """A multiple of x."""
    i = vy.gid()
    if i < len(y):
        y[i] = a * x[i]


@vy.pipeline
def elementwise(x: vy.In[vy.f32], y: vy.In[vy.f32], z: vy.Out[vy.f32]):
    """Three stages at their own elements."""
    t, u = vy.scratch_like(x), vy.scratch_like(x)
    saxpy(2.0, x, y, t)
    clip(t, u)
    scale(3.0, u, z)


def define_elementwise(x: Array, y: Array, z: Array) -> list[Array]:
    return [np.clip(f32(2.0) * x + y, f32(0.25), f32(0.75)) * f32(3.0)]


@vy.kernel
def blur(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    """Three points, those at the ends twice."""
    i = vy.gid()
    if i < len(y):
        left, right = x[max(i, 1) - 1], x[min(i + 1, len(x) - 1)]
        y[i] = (left + x[i] + right) * 0.25


@vy.pipeline
def blurred_eight_times(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    """A chain by hand, of scratch that is written once each."""
    a, b, c, d = vy.scratch_like(x), vy.scratch_like(x), vy.scratch_like(x), vy.scratch_like(x)
    e, f, g = vy.scratch_like(x), vy.scratch_like(x), vy.scratch_like(x)
    blur(x, a)
    blur(a, b)
    blur(b, c)
    blur(c, d)
    blur(d, e)
    blur(e, f)
    blur(f, g)
    blur(g, y)


@vy.pipeline
def smoothed(x: vy.InOut[vy.f32], steps: vy.u32):
    """A loop that swaps two names."""
    t = vy.scratch_like(x)
    a, b = x, t
    for _ in range(steps):
        blur(a, b)
        a, b = b, a
    vy.copy(a, x)


def blurred(x: Array) -> Array:
    """What one stage gives."""
    ends = np.concatenate([x[:1], x, x[-1:]])
    return (ends[:-2] + ends[1:-1] + ends[2:]) * f32(0.25)


def blurred_often(x: Array, steps: int) -> Array:
    """What several stages give."""
    for _ in range(steps):
        x = blurred(x)
    return x


@vy.pipeline
def there_and_back(x: vy.InOut[vy.f32]):
    """Neighbours read in place: the second stage writes what the first one reads."""
    a = vy.scratch_like(x)
    blur(x, a)
    blur(a, x)


@vy.kernel
def blur_x(x: vy.In[vy.f32, Literal[2]], y: vy.Out[vy.f32, Literal[2]]):
    """Three points along a row."""
    i, j = vy.gid(1), vy.gid(0)
    if i < y.shape[0] and j < y.shape[1]:
        left, right = x[i, max(j, 1) - 1], x[i, min(j + 1, x.shape[1] - 1)]
        y[i, j] = (left + x[i, j] + right) * 0.25


@vy.kernel
def blur_y(x: vy.In[vy.f32, Literal[2]], y: vy.Out[vy.f32, Literal[2]]):
    """Three points along a column."""
    i, j = vy.gid(1), vy.gid(0)
    if i < y.shape[0] and j < y.shape[1]:
        above, below = x[max(i, 1) - 1, j], x[min(i + 1, x.shape[0] - 1), j]
        y[i, j] = (above + x[i, j] + below) * 0.25


@vy.kernel
def sharpen(
    x: vy.In[vy.f32, Literal[2]], soft: vy.In[vy.f32, Literal[2]], y: vy.Out[vy.f32, Literal[2]]
):
    """What a blur has taken away, once more."""
    i, j = vy.gid(1), vy.gid(0)
    if i < y.shape[0] and j < y.shape[1]:
        y[i, j] = x[i, j] + (x[i, j] - soft[i, j]) * 0.5


@vy.pipeline
def sharpened(x: vy.In[vy.f32, Literal[2]], y: vy.Out[vy.f32, Literal[2]]):
    """A blur along both axes, and the picture sharpened by it."""
    t = vy.scratch(vy.f32, (x.shape[0], x.shape[1]))
    u = vy.scratch(vy.f32, (x.shape[0], x.shape[1]))
    blur_x(x, t)
    blur_y(t, u)
    sharpen(x, u, y)


def define_sharpened(x: Array, y: Array) -> list[Array]:
    if not x.size:
        return [y]
    ends = np.concatenate([x[:, :1], x, x[:, -1:]], axis=1)
    t = (ends[:, :-2] + ends[:, 1:-1] + ends[:, 2:]) * f32(0.25)
    ends = np.concatenate([t[:1], t, t[-1:]])
    u = (ends[:-2] + ends[1:-1] + ends[2:]) * f32(0.25)
    return [x + (x - u) * f32(0.5)]


@vy.kernel
def sweep(
    x: vy.In[vy.f32, Literal[2]], rhs: vy.In[vy.f32, Literal[2]], y: vy.Out[vy.f32, Literal[2]]
):
    """One sweep of Jacobi's method; outside of the array is zero."""
    i, j = vy.gid(1), vy.gid(0)
    if i < y.shape[0] and j < y.shape[1]:
        near = vy.f32(0.0)
        if i > 0:
            near += x[i - 1, j]
        if i + 1 < y.shape[0]:
            near += x[i + 1, j]
        if j > 0:
            near += x[i, j - 1]
        if j + 1 < y.shape[1]:
            near += x[i, j + 1]
        y[i, j] = 0.2 * (near + rhs[i, j])


@vy.kernel
def has_moved(
    x: vy.In[vy.f32, Literal[2]],
    y: vy.In[vy.f32, Literal[2]],
    tolerance: vy.f32,
    far: vy.InOut[vy.u32],
):
    """Sets the flag if the last sweep changed some element by more than the tolerance."""
    i, j = vy.gid(1), vy.gid(0)
    if i < x.shape[0] and j < x.shape[1] and abs(x[i, j] - y[i, j]) > tolerance:
        far.atomic_max(0, 1)


@vy.kernel
def count_one(counter: vy.InOut[vy.u32]):
    """One more."""
    if vy.gid() == 0:
        counter[0] += 1


@vy.pipeline
def jacobi(
    x: vy.InOut[vy.f32, Literal[2]],
    rhs: vy.In[vy.f32, Literal[2]],
    tolerance: vy.f32,
    looks: vy.InOut[vy.u32],
):
    """Jacobi's method to a tolerance, looked at every sixteen sweeps."""
    y = vy.scratch(vy.f32, (x.shape[0], x.shape[1]))
    far = vy.flag()
    while vy.again(far, most=10_000):
        for _ in range(8):
            sweep(x, rhs, y)
            sweep(y, rhs, x)
        has_moved(x, y, tolerance, far, elements=(x.shape[1], x.shape[0]))
        count_one(looks, elements=1)


def swept(x: Array, rhs: Array) -> Array:
    """What one sweep gives."""
    near = np.zeros_like(x)
    near[1:] += x[:-1]
    near[:-1] += x[1:]
    near[:, 1:] += x[:, :-1]
    near[:, :-1] += x[:, 1:]
    return f32(0.2) * (near + rhs)


def define_jacobi(x: Array, rhs: Array, tolerance: float, looks: Array) -> list[Array]:
    x, count = x.copy(), int(looks[0])
    while True:
        before = x
        for _ in range(16):
            before, x = x, swept(x, rhs)
        count += 1
        if not x.size or not (np.abs(x - before) > f32(tolerance)).any():
            return [x, np.array([count], np.uint32)]


def floats(n: int, seed: int = 0) -> Array:
    """Values from 0 to 1."""
    return np.random.default_rng((n, seed)).random(n, dtype=np.float32)


def picture(n: int) -> Array:
    """About n values in two axes of odd and different lengths."""
    height = isqrt(n) | 1 if n else 0
    width = max(n // max(height, 1), 1) | 1
    return floats(height * width).reshape(height, width)


def spoiled(x: Array) -> Array:
    """An output, not zero before the call."""
    return np.full_like(x, 7)


def elementwise_data(n: int) -> Arguments:
    x = floats(n)
    return x, floats(n, 1), spoiled(x)


def jacobi_data(n: int) -> Arguments:
    x = picture(n)
    return np.zeros_like(x), x, 1e-3, np.zeros(1, np.uint32)


CASES = (
    PipelineCase(1, "saxpy, clip, scale", elementwise, elementwise_data, define_elementwise, (2,)),
    PipelineCase(
        6,
        "eight stencils by hand",
        blurred_eight_times,
        lambda n: (floats(n), spoiled(floats(n))),
        lambda x, y: [blurred_often(x, 8)],
        (1,),
    ),
    PipelineCase(
        6,
        "eight stencils in a loop",
        smoothed,
        lambda n: (floats(n), 8),
        lambda x, steps: [blurred_often(x, steps)],
        (0,),
    ),
    PipelineCase(
        7,
        "blur along both axes, sharpen",
        sharpened,
        lambda n: (picture(n), spoiled(picture(n))),
        define_sharpened,
        (1,),
    ),
    PipelineCase(
        8,
        "neighbours in place",
        there_and_back,
        lambda n: (floats(n),),
        lambda x: [blurred_often(x, 2)],
        (0,),
    ),
    PipelineCase(12, "Jacobi to a tolerance", jacobi, jacobi_data, define_jacobi, (0, 3)),
)
