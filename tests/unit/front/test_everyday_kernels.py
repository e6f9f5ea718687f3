"""Kernels as people write them in their first hour, each against numpy, on every device."""
# The number of axes stands among types; short names are those of mathematics.
# pyright: reportGeneralTypeIssues=false
# ruff: noqa: E741, N806

from __future__ import annotations

import zlib

import numpy as np
import pytest

import vyre as vy

RNG = np.random.default_rng(7)
DEVICES = [info.id for info in vy.devices() if info.available]


@vy.kernel
def find(text: vy.In[vy.u8], pattern: vy.In[vy.u8], hits: vy.Out[vy.bool_]):
    i = vy.gid()
    if i + len(pattern) <= len(text):
        same = True
        for k in range(len(pattern)):
            if text[i + k] != pattern[k]:
                same = False
                break
        hits[i] = same


@pytest.mark.parametrize("d", DEVICES)
def test_string_search(d: str) -> None:
    t = b"the cat sat on the mat with the hat"
    h = np.zeros(len(t), bool)
    find(t, b"the", h, device=d)
    assert np.flatnonzero(h).tolist() == [0, 15, 28]


@vy.kernel
def moving_average(x: vy.In[vy.f32], y: vy.Out[vy.f32], window: vy.static[int] = 5):
    i = vy.gid()
    if i < len(y):
        total = 0.0
        for k in range(window):
            total += x[i + k]
        y[i] = total / window


@pytest.mark.parametrize("d", DEVICES)
def test_moving(d: str) -> None:
    x = RNG.random(100).astype(np.float32)
    y = np.zeros(96, np.float32)
    moving_average(x, y, device=d)
    np.testing.assert_allclose(y, np.convolve(x, np.ones(5) / 5, "valid"), rtol=1e-5)


@vy.kernel(workgroup=256)
def argmax(x: vy.In[vy.f32], best: vy.Out[vy.u32]):
    value = vy.shared(vy.f32, 256)
    where = vy.shared(vy.u32, 256)
    lane = vy.lid()
    v = -vy.math.inf
    at = 0
    for i in range(lane, len(x), 256):
        if x[i] > v:
            v = x[i]
            at = i
    value[lane] = v
    where[lane] = at
    vy.barrier()
    step = 128
    while step > 0:
        if lane < step and value[lane + step] > value[lane]:
            value[lane] = value[lane + step]
            where[lane] = where[lane + step]
        vy.barrier()
        step //= 2
    if lane == 0:
        best[0] = where[0]


@pytest.mark.parametrize("d", DEVICES)
def test_arg_max(d: str) -> None:
    x = RNG.random(5000).astype(np.float32)
    b = np.zeros(1, np.uint32)
    argmax(x, b, grid=1, device=d)
    assert b[0] == x.argmax()


@vy.kernel(workgroup=(16, 16))
def resize(src: vy.In[vy.f32, 2], dst: vy.Out[vy.f32, 2]):
    row, col = vy.gid(1), vy.gid(0)
    if row < dst.shape[0] and col < dst.shape[1]:
        y = vy.f32(row) * vy.f32(src.shape[0] - 1) / vy.f32(dst.shape[0] - 1)
        x = vy.f32(col) * vy.f32(src.shape[1] - 1) / vy.f32(dst.shape[1] - 1)
        y0, x0 = vy.i32(vy.math.floor(y)), vy.i32(vy.math.floor(x))
        y1, x1 = min(y0 + 1, src.shape[0] - 1), min(x0 + 1, src.shape[1] - 1)
        fy, fx = y - vy.f32(y0), x - vy.f32(x0)
        top = src[y0, x0] * (1 - fx) + src[y0, x1] * fx
        bottom = src[y1, x0] * (1 - fx) + src[y1, x1] * fx
        dst[row, col] = top * (1 - fy) + bottom * fy


@pytest.mark.parametrize("d", DEVICES)
def test_bilinear(d: str) -> None:
    s = RNG.random((7, 9)).astype(np.float32)
    o = np.zeros((13, 21), np.float32)
    resize(s, o, device=d)
    ys, xs = np.linspace(0, 6, 13), np.linspace(0, 8, 21)
    t = np.array([np.interp(xs, np.arange(9), r) for r in s])
    e = np.array([np.interp(ys, np.arange(7), c) for c in t.T]).T
    np.testing.assert_allclose(o, e, atol=1e-5)


@vy.kernel
def run_starts(x: vy.In[vy.u8], length: vy.Out[vy.u32]):
    i = vy.gid()
    if i < len(x) and (i == 0 or x[i] != x[i - 1]):
        n = 1
        while i + n < len(x) and x[i + n] == x[i]:
            n += 1
        length[i] = n


@pytest.mark.parametrize("d", DEVICES)
def test_run_length(d: str) -> None:
    x = RNG.integers(0, 3, 200).astype(np.uint8)
    l = np.zeros(200, np.uint32)
    run_starts(x, l, device=d)
    at = np.flatnonzero(np.r_[True, x[1:] != x[:-1]])
    e = np.zeros(200)
    e[at] = np.diff(np.r_[at, 200])
    np.testing.assert_array_equal(l, e)


