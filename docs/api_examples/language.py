"""Examples of the API reference: arrays, atomics, bits, subgroups."""

import numpy as np

import vyre as vy


# %% x.__getitem__ x.__setitem__ x.__len__ x.shape x.size x.ndim
@vy.kernel(workgroup=(8, 8))
def transposed(x: vy.In[vy.f32, 2], y: vy.Out[vy.f32, 2], facts: vy.Out[vy.i32]):
    row, column = vy.gid(1), vy.gid(0)
    if row < y.shape[0] and column < y.shape[1]:
        y[row, column] = x[column, row]
    if row == 0 and column == 0:
        facts[0] = len(x)  # the extent of the first axis
        facts[1] = x.size  # of all axes
        facts[2] = x.ndim


x = np.arange(12, dtype=np.float32).reshape(3, 4)
y, facts = np.zeros((4, 3), np.float32), np.zeros(3, np.int32)
transposed(x, y, facts)
assert np.array_equal(y, x.T) and facts.tolist() == [3, 12, 2]


# %% x.u16 x.u32 x.u64
@vy.kernel
def words_at(text: vy.In[vy.u8], at: vy.In[vy.u32], found: vy.Out[vy.u64, 2]):
    i = vy.gid()
    if i < len(at):
        found[i, 0] = vy.u64(text.u16(at[i]))
        found[i, 1] = vy.u64(text.u32(at[i]))  # any offset, no alignment
        found[i, 2] = text.u64(at[i])  # bytes out of bounds are zero


found = np.zeros((2, 3), np.uint64)
words_at(b"\x01\x02\x03\x04\x05\x06\x07\x08\x09", np.array([1, 7], np.uint32), found)
assert [hex(n) for n in found[0]] == ["0x302", "0x5040302", "0x908070605040302"]
assert [hex(n) for n in found[1]] == ["0x908", "0x908", "0x908"]


# %% x.atomic_add x.atomic_sub x.atomic_min x.atomic_max
@vy.kernel
def summed(x: vy.In[vy.i32], found: vy.InOut[vy.i32]):
    i = vy.gid()
    if i < len(x):
        found.atomic_add(0, x[i])  # index first, then the value
        found.atomic_sub(1, x[i])
        found.atomic_min(2, x[i])
        found.atomic_max(3, x[i])


found = np.array([0, 0, 2**31 - 1, -(2**31)], np.int32)
summed(np.array([5, -3, 9], np.int32), found)
assert found.tolist() == [11, -11, -3, 9]


# %% x.atomic_and x.atomic_or x.atomic_xor
@vy.kernel
def masks(x: vy.In[vy.u32], found: vy.InOut[vy.u32, 2]):
    i = vy.gid()
    if i < len(x):
        found.atomic_and((0, 0), x[i])  # of two axes: a tuple is the index
        found.atomic_or((0, 1), x[i])
        found.atomic_xor((0, 2), x[i])


found = np.array([[0xF, 0, 0]], np.uint32)
masks(np.array([0b0111, 0b0101], np.uint32), found)
assert found.tolist() == [[0b0101, 0b0111, 0b0010]]


# %% x.atomic_exchange x.atomic_compare_exchange
@vy.kernel
def first_come(owner: vy.InOut[vy.u32], last: vy.InOut[vy.u32], winners: vy.InOut[vy.u32]):
    i = vy.gid()
    if i < 100:
        before = owner.atomic_compare_exchange(0, 0, i + 1)  # index, expected, value
        if before == 0:
            winners.atomic_add(0, 1)
        last.atomic_exchange(0, i + 1)


owner, last, winners = (np.zeros(1, np.uint32) for _ in range(3))
first_come(owner, last, winners)
assert winners[0] == 1 and 1 <= owner[0] <= 100 and 1 <= last[0] <= 100


# %% x.atomic_load x.atomic_store
@vy.kernel
def closing(x: vy.In[vy.f32], best: vy.InOut[vy.f32], closed: vy.InOut[vy.u32]):
    i = vy.gid()
    if i < len(x) and closed.atomic_load(0) == 0:  # others may be closing it now
        best.atomic_max(0, x[i])
        if x[i] > 100.0:
            closed.atomic_store(0, 1)


best, closed = np.zeros(1, np.float32), np.zeros(1, np.uint32)
closing(np.array([3, 7, 5], np.float32), best, closed)
assert best[0] == 7.0 and closed[0] == 0


# %% vy.popcount vy.clz vy.ctz vy.reverse_bits vy.byte_swap vy.rotl vy.rotr
@vy.kernel(workgroup=1)
def bits(x: vy.In[vy.u32], y: vy.Out[vy.u32]):
    y[0] = vy.popcount(x[0])
    y[1] = vy.clz(x[0])
    y[2] = vy.ctz(x[0])
    y[3] = vy.reverse_bits(x[0])
    y[4] = vy.byte_swap(x[0])
    y[5] = vy.rotl(x[0], 4)
    y[6] = vy.rotr(x[0], 8)


y = np.zeros(7, np.uint32)
bits(np.array([0x12340], np.uint32), y)
assert y.tolist() == [5, 15, 6, 0x02C48000, 0x40230100, 0x123400, 0x40000123]


