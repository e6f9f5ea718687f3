"""What a workgroup computes together, against the definition of its tree, element by element."""
# Texts are stored into; the number of axes stands among types.
# pyright: reportGeneralTypeIssues=false, reportIndexIssue=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownParameterType=false
# pyright: reportMissingParameterType=false, reportUnknownArgumentType=false
# pyright: reportOperatorIssue=false, reportAttributeAccessIssue=false, reportArgumentType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import pytest

import vyre as vy
from tests.unit.front.devices import run
from vyre.diagnostics import VyreError

T = TypeVar("T", bound=float)
SIZES: list[Any] = [1, 2, 3, 7, 31, 32, 33, 64, 100, 255, 256, (4, 3, 2), (1, 5, 1), (3, 1, 7)]
GROUPS = 3
RANDOM = np.random.default_rng(5)
OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "add": np.add,
    "mul": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
INTEGERS = (np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32, np.uint64, np.int64)
FLOATS = (np.float32, np.float64)


def trees(rows: Any, op: Callable[[Any, Any], Any]) -> Any:
    """For each row, S of the last step at each place, by its definition."""
    found, reach = rows.copy(), 1
    with np.errstate(all="ignore"):
        while reach < rows.shape[1]:
            found = np.concatenate(
                [found[:, :reach], op(found[:, :-reach], found[:, reach:])], axis=1
            ).astype(rows.dtype)
            reach *= 2
    return found


