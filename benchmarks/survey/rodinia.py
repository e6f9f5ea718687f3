"""Rodinia's kinds: heat on a chip, clustering, elimination, trees, neural layers, paths."""
# pyright: standard, reportInvalidTypeForm=false, reportGeneralTypeIssues=false

import numpy as np

import vyre as vy
from benchmarks.kernel import Array, random
from benchmarks.survey.case import Arguments, Case, floats, integers, zeros

ORDER = 16


@vy.kernel(workgroup=(32, 8))
def hotspot_step(
    power: vy.In[vy.f32, 2], before: vy.In[vy.f32, 2], after: vy.Out[vy.f32, 2], cap: vy.f32
):
    r, c = vy.gid(1), vy.gid(0)
    rows, columns = before.shape[0], before.shape[1]
    if r < rows and c < columns:
        here = before[r, c]
        north, south = before[max(r - 1, 0), c], before[min(r + 1, rows - 1), c]
        west, east = before[r, max(c - 1, 0)], before[r, min(c + 1, columns - 1)]
        delta = power[r, c] + (south + north - 2.0 * here) * 0.1
        delta += (east + west - 2.0 * here) * 0.1 + (80.0 - here) * 0.05
        after[r, c] = here + cap * delta


def hotspot(steps: int, power: Array, a: Array, b: Array) -> None:
    for _ in range(steps):
        hotspot_step(power, a, b, 0.5)
        hotspot_step(power, b, a, 0.5)


def hotspot_data(n: int) -> Arguments:
    shape = (n, n + 5)
    a = floats(*shape, seed=2, low=60.0, high=90.0)
    return {"steps": 2, "power": floats(*shape), "a": a, "b": zeros(*shape)}


@vy.kernel(workgroup=(32, 8))
def srad_coefficients(q0: vy.f32, image: vy.In[vy.f32, 2], c: vy.Out[vy.f32, 2]):
    i, j = vy.gid(1), vy.gid(0)
    rows, columns = image.shape[0], image.shape[1]
    if i < rows and j < columns:
        here = image[i, j]
        north = image[max(i - 1, 0), j] - here
        south = image[min(i + 1, rows - 1), j] - here
        west = image[i, max(j - 1, 0)] - here
        east = image[i, min(j + 1, columns - 1)] - here
        gradient = (north * north + south * south + west * west + east * east) / (here * here)
        laplace = (north + south + west + east) / here
        numerator = 0.5 * gradient - 0.0625 * (laplace * laplace)
        denominator = 1.0 + 0.25 * laplace
        q = numerator / (denominator * denominator)
        value = 1.0 / (1.0 + (q - q0) / (q0 * (1.0 + q0)))
        c[i, j] = min(max(value, 0.0), 1.0)


def srad_data(n: int) -> Arguments:
    image = floats(n, n + 3, low=0.5, high=1.5)
    return {"q0": 0.05, "image": image, "c": zeros(*image.shape)}


@vy.kernel
def kmeans_assign(points: vy.In[vy.f32, 2], centres: vy.In[vy.f32, 2], nearest: vy.Out[vy.u32]):
    i = vy.gid()
    if i < points.shape[0]:
        best, where = vy.math.inf, 0
        for k in range(centres.shape[0]):
            distance = 0.0
            for d in range(points.shape[1]):
                apart = points[i, d] - centres[k, d]
                distance += apart * apart
            if distance < best:
                best, where = distance, k
        nearest[i] = where


def kmeans_assign_data(n: int) -> Arguments:
    points, centres = floats(n, 7, seed=1), floats(21, 7, seed=2)
    return {"points": points, "centres": centres, "nearest": zeros(n, dtype=np.uint32)}


@vy.kernel
def elimination_factors(t: vy.u32, a: vy.In[vy.f32, 2], factor: vy.InOut[vy.f32]):
    i = t + 1 + vy.gid()
    if i < len(factor):
        factor[i] = a[i, t] / a[t, t]


@vy.kernel(workgroup=(64, 4))
def elimination_rows(t: vy.u32, factor: vy.In[vy.f32], a: vy.InOut[vy.f32, 2]):
    i, j = t + 1 + vy.gid(1), t + vy.gid(0)
    if i < a.shape[0] and j < a.shape[1]:
        a[i, j] -= factor[i] * a[t, j]


def gaussian(a: Array, factor: Array) -> None:
    for t in range(len(factor) - 1):
        elimination_factors(t, a, factor)
        elimination_rows(t, factor, a)


def gaussian_data(n: int) -> Arguments:
    a = floats(n, n + 1)
    a[np.arange(n), np.arange(n)] += np.float32(n)
    return {"a": a, "factor": zeros(n)}


