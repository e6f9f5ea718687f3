"""Statements keep the meaning that Python gives them."""

from __future__ import annotations

import numpy as np
import pytest

import vyre as vy
from tests.unit.front.devices import DEVICES, run
from vyre.diagnostics import TrapError

N = 100
X = np.arange(N, dtype=np.int32) - 50
NEVER = False


@vy.kernel(workgroup=32)
def branches(x: vy.In[vy.i32], y: vy.Out[vy.i32]):
    i = vy.gid()
    if i >= len(x):
        return
    v = x[i]
    if v < -10:
        r = 1
    elif v < 10:
        r = v * v
    else:
        r = -v
    y[i] = r


def test_if_elif_else_and_a_variable_that_every_branch_assigns() -> None:
    expected = [1 if v < -10 else v * v if v < 10 else -v for v in X.tolist()]
    assert run(branches, X, np.zeros(N, np.int32))[1].tolist() == expected


@vy.kernel
def stepped(n: vy.i32, y: vy.Out[vy.i32]):
    i = vy.gid()
    if i < 1:
        k = 0
        for a in range(3, n, 7):
            y[k] = a
            k += 1
        for b in range(n, -n, -5):
            y[k] = b
            k += 1
        for c in range(10, 0, -3):
            y[k] = c
            k += 1
        for d in range(n):
            if d == 2:
                continue
            if d == 5:
                break
            y[k] = d
            k += 1


@pytest.mark.parametrize("n", [0, 1, 3, 4, 17, 31])
def test_for_over_range_with_steps_break_and_continue(n: int) -> None:
    expected = [*range(3, n, 7), *range(n, -n, -5), *range(10, 0, -3)]
    expected += [d for d in range(min(n, 5)) if d != 2]
    (y,) = run(stepped, n, np.zeros(N, np.int32))
    assert y.tolist() == expected + [0] * (N - len(expected))


@vy.kernel(workgroup=32)
def grid_stride(x: vy.In[vy.i32], y: vy.Out[vy.i32]):
    for i in range(vy.gid(), len(x), vy.num_groups() * vy.group_size()):
        y[i] = x[i] + 1


def test_a_step_may_be_computed() -> None:
    assert (run(grid_stride, X, np.zeros(N, np.int32), grid=2)[1] == X + 1).all()


@vy.kernel
def any_step(start: vy.i32, stop: vy.i32, step: vy.i32, y: vy.Out[vy.i32]):
    if vy.gid() < 1:
        n = 0
        for k in range(start, stop, step):
            if n == 20:
                break
            y[n] = k
            n += 1
        for k in reversed(range(start, stop, step)):
            if n == 20:
                break
            y[n] = k
            n += 1


ENDS = [(-3, 5), (5, -3), (0, 0), (7, 8), (-(2**31), 2**31 - 1), (2**31 - 1, -(2**31))]
STEPS = [1, 3, 100, -1, -3, -100, 2**31 - 1, -(2**31)]


@pytest.mark.parametrize("start, stop", ENDS)
def test_a_step_known_at_run_time_counts_as_in_python(start: int, stop: int) -> None:
    for step in STEPS:
        counted = range(start, stop, step)
        expected = [*counted[:20], *counted[::-1][:20]][:20]
        (y,) = run(any_step, start, stop, step, np.zeros(20, np.int32))
        assert y.tolist() == expected + [0] * (20 - len(expected)), step


