"""Calls like one before: what is remembered of them, and what must be looked at anew."""

from __future__ import annotations

import threading
from typing import Any, Literal

import numpy as np
import pytest

import vyre as vy
from vyre.diagnostics import ArgumentError, TrapError
from vyre.runtime.kernel import Kernel


def _kernel() -> Any:
    @vy.kernel
    def scaled(k: vy.f32, x: vy.In[vy.f32], y: vy.Out[vy.f32]):
        i = vy.gid()
        if i > 0 and i < len(x):
            y[i] = k * x[i]

    return scaled


def _called(kernel: Any, *args: Any, **said: Any) -> np.ndarray:
    args[-1].fill(7)
    kernel(*args, device="cpu", **said)
    return args[-1].copy()


def test_outputs_are_cleared_every_time() -> None:
    kernel = _kernel()
    x, y = np.ones(100, np.float32), np.empty(100, np.float32)
    results = [_called(kernel, 2.0, x, y) for _ in range(150)]
    wanted = np.full(100, 2, np.float32)
    wanted[0] = 0
    for result in results:
        np.testing.assert_array_equal(result, wanted)


def test_numbers_are_looked_at() -> None:
    kernel = _kernel()
    x, y = np.ones(10, np.float32), np.empty(10, np.float32)
    for value in (
        2.0,
        2.0,
        2.0,
        3.0,
        0.0,
        0.0,
        0.0,
        -0.0,
        1,
        1,
        1,
        1.0,
        float("nan"),
        float("inf"),
    ):
        found = _called(kernel, value, x, y)
        assert found[0] == 0
        np.testing.assert_array_equal(found[1:], np.full(9, np.float32(value)))
        assert np.signbit(found[1]) == np.signbit(np.float32(value))


def test_arrays_and_grids_are_looked_at() -> None:
    kernel = _kernel()
    x, y, z = (np.full(400, n, np.float32) for n in (1, 2, 3))
    for _ in range(4):
        for first, second in ((x, y), (z, y), (z, x), (x[:100], y), (x, y[:50])):
            first.fill(5)
            found = _called(kernel, 2.0, first, second)
            n = min(len(first), len(second))
            wanted = np.zeros(len(second), np.float32)
            wanted[1:n] = 10
            np.testing.assert_array_equal(found, wanted)
        assert _called(kernel, 2.0, x, y, grid=1)[100:].max() == 0
        assert _called(kernel, 2.0, x, y, elements=64)[64:].max() == 0


def test_other_types_and_read_only_arrays_are_refused() -> None:
    kernel = _kernel()
    x, y = np.ones(100, np.float32), np.empty(100, np.float32)
    for _ in range(4):
        _called(kernel, 2.0, x, y)
    with pytest.raises(ArgumentError):
        kernel(2.0, x.view(np.int32), y, device="cpu")
    with pytest.raises(ArgumentError):
        kernel(2.0, y, y, device="cpu")
    y.flags.writeable = False
    with pytest.raises(ArgumentError):
        kernel(2.0, x, y, device="cpu")


def test_arrays_in_turns() -> None:
    @vy.kernel
    def step(x: vy.In[vy.u32, Literal[2]], y: vy.Out[vy.u32, Literal[2]]):
        i = vy.gid()
        if i < x.shape[0]:
            y[i, 0] = x[i, 0] + 1
            y[i, 1] = x[i, 1] + 2

    x, y = np.zeros((50, 2), np.uint32), np.zeros((50, 2), np.uint32)
    for _ in range(100):
        step(x, y, elements=50, device="cpu")
        x, y = y, x
    assert x.tolist() == [[100, 200]] * 50


def test_traps_tell_where_every_time() -> None:
    @vy.kernel
    def checked(x: vy.In[vy.f32], y: vy.InOut[vy.f32]):
        i = vy.gid()
        if i < len(x):
            assert x[i] < 1.0
            y[i] = x[i]

    x, y = np.zeros(10, np.float32), np.zeros(10, np.float32)
    for _ in range(4):
        checked(x, y, device="cpu")
    x[3] = 2
    messages = set[str]()
    for _ in range(3):
        with pytest.raises(TrapError) as found:
            checked(x, y, device="cpu")
        messages.add(str(found.value))
    assert len(messages) == 1
    assert "test_call_cache.py" in messages.pop()


