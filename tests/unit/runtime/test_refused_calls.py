"""A call that is refused has done nothing: what it was to write is as it was."""
# The number of axes stands among types.
# pyright: reportGeneralTypeIssues=false

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import vyre as vy
from vyre.config import config
from vyre.diagnostics import VyreError

DEVICES = [info.id for info in vy.devices() if info.available]


def _kernel() -> Any:
    @vy.kernel
    def counted(a: vy.u32, x: vy.In[vy.u32], y: vy.Out[vy.u32]):
        i = vy.gid()
        if i < len(x):
            y.atomic_add(x[i] % len(y), a)

    return counted


def _x() -> Any:
    return np.arange(64, dtype=np.uint32)


def _freed() -> Any:
    made = vy.zeros(64, np.uint32, device="cpu")
    made.free()
    return made


Wrong = tuple[Callable[[Any], tuple[Any, ...]], dict[str, Any]]
"""What to pass, made from the array that is to be written, and what to say."""
WRONG: dict[str, Wrong] = {
    "a number that does not fit": (lambda y: (-1, _x(), y), {}),
    "a number of another kind": (lambda y: (1.0, _x(), y), {}),
    "an array of another type": (lambda y: (1, _x().astype(np.int64), y), {}),
    "an array of another rank": (lambda y: (1, _x().reshape(8, 8), y), {}),
    "what is no array": (lambda y: (1, [1, 2], y), {}),
    "the same array": (lambda y: (1, y, y), {}),
    "an array that overlaps": (lambda y: (1, y[8:], y[:-8]), {}),
    "a deadline that is none": (lambda y: (1, _x(), y), {"deadline": -1}),
    "a grid that is none": (lambda y: (1, _x(), y), {"grid": (-1,)}),
    "a grid that is too large": (lambda y: (1, _x(), y), {"grid": (2**31, 2**31, 2**31)}),
    "elements that are none": (lambda y: (1, _x(), y), {"elements": -1}),
    "too many elements": (lambda y: (1, _x(), y), {"elements": 2**32 + 5}),
    "a device that is none": (lambda y: (1, _x(), y), {"device": "gpu"}),
    "an array that was freed": (lambda y: (1, _freed(), y), {}),
}


@pytest.mark.parametrize("before", [0, 3], ids=lambda n: f"{n} calls before")
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", WRONG)
def test_a_refused_call_changes_nothing(name: str, device: str, before: int) -> None:
    arguments, said = WRONG[name]
    kernel = _kernel()
    for _ in range(before):
        kernel(1, _x(), np.ones(64, np.uint32), device=device)
    y = np.arange(7, 71, dtype=np.uint32)
    known = y.copy()
    with pytest.raises(VyreError):
        kernel(*arguments(y), **{"device": device, **said})
    np.testing.assert_array_equal(y, known)


@pytest.mark.parametrize("name", WRONG)
def test_a_call_that_the_reference_refuses_changes_nothing(name: str) -> None:
    arguments, said = WRONG[name]
    y = np.arange(7, 71, dtype=np.uint32)
    known = y.copy()
    if "device" in said:
        return
    with pytest.raises(VyreError):
        _kernel().reference(*arguments(y), **said)
    np.testing.assert_array_equal(y, known)


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.usefixtures("checked")
def test_a_checked_call_that_is_refused_changes_nothing(name: str) -> None:
    arguments, said = WRONG[name]
    y = np.arange(7, 71, dtype=np.uint32)
    known = y.copy()
    with pytest.raises(VyreError):
        _kernel()(*arguments(y), **{"device": "cpu", **said})
    np.testing.assert_array_equal(y, known)


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("VYRE_CHECK", "1")
    config.cache_clear()
    yield
    config.cache_clear()


@pytest.mark.usefixtures("checked")
@pytest.mark.parametrize("device", DEVICES)
def test_a_checked_call_begins_with_zeros(device: str) -> None:
    for _ in range(2):
        y = np.full(64, 7, np.uint32)
        _kernel()(3, _x(), y, device=device)
        assert y.tolist() == [3] * 64


@pytest.mark.parametrize("device", DEVICES)
def test_arrays_of_the_device_stay_as_they_are(device: str) -> None:
    kernel = _kernel()
    x = vy.array(_x(), device)
    y = vy.array(np.arange(7, 71, dtype=np.uint32), device)
    for _ in range(3):
        kernel(1, x, y)
    y.write(np.arange(7, 71, dtype=np.uint32))
    for wrong in ((1, y, y), (-1, x, y), (1, _freed(), y), (1, vy.zeros(3, np.int8, device), y)):
        with pytest.raises(VyreError):
            kernel(*wrong)
        with pytest.raises(VyreError):
            kernel(1, x, y, deadline=-1)
        if device.startswith("wgpu"):  # which has a limit of its own
            with pytest.raises(VyreError):
                kernel(1, x, y, grid=(2**20, 2**20))
        np.testing.assert_array_equal(y.numpy(), np.arange(7, 71))


@vy.kernel
def inner(x: vy.In[vy.f32, 2], y: vy.Out[vy.f32, 2]):
    j, i = vy.gid(0), vy.gid(1)
    if i > 0 and i + 1 < y.shape[0] and j > 0 and j + 1 < y.shape[1]:
        y[i, j] = x[i - 1, j] + x[i + 1, j]


@pytest.mark.parametrize("device", DEVICES)
def test_margins_are_cleared_where_they_are_and_only_when_it_runs(device: str) -> None:
    for n in (5, 5, 5, 6, 9, 9):
        x, y = np.ones((n, 2 * n), np.float32), np.full((n, 2 * n), 7, np.float32)
        with pytest.raises(VyreError):
            inner(y, y, device=device, grid=(1, 16))
        assert (y == 7).all()
        inner(x, y, device=device, grid=(1, 16))
        wanted = np.zeros((n, 2 * n), np.float32)
        wanted[1:-1, 1:-1] = 2
        np.testing.assert_array_equal(y, wanted)


@pytest.mark.parametrize("device", DEVICES)
def test_views_begin_as_zeros_too(device: str) -> None:
    kernel = _kernel()
    whole = np.full(40, 9, np.uint32)
    kernel(2, _x(), whole[::2], device=device)
    assert whole[1::2].tolist() == [9] * 20
    assert whole[::2].sum() == 128
    data = bytearray(b"\xff" * 81)
    kernel(2, _x(), memoryview(data)[1:], device=device)  # at an odd address
    assert data[0] == 255
    assert np.frombuffer(data, np.uint32, offset=1).sum() == 128
