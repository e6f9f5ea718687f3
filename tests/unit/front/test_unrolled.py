"""Loops over tuples are written out; tuples are looked up and searched."""

# The number of axes stands among types, and the point of some tests is a name without a value.
# pyright: reportGeneralTypeIssues=false
# pyright: reportPossiblyUnboundVariable=false, reportUnboundVariable=false

from __future__ import annotations

import numpy as np
import pytest

import vyre as vy
from tests.unit.front.devices import run
from vyre.diagnostics import FrontError
from vyre.ir import Loop
from vyre.ir.walk import walk_stmts

AROUND = ((-1, 0), (1, 0), (0, -1), (0, 1))
WEIGHTS = (1.0, 2.0, 1.0)
TABLE = (3, 1, 4, 1, 5, 9, 2, 6)


@vy.kernel
def smooth(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(y):
        total = 0.0
        for k, w in enumerate(WEIGHTS):
            total += w * x[i + k]
        y[i] = total / sum_of_weights()


@vy.func
def sum_of_weights():
    total = 0.0
    for w in WEIGHTS:
        total += w
    return total


def test_enumerate_over_a_tuple_from_outside() -> None:
    x = np.arange(12, dtype=np.float32)
    y = run(smooth, x, np.zeros(10, np.float32))[1]
    np.testing.assert_array_equal(y, x[1:-1])
    assert not [s for s in walk_stmts(smooth.program().entry) if isinstance(s, Loop)]


@vy.kernel(workgroup=(8, 8))
def neighbours(x: vy.In[vy.i32, 2], y: vy.Out[vy.i32, 2]):
    i, j = vy.i32(vy.gid(1)), vy.i32(vy.gid(0))
    if i < vy.i32(y.shape[0]) and j < vy.i32(y.shape[1]):
        for di, dj in AROUND:
            y[i, j] += x[i + di, j + dj]


def test_pairs() -> None:
    x = np.arange(1, 31, dtype=np.int32).reshape(5, 6)
    y = run(neighbours, x, np.zeros_like(x))[1]
    wide = np.pad(x, 1)
    expected = wide[:-2, 1:-1] + wide[2:, 1:-1] + wide[1:-1, :-2] + wide[1:-1, 2:]
    np.testing.assert_array_equal(y, expected)


@vy.kernel
def mixed(x: vy.In[vy.i32], y: vy.Out[vy.i32]):
    i = vy.gid()
    if i < 1:
        n = 0
        for array in (x, y):
            n += vy.i32(len(array))
        y[0] = n
        for k, v in zip((5, 6, 7), reversed([x[0], x[1], x[2]]), strict=True):
            y[k] = v
        for v in (x[3], x[4]):
            v += 1
            y[1] += v
        for only in ():
            y[2] = only
        for k, v in enumerate([10, 20], 3):
            last = v
            y[k] = last * 2
        y[2] = last


def test_arrays_values_and_lists() -> None:
    x = np.arange(10, 18, dtype=np.int32)
    y = run(mixed, x, np.zeros(9, np.int32))[1]
    assert y.tolist() == [17, 29, 20, 20, 40, 12, 11, 10, 0]


NEEDLE = b"ab\n"


@vy.kernel
def matches(text: vy.In[vy.u8], y: vy.Out[vy.u32]):
    i = vy.gid()
    if i < len(y):
        found = 0
        for k, (number, c) in enumerate(zip(range(1, 6, 2), NEEDLE, strict=True)):
            if text[i + k] == c:
                found += number
        if text[i] in b" \t":
            found += 100
        if text[i] == ord("\n") or text[i] == NEEDLE[1] or text[i] == ord(b"z"):
            found += 1000
        y[i] = vy.u32(found)


def test_characters_and_bytes() -> None:
    text = b"xab\n b\taz\x00"
    y = run(matches, np.frombuffer(text, np.uint8), np.zeros(len(text), np.uint32))[1]

    def expected(i: int) -> int:
        found = sum(
            n for n, k in ((1, 0), (3, 1), (5, 2)) if text[i + k : i + k + 1] == NEEDLE[k : k + 1]
        )
        return found + 100 * (text[i] in b" \t") + 1000 * (text[i] in b"\nbz")

    assert y.tolist() == [expected(i) for i in range(len(text))]


@vy.kernel
def first_match(x: vy.In[vy.i32], y: vy.Out[vy.i32]):
    i = vy.gid()
    if i < len(x):
        place = -1
        for k, v in enumerate(TABLE):
            if v == 1:
                continue
            if v == x[i]:
                place = k
                break
            y[i] += 1
        y[i] += 100 * place
        for v in (7, 8):
            if x[i] == v:
                return
        y[i] += 1000


def python_first_match(x: int) -> int:
    found, place = 0, -1
    for k, v in enumerate(TABLE):
        if v == 1:
            continue
        if v == x:
            place = k
            break
        found += 1
    found += 100 * place
    return found if x in (7, 8) else found + 1000


def test_break_continue_and_return() -> None:
    x = np.arange(12, dtype=np.int32)
    y = run(first_match, x, np.zeros(12, np.int32))[1]
    assert y.tolist() == [python_first_match(v) for v in range(12)]


@vy.kernel
def look_up(x: vy.In[vy.i32], y: vy.Out[vy.u8], z: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(x):
        y[i] = TABLE[x[i]]
        z[i] = (0.5, x[i] > 2)[0] * WEIGHTS[i % 3]
        if x[i] in (2, 3) or x[i] not in [0, 1, 2, 3, 4, 5, 6, 7]:
            z[i] += 10.0


def test_a_tuple_is_a_table_and_zero_outside() -> None:
    x = np.array([0, 5, 7, 8, -1, 3], np.int32)
    y, z = run(look_up, x, np.zeros(6, np.uint8), np.zeros(6, np.float32))[1:]
    assert y.tolist() == [3, 9, 6, 0, 0, 1]
    assert z.tolist() == [0.5, 1.0, 0.5, 10.5, 11.0, 10.5]


def test_a_variable_bound_inside_needs_a_round() -> None:
    @vy.kernel
    def empty(y: vy.Out[vy.i32]):
        for v in ():
            last = v
        y[0] = last

    with pytest.raises(FrontError) as caught:
        empty.program()
    assert caught.value.code == "F029"


def test_long_loops_are_for_range() -> None:
    many = tuple(range(1000))

    @vy.kernel
    def long(y: vy.Out[vy.i32]):
        for v in many:
            y[0] += v

    with pytest.raises(FrontError, match="1000 constants"):
        long.program()
