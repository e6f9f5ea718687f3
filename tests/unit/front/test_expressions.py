"""Expressions keep the meaning that Python gives them, and types follow from context."""
# The number of axes stands among types.
# pyright: reportGeneralTypeIssues=false, reportArgumentType=false

from __future__ import annotations

from enum import IntEnum, IntFlag
from types import SimpleNamespace

import numpy as np
import pytest

import vyre as vy
from tests.unit.front.devices import run
from vyre.ir import DataType, Load, Store
from vyre.ir.walk import walk_all_exprs, walk_stmts

A = np.repeat(np.array([-7, -6, -1, 0, 1, 5, 7, 2**31 - 1], np.int32), 4)
B = np.tile(np.array([-3, -1, 2, 3], np.int32), 8)


@vy.kernel
def division(a: vy.In[vy.i32], b: vy.In[vy.i32], q: vy.Out[vy.i32], r: vy.Out[vy.i32]):
    i = vy.gid()
    if i < len(a):
        q[i] = a[i] // b[i]
        r[i] = a[i] % b[i]


def test_division_rounds_down_and_the_rest_has_the_sign_of_the_divisor() -> None:
    _, _, q, r = run(division, A, B, np.zeros_like(A), np.zeros_like(A))
    assert q.tolist() == [x // y for x, y in zip(A.tolist(), B.tolist(), strict=True)]
    assert r.tolist() == [x % y for x, y in zip(A.tolist(), B.tolist(), strict=True)]


@vy.kernel
def chained(a: vy.In[vy.i32], b: vy.In[vy.i32], h: vy.InOut[vy.u32], y: vy.Out[vy.u32]):
    i = vy.gid()
    if i < len(a):
        y[i] = vy.u32(-3 < a[i] <= b[i] < 7) + vy.u32(not a[i] >= b[i]) * 2
        if vy.u32(0) <= h.atomic_add(0, 1) < 1000:
            y[i] += 4


def test_chained_comparisons_evaluate_the_middle_once() -> None:
    _, _, h, y = run(chained, A, B, np.zeros(1, np.uint32), np.zeros(A.size, np.uint32))
    pairs = list(zip(A.tolist(), B.tolist(), strict=True))
    assert y.tolist() == [int(-3 < a <= b < 7) + int(not a >= b) * 2 + 4 for a, b in pairs]
    assert h[0] == A.size


@vy.kernel
def powers(x: vy.In[vy.f32], y: vy.Out[vy.f32, 2]):
    i = vy.gid()
    if i < len(x):
        v = x[i]
        y[i, 0] = v**0
        y[i, 1] = v**1
        y[i, 2] = v**2
        y[i, 3] = v**5
        y[i, 4] = vy.math.floor(v / 2.0)
        y[i, 5] = min(v, 1.0, 0.5) + max(v, 2)
        y[i, 6] = abs(v) if v < 0.0 else -v


def test_powers_floor_division_min_max_and_abs_of_floats() -> None:
    x = np.array([-2.5, -1.0, 0.0, 0.25, 3.0], np.float32)
    y = run(powers, x, np.zeros((5, 7), np.float32))[1]
    one = np.float32(1)
    expected = [
        [
            one,
            v,
            v * v,
            v * v * (v * v) * v,
            np.floor(v / 2),
            min(v, 0.5) + max(v, 2),
            -abs(v) * np.sign(v) * (1 if v > 0 else -1) if v > 0 else abs(v),
        ]
        for v in x
    ]
    expected = np.array(expected, np.float32)
    expected[:, 6] = np.where(x < 0, np.abs(x), -x)
    np.testing.assert_array_equal(y, expected)


@vy.kernel
def bits(x: vy.In[vy.u32], y: vy.Out[vy.u32, 2]):
    i = vy.gid()
    if i < len(x):
        v = x[i]
        y[i, 0] = vy.popcount(v)
        y[i, 1] = vy.clz(v)
        y[i, 2] = vy.ctz(v)
        y[i, 3] = vy.rotl(v, 5)
        y[i, 4] = vy.rotr(v, 5)
        y[i, 5] = (v << 3) ^ (v >> 2) | v & 0xFF
        y[i, 6] = ~v
        y[i, 7] = vy.bitcast(vy.bitcast(v, vy.f32), vy.u32)


def test_bit_operations() -> None:
    x = np.array([0, 1, 2, 0x80000000, 0x12345678, 0x3F800000], np.uint32)
    mask = 0xFFFFFFFF
    y = run(bits, x, np.zeros((x.size, 8), np.uint32))[1]
    for v, row in zip(x.tolist(), y.tolist(), strict=True):
        assert row == [
            v.bit_count(),
            32 - v.bit_length(),
            (v & -v).bit_length() - 1 if v else 32,
            (v << 5 | v >> 27) & mask,
            (v >> 5 | v << 27) & mask,
            (v << 3 & mask) ^ (v >> 2) | v & 0xFF,
            ~v & mask,
            v,
        ]


SCALE = 3
HALF = np.float32(0.5)
TABLE = (10, 20, 30)


@vy.kernel
def captured(n: vy.static[int], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(y):
        y[i] = HALF * SCALE * n + TABLE[2] + vy.math.pi


def test_constants_are_captured_and_static_parameters_compiled_in() -> None:
    expected = np.float32(np.float32(0.5 * 3 * 7) + np.float32(30)) + np.float32(np.pi)
    y = run(captured, 7, np.zeros(3, np.float32))[0]
    np.testing.assert_allclose(y, [expected] * 3, rtol=1e-6)
    assert captured.program(n=7) is captured.program(7)
    assert captured.program(n=7) != captured.program(n=8)


@vy.kernel
def casts(x: vy.In[vy.f32], y: vy.Out[vy.i32, 2]):
    i = vy.gid()
    if i < len(x):
        y[i, 0] = vy.i32(x[i])
        y[i, 1] = vy.i32(vy.u8(x[i]))
        y[i, 2] = vy.i32(vy.bool_(x[i]))
        y[i, 3] = vy.i32(vy.i64(x[i]) * 3)


def test_casts_truncate_and_saturate() -> None:
    x = np.array([-1.5, 0.0, 2.9, 300.0, np.nan], np.float32)
    y = run(casts, x, np.zeros((5, 4), np.int32))[1]
    assert y.tolist() == [[-1, 0, 1, -3], [0, 0, 0, 0], [2, 2, 1, 6], [300, 255, 1, 900],
                          [0, 0, 1, 0]]  # fmt: skip


def variable_types(kernel: vy.Kernel[...]) -> dict[str, DataType]:
    """The types of the variables of a kernel."""
    from vyre.ir import Let, Loop, Scope, type_of

    program = kernel.program()
    scope = Scope.of(program)
    for statement in walk_stmts(program.entry):
        if isinstance(statement, Let):
            scope.variables[statement.name] = type_of(statement.value, scope.env)
        elif isinstance(statement, Loop):
            scope.variables[statement.var] = type_of(statement.start, scope.env)
    return scope.variables


@vy.kernel
def learning(x: vy.In[vy.f64], n: vy.u16, y: vy.Out[vy.f64]):
    total = 0
    scale = 1.5
    k = 0
    step = 1
    lonely = 3
    lonely_float = 0.5
    other = lonely
    while k < n:
        k += step
    for j in range(10):
        total += x[j] * scale
    for q in range(4):
        total += x[q + k]
    y[lonely + other] = total + vy.f64(lonely_float)


def test_a_variable_that_a_literal_begins_takes_the_type_of_what_it_meets() -> None:
    types = variable_types(learning)
    assert types == {
        "total": DataType.F64,
        "scale": DataType.F64,
        "k": DataType.U16,
        "step": DataType.U16,
        "lonely": DataType.I32,
        "lonely_float": DataType.F32,
        "other": DataType.I32,
        "j": DataType.I32,
        "q": DataType.U16,
    }


@vy.kernel(workgroup=1)
def computed_literals(x: vy.InOut[vy.f64], z: vy.Out[vy.f32]):
    s = vy.math.sqrt(2.0)
    x[0] = x[0] * s
    x[1] = vy.f64(vy.math.sqrt(2))
    x[2] *= vy.math.power(2.0, 0.1)
    x[3] = vy.math.fma(1.1, 1.1, 0.3)
    x[4] = vy.math.square(0.1)
    x[5] = vy.math.clip(vy.math.exp(0.1), 0.1, vy.math.exp(0.2))
    z[0] = vy.math.sqrt(2.0)


def test_what_is_computed_of_literals_takes_the_type_of_what_it_meets() -> None:
    x, z = run(computed_literals, np.ones(6), np.zeros(1, np.float32), grid=1)
    expected = [2**0.5, 2**0.5, 2**0.1, 1.1 * 1.1 + 0.3, 0.1 * 0.1, np.exp(0.1)]
    np.testing.assert_allclose(x, expected, rtol=1e-14)
    assert z[0] == np.sqrt(np.float32(2))


@vy.kernel
def folded(debug: vy.static[bool], y: vy.Out[vy.u32]):
    i = vy.gid()
    if debug:
        y[i] = 1
    elif 2 + 2 == 4 and not debug:
        y[i] = 2


def test_conditions_on_constants_choose_what_is_compiled() -> None:
    program = folded.program(debug=False)
    stores = [s for s in walk_stmts(program.entry) if isinstance(s, Store)]
    assert [str(store.value) for store in stores] == [str(stores[0].value)]
    assert run(folded, True, np.zeros(2, np.uint32))[0].tolist() == [1, 1]
    assert run(folded, False, np.zeros(2, np.uint32))[0].tolist() == [2, 2]


@vy.kernel
def guarded(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(y):
        y[i] = x[i - 1] if i > 0 else 0.0
        if i + 1 < len(x) and x[i + 1] > 0.0:
            y[i] += x[i + 1]


def test_a_load_that_a_condition_guards_is_not_evaluated_without_it() -> None:
    x = np.arange(8, dtype=np.float32)
    y = np.zeros(8, np.float32)
    guarded.reference(x, y)  # the sanitizer reports loads out of bounds
    expected = np.concatenate([[0], x[:-1]]) + np.concatenate([x[1:], [0]])
    np.testing.assert_array_equal(y, expected)


@vy.kernel
def functions(x: vy.In[vy.f32], y: vy.Out[vy.f32, 2]):
    i = vy.gid()
    if i < len(x):
        v = x[i]
        y[i, 0] = vy.math.sqrt(v)
        y[i, 1] = vy.math.floor(-v)
        y[i, 2] = vy.math.rint(v)
        y[i, 3] = vy.math.clip(v, 0.5, 2.0)
        y[i, 4] = vy.math.where(v > 1.0, v, 0)
        y[i, 5] = vy.math.fma(v, v, 1.0)
        y[i, 6] = vy.math.copysign(v, -1.0)
        y[i, 7] = vy.math.square(v) + vy.math.maximum(v, 1)


def test_mathematics_has_the_names_of_numpy() -> None:
    x = np.array([0.0, 0.5, 1.5, 2.5, 9.0], np.float32)
    y = run(functions, x, np.zeros((5, 8), np.float32))[1]
    columns = [np.sqrt(x), np.floor(-x), np.rint(x), np.clip(x, 0.5, 2), np.where(x > 1, x, 0),
               x * x + 1, np.copysign(x, -1), x * x + np.maximum(x, 1)]  # fmt: skip
    np.testing.assert_array_equal(y, np.stack(columns, axis=1))


@pytest.mark.parametrize("name", [n for n in dir(vy.math) if n[0].islower() and n != "annotations"])
def test_every_function_of_math_is_translated(name: str) -> None:
    from vyre.front.intrinsic_calls import HANDLERS

    value = getattr(vy.math, name)
    assert isinstance(value, float) or name == "outside" or value in HANDLERS


def test_loads_of_arguments_are_what_the_program_reads() -> None:
    program = captured.program(n=1)
    assert not [e for e in walk_all_exprs(program.entry) if isinstance(e, Load)]


SETTINGS = SimpleNamespace(rounds=4, factor=0.5)


@vy.kernel
def configured(exact: vy.static[bool], start: vy.static[float], y: vy.Out[vy.f32]):
    for _ in range(SETTINGS.rounds):
        start += SETTINGS.factor
    exact = exact and start > 1.0
    y[0] = start if exact else 0.0


def test_attributes_of_objects_are_constants_and_static_parameters_may_be_assigned() -> None:
    assert run(configured, True, 1.5, np.zeros(1, np.float32))[0][0] == 3.5
    assert run(configured, False, 1.5, np.zeros(1, np.float32))[0][0] == 0.0


@vy.kernel
def extremes(a: vy.In[vy.f32], b: vy.In[vy.f32], y: vy.Out[vy.f32, 2]):
    i = vy.gid()
    if i < len(a):
        y[i, 0] = min(a[i], b[i])
        y[i, 1] = max(a[i], b[i], -2.0)
        y[i, 2] = vy.math.minimum(a[i], b[i])
        y[i, 3] = vy.math.maximum(a[i], 0.0)
        y[i, 4] = vy.math.fmin(a[i], b[i])
        y[i, 5] = vy.math.fmax(a[i], 0.0)
        y[i, 6] = vy.math.clip(a[i], -1.0, b[i])
        y[i, 7] = max(1.0, vy.math.nan) + min(vy.math.nan, 1)


@vy.kernel
def greatest(x: vy.In[vy.f32, 2], y: vy.Out[vy.f32]):
    r = vy.gid()
    if r < x.shape[0]:
        best = -vy.math.inf
        for c in range(x.shape[1]):
            best = max(best, x[r, c])
        y[r] = best


@pytest.mark.filterwarnings("ignore:invalid value")
def test_extremes_keep_nan_as_numpy_does() -> None:
    values = np.array([1.5, -3.0, 0.0, np.nan, np.inf, -np.inf], np.float32)
    a, b = (each.ravel() for each in np.meshgrid(values, values))
    y = run(extremes, a, b, np.zeros((len(a), 8), np.float32), elements=len(a))[2]
    zero, two, one = np.zeros_like(a), np.full_like(a, -2), -np.ones_like(a)
    expected = [
        np.minimum(a, b),
        np.maximum(np.maximum(a, b), two),
        np.minimum(a, b),
        np.maximum(a, zero),
        np.fmin(a, b),
        np.fmax(a, zero),
        np.clip(a, one, b),
        np.full_like(a, np.nan),
    ]
    np.testing.assert_array_equal(y, np.stack(expected, axis=1))


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("columns", [1, 7, 64, 1000])
def test_the_greatest_of_a_row_keeps_nan(columns: int) -> None:
    x = np.random.default_rng(columns).standard_normal((40, columns)).astype(np.float32)
    x[np.arange(0, 40, 3), np.arange(0, 40, 3) % columns] = np.nan
    y = run(greatest, x, np.zeros(40, np.float32), elements=40)[1]
    np.testing.assert_array_equal(y, np.max(x, axis=1))


@vy.kernel
def widened(x: vy.In[vy.u32], y: vy.Out[vy.u32], z: vy.Out[vy.i64]):
    i = vy.gid()
    if i < 2:
        k = 0x5A827999
        w = -1
    else:
        k = 0x8F1BBCDC
        w = 3_000_000_000
    y[i] = x[i] + k
    z[i] = vy.i64(w)


def test_of_the_literals_of_a_variable_the_widest_decides() -> None:
    arrays = np.ones(4, np.uint32), np.zeros(4, np.uint32), np.zeros(4, np.int64)
    _, y, z = run(widened, *arrays)
    assert y.tolist() == [0x5A82799A] * 2 + [0x8F1BBCDD] * 2
    assert z.tolist() == [-1, -1, 3_000_000_000, 3_000_000_000]


class Number(IntEnum):
    THREE = 3


class Bits(IntFlag):
    FOUR = 4


@vy.kernel
def members(y: vy.InOut[vy.u32]):
    y[0] = Number.THREE.value
    y[1] = Number.THREE + Bits.FOUR.value
    y[2] = Bits.FOUR


def test_members_of_enumerations_that_are_numbers_have_a_value() -> None:
    y = np.zeros(3, np.uint32)
    members(y, device="reference", grid=1)
    assert y.tolist() == [3, 7, 4]
