"""Examples of the API reference: kernels, parameters, types, ids, memory."""

import numpy as np

import vyre as vy


# %% vy.kernel vy.In vy.InOut
@vy.kernel(workgroup=256)
def saxpy(a: vy.f32, x: vy.In[vy.f32], y: vy.InOut[vy.f32]):
    i = vy.gid()
    if i < len(y):
        y[i] = a * x[i] + y[i]


x, y = np.arange(1000, dtype=np.float32), np.ones(1000, np.float32)
saxpy(2.0, x, y)
assert np.array_equal(y, 2 * x + 1)


# %% vy.Kernel
assert isinstance(saxpy, vy.Kernel)
saxpy(2.0, x, y, elements=10, deadline=5.0)  # only the first ten elements, for five seconds at most
saxpy(2.0, x, y, grid=4, device="cpu")  # four workgroups of 256
assert saxpy.reference(2.0, x, y) == ()  # the same call, watched: no race, nothing out of bounds
assert saxpy.program().workgroup_size == (256, 1, 1)
assert saxpy.compile(device="cpu").device == "cpu"
assert "y[i] = a[0] * x[i] + y[i]" in saxpy.show("ir")
assert saxpy.explain(device="cpu").startswith("device: cpu")


# %% vy.Out
@vy.kernel
def evens(x: vy.In[vy.i32], y: vy.Out[vy.i32]):
    i = vy.gid()
    if i < len(x) and x[i] % 2 == 0:
        y[i] = x[i]


y = np.full(4, 7, np.int32)
evens(np.array([1, 2, 3, 4], np.int32), y)
assert y.tolist() == [0, 2, 0, 4]  # what is not written is zero


