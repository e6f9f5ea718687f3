"""What refusals at the border advise is done: kernels then give what they should."""

from __future__ import annotations

import ctypes
import re
from array import array
from typing import Any

import numpy as np
import pytest

import vyre as vy
from vyre.diagnostics import VyreError

h5py: Any = pytest.importorskip("h5py")


@vy.kernel
def doubled(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(x):
        y[i] = 2.0 * x[i]


@vy.kernel
def doubled_in_place(x: vy.InOut[vy.f32]):
    i = vy.gid()
    if i < len(x):
        x[i] = 2.0 * x[i]


@vy.kernel
def scaled(x: vy.f32, y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(y):
        y[i] = x


@vy.kernel
def filled(x: vy.u32, y: vy.Out[vy.u32]):
    i = vy.gid()
    if i < len(y):
        y[i] = x


@vy.kernel
def chosen(x: vy.bool_, y: vy.Out[vy.u32]):
    i = vy.gid()
    if i < len(y) and x:
        y[i] = 1


def advised(error: VyreError, x: Any) -> Any:
    """The value that a fix says to pass: the code at its end."""
    text = error.fix or ""
    for before in (": ", "such as ", "pass "):
        text = text.rpartition(before)[2]
    return eval(text, {"x": x, "np": np, "vy": vy})


def refused(kernel: Any, *args: Any) -> VyreError:
    with pytest.raises(VyreError) as caught:
        kernel(*args, device="cpu")
    return caught.value


def _masked() -> Any:
    return np.ma.masked_array(np.arange(4.0).astype(np.float32), [False, False, False, False])


def _read_only() -> Any:
    made = np.arange(4, dtype=np.float32)
    made.flags.writeable = False
    return made


class OfInterface:
    """Memory that `__array_interface__` shows."""

    def __init__(self, array: Any) -> None:
        self.array = array
        self.__array_interface__ = array.__array_interface__


class OfDLPack:
    """Memory that DLPack shows, and nothing else."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


def _square() -> Any:
    return np.arange(4, dtype=np.float32).reshape(2, 2)


ARRAYS = {
    "uint8": lambda: np.arange(4, dtype=np.uint8),
    "int64": lambda: np.arange(4),
    "float64": lambda: np.arange(4.0),
    "float16": lambda: np.arange(4, dtype=np.float16),
    "big-endian": lambda: np.arange(4, dtype=">f4"),
    "list": lambda: [0.0, 1.0, 2.0, 3.0],
    "masked": _masked,
    "two axes": lambda: np.arange(4, dtype=np.float32).reshape(2, 2),
    "two axes, transposed": lambda: np.array([[0, 2], [1, 3]], np.float32).T,
    "memoryview": lambda: np.arange(4).data,
    "memoryview of two axes": lambda: _square().data,
    "array of Python": lambda: array("i", [0, 1, 2, 3]),
    "ctypes": lambda: (ctypes.c_double * 4)(0, 1, 2, 3),
    "ctypes of two axes": lambda: (ctypes.c_float * 2 * 2)((0, 1), (2, 3)),
    "interface": lambda: OfInterface(np.arange(4.0)),
    "interface of two axes": lambda: OfInterface(_square()),
    "DLPack": lambda: OfDLPack(np.arange(4)),
    "DLPack of two axes": lambda: OfDLPack(_square()),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_to_read(name: str) -> None:
    x, y = ARRAYS[name](), np.zeros(4, np.float32)
    doubled(advised(refused(doubled, x, y), x), y, device="cpu")
    assert y.tolist() == [0, 2, 4, 6]


WRITTEN = {**ARRAYS, "read-only": _read_only, "bytes": lambda: _read_only().tobytes()}


@pytest.mark.parametrize("name", WRITTEN)
def test_arrays_to_write(name: str) -> None:
    """The result is in what the fix says to pass; it must not be a copy that is thrown away."""
    x = WRITTEN[name]()
    error = refused(doubled_in_place, x)
    given = advised(error, x)
    doubled_in_place(given, device="cpu")
    assert np.frombuffer(given, np.float32).tolist() == [0, 2, 4, 6]
    memory = x if isinstance(x, list) else getattr(x, "array", x)
    is_own = np.may_share_memory(given, np.asarray(memory))
    assert is_own or "read the result from it" in error.fix


def test_a_dataset_of_hdf5(tmp_path: Any) -> None:
    with h5py.File(tmp_path / "data.h5", "w") as file:
        x = file.create_dataset("x", data=np.arange(4, dtype=np.float32))
        y = np.zeros(4, np.float32)
        doubled(x, y, device="cpu")
        assert y.tolist() == [0, 2, 4, 6]
        error = refused(doubled_in_place, x)
        assert error.code == "D030"
        assert x[...].tolist() == [0, 1, 2, 3]
        assert (
            "copy = np.array(x), pass copy, and put it back afterwards: x[...] = copy" in error.fix
        )
        copy = np.array(x)
        doubled_in_place(copy, device="cpu")
        x[...] = copy
        assert x[...].tolist() == [0, 2, 4, 6]


NUMBERS: list[tuple[Any, Any, Any]] = [
    (filled, 3.0, 3),
    (filled, True, 1),
    (filled, 2.6, 3),
    (filled, np.float32(4), 4),
    (scaled, True, 1),
    (scaled, 1e300, np.inf),
    (chosen, 1, 1),
    (chosen, 0.0, 0),
]


@pytest.mark.parametrize(("kernel", "x", "wanted"), NUMBERS)
def test_numbers(kernel: Any, x: Any, wanted: Any) -> None:
    y = np.zeros(2, np.float32 if kernel is scaled else np.uint32)
    fix = refused(kernel, x, y).fix or ""
    found = re.search(r"(?:int|round|bool|float)\([^)]*\)", fix)
    assert found is not None, fix
    kernel(eval(found[0]), y, device="cpu")
    assert y.tolist() == [wanted] * 2


def test_device_arrays_of_another_type() -> None:
    x, y = vy.array(np.arange(4.0), "cpu"), vy.zeros(4, np.float32, "cpu")
    doubled(advised(refused(doubled, x, y), x), y, device="cpu")
    assert y.numpy().tolist() == [0, 2, 4, 6]
    given = advised(refused(doubled_in_place, x), x)
    doubled_in_place(given)
    assert given.numpy().tolist() == [0, 2, 4, 6]


@pytest.mark.parametrize(
    ("x", "dtype"), [([1.0, 2.6], "int32"), ([1, 0], "bool"), ([3e10], "int32"), ([300], "uint8")]
)
def test_contents_of_device_arrays(x: Any, dtype: str) -> None:
    x = np.array(x)
    with pytest.raises(VyreError) as caught:
        vy.array(x, "cpu", dtype)
    text = (caught.value.fix or "").rpartition(": ")[2]
    made = eval(text, {"x": x, "np": np, "vy": vy})
    made = made if isinstance(made, vy.DeviceArray) else vy.array(made, "cpu", dtype)
    expected = np.rint(x) if dtype != "bool" else x != 0
    np.testing.assert_array_equal(made.numpy(), expected)
