"""First kernels: what tutorials for GPUs show, and how newcomers write it."""
# pyright: standard, reportInvalidTypeForm=false, reportGeneralTypeIssues=false

import numpy as np

import vyre as vy
from benchmarks.kernel import Array, random
from benchmarks.survey.case import Arguments, Case, floats, integers, zeros

GROUP = 256
GROUPS = 64
TILE = 16
RADIUS = 4
SIZE = 16
ROUNDS = 60


@vy.kernel(workgroup=(16, 16))
def matrix_add(a: vy.In[vy.f32, 2], b: vy.In[vy.f32, 2], c: vy.Out[vy.f32, 2]):
    """With x as the row, as many write it."""
    i, j = vy.gid(0), vy.gid(1)
    if i < c.shape[0] and j < c.shape[1]:
        c[i, j] = a[i, j] + b[i, j]


def matrix_add_data(n: int) -> Arguments:
    return {"a": floats(n, n + 9, seed=1), "b": floats(n, n + 9, seed=2), "c": zeros(n, n + 9)}


@vy.kernel(workgroup=(16, 16))
def naive_product(a: vy.In[vy.f32, 2], b: vy.In[vy.f32, 2], c: vy.Out[vy.f32, 2]):
    row, column = vy.gid(0), vy.gid(1)
    if row < c.shape[0] and column < c.shape[1]:
        total = 0.0
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, column]
        c[row, column] = total


def product_data(n: int) -> Arguments:
    return {
        "a": floats(n, n + 5, seed=1),
        "b": floats(n + 5, n + 3, seed=2),
        "c": zeros(n, n + 3),
    }


@vy.kernel
def default_product(a: vy.In[vy.f32, 2], b: vy.In[vy.f32, 2], c: vy.Out[vy.f32, 2]):
    """Without a word about workgroups."""
    j, i = vy.gid(0), vy.gid(1)
    if i < c.shape[0] and j < c.shape[1]:
        total = 0.0
        for k in range(a.shape[1]):
            total += a[i, k] * b[k, j]
        c[i, j] = total


@vy.kernel
def brighten_channels(gain: vy.f32, image: vy.In[vy.f32, 3], out: vy.Out[vy.f32, 3]):
    """Channels last, of any number, as image libraries give them."""
    x, y = vy.gid(0), vy.gid(1)
    if y < image.shape[0] and x < image.shape[1]:
        for c in range(image.shape[2]):
            out[y, x, c] = image[y, x, c] * gain + 1.0


def brighten_channels_data(n: int) -> Arguments:
    image = floats(n, n + 7, 3, high=255.0)
    return {"gain": 1.5, "image": image, "out": zeros(*image.shape)}


