"""Views with strides as arguments of kernels: in place where possible, written back always."""
# The number of axes stands among types.
# pyright: reportGeneralTypeIssues=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import vyre as vy
from vyre.diagnostics import ArgumentError
from vyre.runtime.kernel_views import place_views

DEVICES = [info.id for info in vy.devices() if info.available]


@vy.kernel
def change(x: vy.In[vy.i32], y: vy.InOut[vy.i32], z: vy.Out[vy.i32]):
    i = vy.gid()
    if i < len(y):
        z[i] = y[i] - x[i]
        y[i] += x[i]
    if i < 1:
        assert x.size == len(x), "size and length differ"


@vy.kernel(workgroup=(8, 4))
def change2(x: vy.In[vy.i32, 2], y: vy.InOut[vy.i32, 2], z: vy.Out[vy.i32, 2]):
    i, j = vy.gid(1), vy.gid(0)
    if i < y.shape[0] and j < y.shape[1]:
        z[i, j] = y[i, j] - x[i, j] + x[i, x.shape[1]] + x[x.shape[0], j]
        y[i, j] += x[i, j]
    if i < 1 and j < 1:
        assert x.size == x.shape[0] * x.shape[1]


@vy.kernel
def change3(x: vy.In[vy.i32, 3], y: vy.InOut[vy.i32, 3], z: vy.Out[vy.i32, 3]):
    if vy.gid() < 1:
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                for k in range(x.shape[2]):
                    z[i, j, k] = y[i, j, k] - x[i, j, k]
                    y[i, j, k] += x[i, j, k]


def _filled(*shape: int) -> Any:
    return np.arange(1, np.prod(shape) + 1, dtype=np.int32).reshape(shape)


def _odd(array: Any) -> Any:
    """The same values at an address that is no multiple of their size."""
    raw = np.zeros(array.nbytes + 1, np.uint8)
    made = raw[1:].view(np.int32).reshape(array.shape)
    made[...] = array
    return made


LAYOUTS: dict[str, Any] = {
    "plain": lambda: _filled(7),
    "every second": lambda: _filled(14)[::2],
    "backwards": lambda: _filled(7)[::-1],
    "backwards by three": lambda: _filled(21)[20::-3],
    "a column": lambda: _filled(7, 5)[:, 3],
    "a field": lambda: np.zeros(7, [("a", "i4"), ("b", "i4"), ("c", "u1"), ("d", "u1", 3)])["b"],
    "an odd field": lambda: np.zeros(7, [("a", "u1"), ("b", "i4")])["b"],
    "an odd address": lambda: _odd(_filled(7)),
    "empty": lambda: _filled(7)[:0:2],
    "matrix": lambda: _filled(5, 6),
    "transposed": lambda: _filled(6, 5).T,
    "Fortran": lambda: np.asfortranarray(_filled(5, 6)),
    "some rows": lambda: _filled(10, 6)[::2],
    "some columns": lambda: _filled(5, 12)[:, 3:9],
    "both backwards": lambda: _filled(5, 6)[::-1, ::-1],
    "rows backwards": lambda: _filled(5, 6)[::-1],
    "all at once": lambda: _filled(20, 12)[18::-4, ::2],
    "no columns": lambda: _filled(5, 6)[:, :0],
    "cube": lambda: _filled(3, 4, 2).transpose(2, 0, 1),
    "cube backwards": lambda: _filled(4, 4, 6)[::2, ::-1, 1::2],
}
KERNELS = {1: change, 2: change2, 3: change3}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_is_read_and_written(layout: str, device: str) -> None:
    make = LAYOUTS[layout]
    x, y, z = make(), make(), make()
    y *= 5
    around = [_around(array) for array in (x, y, z)]
    sums, differences = x + y, y - x
    before = x.copy()
    KERNELS[x.ndim](x, y, z, device=device)
    np.testing.assert_array_equal(x, before)
    np.testing.assert_array_equal(y, sums)
    np.testing.assert_array_equal(z, differences)
    for (bytes_before, mask), array in zip(around, (x, y, z), strict=True):
        np.testing.assert_array_equal(_around(array)[0][mask], bytes_before[mask])


def _around(array: Any) -> tuple[Any, Any]:
    """A copy of the memory that a view is part of, and which of its bytes are not the view's."""
    base = array
    while isinstance(base.base, np.ndarray):
        base = base.base
    raw = base.view(np.uint8).reshape(-1) if base.flags.c_contiguous else base.T.view(np.uint8)
    raw = raw.reshape(-1)
    mask = np.zeros(raw.size, bool)
    start = array.__array_interface__["data"][0] - raw.__array_interface__["data"][0]
    for index in np.ndindex(array.shape):
        at = start + sum(i * step for i, step in zip(index, array.strides, strict=True))
        mask[at : at + array.itemsize] = True
    return raw.copy(), ~mask


