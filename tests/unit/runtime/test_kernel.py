"""Kernels called from Python: arguments, arrays of all kinds, grids, stages, the reference."""
# The number of axes stands among types.
# pyright: reportGeneralTypeIssues=false

from __future__ import annotations

import array as arrays
import mmap
from functools import partial
from typing import Any, TypeVar

import numpy as np
import pytest

import vyre as vy
from vyre.diagnostics import (
    ArgumentError,
    CheckError,
    DeadlineError,
    SanitizerError,
    TrapError,
    VyreError,
)


@vy.kernel(workgroup=256)
def saxpy(a: vy.f32, x: vy.In[vy.f32], y: vy.InOut[vy.f32]):
    """Documented."""
    i = vy.gid()
    if i < len(y):
        y[i] = a * x[i] + y[i]


@vy.kernel
def double(x: vy.In[vy.u8], y: vy.Out[vy.u8]):
    i = vy.gid()
    if i < len(x):
        y[i] = x[i] * 2


@vy.kernel(workgroup=(8, 4))
def add_rows(x: vy.In[vy.i32, 2], y: vy.InOut[vy.i32, 2]):
    i, j = vy.gid(1), vy.gid(0)
    if i < y.shape[0] and j < y.shape[1]:
        y[i, j] += x[i, j]


X = np.arange(1000, dtype=np.float32)


def test_host_arrays_are_changed_in_place() -> None:
    y = np.ones(1000, np.float32)
    saxpy(2.0, X, y, device="cpu")
    np.testing.assert_array_equal(y, 2 * X + 1)
    assert saxpy.__doc__ == "Documented."
    assert saxpy.__name__ == "saxpy"


def test_arguments_by_name_and_scalars_of_numpy() -> None:
    y = np.ones(1000, np.float32)
    saxpy(y=y, x=X, a=np.float64(0.5), device="cpu")
    np.testing.assert_array_equal(y, X / 2 + 1)


def test_device_arrays_stay_where_they_are() -> None:
    x, y = vy.array(X, "cpu"), vy.zeros(1000, np.float32, "cpu")
    saxpy(3.0, x, y)
    saxpy(1.0, x, y)
    np.testing.assert_array_equal(y.numpy(), 4 * X)
    assert saxpy.explain().startswith("device: ")


def test_out_arrays_begin_as_zeros() -> None:
    y = np.full(10, 7, np.uint8)
    double(np.arange(4, dtype=np.uint8), y, device="cpu")
    assert y.tolist() == [0, 2, 4, 6, 0, 0, 0, 0, 0, 0]
    there = vy.array(np.full(10, 7, np.uint8), "cpu")
    double(vy.array(np.arange(4, dtype=np.uint8), "cpu"), there)
    assert there.numpy().tolist() == y.tolist()


def _mapped() -> mmap.mmap:
    made = mmap.mmap(-1, 4)
    made.write(bytes([1, 2, 3, 4]))
    return made