def rows_of(dtype: Any, size: int) -> Any:
    """Numbers of all kinds: such that wrap around, or NaN, infinities and zeros of both signs."""
    if np.issubdtype(dtype, np.integer):
        info = np.iinfo(dtype)
        return RANDOM.integers(info.min, info.max, (GROUPS, size), dtype, endpoint=True)
    rows = RANDOM.standard_normal((GROUPS, size)).astype(dtype)
    rows[1] *= np.exp2(RANDOM.integers(-8, 8, size)).astype(dtype)
    rows[1, ::3] = -0.0
    rows[2, size // 2] = np.nan
    rows[2, 0] = np.inf
    return rows


def count_of(size: Any) -> int:
    return int(np.prod(size))


def kernel_of(size: Any, word: str) -> Any:
    width = size if isinstance(size, tuple) else (size, 1, 1)

    @vy.kernel(workgroup=size)
    def k(x: vy.In[T], total: vy.Out[T], upto: vy.Out[T], before: vy.Out[T]):
        lane = vy.lid(0) + width[0] * (vy.lid(1) + width[1] * vy.lid(2))
        i = vy.wid() * (width[0] * width[1] * width[2]) + lane
        total[i] = vy.group.reduce(word, x[i])
        upto[i] = vy.group.scan(word, x[i])
        before[i] = vy.group.scan(word, x[i], exclusive=True)

    return k


def identity(word: str, dtype: Any) -> Any:
    is_float = not np.issubdtype(dtype, np.integer)
    low, high = (-np.inf, np.inf) if is_float else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    ones = dtype(0) if is_float else ~dtype(0)
    known = {"mul": 1, "min": high, "max": low, "and": ones}
    return dtype(known.get(word, 0))


def assert_trees(word: str, rows: Any, found: list[Any]) -> None:
    expected = trees(rows, OPERATORS[word])
    total, upto, before = (one.reshape(rows.shape) for one in found)
    np.testing.assert_array_equal(upto, expected)
    np.testing.assert_array_equal(total, np.broadcast_to(expected[:, -1:], rows.shape))
    first = np.full((GROUPS, 1), identity(word, rows.dtype.type))
    np.testing.assert_array_equal(before, np.concatenate([first, expected[:, :-1]], axis=1))


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_any_size_of_a_workgroup(size: Any) -> None:
    rows = rows_of(np.float32, count_of(size))
    empty = [np.zeros(rows.size, np.float32) for _ in range(3)]
    _, *found = run(kernel_of(size, "add"), rows.reshape(-1), *empty, grid=GROUPS)
    assert_trees("add", rows, found)


LARGE: list[Any] = [
    (64, "add", np.int32),
    (100, "mul", np.uint8),
    (255, "min", np.int64),
    (256, "xor", np.uint16),
    ((8, 9, 2), "max", np.int16),
    (127, "and", np.uint32),
]


@pytest.mark.parametrize(("size", "word", "dtype"), LARGE, ids=str)
def test_integers_in_large_workgroups(size: Any, word: str, dtype: Any) -> None:
    rows = rows_of(dtype, count_of(size))
    empty = [np.zeros(rows.size, dtype) for _ in range(3)]
    _, *found = run(kernel_of(size, word), rows.reshape(-1), *empty, grid=GROUPS)
    assert_trees(word, rows, found)


@vy.kernel(workgroup=130)
def truths(x: vy.In[vy.i32], y: vy.Out[vy.u32]):
    i = vy.gid()
    if vy.group.any(x[i] == 7):
        y[i] = vy.u32(vy.group.all(x[i] < 8)) + 1


def test_truths_of_large_workgroups() -> None:
    x = np.zeros(520, np.int32)
    x[129], x[130], x[259], x[400] = 7, 7, 8, 6
    _, y = run(truths, x, np.zeros(520, np.uint32))
    assert y.tolist() == [2] * 130 + [1] * 130 + [0] * 260


@pytest.mark.parametrize("word", ["and", "or", "xor"])
def test_floats_have_no_bits(word: str) -> None:
    with pytest.raises(VyreError) as refused:
        kernel_of(8, word)(*[np.zeros(8, np.float32)] * 4, grid=1, device="cpu")
    assert set(refused.value.codes) == {"F026"}


NUMBERS: list[tuple[str, Any]] = [
    *(("add", dtype) for dtype in (*INTEGERS, *FLOATS)),
    *(("mul", dtype) for dtype in (np.uint16, np.int64, np.float32)),
    *((word, dtype) for word in ("min", "max") for dtype in (np.int8, np.uint64, *FLOATS)),
]
BITS = [(word, one) for word in ("and", "or", "xor") for one in (np.int8, np.uint64)]


@pytest.mark.parametrize(("word", "dtype"), [*NUMBERS, *BITS])
def test_any_operator_of_any_type(word: str, dtype: Any) -> None:
    rows = rows_of(dtype, 12)
    empty = [np.zeros(rows.size, dtype) for _ in range(3)]
    _, *found = run(kernel_of(12, word), rows.reshape(-1), *empty, grid=GROUPS)
    assert_trees(word, rows, found)


@vy.func
def after(f, g):
    """First f, then g, of two affine functions: associative, not commutative."""
    return f[0] * g[0], f[1] * g[0] + g[1]


@vy.kernel(workgroup=37)
def composed(x: vy.In[vy.u32], y: vy.Out[vy.u32, 2]):
    i = vy.gid()
    a, b = vy.group.scan(after, (x[i], vy.u32(i)), exclusive=True, identity=(1, 0))
    c, d = vy.group.reduce(after, (x[i], vy.u32(i)))
    y[i, 0], y[i, 1], y[i, 2], y[i, 3] = a, b, c, d


def test_functions_of_tuples_need_not_be_commutative() -> None:
    x = RANDOM.integers(0, 1 << 32, 74, np.uint32, endpoint=False)
    _, y = run(composed, x, np.zeros((74, 4), np.uint32), grid=2)
    for group in range(2):
        factor, offset = 1, 0
        for i in range(37 * group, 37 * group + 37):
            assert y[i, :2].tolist() == [factor, offset]
            factor, offset = factor * int(x[i]) % 2**32, (offset * int(x[i]) + i) % 2**32
        assert (y[37 * group : 37 * group + 37, 2:] == [factor, offset]).all()


@vy.func
def first_of(a, b):
    return a


@vy.func
def last_of(a, b):
    return b


@vy.kernel(workgroup=19)
def ends(y: vy.Out[vy.i32]):
    i = vy.gid()
    y[i] = 100 * vy.group.reduce(first_of, vy.i32(i)) + vy.group.reduce(last_of, vy.i32(i))


def test_operands_stay_in_order() -> None:
    (y,) = run(ends, np.zeros(38, np.int32))
    assert y.tolist() == [18] * 19 + [1937] * 19


@vy.kernel(workgroup=50)
def kept(x: vy.In[vy.f32], y: vy.Out[vy.f32], counts: vy.Out[vy.u32]):
    i = vy.gid()
    keep = x[i] > 0.0
    place, count = vy.group.compact(keep)
    if keep:
        y[vy.wid() * 50 + place] = x[i]
    counts[vy.wid()] = count


def test_compact_numbers_what_is_kept_in_its_order() -> None:
    for level in (-9.0, -0.5, 0.0, 0.5, 9.0):
        x = (RANDOM.standard_normal(150) + level).astype(np.float32)
        _, y, counts = run(kept, x, np.zeros(150, np.float32), np.zeros(3, np.uint32), grid=3)
        for group in range(3):
            row = x[50 * group : 50 * group + 50]
            assert counts[group] == (row > 0).sum()
            chosen = y[50 * group :][: counts[group]]
            assert chosen.tolist() == row[row > 0].tolist()


@vy.kernel(workgroup=40)
def agreed(x: vy.In[vy.i32], y: vy.Out[vy.i32]):
    """Branches and loops around barriers, on what the group functions give."""
    i = vy.gid()
    v = x[i]
    turns = 0
    while vy.group.any(v > 3):
        v = v - vy.group.reduce("max", v) // 2 - 1
        turns += 1
        if vy.group.all(v < 100):
            v = v - vy.group.scan("max", v) // 3
    place, count = vy.group.compact(v > 0)
    for turn in range(count % 4):
        v += vy.group.reduce("add", vy.i32(turn + place))
    y[i] = v + 1000 * turns


def python_agreed(row: list[int]) -> list[int]:
    v, turns = list(row), 0
    while any(one > 3 for one in v):
        greatest = max(v)
        v = [one - greatest // 2 - 1 for one in v]
        turns += 1
        if all(one < 100 for one in v):
            v = [one - max(v[: k + 1]) // 3 for k, one in enumerate(v)]
    places = [sum(one > 0 for one in v[:k]) for k in range(40)]
    for turn in range(sum(one > 0 for one in v) % 4):
        total = sum(turn + place for place in places)
        v = [one + total for one in v]
    return [one + 1000 * turns for one in v]


def test_results_are_the_same_for_the_workgroup_so_barriers_may_depend_on_them() -> None:
    x = RANDOM.integers(0, 150, 160).astype(np.int32)
    x[:40] = 2
    x[40:80] = np.arange(40)
    _, y = run(agreed, x, np.zeros_like(x))
    for group in range(4):
        place = slice(40 * group, 40 * group + 40)
        assert y[place].tolist() == python_agreed(x[place].tolist())


@vy.kernel(workgroup=8)
def under_a_condition(x: vy.In[vy.i32], y: vy.Out[vy.i32]):
    i = vy.gid()
    if x[i] > 0:
        y[i] = vy.group.reduce("add", x[i])


@vy.kernel(workgroup=8)
def after_a_return(x: vy.In[vy.i32], y: vy.Out[vy.i32]):
    i = vy.gid()
    if i >= len(x):
        return
    y[i] = vy.group.scan("add", x[i])


@pytest.mark.parametrize(
    ("kernel", "code", "line"),
    [
        (under_a_condition, "V301", 'y[i] = vy.group.reduce("add", x[i])'),
        (after_a_return, "V302", 'y[i] = vy.group.scan("add", x[i])'),
    ],
)
def test_a_call_that_some_may_miss_is_refused_as_a_barrier_is(
    kernel: Any, code: str, line: str
) -> None:
    with pytest.raises(VyreError) as refused:
        kernel(np.zeros(8, np.int32), np.zeros(8, np.int32), device="cpu")
    assert set(refused.value.codes) == {code}
    assert line in str(refused.value)


def test_many_calls_use_one_piece_of_workgroup_memory() -> None:
    @vy.kernel(workgroup=256)
    def k(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
        total = x[vy.gid()]
        for turn in (1, 2, 3, 4, 5, 6, 7, 8):
            total += vy.group.reduce("add", total) + vy.group.scan("max", total + turn)
        y[vy.gid()] = total

    memory = [decl for decl in k.program(vy.f32).buffers if decl.is_workgroup]
    assert [decl.count for decl in memory] == [2 * 256 + 9]


@vy.kernel(workgroup=40)
def own_bits(x: vy.In[vy.i32], y: vy.Out[vy.u32]):
    mask = vy.subgroup.ballot(x[vy.gid()] > 3)
    lane = vy.subgroup.lane()
    y[vy.gid()] = mask[lane // 32] >> (lane % 32) & 1


def test_a_lane_finds_its_own_bit_in_a_ballot() -> None:
    x = RANDOM.integers(0, 8, 80).astype(np.int32)
    _, y = run(own_bits, x, np.zeros(80, np.uint32))
    assert y.tolist() == (x > 3).tolist()
