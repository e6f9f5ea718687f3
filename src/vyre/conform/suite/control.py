"""Branches, loops, ways out of them, scopes, and the order in which operands are evaluated."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from vyre.conform.suite.case import Trial
from vyre.conform.suite.texts import written
from vyre.ir.types import INTEGER_TYPES
from vyre.semantics import storage_dtype

_AREA = "control flow"
_HEAD = """
program workgroup(64, 1, 1)

buffer v: read_only u32[256] @0
buffer out: read_write u32[256] @1 output live_out

region "trial" {{
    let i = gid.x
    let x = v[i]
    let r = 0
    {body}
    out[i] = r
}}
"""

_BODIES: dict[str, tuple[str, Callable[[int], int]]] = {
    "if": ("if x % 3 == 0 { r = x + 1 }", lambda x: x + 1 if x % 3 == 0 else 0),
    "if, else": (
        "if x < 100 { r = x * 2 } else { r = x - 100 }",
        lambda x: x * 2 if x < 100 else x - 100,
    ),
    "else if": (
        "if x % 4 == 0 { r = 1 } else if x % 4 == 1 { r = 2 } else if x % 4 == 2 { r = 3 } "
        "else { r = 4 }",
        lambda x: x % 4 + 1,
    ),
    "nested ifs": (
        "if (x & 1) == 1 { if (x & 2) == 2 { r = 3 } else { r = 1 } } "
        "else { if (x & 2) == 2 { r = 2 } }",
        lambda x: x & 3,
    ),
    "loop": ("for k in 0..x { r = r + k }", lambda x: x * (x - 1) // 2),
    "loop of no rounds": ("for k in x..x / 2 { r = r + 1 }", lambda x: 0),
    "loop from a value": ("for k in x..x + 5 { r = r * 3 + k }", lambda x: _fold(range(x, x + 5))),
    "nested loops": (
        "for j in 0..x % 8 { for k in j..8 { r = r + j * k } }",
        lambda x: sum(j * k for j in range(x % 8) for k in range(j, 8)),
    ),
    "while": (
        "let n = x + 1 "
        "while n != 1 { if n % 2 == 0 { n = n / 2 } else { n = 3 * n + 1 } r = r + 1 }",
        lambda x: _collatz(x + 1),
    ),
    "while that never starts": ("while x != x { r = 1 }", lambda x: 0),
    "break": (
        "for k in 0..1000 { if k * k > x { break } r = r + 1 }",
        lambda x: sum(1 for k in range(1000) if k * k <= x),
    ),
    "break of the inner loop": (
        "for j in 0..4 { for k in 0..9 { if k > j + x % 3 { break } r = r + 1 } r = r + 100 }",
        lambda x: sum(min(j + x % 3 + 1, 9) + 100 for j in range(4)),
    ),
    "continue": (
        "for k in 0..x { if k % 3 == 1 { continue } r = r + k }",
        lambda x: sum(k for k in range(x) if k % 3 != 1),
    ),
    "continue in a while": (
        "let k = 0 while k < x { k = k + 1 if k % 2 == 0 { continue } r = r + k }",
        lambda x: sum(k for k in range(1, x + 1) if k % 2),
    ),
    "break and continue": (
        "for k in 0..99 { if k == x % 50 { break } if k % 2 == 0 { continue } r = r + k }",
        lambda x: sum(k for k in range(x % 50) if k % 2),
    ),
    "return": (
        "if x % 2 == 0 { out[i] = 7 return } r = 9",
        lambda x: 7 if x % 2 == 0 else 9,
    ),
    "return in a loop": (
        "for k in 0..20 { if k == x { out[i] = k + 50 return } } r = 1",
        lambda x: x + 50 if x < 20 else 1,
    ),
    "return in nested loops": (
        "for j in 0..6 { for k in 0..6 { if j * k == x { out[i] = j * 10 + k return } } } r = 999",
        lambda x: next((j * 10 + k for j in range(6) for k in range(6) if j * k == x), 999),
    ),
    "variables of inner scopes": (
        "{ let t = x r = r + t } { let t = x * 2 r = r + t } for k in 0..3 { let t = k r = r + t }",
        lambda x: 3 * x + 3,
    ),
    "a variable changed in one branch": (
        "let t = x if x > 9 { t = t / 2 } r = t + x",
        lambda x: (x // 2 if x > 9 else x) + x,
    ),
    "the bounds of a loop are evaluated once": (
        "let n = x % 9 for k in 0..n { n = n + 1 r = r + 1 }",
        lambda x: x % 9,
    ),
    "a region changes nothing": (
        'let t = x region "inner" { t = t + 1 region "deeper" { t = t * 2 } } r = t',
        lambda x: (x + 1) * 2,
    ),
    "select evaluates both": (
        "r = select(x > 5, x - 5, 5 - x)",
        lambda x: abs(x - 5),
    ),
    "and, or evaluate both": (
        "r = u32((x > 5) & (x < 50)) + u32((x == 1) | (x == 200)) * 2",
        lambda x: int(5 < x < 50) + 2 * int(x in (1, 200)),
    ),
}  # fmt: skip


def trials() -> Iterator[Trial]:
    """The whole area."""
    values = np.arange(256, dtype=np.uint32)
    for name, (body, define) in _BODIES.items():
        text = _HEAD.format(body=body)
        expected = np.array([define(int(x)) for x in values], np.uint32)
        yield written(_AREA, name, text, {"v": values}, (4, 1, 1), {"out": expected}, each="out")
    yield from _loops_of_every_type()
    yield _order_of_evaluation()
    yield _long_loop()


def _fold(rounds: range) -> int:
    r = 0
    for k in rounds:
        r = r * 3 + k
    return r


def _collatz(n: int) -> int:
    rounds = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        rounds += 1
    return rounds


def _loops_of_every_type() -> Iterator[Trial]:
    """Bounds of every integer type, negative ones and those at the type's end among them."""
    for dtype in INTEGER_TYPES:
        low, high = dtype.integer_range
        starts = [0, 1, high - 3, high, max(low, -3), low, low + 1, high - 1]
        stops = [0, 4, high, high, 3, low + 2, low, high]
        stored = storage_dtype(dtype)
        inputs = {"a": np.array(starts, stored), "b": np.array(stops, stored)}
        text = f"""
        program workgroup(8, 1, 1)

        buffer a: read_only {dtype}[8] @0
        buffer b: read_only {dtype}[8] @1
        buffer out: read_write {dtype}[8] @2 output live_out

        region "loops" {{
            let i = gid.x
            let r = {dtype}(1u32)
            for k in a[i]..b[i] {{
                r = r * {dtype}(3u32) + k
            }}
            out[i] = r
        }}
        """
        yield written(_AREA, f"loops of {dtype}", text, inputs, each="out")