class OnlyDLPack:
    """An array of another library."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> object:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


@pytest.mark.parametrize(
    "make",
    [
        lambda: bytes([1, 2, 3, 4]),
        lambda: bytearray([1, 2, 3, 4]),
        lambda: memoryview(bytes([1, 2, 3, 4])),
        lambda: arrays.array("B", [1, 2, 3, 4]),
        lambda: OnlyDLPack(np.array([1, 2, 3, 4], np.uint8)),
        lambda: np.array([1, 0, 2, 0, 3, 0, 4], np.uint8)[::2],
        _mapped,
    ],
)
def test_anything_that_holds_bytes_is_an_array(make: Any) -> None:
    y = np.zeros(4, np.uint8)
    double(make(), y, device="cpu")
    assert y.tolist() == [2, 4, 6, 8]


@pytest.mark.parametrize("make", [bytearray, lambda n: mmap.mmap(-1, n)])
def test_results_go_into_host_memory_that_is_no_numpy_array(make: Any) -> None:
    y = make(4)
    double(bytes([1, 2, 3, 4]), y, device="cpu")
    assert bytes(y[:4]) == bytes([2, 4, 6, 8])


def test_results_go_into_an_array_of_another_library() -> None:
    y = np.zeros(4, np.uint8)
    double(bytes([1, 2, 3, 4]), OnlyDLPack(y), device="cpu")
    assert y.tolist() == [2, 4, 6, 8]


class LikeATensor(OnlyDLPack):
    """Exports memory that numpy takes to be read-only, and gives a view that may be written."""

    def __dlpack__(self, **options: Any) -> object:
        frozen = self.array.view()
        frozen.flags.writeable = False
        return frozen.__dlpack__(**options)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.array


def test_results_go_into_tensors() -> None:
    y = np.zeros(4, np.uint8)
    double(bytes([1, 2, 3, 4]), LikeATensor(y), device="cpu")
    assert y.tolist() == [2, 4, 6, 8]


def test_arrays_that_are_not_contiguous_work_both_ways() -> None:
    base = np.arange(48, dtype=np.int32).reshape(6, 8)
    x, y = base[::2, ::2], base.T.copy()[:4, :6].T[:3, :4]
    expected = x + y
    assert not x.flags.c_contiguous
    assert not y.flags.c_contiguous
    add_rows(x, y, device="cpu")
    np.testing.assert_array_equal(y, expected)


def test_an_empty_array_runs_nothing() -> None:
    saxpy(1.0, np.zeros(0, np.float32), np.zeros(0, np.float32), device="cpu")


def test_the_grid_can_be_given() -> None:
    given: list[dict[str, Any]] = [{"grid": 1}, {"elements": 256}, {"grid": (1, 1, 1)}]
    for options in given:
        y = np.zeros(1000, np.float32)
        saxpy(1.0, X, y, device="cpu", **options)
        np.testing.assert_array_equal(y[:256], X[:256])
        assert not y[256:].any()


@vy.kernel
def forever(y: vy.InOut[vy.u32]):
    while True:
        y.atomic_add(0, 1)


def test_a_deadline_stops_a_kernel() -> None:
    with pytest.raises(DeadlineError):
        forever(np.zeros(1, np.uint32), deadline=0.05, device="cpu")


def code_of(call: Any) -> str:
    with pytest.raises(VyreError) as caught:
        call()
    return caught.value.code


def test_wrong_calls_say_what_is_wrong() -> None:
    y = np.zeros(4, np.float32)
    assert code_of(lambda: saxpy(1.0, y)) == "F052"  # pyright: ignore[reportCallIssue]
    assert code_of(lambda: saxpy(1.0, y, y.copy(), 3)) == "F052"  # pyright: ignore[reportCallIssue]
    assert code_of(lambda: saxpy("1", y, y)) == "F053"  # pyright: ignore[reportArgumentType]
    assert code_of(lambda: saxpy(1.0, 3, y)) == "F053"
    assert code_of(lambda: saxpy(1.0, y.reshape(2, 2), y)) == "F053"
    assert code_of(lambda: saxpy(1.0, y.astype(np.float64), y)) == "D005"
    assert code_of(lambda: saxpy(1.0, y, y)) == "D011"
    assert code_of(lambda: double(b"1234", b"1234")) == "D014"
    with pytest.raises(TypeError):
        saxpy(1.0, None, y)
    with pytest.raises(ArgumentError, match="got wrong arguments: missing"):
        saxpy()  # pyright: ignore[reportCallIssue]


@vy.kernel
def static_size(n: vy.static[int], factor: vy.static[float], y: vy.Out[vy.f32]):
    t = vy.local(vy.f32, n)
    if vy.gid() < 1:
        for k in range(n):
            t[k] = factor
        for k in range(n):
            y[0] += t[k]


def test_static_parameters_are_checked_and_make_programs_of_their_own() -> None:
    y = np.zeros(1, np.float32)
    static_size(3, 2, y, device="cpu")
    assert y[0] == 6
    static_size(n=np.int64(5), factor=0.5, y=y, device="cpu")
    assert y[0] == 2.5
    assert code_of(lambda: static_size(2.5, 1.0, y)) == "F053"  # pyright: ignore[reportArgumentType]
    assert code_of(static_size.program) == "F052"
    assert static_size.program(3, 2.0) is static_size.program(3, 2)


T = TypeVar("T")


@vy.kernel
def copies(n: vy.u32, x: vy.In[T], y: vy.Out[T]):
    if vy.gid() < n:
        y[vy.gid()] = x[vy.gid()]


def test_a_generic_type_that_nothing_decides_says_how() -> None:
    with pytest.raises(ArgumentError, match=r"copies\.program\(x=vy\.f32\)"):
        copies.program()
    assert "f32" in str(copies.program(x=vy.f32))
    values = np.zeros(2, np.complex64)
    with pytest.raises(ArgumentError, match="integers or floats, not complex64"):
        copies(2, values, values.copy(), device="cpu")


@vy.kernel
def with_default(y: vy.Out[vy.u32], value: vy.u32 = 9):
    y[vy.gid()] = value


def test_defaults() -> None:
    y = np.zeros(2, np.uint32)
    with_default(y, device="cpu")
    assert y.tolist() == [9, 9]
    with_default(y, 4, device="cpu")
    assert y.tolist() == [4, 4]
    with pytest.raises(ArgumentError, match="a whole number from 0 to 4294967295"):
        with_default(y, -1, device="cpu")
    assert code_of(lambda: with_default(y, 2.5, device="cpu")) == "D020"


def test_the_stages_can_be_seen() -> None:
    assert "y[i] = a[0] * x[i] + y[i]" in saxpy.show()
    assert saxpy.show("opt").startswith("program")
    assert "define" in saxpy.show("llvm")
    assert "vyre_kernel" in saxpy.show("asm")
    assert code_of(lambda: saxpy.show("pdf")) == "F055"


def test_problems_of_the_checker_point_to_the_line_of_python() -> None:
    @vy.kernel
    def divergent(y: vy.InOut[vy.f32]):
        if vy.gid() < 4:
            vy.barrier()
        y[vy.gid()] = 1.0

    with pytest.raises(CheckError) as caught:
        divergent(np.zeros(8, np.float32), device="cpu")
    span = caught.value.location.span
    assert span is not None
    assert span.file == __file__
    assert span.source is not None
    assert span.source.strip() == "vy.barrier()"


@vy.kernel(workgroup=8)
def racy(y: vy.InOut[vy.f32]):
    y[0] = y[0] + 1.0


def test_the_reference_finds_races_and_changes_arrays_like_a_call() -> None:
    y = np.zeros(4, np.float32)
    with pytest.raises(SanitizerError) as caught:
        racy.reference(y, elements=8)
    assert caught.value.code == "X101"
    racy.reference(y, elements=8, sanitize=False)
    x, z = np.arange(5, dtype=np.float32), np.ones(5, np.float32)
    saxpy.reference(2.0, x, z)
    np.testing.assert_array_equal(z, 2 * x + 1)
    there = vy.array(np.ones(5, np.float32), "cpu")
    saxpy.reference(2.0, x, there)
    np.testing.assert_array_equal(there.numpy(), z)


@vy.kernel
def brain(scale: vy.bf16, x: vy.In[vy.bf16], y: vy.Out[vy.bf16]):
    i = vy.gid()
    if i < len(x):
        y[i] = vy.bf16(vy.f32(x[i]) * vy.f32(scale))


def test_bf16_is_held_as_the_upper_half_of_f32() -> None:
    x = (np.array([1.5, -2.0], np.float32).view(np.uint32) >> 16).astype(np.uint16)
    y = np.zeros(2, np.uint16)
    brain(2.0, x, y, device="cpu")
    assert (y.astype(np.uint32) << 16).view(np.float32).tolist() == [3.0, -4.0]


def test_the_reference_refuses_aliases_as_dispatches_do() -> None:
    x = np.arange(8, dtype=np.float32)
    with pytest.raises(ArgumentError) as run:
        saxpy(2.0, x, x)
    with pytest.raises(ArgumentError) as reference:
        saxpy.reference(2.0, x, x)
    assert str(run.value) == str(reference.value)
    with pytest.raises(ArgumentError):
        saxpy.reference(2.0, x[:4], x[2:6])
    saxpy.reference(2.0, x[:4], x[4:])


@vy.kernel
def roots(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(y):
        assert x[i] >= 0.0, "a negative number"
        y[i] = vy.math.sqrt(x[i])


@pytest.mark.parametrize("device", ["reference", "cpu"])
def test_an_assertion_that_fails_names_its_line(device: str) -> None:
    x = np.array([1, 4, -1], np.float32)
    with pytest.raises(TrapError) as caught:
        roots(x, np.zeros(3, np.float32), device=device)
    assert caught.value.invocation == (2, 0, 0)
    assert 'assert x[i] >= 0.0, "a negative number"' in str(caught.value)
    assert "test_kernel.py:" in str(caught.value)


def test_grids_are_whole_numbers_of_any_kind() -> None:
    y = np.zeros(300, np.uint32)
    for device in ("reference", "cpu"):
        wishes: list[dict[str, Any]] = [
            {"elements": np.int64(300)},
            {"grid": np.uint8(5)},
            {"grid": np.array([5, 1])},
        ]
        for wish in wishes:
            with_default(y, 3, device=device, **wish)
            assert (y == 3).all()
            y[:] = 0
    wrong: Any
    for wrong in (150.0, "a", (1, 1, 1, 1), (), (2.0,)):
        assert code_of(partial(with_default, y, 3, grid=wrong)) == "D010"
    for wrong in (150.0, "a"):
        assert code_of(partial(with_default, y, 3, elements=wrong)) == "D010"
    wrong = "soon"
    assert code_of(partial(with_default, y, 3, deadline=wrong)) == "D013"
