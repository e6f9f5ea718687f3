"""PolyBench's kinds: products of matrices and vectors, covariance, stencils over time."""
# pyright: standard, reportInvalidTypeForm=false, reportGeneralTypeIssues=false

import numpy as np

import vyre as vy
from benchmarks.kernel import Array
from benchmarks.survey.case import Arguments, Case, floats, zeros


@vy.kernel
def gesummv(
    alpha: vy.f32,
    beta: vy.f32,
    a: vy.In[vy.f32, 2],
    b: vy.In[vy.f32, 2],
    x: vy.In[vy.f32],
    y: vy.Out[vy.f32],
):
    i = vy.gid()
    if i < len(y):
        left, right = 0.0, 0.0
        for j in range(len(x)):
            left += a[i, j] * x[j]
            right += b[i, j] * x[j]
        y[i] = alpha * left + beta * right


def gesummv_data(n: int) -> Arguments:
    a, b = floats(n, n, seed=1), floats(n, n, seed=2)
    return {"alpha": 1.5, "beta": 1.2, "a": a, "b": b, "x": floats(n, seed=3), "y": zeros(n)}


@vy.kernel
def times_vector(a: vy.In[vy.f32, 2], x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < a.shape[0]:
        total = 0.0
        for j in range(a.shape[1]):
            total += a[i, j] * x[j]
        y[i] = total


@vy.kernel
def transposed_times_vector(a: vy.In[vy.f32, 2], x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    j = vy.gid()
    if j < a.shape[1]:
        total = 0.0
        for i in range(a.shape[0]):
            total += a[i, j] * x[i]
        y[j] = total


def atax(a: Array, x: Array, between: Array, y: Array) -> None:
    times_vector(a, x, between)
    transposed_times_vector(a, between, y)


def atax_data(n: int) -> Arguments:
    rows, columns = n, n + n // 4
    a, x = floats(rows, columns, seed=1), floats(columns, seed=2)
    return {"a": a, "x": x, "between": zeros(rows), "y": zeros(columns)}


@vy.kernel(workgroup=(16, 16))
def syr2k(
    alpha: vy.f32,
    beta: vy.f32,
    a: vy.In[vy.f32, 2],
    b: vy.In[vy.f32, 2],
    c: vy.InOut[vy.f32, 2],
):
    i, j = vy.gid(1), vy.gid(0)
    if i < c.shape[0] and j <= i:
        total = 0.0
        for k in range(a.shape[1]):
            total += a[i, k] * b[j, k] + b[i, k] * a[j, k]
        c[i, j] = beta * c[i, j] + alpha * total


def syr2k_data(n: int) -> Arguments:
    a, b, c = floats(n, n - 3, seed=1), floats(n, n - 3, seed=2), floats(n, n, seed=3)
    return {"alpha": 1.5, "beta": 1.2, "a": a, "b": b, "c": c}


@vy.kernel(workgroup=(32, 4, 1))
def doitgen(a: vy.In[vy.f32, 3], c4: vy.In[vy.f32, 2], out: vy.Out[vy.f32, 3]):
    r, q, p = vy.gid(2), vy.gid(1), vy.gid(0)
    if r < out.shape[0] and q < out.shape[1] and p < out.shape[2]:
        total = 0.0
        for s in range(a.shape[2]):
            total += a[r, q, s] * c4[s, p]
        out[r, q, p] = total


def doitgen_data(n: int) -> Arguments:
    shape = (n // 2, n // 2 + 1, n)
    return {"a": floats(*shape, seed=1), "c4": floats(n, n, seed=2), "out": zeros(*shape)}


@vy.kernel
def column_means(data: vy.In[vy.f32, 2], mean: vy.Out[vy.f32]):
    j = vy.gid()
    if j < len(mean):
        total = 0.0
        for i in range(data.shape[0]):
            total += data[i, j]
        mean[j] = total / vy.f32(data.shape[0])


@vy.kernel(workgroup=(64, 4))
def centred(data: vy.In[vy.f32, 2], mean: vy.In[vy.f32], centre: vy.Out[vy.f32, 2]):
    i, j = vy.gid(1), vy.gid(0)
    if i < data.shape[0] and j < data.shape[1]:
        centre[i, j] = data[i, j] - mean[j]


@vy.kernel(workgroup=(16, 16))
def products_of_columns(centre: vy.In[vy.f32, 2], cov: vy.Out[vy.f32, 2]):
    i, j = vy.gid(1), vy.gid(0)
    if i < cov.shape[0] and j < cov.shape[1] and i <= j:
        total = 0.0
        for k in range(centre.shape[0]):
            total += centre[k, i] * centre[k, j]
        total /= vy.f32(centre.shape[0] - 1)
        cov[i, j] = total
        cov[j, i] = total


def covariance(data: Array, mean: Array, centre: Array, cov: Array) -> None:
    column_means(data, mean)
    centred(data, mean, centre)
    products_of_columns(centre, cov)


def covariance_data(n: int) -> Arguments:
    data = floats(n + n // 2, n)
    return {"data": data, "mean": zeros(n), "centre": zeros(*data.shape), "cov": zeros(n, n)}


@vy.kernel(workgroup=(64, 4))
def fdtd_ey(source: vy.f32, ey: vy.InOut[vy.f32, 2], hz: vy.In[vy.f32, 2]):
    i, j = vy.gid(1), vy.gid(0)
    if i < ey.shape[0] and j < ey.shape[1]:
        if i == 0:
            ey[i, j] = source
        else:
            ey[i, j] = ey[i, j] - 0.5 * (hz[i, j] - hz[i - 1, j])


@vy.kernel(workgroup=(64, 4))
def fdtd_ex(ex: vy.InOut[vy.f32, 2], hz: vy.In[vy.f32, 2]):
    i, j = vy.gid(1), vy.gid(0)
    if i < ex.shape[0] and 0 < j < ex.shape[1]:
        ex[i, j] = ex[i, j] - 0.5 * (hz[i, j] - hz[i, j - 1])


@vy.kernel(workgroup=(64, 4))
def fdtd_hz(ex: vy.In[vy.f32, 2], ey: vy.In[vy.f32, 2], hz: vy.InOut[vy.f32, 2]):
    i, j = vy.gid(1), vy.gid(0)
    if i < hz.shape[0] - 1 and j < hz.shape[1] - 1:
        curl = ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j]
        hz[i, j] = hz[i, j] - 0.7 * curl


def fdtd_2d(steps: int, ex: Array, ey: Array, hz: Array) -> None:
    for t in range(steps):
        fdtd_ey(float(t), ey, hz)
        fdtd_ex(ex, hz)
        fdtd_hz(ex, ey, hz)


def fdtd_2d_data(n: int) -> Arguments:
    fields = {name: floats(n, n + 7, seed=seed) for seed, name in enumerate(("ex", "ey", "hz"))}
    return {"steps": 4, **fields}


@vy.kernel(workgroup=(32, 4, 1))
def heat_step(a: vy.In[vy.f32, 3], b: vy.InOut[vy.f32, 3]):
    i, j, k = vy.gid(2), vy.gid(1), vy.gid(0)
    if 0 < i < a.shape[0] - 1 and 0 < j < a.shape[1] - 1 and 0 < k < a.shape[2] - 1:
        here = a[i, j, k]
        b[i, j, k] = (
            0.125 * (a[i + 1, j, k] - 2.0 * here + a[i - 1, j, k])
            + 0.125 * (a[i, j + 1, k] - 2.0 * here + a[i, j - 1, k])
            + 0.125 * (a[i, j, k + 1] - 2.0 * here + a[i, j, k - 1])
            + here
        )


def heat_3d(steps: int, a: Array, b: Array) -> None:
    for _ in range(steps):
        heat_step(a, b)
        heat_step(b, a)


def heat_3d_data(n: int) -> Arguments:
    a = floats(n, n, n)
    return {"steps": 2, "a": a, "b": a.copy()}


@vy.kernel
def jacobi_step(a: vy.In[vy.f32], b: vy.InOut[vy.f32]):
    i = vy.gid()
    if 0 < i < len(a) - 1:
        b[i] = 0.33333 * (a[i - 1] + a[i] + a[i + 1])


def jacobi_1d(steps: int, a: Array, b: Array) -> None:
    for _ in range(steps):
        jacobi_step(a, b)
        jacobi_step(b, a)


def jacobi_1d_data(n: int) -> Arguments:
    a = floats(n)
    return {"steps": 10, "a": a, "b": np.copy(a)}


CASES = (
    Case("gesummv", "polybench", [gesummv], gesummv_data, 1500, 37, ["y"], ["x"]),
    Case(
        "atax",
        "polybench",
        [times_vector, transposed_times_vector],
        atax_data,
        1500,
        37,
        ["between", "y"],
        ["a"],
        atax,
    ),
    Case("syr2k", "polybench", [syr2k], syr2k_data, 300, 19, ["c"], ["a"]),
    Case("doitgen", "polybench", [doitgen], doitgen_data, 130, 13, ["out"], ["out"]),
    Case(
        "covariance",
        "polybench",
        [column_means, centred, products_of_columns],
        covariance_data,
        300,
        19,
        ["mean", "cov"],
        ["data"],
        covariance,
    ),
    Case(
        "fdtd_2d",
        "polybench",
        [fdtd_ey, fdtd_ex, fdtd_hz],
        fdtd_2d_data,
        700,
        21,
        ["ex", "ey", "hz"],
        ["hz"],
        fdtd_2d,
    ),
    Case("heat_3d", "polybench", [heat_step], heat_3d_data, 100, 9, ["a", "b"], ["a"], heat_3d),
    Case(
        "jacobi_1d",
        "polybench",
        [jacobi_step],
        jacobi_1d_data,
        200_001,
        77,
        ["a", "b"],
        ["a"],
        jacobi_1d,
    ),
)