def _order_of_evaluation() -> Trial:
    """Operands are evaluated from left to right, as atomics show."""
    text = """
    program workgroup(1, 1, 1)

    buffer count: read_write u32[2] @0 output live_out
    buffer out: read_write u32[6] @1 output live_out

    region "order" {
        out[0] = atomic_add(count[0], 1) * 10 + atomic_add(count[0], 1)
        out[1] = select(
            atomic_add(count[0], 1) == 2, atomic_add(count[0], 1), atomic_add(count[0], 1))
        out[2] = u32((atomic_add(count[1], 1) == 9) & (atomic_add(count[1], 1) == 1))
        out[3] = count[0] * 10 + count[1]
        out[4] = u32(false & (atomic_add(count[1], 1) == 0))
        out[5] = u32(true | (atomic_add(count[1], 1) == 0)) * count[1]
    }
    """
    expected = {
        "out": np.array([1, 3, 0, 52, 0, 4], np.uint32),
        "count": np.array([5, 4], np.uint32),
    }
    return written(_AREA, "order of evaluation", text, {}, (1, 1, 1), expected, each="out")


def _long_loop() -> Trial:
    """More rounds than 16 bits count."""
    text = """
    program workgroup(4, 1, 1)

    buffer out: read_write u32[4] @0 output live_out

    region "long" {
        let r = 0
        for k in 0..100000 {
            r = r * 31 + k
        }
        out[gid.x] = r + gid.x
    }
    """
    r = 0
    for k in range(100_000):
        r = (r * 31 + k) & 0xFFFF_FFFF
    return written(
        _AREA, "a long loop", text, {}, (1, 1, 1),
        {"out": (np.uint32(r) + np.arange(4, dtype=np.uint32)).astype(np.uint32)},
    )  # fmt: skip
