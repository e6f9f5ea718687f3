"""Arrays that functions, branches and loops make: memory of their own, zero when made."""
# Texts are stored into; the number of axes stands among types.
# pyright: reportGeneralTypeIssues=false, reportIndexIssue=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownParameterType=false
# pyright: reportMissingParameterType=false, reportUnknownArgumentType=false

from __future__ import annotations

import numpy as np
import pytest

import vyre as vy
from tests.unit.front.devices import run
from vyre.diagnostics import VyreError

X = (np.arange(150) * 7919 % 1000).astype(np.int32)
GROUPS = np.pad(X, (0, 192 - 150)).reshape(3, 64)


@vy.func
def mirrored(v):
    t = vy.shared(vy.i32, 100)
    t[vy.lid()] = v
    vy.barrier()
    found = t[63 - vy.lid()] + 1000 * t[64 + vy.lid()]
    t[64 + vy.lid()] = 7  # only in the array of this call
    return found


@vy.kernel
def shared_in_functions(x: vy.In[vy.i32], y: vy.Out[vy.i32]):
    i = vy.gid()
    y[i] = mirrored(x[i]) - mirrored(mirrored(i))


def test_each_call_of_a_function_has_a_shared_array_of_its_own() -> None:
    (_, y) = run(shared_in_functions, X, np.zeros_like(X))
    ids = np.arange(192).reshape(3, 64)
    assert y.tolist() == (GROUPS[:, ::-1] - ids).reshape(-1)[:150].tolist()


@vy.kernel
def shared_in_loops(x: vy.In[vy.i32], y: vy.Out[vy.i32]):
    i = vy.gid()
    v = x[i]
    for turn in range(3):
        v = mirrored(v) + turn
    turn = 0
    while turn < 2:
        v = mirrored(v)
        turn += 1
    y[i] = v


def test_a_shared_array_is_zero_again_in_each_iteration() -> None:
    (_, y) = run(shared_in_loops, X, np.zeros_like(X))
    assert y.tolist() == (GROUPS[:, ::-1] + 3).reshape(-1)[:150].tolist()


