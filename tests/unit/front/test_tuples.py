"""Tuples are values: what they hold is what their members were where they were bound."""

from __future__ import annotations

import pytest

from tests.unit.front.as_python import in_python, on_device, source_of

BEFORE = """
TABLE = (2, 3, 5, 7)
PAIRS = ((1, 2), (3, 4))

@vy.func
def add_one(v):
    return v + 1

@vy.func
def double(v):
    return v * 2

@vy.func
def turned(a, b):
    return (b, a)

@vy.func
def then_changed(a, r, i):
    t = (a, r[i])
    a += 5
    r[i] = 77
    return t

@vy.func
def from_two_returns(a):
    if a > 2:
        return (a, 1)
    return (0, a)

@vy.func
def nested(a):
    if a > 2:
        return ((a, 1), 2)
    return ((0, a), a)

@vy.func
def rebinds(t, a):
    a += t[0]
    t = (a, t[1])
    return t[0] * 10 + t[1]

@vy.func
def rebinds_sometimes(t):
    if t[0] > 2:
        t = (t[1], 7)
    return t

@vy.func
def step(t):
    return (t[1], t[0] + t[1])

@vy.func
def same(t):
    return t

@vy.func
def in_a_loop(t, n):
    for k in range(n):
        t = (t[1] + k, t[0])
    return t

@vy.func
def with_defaults(a, t=(3, 5), *, then=double):
    return then(a * t[0] + t[1])

@vy.func
def bump(r, i, v):
    r[i] = r[i] + v
    return r[i]
"""