# %% vy.static
@vy.kernel
def power(n: vy.static[int], x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(x):
        product = 1.0
        for _ in range(n):  # n is a constant: this is a kernel for n = 3
            product *= x[i]
        y[i] = product


x, y = np.array([1, 2, 3], np.float32), np.zeros(3, np.float32)
power(3, x, y)
assert y.tolist() == [1, 8, 27]

# %% vy.generic vy.func
T = vy.generic("T")


@vy.func
def clamped(v, low, high):
    return min(max(v, low), high)


@vy.kernel
def clamp(x: vy.In[T], y: vy.Out[T]):
    i = vy.gid()
    if i < len(x):
        y[i] = clamped(x[i], 1, 3)


for dtype in (np.int16, np.float64):  # T is what the arrays of a call have
    x = np.array([0, 2, 9], dtype)
    y = np.zeros_like(x)
    clamp(x, y)
    assert y.tolist() == [1, 2, 3]


# %% vy.bool_ vy.i8 vy.i16 vy.i32 vy.i64 vy.u8 vy.u16 vy.u32 vy.u64
@vy.kernel(workgroup=1)
def whole(x: vy.f32, small: vy.Out[vy.i8], count: vy.Out[vy.u64], yes: vy.Out[vy.bool_]):
    small[0] = vy.i8(x)  # truncated toward zero
    small[1] = vy.i8(vy.i16(300))  # the lower 8 bits
    count[0] = vy.u64(vy.u32(1) << 31) + vy.u64(vy.u8(255)) + vy.u64(vy.u16(1))
    count[1] = vy.u64(vy.i64(-1) + 2)
    yes[0] = vy.bool_(vy.i32(5))


small, count, yes = np.zeros(2, np.int8), np.zeros(2, np.uint64), np.zeros(1, np.bool_)
whole(-3.7, small, count, yes)
assert small.tolist() == [-3, 44]
assert count.tolist() == [2**31 + 256, 1]
assert yes[0]
assert vy.u8(7).dtype == np.uint8  # outside of kernels they make numpy scalars


# %% vy.f16 vy.bf16 vy.f32 vy.f64
@vy.kernel(workgroup=1)
def rounded(third: vy.Out[vy.f64], half: vy.Out[vy.f16], brain: vy.Out[vy.bf16]):
    third[0] = vy.f64(1.0) / 3.0
    third[1] = vy.f64(vy.f32(1.0) / 3.0)  # rounded to 24 bits first
    half[0] = vy.f16(1.0 / 3.0)
    brain[0] = vy.bf16(1.0 / 3.0)


third, half, brain = np.zeros(2), np.zeros(1, np.float16), np.zeros(1, np.uint16)
rounded(third, half, brain)
assert third[0] == 1 / 3 and third[1] == np.float32(1) / np.float32(3)
assert half[0] == np.float16(1 / 3)
assert brain[0] == 0x3EAB  # bf16 is held as its 16 bits


# %% vy.gid vy.lid vy.wid vy.group_size vy.num_groups
@vy.kernel(workgroup=4)
def places(x: vy.Out[vy.i32, 2]):
    i = vy.gid()
    if i < x.shape[0]:
        x[i, 0] = vy.wid()
        x[i, 1] = vy.lid()
        x[i, 2] = vy.wid() * vy.group_size() + vy.lid() - i  # this is what gid is
        x[i, 3] = vy.num_groups()


x = np.zeros((6, 4), np.int32)
places(x, grid=2)
assert x[:, 0].tolist() == [0, 0, 0, 0, 1, 1]
assert x[:, 1].tolist() == [0, 1, 2, 3, 0, 1]
assert not x[:, 2].any() and (x[:, 3] == 2).all()


# %% vy.shared vy.barrier
@vy.kernel(workgroup=64)
def backwards(x: vy.InOut[vy.i32]):
    block = vy.shared(vy.i32, 64)
    block[vy.lid()] = x[vy.gid()]
    vy.barrier()
    x[vy.gid()] = block[63 - vy.lid()]


x = np.arange(64, dtype=np.int32)
backwards(x)
assert x.tolist() == list(range(63, -1, -1))


# %% vy.local
@vy.kernel
def digits(x: vy.In[vy.u32], y: vy.Out[vy.u32]):
    counts = vy.local(vy.u32, 10)  # an array for each invocation
    i = vy.gid()
    if i < len(x):
        n = x[i]
        while n > 0:
            counts[n % 10] += 1
            n //= 10
        y[i] = counts[7]


y = np.zeros(3, np.uint32)
digits(np.array([7, 1717, 123], np.uint32), y)
assert y.tolist() == [1, 2, 0]


# %% vy.grid_sync
@vy.kernel
def neighbours(x: vy.InOut[vy.i32], y: vy.InOut[vy.i32]):
    i = vy.gid()
    if i < len(x):
        x[i] += 1
    vy.grid_sync()  # all workgroups have written their part of x
    if i < len(y):
        y[i] = x[len(x) - 1 - i]


x, y = np.arange(1000, dtype=np.int32), np.zeros(1000, np.int32)
neighbours(x, y)
assert np.array_equal(y, np.arange(1000, 0, -1))


# %% vy.async_load vy.async_store vy.async_wait
@vy.kernel(workgroup=64)
def copied(x: vy.In[vy.f32], y: vy.InOut[vy.f32]):
    block = vy.shared(vy.f32, 64)
    first = vy.wid() * 64
    vy.async_load(block, 0, x, first, 64, tag="in")
    vy.async_wait(tag="in")
    vy.async_store(y, first, block, 0, 64, tag="out")
    vy.async_wait(tag="out")


x, y = np.arange(128, dtype=np.float32), np.zeros(128, np.float32)
copied(x, y, grid=2)
assert np.array_equal(x, y)


# %% vy.print
@vy.kernel
def shown(x: vy.In[vy.i32], y: vy.Out[vy.i32]):
    i = vy.gid()
    if i < len(x):
        if i == 2:  # without it every invocation prints
            vy.print("third", x[i], x[i] * 2)
        y[i] = x[i]


shown(np.array([5, 6, 7], np.int32), np.zeros(3, np.int32), device="cpu")
# prints: (2, 0, 0) third: 7, 14
