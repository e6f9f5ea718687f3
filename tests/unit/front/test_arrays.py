"""Arrays: axes, bounds, shared and local memory, atomics, subgroups, grid sync."""
# The number of axes stands among types.
# pyright: reportGeneralTypeIssues=false

from __future__ import annotations

import numpy as np
import pytest

import vyre as vy
from tests.unit.front.devices import run
from vyre.ir import Load, Select, Store
from vyre.ir.walk import walk_all_exprs


@vy.kernel(workgroup=(8, 8))
def transpose(x: vy.In[vy.f32, 2], y: vy.Out[vy.f32, 2]):
    i, j = vy.gid(1), vy.gid(0)
    if i < y.shape[0] and j < y.shape[1]:
        y[i, j] = x[j, i]


def test_two_axes_and_a_grid_that_covers_them() -> None:
    x = np.arange(15 * 23, dtype=np.float32).reshape(15, 23)
    y = run(transpose, x, np.zeros((23, 15), np.float32))[1]
    np.testing.assert_array_equal(y, x.T)


def test_a_guard_proves_an_index_and_nothing_else_does() -> None:
    program = transpose.program()
    stores = [s for s in _statements(program) if isinstance(s, Store)]
    assert not isinstance(stores[0].index, Select)
    loads = [e for e in walk_all_exprs(program.entry) if isinstance(e, Load) and e.buffer == "x"]
    assert isinstance(loads[0].index, Select)


def _statements(program: vy.Program):
    from vyre.ir.walk import walk_stmts

    return walk_stmts(program.entry)


@vy.kernel
def past_the_row(x: vy.In[vy.i32, 2], y: vy.Out[vy.i32]):
    if vy.gid() < 1:
        y[0] = x[0, 3]
        y[1] = x[vy.u32(1), vy.i32(vy.gid()) - 1]
        y[2] = x[vy.i64(vy.gid()) - 1, 0]
        y[3] = x[1, 2]


def test_an_index_outside_of_its_axis_is_out_of_bounds() -> None:
    x = np.arange(1, 10, dtype=np.int32).reshape(3, 3)
    assert run(past_the_row, x, np.ones(4, np.int32))[1].tolist() == [0, 0, 0, 6]


@vy.kernel
def cube(x: vy.InOut[vy.u32, 3]):
    i = vy.gid()
    if i < 1:
        for a in range(x.shape[0]):
            for b in range(x.shape[1]):
                for c in range(x.shape[2]):
                    x[a, b, c] += 100 * a + 10 * b + c
        assert x.size == x.shape[0] * x.shape[1] * x.shape[-1]
        assert x.ndim == 3


def test_three_axes() -> None:
    x = np.zeros((2, 3, 4), np.uint32)
    a, b, c = np.indices(x.shape)
    np.testing.assert_array_equal(run(cube, x)[0], 100 * a + 10 * b + c)
    assert not [e for e in walk_all_exprs(cube.program().entry) if isinstance(e, Select)]


