"""Examples of the API reference: pipelines, and what their bodies are written with."""

import numpy as np

import vyre as vy


# %% vy.pipeline vy.scratch_like
@vy.kernel
def scaled(a: vy.f32, x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(y):
        y[i] = a * x[i]


@vy.kernel
def limited(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(y):
        y[i] = min(max(x[i], 1.0), 4.0)


@vy.pipeline(require={"launches": 1, "scratch_bytes": 0})  # more of them is an error
def exposed(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    t = vy.scratch_like(x)
    scaled(3.0, x, t)
    limited(t, y)


x, y = np.array([0, 1, 2], np.float32), np.zeros(3, np.float32)
exposed(x, y)
assert y.tolist() == [1, 3, 4]

# %% vy.Pipeline
assert isinstance(exposed, vy.Pipeline)
z = np.zeros_like(y)
exposed.apart(x, z, device="cpu")  # the stages as launches of their own: the meaning of a call
assert np.array_equal(y, z)
plan = exposed.plan(x, y, device="cpu")  # nothing runs
assert [launch.stages for launch in plan.launches] == [("scaled", "limited")]
assert [(seam.name, seam.where) for seam in plan.seams] == [("t", "register")]
assert exposed.explain(x, y, device="cpu") == str(plan)
assert "region" in exposed.show("ir", x, y, device="cpu")
exposed.reference(x, y)  # every stage with the sanitizer
exposed.submit(x, y).result()  # in the background; `result` waits for it


# %% vy.scratch vy.Array
@vy.kernel
def nibbles(x: vy.In[vy.u8], y: vy.Out[vy.u8]):
    i = vy.gid()
    if i < len(x):
        y[2 * i] = x[i] >> 4
        y[2 * i + 1] = x[i] & 15


@vy.kernel
def counted(x: vy.In[vy.u8], counts: vy.InOut[vy.u32]):
    i = vy.gid()
    if i < len(x):
        counts.atomic_add(x[i], 1)


@vy.pipeline
def histogram(x: vy.In[vy.u8]) -> vy.Array[vy.u32]:
    halves = vy.scratch(vy.u8, 2 * len(x))
    counts = vy.scratch(vy.u32, 16)  # zeros, as all scratch
    nibbles(x, halves)
    counted(halves, counts)
    return counts  # a new array in every call


counts = histogram(np.array([0x12, 0x22], np.uint8))
assert (counts[1], counts[2], counts.sum()) == (1, 3, 4)


# %% vy.copy
@vy.kernel
def averaged(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(y):
        y[i] = (x[i] + x[min(i + 1, len(x) - 1)]) * vy.f32(0.5)


@vy.pipeline
def smoothed(x: vy.InOut[vy.f32], steps: vy.u32):
    other = vy.scratch_like(x)
    a, b = x, other
    for _ in range(steps):
        averaged(a, b)
        a, b = b, a  # names change their arrays, nothing moves
    vy.copy(a, x)  # does nothing where a is x


x = np.array([0, 8, 8], np.float32)
smoothed(x, 3)
assert x.tolist() == [7, 8, 8]


# %% vy.flag vy.again
@vy.kernel
def halved(x: vy.InOut[vy.u32], moved: vy.InOut[vy.u32]):
    i = vy.gid()
    if i < len(x) and x[i] > 1:
        x[i] //= 2
        moved.atomic_max(0, 1)


@vy.pipeline
def settled(x: vy.InOut[vy.u32]):
    moved = vy.flag()
    while vy.again(moved, most=32):  # once, and again while the iteration before has set it
        halved(x, moved)


x = np.array([1, 40, 1000], np.uint32)
settled(x)
assert x.tolist() == [1, 1, 1]


# %% vy.when
@vy.kernel
def found_negative(x: vy.In[vy.f32], flag: vy.InOut[vy.u32]):
    i = vy.gid()
    if i < len(x) and x[i] < 0.0:
        flag.atomic_max(0, 1)


@vy.pipeline
def at_least_one(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    has_negative = vy.flag()
    found_negative(x, has_negative)
    if vy.when(has_negative):  # decided by what a stage has stored
        limited(x, y)
    else:
        scaled(1.0, x, y)


y = np.zeros(2, np.float32)
at_least_one(np.array([-1, 9], np.float32), y)
assert y.tolist() == [1, 4]
at_least_one(np.array([0, 9], np.float32), y)
assert y.tolist() == [0, 9]


# %% vy.at_most
@vy.kernel
def keep_odd(x: vy.In[vy.u32], odd: vy.Out[vy.u32], n: vy.InOut[vy.u32]):
    i = vy.gid()
    if i < len(x) and x[i] % 2 == 1:
        odd[n.atomic_add(0, 1)] = x[i]


@vy.pipeline
def odd_numbers(x: vy.In[vy.u32]) -> vy.Array[vy.u32]:
    n = vy.scratch(vy.u32, 1)
    odd = vy.scratch(vy.u32, vy.at_most(len(x), start=2), count=n)  # room for 2, then for more
    keep_odd(x, odd, n)
    return odd  # as long as n says


assert sorted(odd_numbers(np.arange(9, dtype=np.uint32))) == [1, 3, 5, 7]


# %% vy.keep
@vy.pipeline
def exposed_in_memory(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    t = vy.scratch_like(x)
    vy.keep(t)
    scaled(3.0, x, t)
    limited(t, y)


x, y = np.ones(3, np.float32), np.zeros(3, np.float32)
[seam] = exposed_in_memory.plan(x, y).seams
assert (seam.name, seam.where) == ("t", "materialised")  # in `exposed`, a register