@vy.kernel
def mean_of_channels(image: vy.In[vy.u8, 3], out: vy.Out[vy.u8, 2]):
    x, y = vy.gid(0), vy.gid(1)
    if y < image.shape[0] and x < image.shape[1]:
        total = vy.u32(0)
        for c in range(image.shape[2]):
            total += vy.u32(image[y, x, c])
        out[y, x] = vy.u8(total // image.shape[2])


def mean_of_channels_data(n: int) -> Arguments:
    image = integers(np.uint8, 0, 256, n, n + 7, 3)
    return {"image": image, "out": zeros(n, n + 7, dtype=np.uint8)}


@vy.kernel
def moving_average(radius: vy.u32, x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i >= radius and i + radius < len(x):
        total = 0.0
        for k in range(i - radius, i + radius + 1):
            total += x[k]
        y[i] = total / vy.f32(2 * radius + 1)


def moving_average_data(n: int) -> Arguments:
    return {"radius": 7, "x": floats(n), "y": zeros(n)}


@vy.kernel(workgroup=(TILE, TILE))
def tiled_product(a: vy.In[vy.f32, 2], b: vy.In[vy.f32, 2], c: vy.Out[vy.f32, 2]):
    """The second version of every tutorial, with tiles in shared memory and guarded loads."""
    left = vy.shared(vy.f32, TILE, TILE)
    right = vy.shared(vy.f32, TILE, TILE)
    tx, ty = vy.lid(0), vy.lid(1)
    row = vy.wid(1) * TILE + ty
    column = vy.wid(0) * TILE + tx
    inner = a.shape[1]
    total = 0.0
    for t in range((inner + TILE - 1) // TILE):
        if row < a.shape[0] and t * TILE + tx < inner:
            left[ty, tx] = a[row, t * TILE + tx]
        else:
            left[ty, tx] = 0.0
        if t * TILE + ty < inner and column < b.shape[1]:
            right[ty, tx] = b[t * TILE + ty, column]
        else:
            right[ty, tx] = 0.0
        vy.barrier()
        for k in range(TILE):
            total += left[ty, k] * right[k, tx]
        vy.barrier()
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = total


@vy.kernel(workgroup=GROUP)
def vector_add(n: vy.i32, a: vy.In[vy.f32], b: vy.In[vy.f32], c: vy.Out[vy.f32]):
    """The length is a parameter, as in CUDA, and the guard returns early."""
    i = vy.gid()
    if i >= n:
        return
    c[i] = a[i] + b[i]


def vector_add_data(n: int) -> Arguments:
    return {"n": n, "a": floats(n, seed=1), "b": floats(n, seed=2), "c": zeros(n)}


@vy.kernel(workgroup=GROUP)
def stride_saxpy(n: vy.i32, a: vy.f32, x: vy.In[vy.f32], y: vy.InOut[vy.f32]):
    for i in range(vy.gid(), n, vy.group_size() * vy.num_groups()):
        y[i] = a * x[i] + y[i]


def saxpy_of_groups(n: int, a: float, x: Array, y: Array) -> None:
    stride_saxpy(n, a, x, y, grid=GROUPS)


def stride_saxpy_data(n: int) -> Arguments:
    return {"n": n, "a": 2.5, "x": floats(n, seed=1), "y": floats(n, seed=2)}


@vy.kernel(workgroup=GROUP)
def stride_dot(x: vy.In[vy.f32], y: vy.In[vy.f32], total: vy.InOut[vy.f32]):
    mine = 0.0
    i = vy.gid()
    while i < len(x):
        mine += x[i] * y[i]
        i += vy.group_size() * vy.num_groups()
    total.atomic_add(0, mine)


def dot_of_groups(x: Array, y: Array, total: Array) -> None:
    stride_dot(x, y, total, grid=GROUPS)


def stride_dot_data(n: int) -> Arguments:
    return {"x": floats(n, seed=1), "y": floats(n, seed=2), "total": zeros(1)}


@vy.kernel(workgroup=GROUP)
def atomic_sum(x: vy.In[vy.f32], total: vy.InOut[vy.f32]):
    i = vy.gid()
    if i < len(x):
        total.atomic_add(0, x[i])


def atomic_sum_data(n: int) -> Arguments:
    return {"x": floats(n), "total": zeros(1)}


@vy.kernel(workgroup=GROUP)
def dot_in_groups(x: vy.In[vy.f32], y: vy.In[vy.f32], parts: vy.Out[vy.f32]):
    """CUDA by Example's: a stride over the grid, then a tree in shared memory."""
    cache = vy.shared(vy.f32, GROUP)
    tid = vy.gid()
    lane = vy.lid()
    temp = 0.0
    while tid < len(x):
        temp += x[tid] * y[tid]
        tid += vy.group_size() * vy.num_groups()
    cache[lane] = temp
    vy.barrier()
    i = GROUP // 2
    while i != 0:
        if lane < i:
            cache[lane] += cache[lane + i]
        vy.barrier()
        i //= 2
    if lane == 0:
        parts[vy.wid()] = cache[0]


def parts_of_groups(x: Array, y: Array, parts: Array) -> None:
    dot_in_groups(x, y, parts, grid=len(parts))


def dot_in_groups_data(n: int) -> Arguments:
    return {"x": floats(n, seed=1), "y": floats(n, seed=2), "parts": zeros(32)}


@vy.kernel(workgroup=GROUP)
def tree_sum(x: vy.In[vy.f32], sums: vy.Out[vy.f32]):
    part = vy.shared(vy.f32, GROUP)
    lane = vy.lid()
    i = vy.gid()
    part[lane] = x[i] if i < len(x) else 0.0
    vy.barrier()
    step = GROUP // 2
    while step > 0:
        if lane < step:
            part[lane] += part[lane + step]
        vy.barrier()
        step //= 2
    if lane == 0:
        sums[vy.wid()] = part[0]


def tree_sum_data(n: int) -> Arguments:
    return {"x": floats(n), "sums": zeros(-(-n // GROUP))}


@vy.kernel(workgroup=(TILE, TILE))
def tiled_transpose(x: vy.In[vy.f32, 2], out: vy.Out[vy.f32, 2]):
    tile = vy.shared(vy.f32, TILE, TILE + 1)
    column = vy.wid(0) * TILE + vy.lid(0)
    row = vy.wid(1) * TILE + vy.lid(1)
    if row < x.shape[0] and column < x.shape[1]:
        tile[vy.lid(1), vy.lid(0)] = x[row, column]
    vy.barrier()
    column = vy.wid(1) * TILE + vy.lid(0)
    row = vy.wid(0) * TILE + vy.lid(1)
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = tile[vy.lid(0), vy.lid(1)]


def transposed_in_tiles(x: Array, out: Array) -> None:
    rows, columns = x.shape
    tiled_transpose(x, out, grid=(-(-columns // TILE), -(-rows // TILE)))


def tiled_transpose_data(n: int) -> Arguments:
    return {"x": floats(n, n + 9), "out": zeros(n + 9, n)}


@vy.kernel(workgroup=GROUP)
def shared_histogram(data: vy.In[vy.u8], counts: vy.InOut[vy.u32]):
    own = vy.shared(vy.u32, 256)
    i = vy.gid()
    stride = vy.group_size() * vy.num_groups()
    while i < len(data):
        own.atomic_add(data[i], 1)
        i += stride
    vy.barrier()
    counts.atomic_add(vy.lid(), own[vy.lid()])


def histogram_of_groups(groups: int, data: Array, counts: Array) -> None:
    shared_histogram(data, counts, grid=groups)


def shared_histogram_data(n: int) -> Arguments:
    data = integers(np.uint8, 0, 256, n)
    return {"groups": GROUPS, "data": data, "counts": zeros(256, dtype=np.uint32)}


@vy.kernel(workgroup=(16, 16))
def normalise_planes(
    image: vy.In[vy.f32, 3], mean: vy.In[vy.f32], deviation: vy.In[vy.f32], out: vy.Out[vy.f32, 3]
):
    """Channels first, as networks want pictures."""
    x, y = vy.gid(0), vy.gid(1)
    if y < image.shape[1] and x < image.shape[2]:
        for c in range(image.shape[0]):
            out[c, y, x] = (image[c, y, x] / 255.0 - mean[c]) / deviation[c]


def normalise_planes_data(n: int) -> Arguments:
    image = np.round(floats(3, n, n + 7, high=255.0))
    mean = np.array([0.485, 0.456, 0.406], np.float32)
    deviation = np.array([0.229, 0.224, 0.225], np.float32)
    return {"image": image, "mean": mean, "deviation": deviation, "out": zeros(*image.shape)}


@vy.kernel(workgroup=GROUP)
def bitonic_blocks(x: vy.InOut[vy.u32]):
    """Each workgroup sorts its own block; the last one is filled up with the greatest number."""
    block = vy.shared(vy.u32, GROUP)
    lane = vy.lid()
    i = vy.gid()
    block[lane] = x[i] if i < len(x) else 0xFFFFFFFF
    vy.barrier()
    k = 2
    while k <= GROUP:
        j = k // 2
        while j > 0:
            other = lane ^ j
            if other > lane:
                a, b = block[lane], block[other]
                if (lane & k == 0 and a > b) or (lane & k != 0 and a < b):
                    block[lane] = b
                    block[other] = a
            vy.barrier()
            j //= 2
        k *= 2
    if i < len(x):
        x[i] = block[lane]


def bitonic_blocks_data(n: int) -> Arguments:
    return {"x": integers(np.uint32, 0, 2**32 - 1, n)}


@vy.kernel(workgroup=64)
def odd_even_blocks(x: vy.InOut[vy.f32]):
    """Odd-even transposition of blocks of 128; each invocation compares one pair."""
    block = vy.shared(vy.f32, 128)
    lane = vy.lid()
    first = vy.wid() * 128
    for half in range(2):
        place = first + half * 64 + lane
        block[half * 64 + lane] = x[place] if place < len(x) else vy.math.inf
    vy.barrier()
    for phase in range(128):
        left = 2 * lane + phase % 2
        if left + 1 < 128 and block[left] > block[left + 1]:
            block[left], block[left + 1] = block[left + 1], block[left]
        vy.barrier()
    for half in range(2):
        place = first + half * 64 + lane
        if place < len(x):
            x[place] = block[half * 64 + lane]


def odd_even_of_blocks(x: Array) -> None:
    odd_even_blocks(x, grid=-(-len(x) // 128))


def odd_even_blocks_data(n: int) -> Arguments:
    return {"x": floats(n)}


@vy.kernel
def prime_test(numbers: vy.In[vy.u32], prime: vy.Out[vy.u8]):
    i = vy.gid()
    if i >= len(numbers):
        return
    n = numbers[i]
    is_prime = n >= 2
    d = 2
    while d * d <= n:
        if n % d == 0:
            is_prime = False
            break
        d += 1
    prime[i] = 1 if is_prime else 0


def prime_test_data(n: int) -> Arguments:
    return {"numbers": integers(np.uint32, 0, 100_000, n), "prime": zeros(n, dtype=np.uint8)}


@vy.kernel
def tree_ranges(
    key: vy.In[vy.i32],
    left: vy.In[vy.i32],
    right: vy.In[vy.i32],
    low: vy.In[vy.i32],
    high: vy.In[vy.i32],
    total: vy.Out[vy.i32],
):
    """The sum of the keys of a binary tree between two numbers, with a stack instead of calls."""
    stack = vy.local(vy.i32, 64)
    i = vy.gid()
    if i < len(total):
        found = 0
        stack[0] = 0
        top = 1
        while top > 0:
            top -= 1
            node = stack[top]
            if low[i] <= key[node] <= high[i]:
                found += key[node]
            if left[node] >= 0 and key[node] > low[i]:
                stack[top] = left[node]
                top += 1
            if right[node] >= 0 and key[node] < high[i]:
                stack[top] = right[node]
                top += 1
        total[i] = found


def tree_ranges_data(n: int) -> Arguments:
    """A tree of random keys, inserted one after the other: node 0 is the root."""
    rng = random()
    keys = rng.permutation(4 * n).astype(np.int32)[: n // 2]
    children = np.full((2, len(keys)), -1, np.int32)
    for new in range(1, len(keys)):
        node = 0
        while True:
            side = int(keys[new] > keys[node])
            if children[side, node] < 0:
                children[side, node] = new
                break
            node = children[side, node]
    low = rng.integers(0, 4 * n, n).astype(np.int32)
    return {
        "key": keys,
        "left": children[0].copy(),
        "right": children[1].copy(),
        "low": low,
        "high": low + rng.integers(0, 100, n).astype(np.int32),
        "total": zeros(n, dtype=np.int32),
    }


@vy.kernel(workgroup=(SIZE, SIZE))
def small_lu(a: vy.InOut[vy.f32, 3]):
    """Each workgroup eliminates in a matrix of its own, without pivots."""
    m = vy.shared(vy.f32, SIZE, SIZE)
    x, y = vy.lid(0), vy.lid(1)
    which = vy.wid()
    m[y, x] = a[which, y, x]
    vy.barrier()
    for k in range(SIZE - 1):
        if y > k and x == k:
            m[y, k] = m[y, k] / m[k, k]
        vy.barrier()
        if y > k and x > k:
            m[y, x] -= m[y, k] * m[k, x]
        vy.barrier()
    a[which, y, x] = m[y, x]


def lu_of_each(a: Array) -> None:
    small_lu(a, grid=len(a))


def small_lu_data(n: int) -> Arguments:
    return {"a": floats(n, SIZE, SIZE) + SIZE * np.eye(SIZE, dtype=np.float32)}


@vy.kernel(workgroup=GROUP)
def block_scan(x: vy.In[vy.f32], out: vy.Out[vy.f32]):
    """Hillis and Steele's inclusive scan of each block."""
    t = vy.shared(vy.f32, GROUP)
    lane = vy.lid()
    i = vy.gid()
    if i < len(x):
        t[lane] = x[i]
    vy.barrier()
    step = 1
    while step < GROUP:
        value = 0.0
        if lane >= step:
            value = t[lane - step]
        vy.barrier()
        t[lane] += value
        vy.barrier()
        step *= 2
    if i < len(x):
        out[i] = t[lane]


def block_scan_data(n: int) -> Arguments:
    return {"x": floats(n), "out": zeros(n)}


@vy.kernel(workgroup=GROUP)
def halo_convolution(x: vy.In[vy.f32], weights: vy.In[vy.f32], out: vy.Out[vy.f32]):
    """A tile with a halo on both sides, which the first invocations load; zero outside."""
    tile = vy.shared(vy.f32, GROUP + 2 * RADIUS)
    i = vy.gid()
    lane = vy.lid()
    tile[lane + RADIUS] = x[i] if i < len(x) else 0.0
    if lane < RADIUS:
        tile[lane] = x[i - RADIUS] if i >= RADIUS else 0.0
        tile[lane + RADIUS + GROUP] = x[i + GROUP] if i + GROUP < len(x) else 0.0
    vy.barrier()
    if i < len(out):
        total = 0.0
        for k in range(2 * RADIUS + 1):
            total += weights[k] * tile[lane + k]
        out[i] = total


def halo_convolution_data(n: int) -> Arguments:
    return {"x": floats(n, seed=1), "weights": floats(2 * RADIUS + 1, seed=2), "out": zeros(n)}


@vy.kernel(workgroup=(8, 8))
def julia(cx: vy.f32, cy: vy.f32, image: vy.Out[vy.i32, 2]):
    """CUDA by Example's Julia set, with the rounds counted."""
    i, j = vy.gid(0), vy.gid(1)
    if i < image.shape[0] and j < image.shape[1]:
        x = 1.5 * (vy.f32(image.shape[1]) / 2.0 - vy.f32(j)) / (vy.f32(image.shape[1]) / 2.0)
        y = 1.5 * (vy.f32(image.shape[0]) / 2.0 - vy.f32(i)) / (vy.f32(image.shape[0]) / 2.0)
        rounds = 0
        while rounds < ROUNDS and x * x + y * y < 1000.0:
            x, y = x * x - y * y + cx, 2.0 * x * y + cy
            rounds += 1
        image[i, j] = rounds


def julia_data(n: int) -> Arguments:
    return {"cx": -0.8, "cy": 0.156, "image": zeros(n, n + 3, dtype=np.int32)}


@vy.kernel(workgroup=(16, 16))
def game_of_life(cells: vy.In[vy.i32, 2], after: vy.Out[vy.i32, 2]):
    """On a torus: the neighbours of the border are on the other side."""
    i, j = vy.gid(0), vy.gid(1)
    rows, columns = cells.shape
    if i >= rows or j >= columns:
        return
    alive = 0
    for di in range(-1, 2):
        for dj in range(-1, 2):
            if di != 0 or dj != 0:
                alive += cells[(i + di + rows) % rows, (j + dj + columns) % columns]
    if alive == 3 or (alive == 2 and cells[i, j] == 1):
        after[i, j] = 1
    else:
        after[i, j] = 0


def game_of_life_data(n: int) -> Arguments:
    cells = integers(np.int32, 0, 2, n, n + 9)
    return {"cells": cells, "after": zeros(*cells.shape, dtype=np.int32)}


CASES = (
    Case("matrix_add", "tutorial", [matrix_add], matrix_add_data, 1800, 21, ["c"], ["c"]),
    Case("naive_product", "tutorial", [naive_product], product_data, 140, 21, ["c"], ["a", "b"]),
    Case(
        "default_product", "tutorial", [default_product], product_data, 140, 21, ["c"], ["a", "b"]
    ),
    Case(
        "brighten_channels",
        "tutorial",
        [brighten_channels],
        brighten_channels_data,
        900,
        21,
        ["out"],
        ["image"],
    ),
    Case(
        "mean_of_channels",
        "tutorial",
        [mean_of_channels],
        mean_of_channels_data,
        1000,
        21,
        ["out"],
        ["image"],
    ),
    Case(
        "moving_average",
        "tutorial",
        [moving_average],
        moving_average_data,
        300_001,
        503,
        ["y"],
        ["x"],
    ),
    Case("tiled_product", "tutorial", [tiled_product], product_data, 250, 21, ["c"], ["a", "b"]),
    Case("vector_add", "tutorial", [vector_add], vector_add_data, 4_000_001, 1031, ["c"], []),
    Case(
        "stride_saxpy",
        "tutorial",
        [stride_saxpy],
        stride_saxpy_data,
        4_000_001,
        20_011,
        ["y"],
        [],
        saxpy_of_groups,
    ),
    Case(
        "atomic_sum",
        "tutorial",
        [atomic_sum],
        atomic_sum_data,
        4_000_001,
        20_011,
        ["total"],
        ["x"],
        tolerance=1e-4,
    ),
    Case(
        "stride_dot",
        "tutorial",
        [stride_dot],
        stride_dot_data,
        4_000_001,
        20_011,
        ["total"],
        ["x"],
        dot_of_groups,
        tolerance=1e-4,
    ),
    Case(
        "dot_in_groups",
        "tutorial",
        [dot_in_groups],
        dot_in_groups_data,
        4_000_001,
        20_011,
        ["parts"],
        ["x", "parts"],
        parts_of_groups,
    ),
    Case(
        "tree_sum", "tutorial", [tree_sum], tree_sum_data, 3_000_001, 1031, ["sums"], ["x", "sums"]
    ),
    Case(
        "tiled_transpose",
        "tutorial",
        [tiled_transpose],
        tiled_transpose_data,
        1000,
        37,
        ["out"],
        ["x"],
        transposed_in_tiles,
    ),
    Case(
        "shared_histogram",
        "tutorial",
        [shared_histogram],
        shared_histogram_data,
        3_000_001,
        20_011,
        ["counts"],
        ["data"],
        histogram_of_groups,
    ),
    Case(
        "normalise_planes",
        "tutorial",
        [normalise_planes],
        normalise_planes_data,
        1000,
        21,
        ["out"],
        ["image"],
    ),
    Case(
        "bitonic_blocks",
        "tutorial",
        [bitonic_blocks],
        bitonic_blocks_data,
        70_001,
        1031,
        ["x"],
        ["x"],
    ),
    Case(
        "odd_even_blocks",
        "tutorial",
        [odd_even_blocks],
        odd_even_blocks_data,
        30_001,
        531,
        ["x"],
        ["x"],
        odd_even_of_blocks,
    ),
    Case(
        "prime_test", "tutorial", [prime_test], prime_test_data, 30_001, 131, ["prime"], ["prime"]
    ),
    Case(
        "tree_ranges",
        "tutorial",
        [tree_ranges],
        tree_ranges_data,
        15_001,
        131,
        ["total"],
        ["total"],
    ),
    Case("small_lu", "tutorial", [small_lu], small_lu_data, 3001, 7, ["a"], ["a"], lu_of_each),
    Case("block_scan", "tutorial", [block_scan], block_scan_data, 1_000_001, 1031, ["out"], ["x"]),
    Case(
        "halo_convolution",
        "tutorial",
        [halo_convolution],
        halo_convolution_data,
        1_000_001,
        1031,
        ["out"],
        ["x"],
    ),
    Case("julia", "tutorial", [julia], julia_data, 250, 21, ["image"], ["image"]),
    Case(
        "game_of_life", "tutorial", [game_of_life], game_of_life_data, 400, 21, ["after"], ["after"]
    ),
)