@vy.kernel
def btree_lookup(
    depth: vy.u32,
    keys: vy.In[vy.u32, 2],
    children: vy.In[vy.u32, 2],
    wanted: vy.In[vy.u32],
    found: vy.Out[vy.u32],
):
    i = vy.gid()
    if i < len(wanted):
        node: vy.u32 = 0
        for _ in range(depth):
            slot = 0
            while slot < keys.shape[1] and keys[node, slot] <= wanted[i]:
                slot += 1
            node = children[node, slot]
        found[i] = node


def btree_lookup_data(n: int) -> Arguments:
    """A full tree over the values of a leaf's number times 16."""
    depth = 1
    while ORDER**depth < n:
        depth += 1
    inner = sum(ORDER**level for level in range(depth))
    keys = np.zeros((inner, ORDER - 1), np.uint32)
    children = np.zeros((inner, ORDER), np.uint32)
    first = 0
    for level in range(depth):
        nodes, width = ORDER**level, ORDER ** (depth - level - 1) * 16
        ids = np.arange(nodes)[:, None]
        below = first + nodes if level < depth - 1 else 0
        keys[first : first + nodes] = ids * width * ORDER + np.arange(1, ORDER) * width
        children[first : first + nodes] = below + ids * ORDER + np.arange(ORDER)
        first += nodes
    wanted = integers(np.uint32, 0, ORDER**depth * 16, n)
    found = zeros(n, dtype=np.uint32)
    return {"depth": depth, "keys": keys, "children": children, "wanted": wanted, "found": found}


@vy.kernel(workgroup=(32, 8))
def backprop_adjust(
    delta: vy.In[vy.f32],
    layer: vy.In[vy.f32],
    weights: vy.InOut[vy.f32, 2],
    momentum: vy.InOut[vy.f32, 2],
):
    k, j = vy.gid(1), vy.gid(0)
    if k < weights.shape[0] and j < weights.shape[1]:
        change = 0.3 * delta[j] * layer[k] + 0.3 * momentum[k, j]
        weights[k, j] += change
        momentum[k, j] = change


def backprop_adjust_data(n: int) -> Arguments:
    delta, layer = floats(n + 1, seed=1), floats(n, seed=2)
    weights, momentum = floats(n, n + 1, seed=3), floats(n, n + 1, seed=4)
    return {"delta": delta, "layer": layer, "weights": weights, "momentum": momentum}


@vy.kernel
def path_step(row: vy.u32, wall: vy.In[vy.i32, 2], before: vy.In[vy.i32], after: vy.Out[vy.i32]):
    j = vy.gid()
    n = len(before)
    if j < n:
        best = before[j]
        if j > 0:
            best = min(best, before[j - 1])
        if j < n - 1:
            best = min(best, before[j + 1])
        after[j] = wall[row, j] + best


def pathfinder(wall: Array, a: Array, b: Array) -> None:
    for row in range(0, len(wall), 2):
        path_step(row, wall, a, b)
        path_step(row + 1, wall, b, a)


def pathfinder_data(n: int) -> Arguments:
    wall = random().integers(0, 10, (20, n), dtype=np.int32)
    return {"wall": wall, "a": wall[0].copy(), "b": zeros(n, dtype=np.int32)}


CASES = (
    Case("hotspot", "rodinia", [hotspot_step], hotspot_data, 600, 21, ["a", "b"], ["a"], hotspot),
    Case("srad", "rodinia", [srad_coefficients], srad_data, 700, 21, ["c"], ["c"]),
    Case(
        "kmeans_assign",
        "rodinia",
        [kmeans_assign],
        kmeans_assign_data,
        50_000,
        131,
        ["nearest"],
        ["points", "centres"],
    ),
    Case(
        "gaussian",
        "rodinia",
        [elimination_factors, elimination_rows],
        gaussian_data,
        200,
        19,
        ["a", "factor"],
        ["a"],
        gaussian,
    ),
    Case(
        "btree_lookup",
        "rodinia",
        [btree_lookup],
        btree_lookup_data,
        50_000,
        301,
        ["found"],
        ["wanted", "keys"],
    ),
    Case(
        "backprop_adjust",
        "rodinia",
        [backprop_adjust],
        backprop_adjust_data,
        1000,
        21,
        ["weights", "momentum"],
        ["weights"],
    ),
    Case(
        "pathfinder",
        "rodinia",
        [path_step],
        pathfinder_data,
        100_001,
        77,
        ["a", "b"],
        ["wall"],
        pathfinder,
    ),
)