@vy.kernel(workgroup=64)
def reverse_blocks(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    tile = vy.shared(vy.f32, 64)
    i, lane = vy.gid(), vy.lid()
    tile[lane] = x[i]
    vy.barrier()
    y[i] = tile[63 - lane]


def test_shared_memory_and_barriers() -> None:
    x = np.arange(256, dtype=np.float32)
    y = run(reverse_blocks, x, np.zeros(256, np.float32))[1]
    np.testing.assert_array_equal(y, x.reshape(4, 64)[:, ::-1].reshape(-1))


@vy.kernel(workgroup=(4, 8))
def tile_transpose(x: vy.In[vy.u32, 2], y: vy.Out[vy.u32, 2]):
    tile = vy.shared(vy.u32, 8, 4)
    tile[vy.lid(1), vy.lid(0)] = x[vy.gid(1), vy.gid(0)]
    vy.barrier()
    y[vy.gid(1), vy.gid(0)] = tile[7 - vy.lid(1), 3 - vy.lid(0)]


def test_shared_memory_of_two_axes() -> None:
    x = np.arange(32, dtype=np.uint32).reshape(8, 4)
    y = run(tile_transpose, x, np.zeros_like(x), grid=1)[1]
    np.testing.assert_array_equal(y, x[::-1, ::-1])


@vy.kernel(workgroup=(4, 8))
def tile_transpose_as_in_numpy(x: vy.In[vy.u32, 2], y: vy.Out[vy.u32, 2]):
    tile = vy.shared(vy.u32, (8, 4))
    tile[vy.lid(1), vy.lid(0)] = x[vy.gid(1), vy.gid(0)]
    vy.barrier()
    y[vy.gid(1), vy.gid(0)] = tile[7 - vy.lid(1), 3 - vy.lid(0)]


def test_a_shape_may_be_a_tuple() -> None:
    x = np.arange(32, dtype=np.uint32).reshape(8, 4)
    y = run(tile_transpose_as_in_numpy, x, np.zeros_like(x), grid=1)[1]
    np.testing.assert_array_equal(y, x[::-1, ::-1])


@vy.kernel
def sort_five(x: vy.In[vy.i32, 2], y: vy.Out[vy.i32, 2]):
    t = vy.local(vy.i32, 5)
    i = vy.gid()
    if i < x.shape[0]:
        for k in range(5):
            t[k] = x[i, k]
        for a in range(1, 5):
            v = t[a]
            b = a
            while b > 0 and t[b - 1] > v:
                t[b] = t[b - 1]
                b -= 1
            t[b] = v
        for k in range(5):
            y[i, k] = t[k]


def test_local_arrays() -> None:
    x = np.random.default_rng(1).integers(-9, 9, (50, 5), dtype=np.int32)
    np.testing.assert_array_equal(run(sort_five, x, np.zeros_like(x))[1], np.sort(x, axis=1))


@vy.kernel
def atomics(h: vy.InOut[vy.i32], old: vy.Out[vy.u32]):
    i = vy.gid()
    if i < len(old):
        v = vy.i32(i)
        h.atomic_add(0, v)
        h.atomic_sub(1, v)
        h.atomic_min(2, v)
        h.atomic_max(3, v)
        h.atomic_or(4, 1 << (v % 31))
        h.atomic_and(5, ~(1 << (v % 31)))
        h.atomic_xor(6, v)
        h.atomic_exchange(7, 5)
        if h.atomic_compare_exchange(8, 0, v + 1) == 0:
            h.atomic_add(9, 1)
        old[vy.u32(h.atomic_add(10, 1))] = 1


def test_atomics_are_methods_that_give_the_old_value() -> None:
    n = 40
    h = np.zeros(11, np.int32)
    h[2], h[5] = 100, -1
    h, old = run_unordered(atomics, h, np.zeros(n, np.uint32))
    xor = int(np.bitwise_xor.reduce(np.arange(n)))
    total = n * (n - 1) // 2
    assert [*h[:8]] == [total, -total, 0, n - 1, 2**31 - 1, -(2**31), xor, 5]
    assert 1 <= h[8] <= n
    assert [*h[9:]] == [1, n]
    assert old.all()


T = vy.generic("T")


@vy.kernel
def passed_on(flags: vy.InOut[T], y: vy.Out[T]):  # pyright: ignore[reportInvalidTypeForm]
    i = vy.gid()
    if i < len(y):
        flags.atomic_store(i, T(i) + T(1))
        y[i] = flags.atomic_load(i) + flags.atomic_load(len(y) + i)


@pytest.mark.parametrize("dtype", [np.uint32, np.int32, np.uint64, np.int64, np.float32])
@pytest.mark.parametrize("device", ["reference", "cpu", "wgpu:llvmpipe"])
def test_atomic_loads_and_stores(dtype: type, device: str) -> None:
    flags = np.zeros(300, dtype)
    y = np.zeros_like(flags)
    passed_on(flags, y, device=device)
    assert (y == np.arange(300) + 1).all()
    assert (flags == y).all()


def test_an_atomic_load_does_not_decide_on_the_grid() -> None:
    @vy.kernel
    def gated(gate: vy.InOut[vy.u32], y: vy.Out[vy.u32]):
        i = vy.gid()
        if i < len(y) and gate.atomic_load(0) == 0:
            y[i] = 1

    y = np.zeros(1000, np.uint32)
    gated(np.zeros(1, np.uint32), y, device="cpu")
    assert y.all()


def test_an_atomic_store_has_no_value() -> None:
    @vy.kernel
    def wrong(x: vy.InOut[vy.u32]):
        x[0] = x.atomic_store(1, 2)  # pyright: ignore[reportArgumentType]

    with pytest.raises(vy.VyreError, match="gives no value"):
        wrong.program()


def run_unordered(kernel: vy.Kernel[...], *args: np.ndarray) -> list[np.ndarray]:
    own = [arg.copy() for arg in args]
    kernel(*own, device="cpu")
    return own


@vy.kernel(workgroup=32)
def subgroups(x: vy.In[vy.u32], y: vy.Out[vy.u32, 2]):
    i = vy.gid()
    v = x[i]
    total = vy.subgroup_add(v)
    most = vy.subgroup_max(v)
    bits = vy.subgroup_ballot(v > 50)
    neighbour = vy.subgroup_shuffle(v, (vy.subgroup_lane() + 1) % vy.subgroup_size())
    all_bits = vy.subgroup_or(v) ^ vy.subgroup_xor(v) ^ vy.subgroup_xor(v)
    if i < len(x):
        y[i, 0] = total
        y[i, 1] = most
        y[i, 2] = bits[0]
        y[i, 3] = neighbour
        y[i, 4] = all_bits


def test_subgroup_operations() -> None:
    x = np.random.default_rng(2).integers(0, 100, 64, dtype=np.uint32)
    y = run(subgroups, x, np.zeros((64, 5), np.uint32))[1]
    for half in (slice(0, 32), slice(32, 64)):
        v = x[half]
        ballot = sum(1 << k for k in range(32) if v[k] > 50)
        assert (y[half, :3] == [v.sum(), v.max(), ballot]).all()
        np.testing.assert_array_equal(y[half, 3], np.roll(v, -1))
        assert (y[half, 4] == np.bitwise_or.reduce(v)).all()


@vy.kernel(workgroup=32)
def two_steps(x: vy.InOut[vy.u32], y: vy.Out[vy.u32]):
    i = vy.gid()
    if i < len(x):
        x[i] = x[i] + 1
    vy.grid_sync()
    if i < len(x):
        y[i] = x[len(x) - 1 - i]


def test_grid_sync() -> None:
    x = np.arange(200, dtype=np.uint32)
    y = run(two_steps, x, np.zeros_like(x))[1]
    np.testing.assert_array_equal(y, (x + 1)[::-1])
