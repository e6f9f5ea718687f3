"""Kernels that random ones showed to be translated wrongly, or refused, once; now as in Python."""

from __future__ import annotations

import pytest

from tests.unit.front.as_python import in_python, on_device, source_of

BEFORE = """
LOW = 3

@vy.func
def chosen_pair(c):
    return (1, 2) if c else (31, 32)

@vy.func
def as_float(t):
    return vy.f32(t[0] % 5) + vy.f32(t[1] & 6)
"""

BODIES = {
    "literals that are chosen stay whole until they are converted": """
        a = x[i]
        g[i] = vy.f32((7 if a > 2 else 9) // 2) + vy.f32((1 if a > 2 else 31) % 5)
        g[i + 8] = vy.f32((16777217 if a > 2 else 3) + 1)
        """,
    "so they do in tuples that functions give and take": """
        g[i] = as_float(chosen_pair(x[i] > 2))
        """,
    "a name whose first value a condition that is known now leaves out": """
        if LOW > 5 and n > 2:
            a = 1
        if x[i] > 2:
            if x[i] > 3:
                a = 2
            else:
                a = 3
            y[i] = a
        """,
    "a name that one round of a written-out loop leaves out": """
        for v in (1, 2, 1):
            if v == 2:
                a = x[i]
            if x[i] > v:
                if n > 2:
                    a = 5
                else:
                    a = 6
                y[i] = y[i] * 10 + a
        """,
    "a value of one round that is kept in the next ones": """
        for v in (1, 2, 3):
            if v == 1:
                y[i] += 1
            else:
                a = x[i] * v
            if v > 1 and x[i] > 3:
                a = 5
            if v > 1:
                y[i] = y[i] * 10 + a
        """,
}


@pytest.mark.parametrize("title", BODIES)
def test_python_says_the_same(title: str) -> None:
    source = source_of(BODIES[title], BEFORE)
    assert on_device(source, "reference") == in_python(source)