BODIES = {
    "bound again in an if in a loop": """
        best = (x[0], 0)
        for k in range(8):
            if x[k] > best[0]:
                best = (x[k], k)
        y[i] = best[0] * 100 + best[1]
        """,
    "changes after the binding": """
        a = x[i]
        t = (a, r[i])
        a += 100
        r[i] = 5
        y[i] = t[0] * 1000 + t[1]
        """,
    "a loop over variables that it changes": """
        a, b, s = x[i], 2, 0
        for v in (a, b, a):
            a += 10
            s = s * 100 + v
        y[i] = s
        """,
    "a loop over elements that it changes": """
        s = 0
        for v in (r[i], r[i], 3):
            r[i] += 10
            s = s * 100 + v
        y[i] = s
        """,
    "a while that asks a tuple": """
        t, s = (n, 0), 0
        while t[0] > 0:
            s += t[0]
            t = (t[0] - 1, s)
        y[i] = s * 10 + t[1]
        """,
    "a while with a junction": """
        t = (3, x[i])
        c = 0
        while t[0] > 0 and c < 10:
            t = (t[0] - 1, t[1] + 2)
            c += 1
        y[i] = t[1] * 10 + c
        """,
    "a function in each branch": """
        if x[i] > 2:
            f2 = double
            y[i] = f2(x[i])
        else:
            f2 = add_one
            y[i] = f2(x[i])
        """,
    "a function one after the other": """
        f2 = add_one
        s = f2(x[i])
        f2 = double
        y[i] = s * 100 + f2(x[i])
        """,
    "a second name of an array, one after the other": """
        t = x
        s = t[1]
        t = r
        y[i] = s * 100 + t[i]
        """,
    "functions in a loop": """
        s = x[i]
        for h in (add_one, double):
            s = h(s)
        y[i] = s
        """,
    "an argument that the function binds again": """
        a = x[i]
        y[i] = rebinds((a, r[i]), a) + rebinds((1, 2), 3)
        """,
    "the caller keeps its tuple": """
        t = (x[i], 1)
        s = rebinds(t, 2)
        u = rebinds_sometimes(t)
        y[i] = s * 100 + t[0] + u[0] * 10000 + u[1] * 1000
        """,
    "defaults": """
        y[i] = with_defaults(x[i]) + with_defaults(x[i], (1, 1)) + with_defaults(1, then=add_one)
        """,
    "divmod": """
        a, b = divmod(x[i], 3)
        t = divmod(r[i], -4)
        y[i] = a * 1000 + b * 100 + t[0] * 10 + t[1] + divmod(17, 5)[1]
        """,
    "a loop in a function": """
        t = in_a_loop((x[i], 3), n)
        y[i] = t[0] * 100 + t[1]
        """,
    "a result and later stores": """
        t = then_changed(x[i], r, i)
        r[i] = 78
        y[i] = t[0] * 100 + t[1]
        """,
    "elements that were arguments": """
        t = turned(r[i], r[i] + 1)
        r[i] = 1
        y[i] = t[0] * 100 + t[1]
        """,
    "results of a function in a loop": """
        t = (0, 1)
        for k in range(n):
            t = step(t)
        y[i] = t[0]
        """,
    "what a function hands on": """
        t = (x[i], 1)
        u = same(t)
        t = (5, 6)
        y[i] = u[0] * 10 + t[0]
        """,
    "two returns": """
        t = from_two_returns(x[i])
        y[i] = t[0] * 100 + t[1]
        """,
    "two returns of nested tuples": """
        t = nested(x[i])
        (a, b), c = nested(x[i] + 1)
        y[i] = t[0][0] * 100 + t[0][1] * 10 + t[1] + a * 7 + b * 11 + c * 13
        """,
    "swapping": """
        a, b = x[i], n
        a, b = b, a
        a, b = b, a + b
        y[i] = a * 100 + b
        """,
    "swapping inside": """
        a, b, c = x[i], 7, 11
        a, (b, c) = c, (a, b)
        y[i] = a * 10000 + b * 100 + c
        """,
    "swapping elements": """
        r[i], y[i] = y[i] + 5, r[i]
        """,
    "members that read each other": """
        t = (x[i], 2, 3)
        for k in range(3):
            t = (t[2], t[0] + t[1], t[1])
        y[i] = t[0] * 10000 + t[1] * 100 + t[2]
        """,
    "names and a tuple at once": """
        a, b = x[i], 3
        a, b = t = (b, a)
        y[i] = a * 1000 + b * 100 + t[0] * 10 + t[1]
        """,
    "two names at once": """
        a = b = (x[i], 2)
        if n > 3:
            a = (5, 6)
        y[i] = a[0] * 1000 + b[0]
        """,
    "chosen tuples": """
        t = (x[i], 2) if x[i] > 2 else (3, x[i])
        u = (1, (2, 7)) if x[i] > 2 else (3, (4, 7))
        z = vy.local(vy.i32, u[1][1])
        y[i] = t[0] * 10 + t[1] + u[0] * 1000 + u[1][0] * 100 + z[6]
        """,
    "chosen results": """
        t = from_two_returns(x[i]) if n > 2 else turned(1, 2)
        y[i] = t[0] * 100 + t[1]
        """,
    "chosen between tables": """
        t = PAIRS[0] if x[i] > 2 else PAIRS[1]
        y[i] = t[0] * 10 + t[1]
        """,
    "compared": """
        t = (x[i], 2)
        if t == (3, 2) or t != (x[i], n - 3):
            y[i] = 1
        if (3, 2) < t <= (9, 2):
            y[i] += 2
        if (x[i], r[i]) > (4, 4) or (1, 2) < (x[i], 1, 0) or x.shape == y.shape:
            y[i] += 4
        if (x[i], 2) in ((3, 2), (9, n - 3)):
            y[i] += 8
        """,
    "in": """
        a = x[i]
        if a in (3, a + 1, 9):
            y[i] = 1
        """,
    "zip": """
        a, b, s = x[i], 3, 0
        for u, v in zip((a, b), (b, a)):
            a += 1
            b += 2
            s = s * 100 + u * 10 + v
        y[i] = s
        """,
    "enumerate and reversed": """
        a, s = x[i], 0
        for u, v in enumerate((a, a + 1, a)):
            a += 1
            s = s * 100 + u * 10 + v
        for v in reversed((a, s, 3)):
            a += 1
            s += v
        y[i] = s * 10 + a
        """,
    "tuples in a tuple that a loop goes over": """
        a, s = x[i], 0
        for u, v in ((a, 1), (2, a)):
            a += 1
            s = s * 100 + u * 10 + v
        y[i] = s
        """,
    "bound again in a loop over it": """
        t, s = (x[i], 1), 0
        for v in t:
            t = (9, 9)
            s = s * 100 + v
        y[i] = s + t[0] * 10000
        """,
    "bound in both branches": """
        if x[i] > 2:
            t = (1, x[i])
        else:
            t = (x[i], 2)
        y[i] = t[0] * 10 + t[1]
        """,
    "literals in both branches": """
        if x[i] > 2:
            t = (1, (2, 0.5))
        else:
            t = (3, (4, 2))
        y[i] = t[0] * 10 + t[1][0]
        g[i] = t[1][1]
        """,
    "bound once in a loop that ends with break": """
        while True:
            t = (x[i], 4)
            break
        z = vy.local(vy.i32, 4)
        z[0] = t[1]
        y[i] = t[0] + z[0]
        """,
    "literals take the type of what they meet": """
        best = (0, 0)
        for k in range(8):
            if f[k] > best[0]:
                best = (f[k], k)
        g[i] = best[0]
        y[i] = best[1]
        """,
    "truth values": """
        t = (False, x[i] > 2)
        for k in range(3):
            t = (t[1], not t[0])
        if t[0] and not t[1]:
            y[i] = 1
        """,
    "constants of a written-out loop": """
        t = (7, 7)
        for k in (1, 2, 3):
            if x[k] > 1:
                t = (k, 5)
        y[i] = t[0] * 10 + t[1]
        """,
    "bound in every round of a written-out loop": """
        for k in (1, 2, 3):
            if x[k] > 1:
                t = (k, 5)
            else:
                t = (0, 0)
            y[i] += t[0] * 10 + t[1]
        """,
    "a written-out loop that is left": """
        t = (x[i], 0)
        for k in (1, 2, 3, 4):
            if t[0] > 4:
                break
            if k == 2:
                continue
            t = (t[0] + k, k)
        y[i] = t[0] * 10 + t[1]
        """,
    "continue": """
        t = (0, 0)
        for k in range(6):
            if k == 3:
                continue
            t = (t[0] + k, k)
        y[i] = t[0] * 10 + t[1]
        """,
    "constants of a tuple that is bound once": """
        t = (4, 8, (2, 3))
        z = vy.local(vy.i32, t[0])
        z[t[2][1]] = x[i]
        s = 0
        for v in t[2]:
            s = s * 10 + v + z[v]
        y[i] = s + t[-2] + vy.i32(x.shape[t[0] - 4])
        """,
    "a condition that is known now": """
        t = (4, 8)
        if TABLE[0] == 2:
            t = (2, 3)
            h = double
        else:
            h = add_one
        z = vy.local(vy.i32, t[0])
        z[1] = x[i]
        y[i] = h(z[1])
        """,
    "bound one after the other": """
        t = (x[i], 2)
        u = t
        t = (t[1], t[0])
        y[i] = u[0] * 10 + t[0]
        t = (8, 0.5)
        g[i] = t[1]
        y[i] += t[0] * 1000
        """,
    "unpacked": """
        t = (x[i], 2)
        a, b = t
        t = (b, a)
        a += 1
        y[i] = t[0] * 100 + t[1] * 10 + a
        """,
    "arrays in a tuple": """
        t = (x, 1)
        if x[i] > 2:
            t = (x, 2)
        y[i] = t[0][0] + t[1]
        """,
    "an index of the kernel": """
        a = x[0]
        t = (a, a + 1, 7)
        a += 5
        y[i] = t[i % 3] * 10 + (x[i], 4)[i % 2]
        """,
    "an index that stores": """
        y[i] = (r[i], 1)[bump(r, i, 1) - r[i]]
        """,
    "a chain ends early": """
        if x[i] > 2 > bump(r, i, 1):
            y[i] = 1
        if x[i] < 4 < bump(r, i, 1) < bump(r, i, 10):
            y[i] = 2
        y[i + 8] = r[i]
        """,
    "shapes": """
        s = x.shape
        if x[i] > 2:
            s = y.shape
        y[i] = vy.i32(s[0]) * 10 + len(s)
        """,
    "the start and the step of a range": """
        a, d, s = 1, 2, 0
        for k in range(a, 9, d):
            a += 1
            d += 1
            s = s * 10 + k
        for k in reversed(range(a, 9)):
            a += 1
            s += k * a
        y[i] = s
        """,
    "a variable whose name a loop uses": """
        q = x[i]
        if q > 2:
            for q in range(3):
                y[i + 8] = q
            q = 7
        else:
            q = 8
        y[i] = q
        for k in range(2):
            q = k
            y[i] += q
            for q in range(2):
                y[i] += q * 100
            q = 5
        y[i] += q * 1000
        """,
    "a loop that gives a name its first value": """
        for q in (1, 2):
            y[i] += q
        q = 7
        y[i] += q
        """,
    "a chosen shape, and shapes in tuples": """
        (m,) = x.shape if x[i] > 2 else y.shape
        t = (x.shape, 2)
        if x[i] > 3:
            t = ((3,), 4)
        y[i] = vy.i32(m) * 100 + vy.i32(t[0][0]) * 10 + t[1]
        """,
    "bytes equal bytes only": """
        word = b"ab" if x[i] > 2 else b"ac"
        y[i] = 1 if word == b"ab" else 2
        y[i] += 10 if b"ab" == (97, 98) else 20
        y[i] += 100 if (97,) in (b"a", b"b") else 200
        y[i] += 1000 if b"ab" != (97, 98) else 2000
        """,
    "members that take one type where one of them is chosen": """
        k, s = 3, 0
        for j in range(2):
            s += (k, x[i], len(x), j)[x[i] % 4]
        y[i] = s
        """,
    "never assigned before": """
        if TABLE[0] == 3:
            a = 1
        a = 2
        y[i] = a
        """,
}


@pytest.mark.parametrize("title", BODIES)
def test_python_says_the_same(title: str) -> None:
    source = source_of(BODIES[title], BEFORE)
    assert on_device(source, "reference") == in_python(source)


@pytest.mark.parametrize("title", list(BODIES)[:6])
def test_so_it_is_when_compiled(title: str) -> None:
    source = source_of(BODIES[title], BEFORE)
    assert on_device(source, "cpu") == in_python(source)