@vy.kernel
def narrow_steps(start: vy.i8, stop: vy.i8, step: vy.i8, wide: vy.i64, y: vy.Out[vy.i64]):
    n = 0
    for k in range(start, stop, step):
        y[n] = vy.i64(k)
        n += 1
    for m in range(wide * 3, wide, wide // -2):
        y[n] = m
        n += 1


@pytest.mark.parametrize("start, stop, step", [(-128, 127, 100), (127, -128, -128), (5, -5, -4)])
def test_counters_of_other_widths(start: int, stop: int, step: int) -> None:
    wide = 1 << 40
    expected = [*range(start, stop, step), *range(wide * 3, wide, wide // -2)]
    (y,) = run(narrow_steps, start, stop, step, wide, np.zeros(20, np.int64), grid=1)
    assert y.tolist() == expected + [0] * (20 - len(expected))


@vy.kernel
def learned_steps(y: vy.Out[vy.i32]):
    n, step = 0, 3
    for turn in range(4):
        for k in range(6, -3, step):
            y[n] = k
            n += 1
        step = 0 - step - turn


def test_the_type_of_a_step_that_a_literal_began() -> None:
    expected, step = [], 3
    for turn in range(4):
        expected += range(6, -3, step)
        step = 0 - step - turn
    (y,) = run(learned_steps, np.zeros(20, np.int32), grid=1)
    assert y.tolist() == expected + [0] * (20 - len(expected))


@vy.kernel
def unsigned_step(step: vy.u32, y: vy.Out[vy.u32]):
    for k in range(0, 5, step):
        y[k] = 1


@pytest.mark.parametrize("device", DEVICES)
def test_a_step_of_zero_is_a_trap(device: str) -> None:
    with pytest.raises(TrapError) as caught:
        any_step(0, 5, 0, np.zeros(20, np.int32), device=device)
    assert caught.value.tag == "range() arg 3 must not be zero"
    with pytest.raises(TrapError):
        unsigned_step(0, np.zeros(5, np.uint32), device=device)
    assert run(unsigned_step, 2, np.zeros(5, np.uint32))[0].tolist() == [1, 0, 1, 0, 1]


def test_no_trap_where_a_step_cannot_be_zero() -> None:
    assert "trap" not in str(grid_stride.program())


@vy.kernel
def collatz(x: vy.In[vy.u32], y: vy.Out[vy.u32]):
    i = vy.gid()
    if i < len(x):
        n, steps = x[i], 0
        while n > 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        y[i] = steps


def test_while_and_a_tuple_assignment() -> None:
    x = np.arange(1, 40, dtype=np.uint32)

    def steps(n: int) -> int:
        return 0 if n <= 1 else 1 + steps(n // 2 if n % 2 == 0 else 3 * n + 1)

    y = run(collatz, x, np.zeros_like(x))[1]
    assert y.tolist() == [steps(n) for n in x.tolist()]


@vy.kernel
def fibonacci(y: vy.Out[vy.u32]):
    i = vy.gid()
    if i < len(y):
        a, b = 0, 1
        for _ in range(i):
            a, b = b, a + b
        y[i] = a


def test_tuple_assignment_computes_everything_first() -> None:
    assert run(fibonacci, np.zeros(10, np.uint32))[0].tolist() == [0, 1, 1, 2, 3, 5, 8, 13, 21, 34]


@vy.kernel
def forever(x: vy.In[vy.i32], y: vy.Out[vy.i32]):
    i = vy.gid()
    if i < len(x):
        k = 0
        while True:
            if k * k >= vy.i32(i):
                root = k
                break
            k += 1
        y[i] = root


def test_while_true_gives_what_every_break_assigned() -> None:
    y = run(forever, X, np.zeros(N, np.int32))[1]
    assert y.tolist() == [int(np.ceil(np.sqrt(i))) for i in range(N)]


@vy.kernel
def own_names(x: vy.In[vy.i32], y: vy.Out[vy.i32]):
    i = vy.gid()
    if i < len(x):
        if x[i] > 0:
            t = vy.f32(x[i]) * 0.5
            y[i] = vy.i32(t)
        else:
            t = 7
            y[i] = t
        for k in range(3):
            k += 1
            y[i] += k
        for k in range(2):
            y[i] += k


def test_branches_have_variables_of_their_own_and_loop_variables_may_be_changed() -> None:
    expected = [(v // 2 if v > 0 else 7) + 6 + 1 for v in X.tolist()]
    assert run(own_names, X, np.zeros(N, np.int32))[1].tolist() == expected


@vy.kernel
def index_once(h: vy.InOut[vy.u32], y: vy.InOut[vy.u32]):
    if vy.gid() < 1:
        y[h.atomic_add(0, 1)] += 5
        a = b = h[0]
        y[1] = a + b


def test_an_augmented_assignment_evaluates_its_index_once() -> None:
    h, y = run(index_once, np.zeros(1, np.uint32), np.full(2, 10, np.uint32))
    assert (h.tolist(), y.tolist()) == ([1], [15, 2])


@vy.kernel
def lazy(h: vy.InOut[vy.u32], y: vy.Out[vy.u32]):
    i = vy.gid()
    if i < len(y):
        if i > 2 and h.atomic_add(0, 1) < 100:
            y[i] = 1
        if i > 2 or h.atomic_add(1, 1) < 100:
            y[i] += 2
        y[i] += h.atomic_add(2, 1) * 0 + 4 if i == 0 else 8


def test_and_or_and_conditional_expressions_evaluate_only_what_they_need() -> None:
    h, y = run(lazy, np.zeros(3, np.uint32), np.zeros(10, np.uint32))
    assert h.tolist() == [7, 3, 1]
    assert y.tolist() == [6, 10, 10] + [11] * 7


@vy.kernel
def while_with_effect(h: vy.InOut[vy.u32], y: vy.Out[vy.u32]):
    if vy.gid() < 1:
        n = 0
        while h.atomic_add(0, 1) < 5:
            n += 1
            if n == 2:
                continue
            y[0] += 1
        y[1] = n


def test_a_condition_with_an_effect_is_evaluated_before_every_round() -> None:
    h, y = run(while_with_effect, np.zeros(1, np.uint32), np.zeros(2, np.uint32))
    assert (h.tolist(), y.tolist()) == ([6], [4, 5])


@vy.kernel
def asserting(x: vy.In[vy.i32], y: vy.Out[vy.i32]):
    i = vy.gid()
    if i < len(x):
        assert x[i] >= 0, "negative input"
        y[i] = x[i]


@pytest.mark.parametrize("device", DEVICES)
def test_assert_is_a_trap_that_the_host_reports(device: str) -> None:
    with pytest.raises(TrapError) as caught:
        asserting(np.array([1, 2, -3, 4], np.int32), np.zeros(4, np.int32), device=device)
    assert caught.value.tag == "negative input"
    assert caught.value.invocation == (2, 0, 0)


@vy.kernel
def annotated(y: vy.Out[vy.u8]):
    if vy.gid() < 1:
        total: vy.u8 = 250
        for _ in range(10):
            total += 1
        y[0] = total


def test_an_annotation_gives_a_variable_its_type() -> None:
    assert run(annotated, np.zeros(1, np.uint8))[0][0] == 4


@vy.kernel
def changes_parameter(n: vy.u32, y: vy.Out[vy.u32]):
    if vy.gid() < 1:
        while n > 10:
            n -= 10
        y[0] = n


def test_a_scalar_parameter_may_be_assigned() -> None:
    assert run(changes_parameter, 57, np.zeros(1, np.uint32))[0][0] == 7


@vy.kernel
def shows(x: vy.In[vy.f32], y: vy.Out[vy.f32]):
    i = vy.gid()
    if i < len(x):
        vy.print("x is", i, x[i])
        y[i] = x[i]


@pytest.mark.parametrize("device", DEVICES)
def test_print_shows_values(device: str, capsys: pytest.CaptureFixture[str]) -> None:
    shows(np.array([1.5, 2.5], np.float32), np.zeros(2, np.float32), device=device)
    shown = capsys.readouterr().out.splitlines()
    assert sorted(shown) == ["(0, 0, 0) x is: 0, 1.5", "(1, 0, 0) x is: 1, 2.5"]


@vy.kernel
def chatters(y: vy.Out[vy.u32]):
    vy.print("i", vy.gid())
    y[vy.gid()] = 1


def test_more_prints_than_there_is_room_for_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    chatters(np.zeros(20_000, np.uint32), device="cpu")
    shown = capsys.readouterr().out.splitlines()
    assert shown[-1].startswith("(the rest of what was printed is lost")
    assert all(line.startswith("(") for line in shown)


@vy.kernel
def value_first(h: vy.InOut[vy.u32], y: vy.InOut[vy.u32]):
    if vy.gid() < 1:
        y[h.atomic_add(0, 1)] = h[0]
        y[h.atomic_add(0, 1)] += h.atomic_add(0, 10)


def test_a_value_is_computed_before_the_index_it_is_stored_to() -> None:
    h, y = run(value_first, np.zeros(1, np.uint32), np.full(2, 5, np.uint32))
    assert (h.tolist(), y.tolist()) == ([12], [0, 7])


@vy.kernel(workgroup=8)
def nested_guards(x: vy.In[vy.i32], h: vy.InOut[vy.u32], y: vy.Out[vy.i32]):
    i = vy.gid()
    if i < len(x) and x[i] > 0 and i % 2 == 0 and h.atomic_add(0, 1) < 100 and True:
        y[i] = x[i]
    if i > 0 and NEVER:
        y[i] = 100
    if i < len(x) and (x[i] < -48 or x[i] > 47):
        y[i] += 1000
    else:
        h.atomic_add(1, 1)


def test_conditions_joined_by_and_are_evaluated_one_after_the_other() -> None:
    _, h, y = run(nested_guards, X, np.zeros(2, np.uint32), np.zeros(N, np.int32), grid=13)
    taken = [v > 0 and i % 2 == 0 for i, v in enumerate(X.tolist())]
    expected = [v if t else 0 for v, t in zip(X.tolist(), taken, strict=True)]
    expected = [e + 1000 * (v < -48 or v > 47) for e, v in zip(expected, X.tolist(), strict=True)]
    assert y.tolist() == expected
    assert h.tolist() == [sum(taken), 104 - 4]
    found = nested_guards.reference(X, np.zeros(2, np.uint32), np.zeros(N, np.int32), grid=13)
    assert [finding.code for finding in found] == ["X104"]  # y is read before it is written


@vy.kernel
def backwards(n: vy.u32, y: vy.InOut[vy.i32]):
    if vy.gid() < 1:
        at = vy.u32(0)
        for i in reversed(range(n)):
            y[at] = vy.i32(i)
            at += 1
        for k in reversed(range(3)):
            y[at] = k
            at += 1
        for k in reversed(range(-4, 5, 3)):
            y[at] = k
            at += 1
        for k in reversed(range(9, 2, -3)):
            if k == 6:
                continue
            y[at] = k
            at += 1
        for i in reversed(range(vy.u8(250), vy.u8(255), vy.u8(2))):
            y[at] = vy.i32(i)
            at += 1
        for i in reversed(range(vy.i32(n), 2)):
            y[at] = i
            at += 1


@pytest.mark.parametrize("n", [0, 1, 5])
def test_a_range_may_be_gone_through_backwards(n: int) -> None:
    expected = [
        *reversed(range(n)),
        *reversed(range(3)),
        *reversed(range(-4, 5, 3)),
        *(k for k in reversed(range(9, 2, -3)) if k != 6),
        *reversed(range(250, 255, 2)),
        *reversed(range(n, 2)),
    ]
    (y,) = run(backwards, n, np.full(32, -7, np.int32))
    assert y[: len(expected)].tolist() == expected
    assert (y[len(expected) :] == -7).all()


@vy.func
def first_of(x: vy.In[vy.i32], i: vy.u32) -> vy.i32:
    if (v := x[i]) > 0:
        return v
    return -1


@vy.kernel
def named_in_conditions(x: vy.In[vy.i32], y: vy.InOut[vy.i32]):
    if vy.gid() < 1:
        i = vy.u32(0)
        while (v := x[i]) != 0 and i < len(x):
            i += 1
            if v == 5:
                continue
            y[0] += v
        y[1] = v
        if not (n := x[0]) > 3:
            y[2] = n
        elif (m := x[1]) == 7 or m == 8:
            y[2] = 100 + m
        else:
            y[2] = -m
        if min((w := x[2]), 3) == 3:
            y[3] = w
        y[4] = first_of(x, 1)
        while (v := v + 1) < 10:
            if v == 4:
                break
        y[5] = v


@pytest.mark.parametrize("x", [[1, 5, 7, 0, 3], [4, 7, 2, 0, 1], [9, -2, 3, 1, 0], [5, 8, 5, 5, 0]])
def test_conditions_may_begin_with_an_assignment(x: list[int]) -> None:
    y = [0] * 6
    i = 0
    while (v := x[i]) != 0 and i < len(x):
        i += 1
        if v == 5:
            continue
        y[0] += v
    y[1] = v
    if not (n := x[0]) > 3:
        y[2] = n
    elif (m := x[1]) == 7 or m == 8:
        y[2] = 100 + m
    else:
        y[2] = -m
    if min((w := x[2]), 3) == 3:
        y[3] = w
    y[4] = x[1] if x[1] > 0 else -1
    while (v := v + 1) < 10:
        if v == 4:
            break
    y[5] = v
    (found,) = run(named_in_conditions, np.array(x, np.int32), np.zeros(6, np.int32))[1:]
    assert found.tolist() == y