# %% vy.mul_hi vy.add_sat vy.sub_sat
@vy.kernel(workgroup=1)
def wide(x: vy.In[vy.u8], y: vy.Out[vy.u8]):
    y[0] = vy.mul_hi(x[0], x[1])  # 200 * 100 is 0x4E20
    y[1] = vy.add_sat(x[0], x[1])
    y[2] = vy.sub_sat(x[1], x[0])


y = np.zeros(3, np.uint8)
wide(np.array([200, 100], np.uint8), y)
assert y.tolist() == [0x4E, 255, 0]


# %% vy.bitcast
@vy.kernel(workgroup=1)
def as_bits(x: vy.In[vy.f32], y: vy.Out[vy.u32]):
    y[0] = vy.bitcast(x[0], vy.u32)


y = np.zeros(1, np.uint32)
as_bits(np.array([1.0], np.float32), y)
assert y[0] == 0x3F800000


# %% vy.select
@vy.kernel
def positive(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(x):
        y[i] = vy.select(x[i] > 0.0, x[i], 0.0)  # condition first


y = np.zeros(2, np.float32)
positive(np.array([-1, 2], np.float32), y)
assert y.tolist() == [0, 2]


# %% vy.group.reduce vy.group.scan
@vy.func
def after(f, g):
    return f[0] * g[0], f[1] * g[0] + g[1]  # first f, then g, of x -> a * x + b


@vy.kernel(workgroup=4)
def joined(x: vy.In[vy.f32], y: vy.Out[vy.f32, 2]):
    i = vy.gid()
    y[0, i] = vy.group.reduce("add", x[i])
    y[1, i] = vy.group.scan("add", x[i])
    y[2, i] = vy.group.scan("max", x[i], exclusive=True)
    y[3, i], _ = vy.group.reduce(after, (x[i], 1.0))


y = np.zeros((4, 4), np.float32)
joined(np.array([1, 2, 4, 3], np.float32), y, grid=1)
assert y.tolist() == [[10] * 4, [1, 3, 7, 10], [-np.inf, 1, 2, 4], [24] * 4]


# %% vy.group.any vy.group.all vy.group.compact
@vy.kernel(workgroup=64)
def positive(x: vy.In[vy.f32], y: vy.Out[vy.f32], count: vy.InOut[vy.u32]):
    keep = x[vy.gid()] > 0
    first = vy.shared(vy.u32, 1)
    place, kept = vy.group.compact(keep)
    if vy.group.any(keep) and not vy.group.all(keep):  # the same for the workgroup
        if vy.lid() == 0:
            first[0] = count.atomic_add(0, kept)
        vy.barrier()
        if keep:
            y[first[0] + place] = x[vy.gid()]


count, y = np.zeros(1, np.uint32), np.zeros(4, np.float32)
positive(np.array([3, -1, 0, 2], np.float32), y, count, grid=1)
assert count[0] == 2 and y.tolist() == [3, 2, 0, 0]


# %% vy.subgroup_size vy.subgroup_lane vy.subgroup_shuffle vy.subgroup_ballot
@vy.kernel(workgroup=64)
def lanes(y: vy.Out[vy.u32]):
    other = vy.subgroup_shuffle(vy.gid(), vy.subgroup_lane() ^ 1)
    even = vy.subgroup_ballot(vy.subgroup_lane() % 2 == 0)
    if vy.gid() < len(y):
        y[vy.gid()] = other
        assert even[0] == 0x55555555 and vy.subgroup_size() == 32  # a bit for each lane


y = np.zeros(64, np.uint32)
lanes(y, device="cpu")  # subgroups of 32, as on most GPUs
assert y.tolist() == [i ^ 1 for i in range(64)]


# %% vy.subgroup_add vy.subgroup_mul vy.subgroup_min vy.subgroup_max
@vy.kernel(workgroup=64)
def reduced(x: vy.In[vy.i32], total: vy.InOut[vy.i32], y: vy.Out[vy.i32, 2]):
    i = vy.gid()
    together = vy.subgroup_add(x[i])
    product = vy.subgroup_mul(x[i])
    least, greatest = vy.subgroup_min(x[i]), vy.subgroup_max(x[i])
    if vy.subgroup_lane() == 0:
        total.atomic_add(0, together)  # once for each subgroup, not for each invocation
    if i < len(x):
        y[i, 0], y[i, 1] = product, greatest - least


x, total, y = np.ones(64, np.int32), np.zeros(1, np.int32), np.zeros((64, 2), np.int32)
x[5] = 3
reduced(x, total, y, elements=64, device="cpu")
assert total[0] == 66 and y[0].tolist() == [3, 2] and y[32].tolist() == [1, 0]


# %% vy.subgroup_and vy.subgroup_or vy.subgroup_xor
@vy.kernel(workgroup=64)
def joined(x: vy.In[vy.u32], y: vy.Out[vy.u32, 2]):
    i = vy.gid()
    every, some, odd = vy.subgroup_and(x[i]), vy.subgroup_or(x[i]), vy.subgroup_xor(x[i])
    if i < len(x):
        y[i, 0], y[i, 1], y[i, 2] = every, some, odd


x, y = np.full(64, 5, np.uint32), np.zeros((64, 3), np.uint32)
x[0] = 3
joined(x, y, device="cpu")
assert y[0].tolist() == [1, 7, 6] and y[32].tolist() == [5, 5, 0]
