"""The default grid of the usual kinds of kernels: every effect happens once, for odd sizes too."""
# The number of axes stands among types; short names are those of mathematics.
# pyright: reportGeneralTypeIssues=false

from __future__ import annotations

import itertools
import linecache
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import vyre as vy
from vyre.diagnostics import DispatchError
from vyre.runtime import kernel_arguments as arguments
from vyre.runtime.kernel_grid import launch_grid
from vyre.runtime.specialisation import specialise, type_of_value

DEVICES = ("reference", "cpu")
LENGTHS = (0, 1, 2, 63, 64, 65, 127, 1000)


def grid_of(kernel: Any, *args: Any, **given: Any) -> tuple[int, int, int]:
    """The workgroups that a call would run."""
    bound = arguments.by_parameter(kernel.source, args, {}, partial=False)
    made = arguments.prepare(kernel.source, bound)
    wanted = specialise(kernel.source, bound, type_of_value)
    return launch_grid(
        kernel.source.program(wanted), made, given.get("grid"), given.get("elements")
    )


def refused(kernel: Any, *args: Any) -> str:
    """What a call says that gives no grid."""
    with pytest.raises(DispatchError) as caught:
        kernel(*args, device="reference")
    assert caught.value.code == "D009"
    return str(caught.value)


def words(*shape: int) -> Any:
    return np.zeros(shape, np.uint32)


# --- each invocation has an element of its own ----------------------------------------------------


@vy.kernel
def guarded(y: vy.InOut[vy.u32]):
    i = vy.gid()
    if i < len(y):
        y[i] += i + 1


@vy.kernel
def unguarded(y: vy.InOut[vy.u32]):
    y[vy.gid()] += vy.gid() + 1


@vy.kernel(workgroup=32)
def taken_apart(y: vy.InOut[vy.u32]):
    i = vy.wid() * vy.group_size() + vy.lid()
    y[i] += i + 1