@vy.kernel(workgroup=(4, 3, 2))
def shared_of_a_box(y: vy.Out[vy.i32]):
    lane = vy.lid(0) + 4 * vy.lid(1) + 12 * vy.lid(2)
    total = 0
    for turn in range(4):
        t = vy.shared(vy.i32, 5, 7)
        total += t[lane // 7, lane % 7] + t[lane // 7 + 3, lane % 7]
        vy.barrier()
        t[lane // 7, lane % 7] = turn
        t[lane // 7 + 3, lane % 7] = turn
        vy.barrier()
        total += t[(23 - lane) // 7, (23 - lane) % 7]
    y[vy.wid() * 24 + lane] = total


def test_clearing_covers_arrays_longer_than_the_workgroup_along_all_axes() -> None:
    (y,) = run(shared_of_a_box, np.full(48, -1, np.int32), grid=2)
    assert y.tolist() == [6] * 48


@vy.func
def digits(x, i, base):
    t = vy.local(vy.u32, 10)
    for k in range(4):
        t[x[i + k] % base] += 1
    if t[0] == 0:
        return t[1] + 10 * t[2]
    rest = vy.local(vy.u32, 4)
    rest[t[0]] = 5
    return 100 * t[0] + rest[1]


@vy.kernel
def local_in_functions(x: vy.In[vy.i32], y: vy.Out[vy.u32]):
    i = vy.gid()
    total: vy.u32 = 0
    for turn in range(3):
        if (i + turn) % 3 != 0:
            total += digits(x, i + turn, 5)
    for base in (3, 7):
        total += digits(x, i, base)
    y[i] = total


def python_digits(x: list[int], base: int) -> int:
    t = [sum(value % base == digit for value in x) for digit in range(10)]
    return t[1] + 10 * t[2] if t[0] == 0 else 100 * t[0] + (5 if t[0] == 1 else 0)


def test_local_arrays_are_zero_in_each_call_and_each_iteration() -> None:
    (_, y) = run(local_in_functions, X, np.zeros(150, np.uint32))
    far = [*X.tolist(), *[0] * 64]
    for i in range(150):
        turns = [i + turn for turn in range(3) if (i + turn) % 3 != 0]
        expected = sum(python_digits(far[at : at + 4], 5) for at in turns)
        expected += sum(python_digits(far[i : i + 4], base) for base in (3, 7))
        assert y[i] == expected, i


@vy.func
def filled(count, value):
    t = vy.local(vy.i32, 4)
    for k in range(count):
        t[k] = value
    return t


@vy.kernel
def arrays_from_functions(x: vy.In[vy.i32], y: vy.Out[vy.i32]):
    i = vy.gid()
    one, other = filled(2, x[i]), filled(3, 5)
    if x[i] > 500:
        extra = vy.local(vy.i32, 2)
        extra[i % 2] = 1000
        y[i] = one[0] + one[2] + other[2] + extra[0]
    else:
        y[i] = one[1] + other[3]


def test_functions_give_arrays_and_branches_make_them() -> None:
    (_, y) = run(arrays_from_functions, X, np.zeros_like(X))
    even = np.arange(150) % 2 == 0
    assert y.tolist() == np.where(X > 500, X + 5 + 1000 * even, X).tolist()


def test_a_shared_array_in_a_loop_that_some_leave_is_refused() -> None:
    @vy.kernel
    def k(x: vy.In[vy.i32], y: vy.Out[vy.i32]):
        i = vy.gid()
        total = 0
        for _ in range(x[i]):
            t = vy.shared(vy.i32, 64)
            total += t[vy.lid()]
        y[i] = total

    with pytest.raises(VyreError) as refused:
        k(X, np.zeros_like(X), device="cpu")
    assert {found.code for found in refused.value.diagnostics} == {"V301"}
    assert "t = vy.shared(vy.i32, 64)" in str(refused.value)


def test_too_much_workgroup_memory_names_the_arrays_and_a_line() -> None:
    @vy.func
    def table(v):
        large = vy.shared(vy.f32, 20000)
        large[vy.lid()] = v
        vy.barrier()
        return large[vy.lid() + 1]

    @vy.kernel
    def k(x: vy.InOut[vy.f32]):
        small = vy.shared(vy.f32, 64)
        small[vy.lid()] = x[vy.gid()]
        x[vy.gid()] = table(small[vy.lid()])

    with pytest.raises(VyreError) as refused:
        k(np.zeros(64, np.float32), device="reference")
    (found,) = refused.value.diagnostics
    assert found.code == "V411"
    assert "('large' 80000, 'small' 256)" in (found.fix or "")
    assert "large[vy.lid()] = v" in str(refused.value)


@vy.kernel(workgroup=64)
def settled(x: vy.In[vy.i32], y: vy.Out[vy.i32]):
    t = vy.shared(vy.i32, 64)
    lane = vy.lid()
    t[lane] = x[vy.gid()]
    vy.barrier()
    total = 0
    n = t[3]
    vy.barrier()
    turns = 0
    while n > 0 and turns < 12:
        v = t[(lane + 1) % 64] + t[lane] + n % 2
        vy.barrier()
        t[lane] = v // 3
        vy.barrier()
        total += n * lane + t[lane]
        n = t[3] + n // 7  # read and assigned between the same barriers
        if n % 3 == 0:
            total += 1
        n = n - t[2] // 2 - 1
        total ^= n
        vy.barrier()
        if n % 2 == 1:
            t[lane] = t[lane] + 1
            vy.barrier()
            total += t[63 - lane]
            vy.barrier()
        turns += 1
    y[vy.gid()] = total + 1000 * turns


def test_barriers_depend_on_elements_that_nothing_writes_between_two_barriers() -> None:
    x = (np.arange(256) * 37 % 101).astype(np.int32)
    expected: list[int] = []
    for row in x.reshape(4, 64).astype(np.int64):
        t, lanes, total, n, turns = row, np.arange(64), np.zeros(64, np.int64), int(row[3]), 0
        while n > 0 and turns < 12:
            t = (np.roll(t, -1) + t + n % 2) // 3
            total = total + n * lanes + t
            n = int(t[3]) + n // 7
            total = total + (n % 3 == 0)
            n = n - int(t[2]) // 2 - 1
            total = total ^ n
            if n % 2 == 1:
                t = t + 1
                total = total + t[::-1]
            turns += 1
        expected += (total + 1000 * turns).tolist()
    _, y = run(settled, x, np.zeros_like(x))
    assert y.tolist() == expected
