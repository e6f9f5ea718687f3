"""Machine learning: layers, norms, attention, pooling, quantisation, optimisers."""
# pyright: standard, reportInvalidTypeForm=false, reportGeneralTypeIssues=false

import numpy as np

import vyre as vy
from benchmarks.survey.case import Arguments, Case, floats, integers, zeros

HEAD = 64


@vy.kernel
def softmax(x: vy.In[vy.f32, 2], y: vy.Out[vy.f32, 2]):
    row = vy.gid()
    if row < x.shape[0]:
        most = x[row, 0]
        for k in range(1, x.shape[1]):
            most = max(most, x[row, k])
        total = 0.0
        for k in range(x.shape[1]):
            e = vy.math.exp(x[row, k] - most)
            y[row, k] = e
            total += e
        for k in range(x.shape[1]):
            y[row, k] /= total


def softmax_data(n: int) -> Arguments:
    return {"x": floats(n, 203, low=-4.0, high=4.0), "y": zeros(n, 203)}


@vy.kernel
def layer_norm(
    x: vy.In[vy.f32, 2], scale: vy.In[vy.f32], shift: vy.In[vy.f32], y: vy.Out[vy.f32, 2]
):
    row = vy.gid()
    if row < x.shape[0]:
        width = vy.f32(x.shape[1])
        total = 0.0
        for k in range(x.shape[1]):
            total += x[row, k]
        mean = total / width
        spread = 0.0
        for k in range(x.shape[1]):
            spread += (x[row, k] - mean) ** 2
        factor = 1.0 / vy.math.sqrt(spread / width + 1e-5)
        for k in range(x.shape[1]):
            y[row, k] = (x[row, k] - mean) * factor * scale[k] + shift[k]


def layer_norm_data(n: int) -> Arguments:
    x, scale, shift = floats(n, 300, seed=1), floats(300, seed=2), floats(300, seed=3)
    return {"x": x, "scale": scale, "shift": shift, "y": zeros(n, 300)}


@vy.kernel(workgroup=(32, 4, 1))
def conv2d(
    image: vy.In[vy.f32, 3], weight: vy.In[vy.f32, 3], bias: vy.In[vy.f32], out: vy.Out[vy.f32, 3]
):
    """3 × 3, without padding; `weight` has a row of input channels × 9 for each output channel."""
    o, y, x = vy.gid(2), vy.gid(1), vy.gid(0)
    if o < out.shape[0] and y < out.shape[1] and x < out.shape[2]:
        total = bias[o]
        for c in range(image.shape[0]):
            for v in range(3):
                for u in range(3):
                    total += image[c, y + v, x + u] * weight[o, c, 3 * v + u]
        out[o, y, x] = max(total, 0.0)


def conv2d_data(n: int) -> Arguments:
    return {
        "image": floats(8, n + 2, n + 3, seed=1),
        "weight": floats(12, 8, 9, seed=2, low=-1.0),
        "bias": floats(12, seed=3),
        "out": zeros(12, n, n + 1),
    }


@vy.kernel
def attention(
    q: vy.In[vy.f32, 2], k: vy.In[vy.f32, 2], v: vy.In[vy.f32, 2], out: vy.Out[vy.f32, 2]
):
    """A row of attention for each query, with the running softmax that needs one pass."""
    sums = vy.local(vy.f32, HEAD)
    i = vy.gid()
    if i < q.shape[0]:
        for d in range(HEAD):
            sums[d] = 0.0
        most, total = -vy.math.inf, 0.0
        for j in range(k.shape[0]):
            score = 0.0
            for d in range(HEAD):
                score += q[i, d] * k[j, d]
            score *= 0.125
            larger = max(most, score)
            old, new = vy.math.exp(most - larger), vy.math.exp(score - larger)
            total = total * old + new
            for d in range(HEAD):
                sums[d] = sums[d] * old + new * v[j, d]
            most = larger
        for d in range(HEAD):
            out[i, d] = sums[d] / total


def attention_data(n: int) -> Arguments:
    q, k, v = (floats(rows, HEAD, seed=rows, low=-1.0) for rows in (n, n + 1, n + 1))
    return {"q": q, "k": k, "v": v, "out": zeros(n, HEAD)}


@vy.kernel
def quantise_rows(x: vy.In[vy.f32, 2], q: vy.Out[vy.i8, 2], scale: vy.Out[vy.f32]):
    row = vy.gid()
    if row < x.shape[0]:
        most = 0.0
        for k in range(x.shape[1]):
            most = max(most, abs(x[row, k]))
        factor = 127.0 / max(most, 1e-12)
        for k in range(x.shape[1]):
            q[row, k] = vy.i8(vy.math.rint(x[row, k] * factor))
        scale[row] = most / 127.0


def quantise_rows_data(n: int) -> Arguments:
    x = floats(n, 300, low=-3.0, high=3.0)
    return {"x": x, "q": zeros(n, 300, dtype=np.int8), "scale": zeros(n)}


@vy.kernel(workgroup=(16, 16))
def int8_linear(x: vy.In[vy.i8, 2], w: vy.In[vy.i8, 2], scale: vy.In[vy.f32], y: vy.Out[vy.f32, 2]):
    i, j = vy.gid(1), vy.gid(0)
    if i < y.shape[0] and j < y.shape[1]:
        total: vy.i32 = 0
        for k in range(x.shape[1]):
            total += vy.i32(x[i, k]) * vy.i32(w[j, k])
        y[i, j] = vy.f32(total) * scale[j]


