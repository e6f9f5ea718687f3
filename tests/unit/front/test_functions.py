"""Device functions are inlined; generic kernels follow the types of their arguments."""
# The number of axes stands among types.
# pyright: reportGeneralTypeIssues=false, reportArgumentType=false

from __future__ import annotations

from typing import TypeVar

import numpy as np
import pytest

import vyre as vy
from tests.unit.front.devices import run
from vyre.diagnostics import FrontError


@vy.func
def clamp(x, low, high=10):
    if x < low:
        return low
    if x > high:
        return high
    return x


@vy.func
def divmod_(a: vy.u32, b: vy.u32):
    q = a // b
    return q, a - q * b


@vy.func
def sum_of(x: vy.In[vy.u32], start, count):
    total = 0
    while count > 0:
        total += x[start]
        start += 1
        count -= 1
    return total


@vy.func
def bump(h, i):
    h.atomic_add(i, 1)


@vy.kernel
def calls(x: vy.In[vy.u32], h: vy.InOut[vy.u32], y: vy.Out[vy.u32, 2]):
    i = vy.gid()
    if i < len(x):
        y[i, 0] = clamp(x[i], 3)
        y[i, 1] = clamp(high=20, low=5, x=x[i] * 2)
        q, r = divmod_(x[i], 7)
        y[i, 2] = q * 100 + r
        y[i, 3] = sum_of(x, i, 3)
        bump(h, 0)
        y[i, 4] = vy.u32(clamp(vy.f32(x[i]) * 0.5, 1.0, 2.5) * 10.0)


def test_functions_with_early_returns_tuples_defaults_and_arrays() -> None:
    x = np.arange(16, dtype=np.uint32)
    _, h, y = run(calls, x, np.zeros(1, np.uint32), np.zeros((16, 5), np.uint32))
    padded = np.concatenate([x, [0, 0]])
    np.testing.assert_array_equal(y[:, 0], np.clip(x, 3, 10))
    np.testing.assert_array_equal(y[:, 1], np.clip(x * 2, 5, 20))
    np.testing.assert_array_equal(y[:, 2], x // 7 * 100 + x % 7)
    np.testing.assert_array_equal(y[:, 3], padded[:-2] + padded[1:-1] + padded[2:])
    np.testing.assert_array_equal(y[:, 4], np.clip(x * 0.5, 1, 2.5) * 10)
    assert h[0] == 16


@vy.func
def outer(x):
    return inner(x) + inner(x + 1)


@vy.func
def inner(x):
    y = x
    y *= x
    return y


@vy.kernel
def nested(y: vy.Out[vy.u32]):
    i = vy.gid()
    if i < len(y):
        y[i] = outer(i)


def test_functions_call_functions_and_names_do_not_meet() -> None:
    y = run(nested, np.zeros(8, np.uint32))[0]
    assert y.tolist() == [i * i + (i + 1) ** 2 for i in range(8)]


def test_a_function_cannot_be_called_outside() -> None:
    with pytest.raises(FrontError) as caught:
        inner(3)
    assert caught.value.code == "F008"


T = vy.generic("T")
U = vy.generic("U")


@vy.kernel
def scale(a: T, x: vy.In[T], y: vy.Out[T]):  # pyright: ignore[reportInvalidTypeForm]
    i = vy.gid()
    if i < len(x):
        y[i] = a * x[i] + 1


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.uint32, np.int64, np.float32, np.float64])
def test_a_generic_kernel_follows_its_arguments(dtype: type) -> None:
    x = np.arange(20).astype(dtype)
    y = run(scale, 3, x, np.zeros_like(x))[1]
    np.testing.assert_array_equal(y, (3 * x + 1).astype(dtype))


@pytest.mark.parametrize("number", [1.5, np.float64(1.5), np.float16(1.5), np.array(1.5)])
def test_a_number_takes_the_type_that_arrays_decide(number: object) -> None:
    x = np.arange(4, dtype=np.float32)
    for _ in range(3):  # the second time it is known how the call goes
        y = run(scale, number, x, np.zeros_like(x))[-1]
        assert y.tolist() == [1, 2.5, 4, 5.5]


def test_a_whole_number_of_any_type_does_if_it_is_in_range() -> None:
    x = np.arange(3, dtype=np.int32)
    assert run(scale, np.int64(3), x, np.zeros_like(x))[1].tolist() == [1, 4, 7]
    for number in (np.int64(2**31), np.float64(3.0), np.bool_(True)):
        with pytest.raises(vy.VyreError) as caught:
            scale(number, x, np.zeros_like(x))
        assert caught.value.code == "D020"


@vy.kernel(workgroup=1)
def half_of(a: T, b: T, y: vy.Out[vy.f64]):  # pyright: ignore[reportInvalidTypeForm]
    y[0] = vy.f64(a / b)


def test_numbers_decide_where_no_array_does() -> None:
    one, three = np.float32(1), np.float64(3)
    assert run(half_of, one, 3, np.zeros(1))[0].tolist() == [float(np.float32(1) / np.float32(3))]
    assert run(half_of, 1, three, np.zeros(1))[0].tolist() == [1 / 3]
    found = scale.program(a=np.float64(2), x=np.float32).buffer("a")
    assert found is not None
    assert str(found.element) == "f32"


@vy.kernel
def convert(x: vy.In[T], y: vy.Out[U]):  # pyright: ignore[reportInvalidTypeForm]
    i = vy.gid()
    if i < len(x):
        y[i] = U(x[i])


Number = TypeVar("Number", int, float)


@vy.kernel
def plus_two(x: vy.In[Number], y: vy.Out[Number]):
    mine = vy.local(Number, 2)
    mine[1] = 2
    y[vy.gid()] = x[vy.gid()] + mine[1]


def test_a_type_variable_of_python_is_a_generic_type_too() -> None:
    x = np.arange(4, dtype=np.int16)
    y = np.zeros_like(x)
    plus_two(x, y)
    assert y.tolist() == [2, 3, 4, 5]


def test_two_generic_types_and_a_cast_to_one() -> None:
    x = np.array([1.5, 2.5, -1.0], np.float64)
    assert run(convert, x, np.zeros(3, np.int8))[1].tolist() == [1, 2, -1]
    assert convert.program(vy.f32, vy.u8) is convert.program(np.float32, np.dtype(np.uint8))


def make_adder(amount: int) -> vy.Kernel[...]:
    @vy.kernel
    def add(y: vy.InOut[vy.i32]):
        i = vy.gid()
        if i < len(y):
            y[i] += amount

    return add


def test_a_kernel_captures_what_is_around_it() -> None:
    assert run(make_adder(5), np.zeros(2, np.int32))[0].tolist() == [5, 5]
    assert run(make_adder(-7), np.zeros(2, np.int32))[0].tolist() == [-7, -7]
