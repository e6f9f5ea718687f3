"""Extents that callers give: whole numbers that fit, or an error; nothing wraps or crashes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vyre as vy
from vyre.diagnostics import ArgumentError, DispatchError, VyreError
from vyre.driver.grid_sync import DispatchConfig, dispatch_with_grid_sync_split
from vyre.runtime import run


@vy.kernel
def plus_one(x: vy.In[vy.u32], y: vy.Out[vy.u32]):
    i = vy.gid(0)
    if i < y.shape[0]:
        y[i] = x[i] + 1


def said(value: object) -> str:
    """A value in the name of a test, without where it happens to be in memory."""
    return repr(value).partition(" at 0x")[0]


PROGRAM = plus_one.program()
X = np.arange(8, dtype=np.uint32)

NO_NUMBERS = (
    *(True, False, np.True_, 8.0, 2.5, float("nan"), float("inf"), np.float32(8), 8 + 0j),
    *("8", b"8", bytearray(b"8"), memoryview(b"8"), {8}, {8: 1}, iter([8]), object()),
    *((True,), (8.0,), ("8",), (8, None), np.array([8.0]), np.timedelta64(8)),
)
"""What is not one to three whole numbers."""
TOO_MANY = (-1, -(1 << 32), 1 << 32, (1 << 32) + 5, 1 << 63, (1 << 64) + 3, np.int64(-1))
TOO_MANY_NUMPY = (np.uint64(1 << 40), np.int64(1 << 32))
GOOD = (8, np.int64(8), np.uint8(8), (8,), [8], (8, 1, 1), np.array(8), np.array([8]))
BAD = (*NO_NUMBERS, *TOO_MANY, *TOO_MANY_NUMPY, (), (8, 1, 1, 1), (1 << 32, 1, 1), (8, -1))


@pytest.mark.parametrize("given", BAD, ids=said)
@pytest.mark.parametrize("which", ["grid", "elements"])
@pytest.mark.parametrize("again", [False, True], ids=["", "after a good one"])
def test_a_grid_that_there_is_not_is_refused_and_nothing_is_written(which, given, again):
    y = np.full(8, 7, np.uint32)
    if again:
        good: dict[str, Any] = {which: 8}
        for _ in range(3):
            plus_one(X, y, **good)
            run(PROGRAM, {"x": X, "y": y}, device="cpu", in_place=True, **good)
        y[:] = 7
    with pytest.raises(DispatchError):
        plus_one(X, y, **{which: given})
    with pytest.raises(DispatchError):
        run(PROGRAM, {"x": X, "y": y}, device="cpu", in_place=True, **{which: given})
    assert (y == 7).all()
    with pytest.raises(VyreError):
        run(PROGRAM, {"x": X}, device="cpu", **{which: given})
    with pytest.raises(VyreError):
        dispatch_with_grid_sync_split("cpu", PROGRAM, [X], DispatchConfig(**{which: given}))


@pytest.mark.parametrize("given", GOOD, ids=said)
@pytest.mark.parametrize("which", ["grid", "elements"])
def test_whole_numbers_of_any_kind_are_a_grid(which, given):
    y = np.zeros(8, np.uint32)
    plus_one(X, y, **{which: given})
    assert (y == X + 1).all()
    (data,) = dispatch_with_grid_sync_split("cpu", PROGRAM, [X], DispatchConfig(**{which: given}))
    assert np.frombuffer(data, np.uint32).tolist() == y.tolist()


@pytest.mark.parametrize("given", [None, *BAD, (8,), [8], np.array(8)], ids=said)
def test_a_size_that_no_buffer_has_is_refused(given):
    with pytest.raises(ArgumentError) as refused:
        run(PROGRAM, {"x": X}, sizes={"y": given}, grid=1, device="cpu")
    assert refused.value.code == "D034"
    config = DispatchConfig(sizes={"y": given}, grid=1)
    with pytest.raises(ArgumentError) as refused:
        dispatch_with_grid_sync_split("cpu", PROGRAM, [X], config)
    assert refused.value.code == "D034"


@pytest.mark.parametrize("size", [0, 3, np.int64(3), np.uint8(3)], ids=said)
def test_sizes_are_those_of_outputs(size):
    assert run(PROGRAM, {"x": X}, sizes={"y": size}, grid=1, device="cpu")["y"].size == size
    config = DispatchConfig(sizes={"y": size}, grid=1)
    (data,) = dispatch_with_grid_sync_split("cpu", PROGRAM, [X], config)
    assert len(data) == 4 * size


def test_outputs_are_as_long_as_the_elements_of_all_axes():
    config = DispatchConfig(elements=(2, 2))
    (data,) = dispatch_with_grid_sync_split("cpu", PROGRAM, [X], config)
    assert len(data) == 16
    for elements in ((1 << 16, 1 << 16), (1 << 31, 2)):
        with pytest.raises(ArgumentError) as refused:
            run(PROGRAM, {"x": X}, elements=elements, device="cpu")
        assert refused.value.code == "D032"
        config = DispatchConfig(elements=elements)
        with pytest.raises(ArgumentError) as refused:
            dispatch_with_grid_sync_split("cpu", PROGRAM, [X], config)
        assert refused.value.code == "D032"


@pytest.mark.parametrize(
    "shape",
    [
        *(shape for shape in NO_NUMBERS if not isinstance(shape, np.timedelta64)),
        *(-1, (2, -1), 1 << 63, (1 << 31, 1 << 31), (0, 1 << 63), None),
    ],
    ids=said,
)
def test_a_shape_that_no_array_has_is_refused(shape):
    with pytest.raises(ArgumentError) as refused:
        vy.zeros(shape, np.uint32, device="cpu")
    assert refused.value.code == "D036"


@pytest.mark.parametrize(
    ("shape", "found"),
    [
        *((0, (0,)), (3, (3,)), (np.int8(3), (3,)), ([2, 3], (2, 3)), ((), ())),
        *((np.array([2, 3]), (2, 3)), ((np.uint64(2), 0), (2, 0)), (range(2, 4), (2, 3))),
    ],
    ids=said,
)
def test_shapes_of_whole_numbers(shape, found):
    made = vy.zeros(shape, np.uint32, device="cpu")
    assert made.shape == found
    assert all(type(extent) is int for extent in made.shape)