@vy.kernel(workgroup=(8, 8))
def life(old: vy.In[vy.u8, 2], new: vy.Out[vy.u8, 2]):
    i, j = vy.gid(1), vy.gid(0)
    rows, cols = old.shape
    if i < rows and j < cols:
        near: vy.u32 = 0
        for di in (-1, 0, 1):
            for dj in (-1, 0, 1):
                if di != 0 or dj != 0:
                    near += vy.u32(old[(i + di) % rows, (j + dj) % cols])
        new[i, j] = 1 if near == 3 or (near == 2 and old[i, j] == 1) else 0


@pytest.mark.parametrize("d", DEVICES)
def test_conway(d: str) -> None:
    b = RNG.integers(0, 2, (20, 30)).astype(np.uint8)
    n = np.zeros_like(b)
    life(b, n, device=d)
    s = sum(np.roll(b, (a, c), (0, 1)) for a in (-1, 0, 1) for c in (-1, 0, 1) if a or c)
    np.testing.assert_array_equal(n, (s == 3) | ((s == 2) & (b == 1)))


@vy.kernel(workgroup=(8, 8))
def lu_step(a: vy.InOut[vy.f32, 2], k: vy.u32):
    i, j = vy.gid(1) + k + 1, vy.gid(0) + k + 1
    if i < a.shape[0] and j < a.shape[1]:
        a[i, j] -= a[i, k] / a[k, k] * a[k, j]


@vy.kernel
def lu_column(a: vy.InOut[vy.f32, 2], k: vy.u32):
    i = vy.gid() + k + 1
    if i < a.shape[0]:
        a[i, k] /= a[k, k]


@pytest.mark.parametrize("d", DEVICES)
def test_lu(d: str) -> None:
    # Numbers of its own: how well a product of factors can be told depends on them.
    a = (np.random.default_rng(7).random((12, 12)) + np.eye(12) * 12).astype(np.float32)
    w = a.copy()
    for k in range(11):
        lu_step(w, k, device=d)
        lu_column(w, k, device=d)
    L, U = np.tril(w, -1) + np.eye(12), np.triu(w)
    np.testing.assert_allclose(L @ U, a, rtol=1e-5)


@vy.kernel
def softmax(x: vy.In[vy.f32, 2], y: vy.Out[vy.f32, 2]):
    row = vy.gid()
    if row < x.shape[0]:
        top = x[row, 0]
        for j in range(1, x.shape[1]):
            top = max(top, x[row, j])
        total = 0.0
        for j in range(x.shape[1]):
            total += vy.math.exp(x[row, j] - top)
        for j in range(x.shape[1]):
            y[row, j] = vy.math.exp(x[row, j] - top) / total


@pytest.mark.parametrize("d", DEVICES)
def test_soft(d: str) -> None:
    x = RNG.normal(size=(9, 17)).astype(np.float32)
    y = np.zeros_like(x)
    softmax(x, y, device=d)
    e = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(y, e / e.sum(1, keepdims=True), rtol=1e-5)


GX = ((-1.0, 0.0, 1.0), (-2.0, 0.0, 2.0), (-1.0, 0.0, 1.0))


@vy.kernel(workgroup=(16, 8))
def sobel(x: vy.In[vy.f32, 2], y: vy.Out[vy.f32, 2]):
    i, j = vy.gid(1), vy.gid(0)
    if i < y.shape[0] and j < y.shape[1]:
        gx = gy = 0.0
        for a in range(3):
            for b in range(3):
                v = x[i + a, j + b]
                gx += GX[a][b] * v
                gy += GX[b][a] * v
        y[i, j] = vy.math.sqrt(gx * gx + gy * gy)


@pytest.mark.parametrize("d", DEVICES)
def test_sobel(d: str) -> None:
    x = RNG.random((20, 24)).astype(np.float32)
    y = np.zeros((18, 22), np.float32)
    sobel(x, y, device=d)
    w = np.lib.stride_tricks.sliding_window_view(x, (3, 3))
    g = np.array(GX)
    e = np.hypot((w * g).sum((2, 3)), (w * g.T).sum((2, 3)))
    np.testing.assert_allclose(y, e, rtol=1e-4, atol=1e-5)


@vy.kernel
def crc32(data: vy.In[vy.u8, 2], out: vy.Out[vy.u32]):
    i = vy.gid()
    if i < data.shape[0]:
        crc = 0xFFFFFFFF
        for k in range(data.shape[1]):
            crc ^= vy.u32(data[i, k])
            for _ in range(8):
                crc = (crc >> 1) ^ (0xEDB88320 if crc & 1 != 0 else 0)
        out[i] = ~crc


@pytest.mark.parametrize("d", DEVICES)
def test_crc(d: str) -> None:
    x = RNG.integers(0, 256, (10, 33)).astype(np.uint8)
    o = np.zeros(10, np.uint32)
    crc32(x, o, device=d)
    assert o.tolist() == [zlib.crc32(r.tobytes()) for r in x]