def int8_linear_data(n: int) -> Arguments:
    x, w = (integers(np.int8, -128, 128, n + more, n + 5, seed=more) for more in (1, 2))
    return {"x": x, "w": w, "scale": floats(n + 2), "y": zeros(n + 1, n + 2)}


@vy.kernel(workgroup=(32, 4, 1))
def max_pool(x: vy.In[vy.f32, 3], y: vy.Out[vy.f32, 3]):
    c, i, j = vy.gid(2), vy.gid(1), vy.gid(0)
    if c < y.shape[0] and i < y.shape[1] and j < y.shape[2]:
        most = x[c, 2 * i, 2 * j]
        for di in range(2):
            for dj in range(2):
                most = max(most, x[c, 2 * i + di, 2 * j + dj])
        y[c, i, j] = most


def max_pool_data(n: int) -> Arguments:
    return {"x": floats(16, 2 * n, 2 * n + 2), "y": zeros(16, n, n + 1)}


@vy.kernel
def adam(
    rate: vy.f32,
    gradient: vy.In[vy.f32],
    first: vy.InOut[vy.f32],
    second: vy.InOut[vy.f32],
    weight: vy.InOut[vy.f32],
):
    i = vy.gid()
    if i < len(weight):
        g = gradient[i]
        first[i] = 0.9 * first[i] + 0.1 * g
        second[i] = 0.999 * second[i] + 0.001 * g * g
        weight[i] -= rate * first[i] / (vy.math.sqrt(second[i]) + 1e-8)


def adam_data(n: int) -> Arguments:
    parts = ("gradient", "first", "second", "weight")
    return {"rate": 0.01, **{name: floats(n, seed=seed) for seed, name in enumerate(parts)}}


@vy.kernel
def gelu(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(x):
        v = x[i]
        y[i] = 0.5 * v * (1.0 + vy.math.tanh(0.7978846 * (v + 0.044715 * v * v * v)))


def gelu_data(n: int) -> Arguments:
    return {"x": floats(n, low=-4.0, high=4.0), "y": zeros(n)}


@vy.kernel
def forest(
    root: vy.In[vy.u32],
    left: vy.In[vy.u32],
    right: vy.In[vy.u32],
    feature: vy.In[vy.u32],
    limit: vy.In[vy.f32],
    value: vy.In[vy.f32],
    x: vy.In[vy.f32, 2],
    y: vy.Out[vy.f32],
):
    """Decision trees, whose leaves have no left child."""
    i = vy.gid()
    if i < len(y):
        total = 0.0
        for tree in range(len(root)):
            node = root[tree]
            while left[node] != 0:
                if x[feature[node], i] < limit[node]:
                    node = left[node]
                else:
                    node = right[node]
            total += value[node]
        y[i] = total


def forest_data(n: int) -> Arguments:
    trees, depth = 8, 10
    inner, nodes = 2**depth - 1, 2 ** (depth + 1) - 1
    children = np.arange(inner, dtype=np.uint32)
    left, right = (zeros(trees, nodes, dtype=np.uint32) for _ in range(2))
    for tree in range(trees):
        left[tree, :inner] = tree * nodes + 2 * children + 1
        right[tree, :inner] = tree * nodes + 2 * children + 2
    return {
        "root": np.arange(trees, dtype=np.uint32) * nodes,
        "left": left.reshape(-1),
        "right": right.reshape(-1),
        "feature": integers(np.uint32, 0, 8, trees * nodes, seed=1),
        "limit": floats(trees * nodes, seed=2),
        "value": floats(trees * nodes, seed=3),
        "x": floats(8, n, seed=4),
        "y": zeros(n),
    }


@vy.kernel
def column_maxima(x: vy.In[vy.u8, 2], most: vy.Out[vy.u8]):
    j = vy.gid()
    if j < x.shape[1]:
        best = x[0, j]
        for k in range(1, x.shape[0]):
            best = max(best, x[k, j])
        most[j] = best


def column_maxima_data(n: int) -> Arguments:
    return {"x": integers(np.uint8, 0, 255, n, n + 9), "most": zeros(n + 9, dtype=np.uint8)}


CASES = (
    Case("forest", "ml", [forest], forest_data, 4001, 67, ["y"], ["root", "x"]),
    Case("column_maxima", "ml", [column_maxima], column_maxima_data, 2000, 23, ["most"], ["x"]),
    Case(
        "softmax", "ml", [softmax], softmax_data, 2001, 17, ["y"], ["x"], tolerance=1e-5, libm=True
    ),
    Case("layer_norm", "ml", [layer_norm], layer_norm_data, 3001, 17, ["y"], ["x"]),
    Case("conv2d", "ml", [conv2d], conv2d_data, 80, 11, ["out"], ["image", "out"]),
    Case(
        "attention", "ml", [attention], attention_data, 300, 19, ["out"], ["q", "k"], tolerance=1e-5
    ),
    Case(
        "quantise_rows", "ml", [quantise_rows], quantise_rows_data, 3001, 17, ["q", "scale"], ["x"]
    ),
    Case("int8_linear", "ml", [int8_linear], int8_linear_data, 250, 17, ["y"], ["x", "w"]),
    Case("max_pool", "ml", [max_pool], max_pool_data, 150, 11, ["y"], ["y"]),
    Case("adam", "ml", [adam], adam_data, 500_001, 131, ["first", "second", "weight"], ["weight"]),
    Case("gelu", "ml", [gelu], gelu_data, 500_001, 131, ["y"], ["x"], tolerance=1e-6, libm=True),
)
