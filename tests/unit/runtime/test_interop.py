"""Arrays of other libraries as arguments: of every library with DLPack that is installed.

`array-api-strict` is among the development tools, so this always runs; torch is used where it is.
"""
# The number of axes stands among types.
# pyright: reportGeneralTypeIssues=false

from __future__ import annotations

import array as arrays
import importlib
import mmap
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import vyre as vy
from vyre.diagnostics import ArgumentError

LIBRARIES = [name for name in ("array_api_strict", "torch") if find_spec(name) is not None]
DEVICES = [info.id for info in vy.devices() if info.available]


@vy.kernel
def saxpy(a: vy.f32, x: vy.In[vy.f32], y: vy.InOut[vy.f32]):
    i = vy.gid()
    if i < len(y):
        y[i] = a * x[i] + y[i]


@vy.kernel(workgroup=(8, 8))
def add(x: vy.In[vy.i32, 2], y: vy.InOut[vy.i32, 2]):
    i, j = vy.gid(1), vy.gid(0)
    if i < y.shape[0] and j < y.shape[1]:
        y[i, j] += x[i, j]


def test_a_library_other_than_numpy_is_there() -> None:
    assert "array_api_strict" in LIBRARIES


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("library", LIBRARIES)
def test_foreign_arrays_are_read_and_changed_in_place(library: str, device: str) -> None:
    xp: Any = importlib.import_module(library)
    x, y = xp.arange(9, dtype=xp.float32), xp.ones(9, dtype=xp.float32)
    saxpy(2.0, x, y, device=device)
    assert np.from_dlpack(y).tolist() == [2 * i + 1 for i in range(9)]
    saxpy(xp.asarray(1.0), x, y, device=device)  # a number without axes
    assert np.from_dlpack(y).tolist() == [3 * i + 1 for i in range(9)]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("library", LIBRARIES)
def test_foreign_views_keep_their_strides(library: str, device: str) -> None:
    xp: Any = importlib.import_module(library)
    x = xp.reshape(xp.arange(12, dtype=xp.int32), (3, 4))
    whole = xp.ones((4, 6), dtype=xp.int32)
    add(x.T, whole[:, ::2], device=device)
    expected = np.ones((4, 6), np.int32)
    expected[:, ::2] += np.from_dlpack(x).T
    np.testing.assert_array_equal(np.from_dlpack(whole), expected)


@pytest.mark.parametrize("library", LIBRARIES)
def test_device_arrays_come_from_foreign_ones_and_go_back(library: str) -> None:
    xp: Any = importlib.import_module(library)
    there = vy.array(xp.reshape(xp.arange(6, dtype=xp.int32), (2, 3)).T, "cpu")
    assert there.shape == (3, 2)
    assert np.from_dlpack(xp.from_dlpack(there)).tolist() == [[0, 3], [1, 4], [2, 5]]


class Unwilling:
    """A tensor that its library does not share."""

    def __dlpack__(self, **_: Any) -> object:
        raise BufferError("cannot export tensors that require gradient, use tensor.detach()")

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


class Strange(Unwilling):
    """A tensor of a type that numpy does not know."""

    def __dlpack__(self, **_: Any) -> object:
        raise RuntimeError("Unsupported dtype in DLTensor.")


@pytest.mark.parametrize(("given", "said"), [(Unwilling(), "detach"), (Strange(), "dtype")])
def test_what_a_library_says_is_passed_on(given: Any, said: str) -> None:
    y = np.zeros(4, np.float32)
    for call in (
        lambda: saxpy(1.0, given, y, device="cpu"),
        lambda: vy.run(saxpy.program(), {"a": 1.0, "x": given, "y": y}, device="cpu"),
        lambda: vy.array(given, "cpu"),
    ):
        with pytest.raises(ArgumentError, match=said):
            call()


@vy.kernel
def next_byte(x: vy.In[vy.u8], y: vy.InOut[vy.u8]):
    i = vy.gid()
    if i < len(x):
        y[i] += x[i] + 1


def _in_memory(data: bytes) -> Any:
    made = mmap.mmap(-1, len(data))
    made.write(data)
    return made


READABLE: dict[str, Any] = {
    "bytes": bytes,
    "bytearray": bytearray,
    "memoryview": lambda data: memoryview(bytes(data)),
    "strided memoryview": lambda data: memoryview(bytes(b for v in data for b in (v, 0)))[::2],
    "mmap": _in_memory,
    "array": lambda data: arrays.array("B", data),
    "numpy": lambda data: np.frombuffer(bytes(data), np.uint8),
}
WRITABLE: dict[str, Any] = {
    "bytearray": bytearray,
    "memoryview": lambda data: memoryview(bytearray(data)),
    "strided memoryview": lambda data: memoryview(bytearray(b for v in data for b in (v, 0)))[::2],
    "mmap": _in_memory,
    "array": lambda data: arrays.array("B", data),
}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("there", WRITABLE)
@pytest.mark.parametrize("here", READABLE)
def test_memory_of_python_in_and_out(here: str, there: str, device: str) -> None:
    x, y = READABLE[here](b"vyre"), WRITABLE[there](bytes([1, 2, 3, 4]))
    next_byte(x, y, device=device)
    assert bytes(memoryview(y)) == bytes(
        a + b + 1 for a, b in zip(b"vyre", b"\1\2\3\4", strict=True)
    )


def test_a_mapped_file_is_changed(tmp_path: Path) -> None:
    path = tmp_path / "bytes"
    path.write_bytes(b"HAL")
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        next_byte(bytes(3), mapped, device="cpu")
    assert path.read_bytes() == b"IBM"


def test_arrays_of_python_say_their_type() -> None:
    x, y = arrays.array("f", [1, 2, 3]), arrays.array("f", [0, 0, 0])
    saxpy(2.0, x, y, device="cpu")
    assert y.tolist() == [2, 4, 6]
    with pytest.raises(ArgumentError) as caught:
        saxpy(2.0, arrays.array("d", [1, 2, 3]), y, device="cpu")
    assert caught.value.code == "D005"