@pytest.mark.parametrize("kernel", [guarded, unguarded, taken_apart])
@pytest.mark.parametrize("device", DEVICES)
def test_one_axis(kernel: Any, device: str) -> None:
    for n in LENGTHS:
        y = words(n)
        kernel(y, device=device)
        assert y.tolist() == list(range(1, n + 1))
        size = kernel.source.workgroup[0]
        assert grid_of(kernel, y)[0] == -(-n // size)


def source_of(rank: int, order: Sequence[int], is_guarded: bool) -> str:
    names = "ijk"[:rank]
    index = ", ".join(names[axis] for axis in order)
    tests = " and ".join(f"{names[axis]} < y.shape[{k}]" for k, axis in enumerate(order))
    shape = (4, 2, 3)[:rank]
    lines = [
        f"@vy.kernel(workgroup={shape})",
        f"def k(y: vy.InOut[vy.u32, {rank}]):",
        *(f"    {name} = vy.gid({axis})" for axis, name in enumerate(names)),
        f"    if {tests}:" if is_guarded else "    if True:",
        f"        y[{index}] += 1",
    ]
    return "\n".join(lines) + "\n"


def kernel_from(source: str, name: str) -> Any:
    linecache.cache[name] = (0, None, source.splitlines(keepends=True), name)
    names: dict[str, Any] = {"vy": vy}
    exec(compile(source, name, "exec"), names)
    return names["k"]


ORDERS = [order for rank in (2, 3) for order in itertools.permutations(range(rank))]


@pytest.mark.parametrize("is_guarded", [True, False], ids=["guarded", "unguarded"])
@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_ids_index_axes_in_any_order(order: tuple[int, ...], is_guarded: bool) -> None:
    kernel = kernel_from(source_of(len(order), order, is_guarded), f"<{order} {is_guarded}>")
    for shape in ((1, 1, 1), (9, 2, 5), (3, 17, 4), (2, 5, 19), (0, 3, 3)):
        y = words(*shape[: len(order)])
        kernel(y, device="reference")
        assert (y == 1).all(), shape
        if y.size:
            sizes = kernel.source.workgroup
            needed = {axis: y.shape[k] for k, axis in enumerate(order)}
            wanted = tuple(-(-needed.get(axis, 1) // sizes[axis]) for axis in range(3))
            assert grid_of(kernel, y) == wanted


@vy.kernel(workgroup=(16, 8))
def picture(image: vy.InOut[vy.u8, 3]):
    y, x = vy.gid(1), vy.gid(0)
    for c in range(3):
        image[y, x, c] += 1


@vy.kernel(workgroup=(16, 8))
def field(f: vy.InOut[vy.u32, 3]):
    i, j = vy.gid(0), vy.gid(1)
    if i < f.shape[0] and j < f.shape[1]:
        f[i, j, 0] += 1
        f[i, j, 1] += 1


@vy.kernel(workgroup=(8, 8))
def turned(a: vy.InOut[vy.u32, 2]):
    i, j = vy.gid(0), vy.gid(1)
    a[i, j] += 1


@pytest.mark.parametrize("device", DEVICES)
def test_pictures_and_fields(device: str) -> None:
    for height, width in ((480, 640), (1, 1), (7, 33), (33, 7)):
        image = np.zeros((height, width, 3), np.uint8)
        picture(image, device=device)
        assert (image == 1).all()
        assert grid_of(picture, image) == (-(-width // 16), -(-height // 8), 1)
    for n in (1, 15, 40):
        f = words(n, n, 2)
        field(f, device=device)
        assert (f == 1).all()
        assert grid_of(field, f) == (-(-n // 16), -(-n // 8), 1)
    a = words(300, 20)
    turned(a, device=device)
    assert (a == 1).all()


# --- sums, histograms, scatters -------------------------------------------------------------------


@vy.kernel
def total(x: vy.In[vy.u32], t: vy.InOut[vy.u32]):
    i = vy.gid()
    if i < len(x):
        t.atomic_add(0, x[i])


@vy.kernel
def total_unguarded(x: vy.In[vy.u32], t: vy.InOut[vy.u32]):
    i = vy.gid()
    t.atomic_add(0, x[i])


@vy.kernel
def histogram(x: vy.In[vy.u32], t: vy.InOut[vy.u32]):
    i = vy.gid()
    if i >= len(x):
        return
    t.atomic_add(x[i] % 5, 1)


@vy.kernel
def histogram_unguarded(x: vy.In[vy.u32], t: vy.InOut[vy.u32]):
    t.atomic_add(x[vy.gid()], 1)


@vy.kernel
def scatter(idx: vy.In[vy.u32], out: vy.InOut[vy.u32]):
    i = vy.gid()
    if i < len(idx):
        out[idx[i]] = i + 1


@vy.kernel
def scatter_unguarded(idx: vy.In[vy.u32], out: vy.InOut[vy.u32]):
    i = vy.gid()
    out[idx[i]] = i + 1


@vy.kernel
def compaction(x: vy.In[vy.u32], count: vy.InOut[vy.u32], out: vy.InOut[vy.u32]):
    i = vy.gid()
    if i < len(x) and x[i] % 2 == 1:
        out[count.atomic_add(0, 1)] = x[i]


@pytest.mark.parametrize("device", DEVICES)
def test_effects_that_are_not_at_the_own_place(device: str) -> None:
    rng = np.random.default_rng(1)
    for n in LENGTHS:
        x = rng.integers(0, 1000, n).astype(np.uint32)
        t = words(1)
        total(x, t, device=device)
        assert t[0] == x.sum(dtype=np.uint32)
        t = words(5)
        histogram(x, t, device=device)
        assert t.tolist() == np.bincount(x % 5, minlength=5).tolist()
        idx = rng.permutation(n).astype(np.uint32)
        out = words(max(n, 1))
        scatter(idx, out, device=device)
        assert out[idx].tolist() == list(range(1, n + 1))
        count, found = words(1), words(max(n, 1))
        compaction(x, count, found, device=device)
        assert sorted(found[: count[0]].tolist()) == sorted(x[x % 2 == 1].tolist())
    ones, t = np.ones(1000, np.uint32), words(1)
    total(ones, t, device=device)
    assert t[0] == 1000


@pytest.mark.parametrize("kernel", [total_unguarded, histogram_unguarded, scatter_unguarded])
def test_without_a_guard_they_are_refused(kernel: Any) -> None:
    said = refused(kernel, words(1000), words(1))
    assert "past the end" in said
    assert "fix: guard it: if " in said
    assert f"  --> {__file__}" in said


# --- guards by other arrays and by numbers --------------------------------------------------------


@vy.kernel
def row_counts(x: vy.In[vy.u32, 2], y: vy.InOut[vy.u32]):
    i = vy.gid()
    if i < x.shape[0]:
        y[i] += 1


@vy.kernel
def moves(mass: vy.In[vy.f32], moved: vy.InOut[vy.u32, 2]):
    i = vy.gid()
    if i < len(mass):
        moved[0, i] += 1
        moved[1, i] += 1
        moved[2, i] += 1


@vy.kernel(workgroup=(16, 4))
def board(rows: vy.u32, columns: vy.u32, new: vy.InOut[vy.u32]):
    y, x = vy.gid(1), vy.gid(0)
    if y < rows and x < columns:
        new[(y + 1) * (columns + 2) + x + 1] += 1


@vy.kernel(workgroup=(16, 4))
def rows_unguarded(w: vy.u32, new: vy.InOut[vy.u32]):
    r, c = vy.gid(1), vy.gid(0)
    if c < w:
        for k in range(3):
            new[(r * w + c) * 3 + k] += 1


@vy.kernel(workgroup=(16, 4))
def columns_unguarded(w: vy.u32, new: vy.InOut[vy.u32]):
    r, c = vy.gid(1), vy.gid(0)
    new[r * w + c] += 1


@vy.kernel
def wrapped(x: vy.In[vy.u32, 2], y: vy.InOut[vy.u32, 2]):
    i = vy.gid()
    y[i // y.shape[1], i % y.shape[1]] += 1


@pytest.mark.parametrize("device", DEVICES)
def test_guards_by_other_arrays_and_by_numbers(device: str) -> None:
    y = words(100)
    row_counts(words(37, 5), y, device=device)
    assert y.tolist() == [1] * 37 + [0] * 63
    assert grid_of(moves, np.ones(129, np.float32), words(3, 200)) == (3, 1, 1)
    moved = words(3, 129)
    moves(np.ones(129, np.float32), moved, device=device)
    assert (moved == 1).all()
    for rows, columns in ((1, 1), (5, 33), (33, 5), (0, 7)):
        new = words(rows + 2, columns + 2)
        board(rows, columns, new.reshape(-1), device=device)
        assert (new[1:-1, 1:-1] == 1).all()
        assert new.sum() == rows * columns
        new = words(rows * columns * 3)
        rows_unguarded(columns, new, device=device)
        assert (new == 1).all()
    y = words(13, 7)
    wrapped(words(1, 1), y, device=device)
    assert (y == 1).all()
    assert refused(columns_unguarded, 7, words(70)).endswith("fix: guard it: if c < w:")


# --- steps, tiles, strides ------------------------------------------------------------------------


@vy.kernel
def encoded(text: vy.InOut[vy.u32]):
    i = vy.gid()
    for k in range(4):
        text[4 * i + k] += 1


@vy.kernel
def decoded(text: vy.In[vy.u32], out: vy.InOut[vy.u32]):
    i = vy.gid()
    out[i] += text[4 * (i // 3) + i % 3] + 1


@vy.kernel(workgroup=64)
def pairs(y: vy.InOut[vy.u32]):
    start = vy.wid() * 128 + vy.lid()
    y[start] += 1
    y[start + 64] += 1


TILE = 8


@vy.kernel(workgroup=(TILE, TILE))
def product(a: vy.In[vy.f32, 2], b: vy.In[vy.f32, 2], c: vy.InOut[vy.f32, 2]):
    tile_a = vy.shared(vy.f32, TILE, TILE)
    tile_b = vy.shared(vy.f32, TILE, TILE)
    row, column = vy.wid(1) * TILE + vy.lid(1), vy.wid(0) * TILE + vy.lid(0)
    y, x = vy.lid(1), vy.lid(0)
    total = 0.0
    for start in range(0, a.shape[1], TILE):
        tile_a[y, x] = a[row, start + x]
        tile_b[y, x] = b[start + y, column]
        vy.barrier()
        for k in range(TILE):
            total += tile_a[y, k] * tile_b[k, x]
        vy.barrier()
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] += total


@vy.kernel(workgroup=16)
def blocks(x: vy.In[vy.u32], sums: vy.InOut[vy.u32]):
    part = vy.shared(vy.u32, 16)
    part[vy.lid()] = x[vy.gid()]
    vy.barrier()
    if vy.lid() == 0:
        for k in range(16):
            sums[vy.wid()] += part[k]


@pytest.mark.parametrize("device", DEVICES)
def test_steps_tiles_and_blocks(device: str) -> None:
    for n in LENGTHS:
        text = words(n)
        encoded(text, device=device)
        assert (text == 1).all()
        assert grid_of(encoded, text)[0] == -(-n // 256)
        out = words(n)
        decoded(words(2 * n + 4), out, device=device)
        assert (out == 1).all()
        pairs(text, device=device)
        assert (text == 2).all()
    rng = np.random.default_rng(2)
    for m, k, n in ((1, 1, 1), (9, 20, 3), (3, 5, 17)):
        a = rng.random((m, k), dtype=np.float32)
        b = rng.random((k, n), dtype=np.float32)
        c = np.zeros((m, n), np.float32)
        product(a, b, c, device=device)
        np.testing.assert_allclose(c, a @ b, rtol=1e-5)
        assert grid_of(product, a, b, c) == (-(-n // TILE), -(-m // TILE), 1)
    x = np.arange(100, dtype=np.uint32)
    sums = words(7)
    blocks(x, sums, device=device)
    assert sums.tolist() == [int(x[k : k + 16].sum()) for k in range(0, 100, 16)]
    assert grid_of(blocks, x, sums) == (7, 1, 1)


@vy.kernel
def strided(x: vy.In[vy.u32], y: vy.InOut[vy.u32]):
    for i in range(vy.gid(), len(x), vy.num_groups() * 64):
        y[i] += x[i]


@vy.kernel
def strided_by_while(x: vy.In[vy.u32], y: vy.InOut[vy.u32]):
    everyone = vy.num_groups() * vy.group_size()
    i = vy.gid()
    while i < len(x):
        y[i] += x[i]
        i += everyone


@vy.kernel(workgroup=(8, 4))
def strided_plane(x: vy.In[vy.u32, 2], y: vy.InOut[vy.u32, 2]):
    for r in range(vy.gid(1), x.shape[0], vy.num_groups(1) * 4):
        for c in range(vy.gid(0), x.shape[1], vy.num_groups(0) * 8):
            y[r, c] += x[r, c]


@vy.kernel
def strided_total(x: vy.In[vy.u32], t: vy.InOut[vy.u32]):
    mine = 0
    for i in range(vy.gid(), len(x), vy.num_groups() * 64):
        mine += x[i]
    t.atomic_add(0, mine)


@vy.kernel
def strided_partial(x: vy.In[vy.u32], y: vy.InOut[vy.u32]):
    mine = 0
    for i in range(vy.gid(), len(x), vy.num_groups() * 64):
        mine += x[i]
    y[vy.gid()] = mine


@vy.kernel
def strided_first(x: vy.In[vy.u32], t: vy.InOut[vy.u32]):
    for i in range(vy.gid(), len(x), vy.num_groups() * 64):
        if x[i] == 3:
            t.atomic_add(0, 1)
            break


@vy.kernel
def counts_turns(x: vy.In[vy.u32], y: vy.InOut[vy.u32]):
    for _ in range(vy.gid(), len(x), vy.num_groups() * 64):
        y[vy.gid()] += 1


@vy.kernel
def half_of_them(x: vy.In[vy.u32], t: vy.InOut[vy.u32]):
    if vy.gid() % 2 == 0:
        for i in range(vy.gid(), len(x), vy.num_groups() * 64):
            t.atomic_add(0, x[i])


@vy.kernel
def last_group(t: vy.InOut[vy.u32]):
    if vy.wid() == vy.num_groups() - 1:
        t[0] = vy.wid()


@pytest.mark.parametrize("device", DEVICES)
def test_loops_over_what_the_grid_shares(device: str) -> None:
    for n in LENGTHS:
        x, y = np.arange(n, dtype=np.uint32), words(n)
        for times, kernel in enumerate((strided, strided_by_while), 1):
            kernel(x, y, device=device)
            assert (y == times * x).all()
            assert grid_of(kernel, x, y)[0] == -(-n // 64)
    x, y = np.ones((13, 21), np.uint32), words(13, 21)
    strided_plane(x, y, device=device)
    assert (y == 1).all()


@pytest.mark.parametrize(
    "kernel",
    [strided_total, strided_partial, strided_first, counts_turns, half_of_them, last_group],
)
def test_what_depends_on_the_number_of_workgroups_is_refused(kernel: Any) -> None:
    args = (np.ones(1000, np.uint32), words(500))[-len(kernel.source.parameters) :]
    assert "depends on vy.num_groups()" in refused(kernel, *args)


def test_a_grid_makes_them_run() -> None:
    x, t = np.ones(1000, np.uint32), words(1)
    said = refused(strided_total, x, t)
    assert "fix: pass grid=16, or " in said
    strided_total(x, t, grid=16, device="cpu")
    assert t[0] == 1000


# --- one workgroup --------------------------------------------------------------------------------


@vy.kernel
def first_only(y: vy.InOut[vy.u32]):
    i = vy.gid()
    if i == 0:
        for k in range(len(y)):
            y[k] += 1


@vy.kernel(workgroup=32)
def sorted_in_shared(y: vy.InOut[vy.u32]):
    own = vy.shared(vy.u32, 32)
    own[vy.lid()] = y[vy.lid()]
    vy.barrier()
    before = 0
    for k in range(32):
        if own[k] < own[vy.lid()]:
            before += 1
    y[before] = own[vy.lid()]


@vy.kernel(workgroup=1)
def alone(r: vy.InOut[vy.u32]):
    r[0] += 1


@vy.kernel
def unused(y: vy.InOut[vy.u32]):
    i, _ = vy.gid(0), vy.gid(1)
    y[i] += 1


@pytest.mark.parametrize("device", DEVICES)
def test_one_workgroup(device: str) -> None:
    y = words(1000)
    first_only(y, device=device)
    assert (y == 1).all()
    assert grid_of(first_only, y) == (1, 1, 1)
    y = np.random.default_rng(3).permutation(32).astype(np.uint32)
    sorted_in_shared(y, device=device)
    assert y.tolist() == list(range(32))
    r = words(100)
    alone(r, device=device)
    assert r.tolist() == [1] + [0] * 99
    assert grid_of(alone, words(0)) == (1, 1, 1)
    y = words(70)
    unused(y, device=device)
    assert (y == 1).all()