@pytest.mark.parametrize("device", DEVICES)
def test_a_broadcast_view_is_read(device: str) -> None:
    x = np.broadcast_to(_filled(6), (5, 6))
    y, z = np.ones((5, 6), np.int32), np.ones((5, 6), np.int32)
    change2(x, y, z, device=device)
    np.testing.assert_array_equal(y, x + 1)
    one = np.broadcast_to(np.int32(4), (9,))
    a, b = np.zeros(9, np.int32), np.zeros(9, np.int32)
    change(one, a, b, device=device)
    assert a.tolist() == [4] * 9


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_reference_treats_views_the_same(layout: str) -> None:
    make = LAYOUTS[layout]
    x, y, z = make(), make(), make()
    y *= 5
    sums, differences = x + y, y - x
    KERNELS[x.ndim].reference(x, y, z)
    np.testing.assert_array_equal(y, sums)
    np.testing.assert_array_equal(z, differences)


@pytest.mark.parametrize("device", DEVICES)
def test_views_that_interleave_are_copied_and_views_that_overlap_are_refused(device: str) -> None:
    base = _filled(20)
    even, odd = base[::2], base[1::2]
    expected = even + odd
    change(even, odd, np.zeros(10, np.int32), device=device)
    np.testing.assert_array_equal(base[1::2], expected)
    np.testing.assert_array_equal(base[::2], np.arange(1, 21, 2))
    with pytest.raises(ArgumentError) as caught:
        change(base[::2], base[::4], np.zeros(5, np.int32), device=device)
    assert caught.value.code == "D011"


@pytest.mark.parametrize("device", DEVICES)
def test_what_cannot_be_written_is_refused(device: str) -> None:
    x = _filled(6)
    frozen = _filled(12)[::2]
    frozen.flags.writeable = False
    many = as_strided(np.zeros(1, np.int32), (6,), (0,))
    for target in (frozen, many, bytes(24)):
        with pytest.raises(ArgumentError) as caught:
            change(x, np.zeros(6, np.int32), target, device=device)
        assert caught.value.code == "D014"


def test_another_byte_order_is_refused_by_name() -> None:
    x = _filled(6).astype(">i4")
    with pytest.raises(ArgumentError, match="byte order of another machine") as caught:
        change(x, np.zeros(6, np.int32), np.zeros(6, np.int32), device="cpu")
    assert caught.value.code == "D005"


def test_nothing_is_copied_on_the_cpu() -> None:
    from vyre.driver import routing

    device = routing.choose("cpu").device
    view = _filled(20, 12)[::-2, 1::3]
    given: dict[str, object] = {"y": view}
    layouts = place_views(["y"], given, {"y": view}, device)
    assert layouts
    span: Any = given["y"]
    assert np.shares_memory(span, view)
    start, *steps = np.asarray(given["y.strides"]).astype(np.int32).tolist()
    rebuilt = as_strided(span[start:], view.shape, [4 * step for step in steps])
    np.testing.assert_array_equal(rebuilt, view)


def test_an_index_outside_of_a_view_is_outside_though_memory_is_there() -> None:
    base = np.ones(40, np.int32)

    @vy.kernel
    def beyond(x: vy.InOut[vy.i32], y: vy.Out[vy.i32]):
        i = vy.gid()
        y[i] = x[i + 3]
        if i < 8:
            x[vy.i32(i) - 5] = 9

    y = np.ones(8, np.int32)
    beyond(base[10:20:3], y, device="cpu", elements=8)
    assert y.tolist() == [1, 0, 0, 0, 0, 0, 0, 0]
    assert np.flatnonzero(base == 9).tolist() == [10, 13, 16]


def test_programs_write_views_back_too() -> None:
    program = change.program()
    y, z = _filled(14)[::2], bytearray(28)
    x, expected = _filled(7), (_filled(14)[::2] + _filled(7)).tolist()
    vy.run(program, {"x": x, "y": y, "z": z}, in_place=True, device="cpu")
    assert y.tolist() == expected
    assert np.frombuffer(z, np.int32).tolist() == (_filled(14)[::2] - x).tolist()


@pytest.mark.parametrize("device", DEVICES)
def test_a_view_of_more_elements_than_32_bits_count_is_refused(device: str) -> None:
    @vy.kernel
    def count(x: vy.In[vy.u8, 2], y: vy.Out[vy.u32]):
        i = vy.gid()
        if i < x.size // 1000000:
            y.atomic_add(0, 1)

    y = np.full(1, 9, np.uint32)
    empty = np.zeros(((1 << 32) + 5, 0), np.uint8)
    for x in (np.broadcast_to(np.uint8(7), (70000, 70000)), empty, empty.T):
        for call in (count, count.reference):
            on: dict[str, Any] = {"device": device} if call is count else {}
            with pytest.raises(ArgumentError) as refused:
                call(x, y, **on)
            assert refused.value.code == "D032"
    assert y.tolist() == [9]
    if device == "cpu":
        count(np.broadcast_to(np.uint8(7), (60000, 70000)), y, device=device)
        assert y.tolist() == [4200]


@vy.kernel
def copied(x: vy.In[vy.i32], y: vy.Out[vy.i32]):
    i = vy.gid()
    if i < len(x):
        y[i] = x[i]


def test_outputs_longer_than_a_view_that_is_read_end_in_zeros() -> None:
    for view in (_filled(100)[::2], _filled(50, 3)[:, 1], _filled(50)[::-1]):
        y = np.full(70, 7, np.int32)
        copied(view, y, device="cpu")
        np.testing.assert_array_equal(y, np.r_[view, [0] * 20])