@vy.kernel
def delay(x: vy.In[vy.f32, 2], y: vy.Out[vy.f32, 2], n: vy.static[int] = 4):
    ring = vy.local(vy.f32, n)
    row = vy.gid()
    if row < x.shape[0]:
        for t in range(x.shape[1]):
            slot = t % n
            y[row, t] = x[row, t] + 0.5 * ring[slot]
            ring[slot] = x[row, t]


@pytest.mark.parametrize("d", DEVICES)
def test_ring(d: str) -> None:
    x = RNG.random((5, 20)).astype(np.float32)
    y = np.zeros_like(x)
    delay(x, y, device=d)
    e = x.copy()
    e[:, 4:] += 0.5 * x[:, :-4]
    np.testing.assert_allclose(y, e, rtol=1e-6)


@vy.func
def cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@vy.kernel
def rotate(q: vy.In[vy.f32], p: vy.In[vy.f32, 2], out: vy.Out[vy.f32, 2]):
    i = vy.gid()
    if i < p.shape[0]:
        w = q[0]
        u = (q[1], q[2], q[3])
        v = (p[i, 0], p[i, 1], p[i, 2])
        t = cross(u, v)
        tt = cross(u, t)
        for k in range(3):
            out[i, k] = v[k] + 2.0 * (w * t[k] + tt[k])


@pytest.mark.parametrize("d", DEVICES)
def test_quaternion(d: str) -> None:
    q = np.array([np.cos(0.4), 0, 0, np.sin(0.4)], np.float32)
    p = RNG.random((6, 3)).astype(np.float32)
    o = np.zeros_like(p)
    rotate(q, p, o, device=d)
    c, s = np.cos(0.8), np.sin(0.8)
    np.testing.assert_allclose(o, p @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]).T, atol=1e-6)


@vy.kernel(workgroup=(8, 8))
def floyd(d: vy.InOut[vy.i32, 2]):
    i, j = vy.gid(1), vy.gid(0)
    for k in range(d.shape[0]):
        if i < d.shape[0] and j < d.shape[0]:
            d[i, j] = min(d[i, j], d[i, k] + d[k, j])
        vy.grid_sync()


@pytest.mark.parametrize("dev", DEVICES)
def test_floyd_warshall(dev: str) -> None:
    d = RNG.integers(1, 100, (13, 13)).astype(np.int32)
    np.fill_diagonal(d, 0)
    e = d.copy()
    floyd(d, device=dev)
    for k in range(13):
        e = np.minimum(e, e[:, k : k + 1] + e[k : k + 1])
    np.testing.assert_array_equal(d, e)


@vy.kernel(workgroup=128)
def bitonic(x: vy.InOut[vy.i32]):
    t = vy.shared(vy.i32, 256)
    lane = vy.lid()
    for half in (0, 128):
        t[lane + half] = x[lane + half]
    vy.barrier()
    size = 2
    while size <= 256:
        step = size // 2
        while step > 0:
            low = (lane // step) * step * 2 + lane % step
            up = (low & size) == 0
            a, b = t[low], t[low + step]
            if (a > b) == up:
                t[low], t[low + step] = b, a
            vy.barrier()
            step //= 2
        size *= 2
    for half in (0, 128):
        x[lane + half] = t[lane + half]


@pytest.mark.parametrize("d", DEVICES)
def test_bitonic_sort(d: str) -> None:
    x = RNG.integers(-1000, 1000, 256).astype(np.int32)
    e = np.sort(x)
    bitonic(x, grid=1, device=d)
    np.testing.assert_array_equal(x, e)


@vy.kernel
def distance(a: vy.In[vy.u8], b: vy.In[vy.u8, 2], out: vy.Out[vy.u32]):
    row = vy.local(vy.u32, 64)
    i = vy.gid()
    if i < b.shape[0]:
        for k in range(len(a) + 1):
            row[k] = k
        for j in range(b.shape[1]):
            diagonal = row[0]
            row[0] = j + 1
            for k in range(len(a)):
                cost = 0 if a[k] == b[i, j] else 1
                best = min(row[k + 1] + 1, row[k] + 1, diagonal + cost)
                diagonal = row[k + 1]
                row[k + 1] = best
        out[i] = row[len(a)]


def lev(a, b):
    r = list(range(len(a) + 1))
    for j, c in enumerate(b):
        dg, r[0] = r[0], j + 1
        for k, e in enumerate(a):
            n = min(r[k + 1] + 1, r[k] + 1, dg + (e != c))
            dg, r[k + 1] = r[k + 1], n
    return r[-1]


@pytest.mark.parametrize("d", DEVICES)
def test_levenshtein(d: str) -> None:
    b = RNG.integers(97, 101, (8, 12)).astype(np.uint8)
    a = b"abcdabcdd"
    o = np.zeros(8, np.uint32)
    distance(a, b, o, device=d)
    assert o.tolist() == [lev(a, r.tobytes()) for r in b]