def _slow_calls(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Grows with each call that looks at everything."""
    seen: list[object] = []
    look = Kernel._call

    def counted(self: Any, *given: Any) -> None:
        seen.append(given)
        look(self, *given)

    monkeypatch.setattr(Kernel, "_call", counted)
    return seen


def test_other_arrays_of_the_same_form_are_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, seen = _kernel(), _slow_calls(monkeypatch)
    for n in range(20):
        x, y = np.full(300, n, np.float32), np.empty(300, np.float32)
        assert _called(kernel, 2.0 + n, x, y)[1:].tolist() == [np.float32(n * (2.0 + n))] * 299
    assert len(seen) == 1


def test_two_wishes_that_lead_to_one_device_are_both_remembered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kernel, seen = _kernel(), _slow_calls(monkeypatch)
    monkeypatch.setenv("VYRE_DEVICE", "cpu")
    x, y = np.ones(30, np.float32), np.empty(30, np.float32)
    for _ in range(5):
        kernel(2.0, x, y)
        kernel(2.0, x, y, device="cpu")
    assert len(seen) == 2


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        (np.float32(0.1), np.float32(0.1)),
        (np.int64(-3), np.float32(-3)),
        (2**24 + 1, np.float32(2**24)),
        (2**60 + 2**36 + 1, np.float32(2**60 + 2**37)),
        (np.int64(2**60 + 2**36 + 1), np.float32(np.int64(2**60 + 2**36 + 1))),
        (1e-46, np.float32(0)),
        (1.1754943e-38 / 4, np.float32(1.1754943e-38 / 4)),
    ],
)
def test_numbers_become_what_they_become_when_looked_at(value: object, stored: np.float32) -> None:
    kernel = _kernel()
    x, y = np.ones(4, np.float32), np.empty(4, np.float32)
    found = [_called(kernel, value, x, y)[1] for _ in range(3)]
    assert found == [stored] * 3


def test_a_number_that_does_not_fit_is_refused_every_time() -> None:
    @vy.kernel
    def set_all(value: vy.u8, y: vy.Out[vy.u8]):
        i = vy.gid()
        if i < len(y):
            y[i] = value

    y = np.zeros(4, np.uint8)
    for value in (5, 255, 0, 7):
        set_all(value, y, device="cpu")
        assert y.tolist() == [value] * 4
        for wrong in (256, -1, 2.5, "x"):
            with pytest.raises(ArgumentError):
                set_all(wrong, y, device="cpu")


def test_values_the_program_is_made_for_are_looked_at() -> None:
    @vy.kernel
    def filled(y: vy.Out[vy.u32], times: vy.static[int]):
        i = vy.gid()
        if i < len(y):
            for k in range(times):
                y[i] += vy.u32(k)

    y = np.zeros(4, np.uint32)
    for times in (3, 3, 4, 3, 4, 5, 3):
        filled(y, times, device="cpu")
        assert y.tolist() == [sum(range(times))] * 4


def test_arrays_at_odd_addresses_and_in_other_orders_are_looked_at() -> None:
    kernel = _kernel()
    y = np.empty(8, np.float32)
    raw = np.zeros(8 * 4 + 1, np.uint8)
    odd = raw[1:].view(np.float32)
    wide = np.zeros(16, np.float32)
    for x in (np.zeros(8, np.float32), odd, wide[::2], wide[8:][::-1]) * 3:
        x[:] = np.arange(8)
        assert _called(kernel, 1.0, x, y).tolist() == list(range(8))


def test_arrays_that_share_memory_are_refused_whichever_came_before() -> None:
    kernel = _kernel()
    both = np.ones(200, np.float32)
    for _ in range(3):
        _called(kernel, 2.0, both[:100], both[100:])
    for first in (0, 1, 99):
        with pytest.raises(ArgumentError, match="share memory"):
            kernel(2.0, both[first : first + 100], both[:100], device="cpu")


def test_arrays_of_the_device_are_remembered_until_they_are_free(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kernel, seen = _kernel(), _slow_calls(monkeypatch)
    x = vy.array(np.ones(10, np.float32), device="cpu")
    y = vy.array(np.ones(10, np.float32), device="cpu")
    for k in range(5):
        kernel(float(k), x, y)
        assert y.numpy().tolist() == [0.0, *[float(k)] * 9]
    assert len(seen) == 1
    x.free()
    with pytest.raises(ArgumentError):
        kernel(2.0, x, y)


def test_threads_do_not_see_the_numbers_of_others() -> None:
    kernel = _kernel()
    wrong: list[object] = []

    def work(k: float) -> None:
        x, y = np.ones(2000, np.float32), np.empty(2000, np.float32)
        for _ in range(200):
            kernel(k, x, y, device="cpu")
            if not (y[1:] == k).all():
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(float(k),)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_arguments_by_name_are_remembered_like_others(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = _slow_calls(monkeypatch)

    @vy.kernel
    def scaled(x: vy.In[vy.f32], y: vy.Out[vy.f32], *, k: vy.f32):
        i = vy.gid()
        if i < len(y):
            y[i] = k * x[i]

    x, y = np.ones(10, np.float32), np.empty(10, np.float32)
    for k in range(4):
        scaled(x, k=float(k), y=y, device="cpu")
        assert y.tolist() == [k] * 10
    assert len(seen) == 1
    call: Any = scaled
    for args, named in (((x, y, 1.0), {}), ((x, y), {}), ((x, y), {"k": 1.0, "z": 2})):
        with pytest.raises(ArgumentError):
            call(*args, **named, device="cpu")
