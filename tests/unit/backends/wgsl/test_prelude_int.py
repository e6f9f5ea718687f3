"""The integer functions of the prelude against Python's integers, on both drivers and for Tint."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.unit.backends.wgsl import raw, tint
from tests.unit.backends.wgsl.drivers import DRIVERS, Driver, worker
from vyre.backends.wgsl.prelude import library

M64, M32 = (1 << 64) - 1, (1 << 32) - 1


def signed(x: int, bits: int) -> int:
    return x - (1 << bits) if x >> (bits - 1) else x


def s64(x: int) -> int:
    return signed(x, 64)


def s32(x: int) -> int:
    return signed(x, 32)


def quotient(a: int, b: int) -> int:
    return -1 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def remainder(a: int, b: int) -> int:
    return 0 if b == 0 else a - quotient(a, b) * b


def held(x: int, bits: int, is_signed: bool) -> int:
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if is_signed else (0, (1 << bits) - 1)
    return max(low, min(high, x))


def rotl(x: int, n: int, bits: int) -> int:
    n %= bits
    return x << n | x >> (bits - n)


def clz(x: int, bits: int) -> int:
    return bits - x.bit_length()


def ctz(x: int, bits: int) -> int:
    return (x & -x).bit_length() - 1 if x else bits


def reverse(x: int, bits: int) -> int:
    return int(f"{x:0{bits}b}"[::-1], 2)


def swap(x: int, size: int) -> int:
    return int.from_bytes(x.to_bytes(size, "little"), "big")


def from_float(x: float, bits: int, is_signed: bool) -> int:
    if x != x:
        return 0
    if x in (float("inf"), float("-inf")):
        return held(int(np.sign(x)) << 80, bits, is_signed)
    return held(int(x), bits, is_signed)


# Name, signature, and what it means on unsigned Python integers (or floats).
FUNCTIONS: dict[str, tuple[str, Callable[..., Any]]] = {
    "u64_add": ("vv>v", lambda a, b: a + b),
    "u64_sub": ("vv>v", lambda a, b: a - b),
    "u64_neg": ("v>v", lambda a: -a),
    "u32_mul_wide": ("uu>v", lambda a, b: a * b),
    "u32_mulhi": ("uu>u", lambda a, b: a * b >> 32),
    "i32_mulhi": ("ii>i", lambda a, b: s32(a) * s32(b) >> 32),
    "u64_mul": ("vv>v", lambda a, b: a * b),
    "u64_mul_short": ("vu>v", lambda a, b: a * b),
    "u64_mulhi": ("vv>v", lambda a, b: a * b >> 64),
    "i64_mulhi": ("vv>v", lambda a, b: s64(a) * s64(b) >> 64),
    "u64_shl": ("vu>v", lambda a, n: a << n % 64),
    "u64_shr": ("vu>v", lambda a, n: a >> n % 64),
    "i64_shr": ("vu>v", lambda a, n: s64(a) >> n % 64),
    "u64_shl_short": ("vu>v", lambda a, n: a << n),
    "u64_shr_short": ("vu>v", lambda a, n: a >> n),
    "i64_shr_short": ("vu>v", lambda a, n: s64(a) >> n),
    "u64_rotl": ("vu>v", lambda a, n: rotl(a, n, 64)),
    "u64_rotr": ("vu>v", lambda a, n: rotl(a, -n, 64)),
    "u64_lt": ("vv>b", lambda a, b: a < b),
    "i64_lt": ("vv>b", lambda a, b: s64(a) < s64(b)),
    "u64_min": ("vv>v", min),
    "u64_max": ("vv>v", max),
    "i64_min": ("vv>v", lambda a, b: min(s64(a), s64(b))),
    "i64_max": ("vv>v", lambda a, b: max(s64(a), s64(b))),
    "i64_abs": ("v>v", lambda a: abs(s64(a))),
    "u64_clz": ("v>u", lambda a: clz(a, 64)),
    "u64_ctz": ("v>u", lambda a: ctz(a, 64)),
    "u64_popcount": ("v>u", int.bit_count),
    "u64_reverse_bits": ("v>v", lambda a: reverse(a, 64)),
    "u64_byte_swap": ("v>v", lambda a: swap(a, 8)),
    "u64_div": ("vv>v", quotient),
    "u64_rem": ("vv>v", remainder),
    "i64_div": ("vv>v", lambda a, b: quotient(s64(a), s64(b))),
    "i64_rem": ("vv>v", lambda a, b: remainder(s64(a), s64(b))),
    "u64_add_sat": ("vv>v", lambda a, b: held(a + b, 64, False)),
    "u64_sub_sat": ("vv>v", lambda a, b: held(a - b, 64, False)),
    "i64_add_sat": ("vv>v", lambda a, b: held(s64(a) + s64(b), 64, True)),
    "i64_sub_sat": ("vv>v", lambda a, b: held(s64(a) - s64(b), 64, True)),
    "f32_from_u64": ("v>f", lambda a: np.uint64(a).astype(np.float32)),
    "f32_from_i64": ("v>f", lambda a: np.int64(s64(a)).astype(np.float32)),
    "u64_from_f32": ("f>v", lambda x: from_float(x, 64, False)),
    "i64_from_f32": ("f>v", lambda x: from_float(x, 64, True)),
    "u32_div": ("uu>u", quotient),
    "i32_div": ("ii>i", lambda a, b: quotient(s32(a), s32(b))),
    "u32_rotl": ("uu>u", lambda a, n: rotl(a, n, 32)),
    "u32_rotr": ("uu>u", lambda a, n: rotl(a, -n, 32)),
    "u32_byte_swap": ("u>u", lambda a: swap(a, 4)),
    "u32_add_sat": ("uu>u", lambda a, b: held(a + b, 32, False)),
    "u32_sub_sat": ("uu>u", lambda a, b: held(a - b, 32, False)),
    "i32_add_sat": ("ii>i", lambda a, b: held(s32(a) + s32(b), 32, True)),
    "i32_sub_sat": ("ii>i", lambda a, b: held(s32(a) - s32(b), 32, True)),
    "u32_from_f32": ("f>u", lambda x: from_float(x, 32, False)),
    "i32_from_f32": ("f>i", lambda x: from_float(x, 32, True)),
}

EDGES = {
    "u": [
        0,
        1,
        2,
        3,
        31,
        32,
        33,
        63,
        64,
        65,
        0xFFFF,
        0x10000,
        0x7FFFFFFF,
        0x80000000,
        M32 - 1,
        M32,
    ],
    "v": [0, 1, 2, 3, 31, 32, 33, 0xFFFF, 0x10000, 0xFFFFFF, 0x1000001, 0x7FFFFFFF, 0x80000000]
    + [
        M32,
        1 << 32,
        M32 << 32,
        0xFFFF_FFFF_0000,
        (1 << 63) - 1,
        1 << 63,
        (1 << 63) + 1,
        M64 - 1,
        M64,
    ]
    + [0x8000_0080_0000_0000, 0x8000_0180_0000_0000, 0x8000_0080_0000_0001, 0xFFFF_FF80_0000_0000],
}
EDGES["i"] = EDGES["u"]
FLOATS = np.array(
    [0.0, -0.0, 0.5, -0.5, 0.99999994, 1.0, -1.0, 1.5, -1.5, 16777215.0, 2.0**31, -(2.0**31)]
    + [2147483520.0, -2147483648.0, -2147483904.0, 4294967040.0, 2.0**32, 2.0**63, -(2.0**63)]
    + [9.223371e18, -9.223371e18, 1.8446743e19, 2.0**64, -(2.0**64), 3.4e38, -3.4e38, 1e-40]
    + [float("inf"), float("-inf"), float("nan")],
    np.float32,
)


SECOND = {"u64_mul_short": (0, 1 << 16), **dict.fromkeys(
    ["u64_shl_short", "u64_shr_short", "i64_shr_short"], (1, 32)
)}  # fmt: skip
"""Functions that are called with some second operands only."""


def operands(signature: str) -> list[NDArray[Any]]:
    """All pairs of edge values, then random values of every magnitude."""
    rng = np.random.default_rng(7)
    takes = signature.partition(">")[0]
    if takes == "f":
        bits = rng.integers(0, 1 << 32, 3000, np.uint32)
        return [np.concatenate([FLOATS, bits.view(np.float32)])]
    columns = [np.array(EDGES[t], np.uint64) for t in takes]
    pairs = np.meshgrid(*columns, indexing="ij")
    made: list[NDArray[Any]] = []
    for t, edge in zip(takes, pairs, strict=True):
        width = 64 if t == "v" else 32
        rest = rng.integers(0, 1 << 64, 3000, np.uint64) >> rng.integers(
            64 - width, 64, 3000, np.uint64
        )
        made.append(
            np.concatenate([edge.ravel(), rest]).astype(np.uint64 if t == "v" else np.uint32)
        )
    return made


def test_every_integer_function_is_tested_or_used_by_one() -> None:
    names = {name for name in library() if name.startswith(("u64", "i64", "u32", "i32"))}
    inner = {"u64_div_normalised", "u64_quotient", "i64_limit", "i32_limit", "u64_index"}
    inner |= {"i32_from_i4", "i64_from_i32"}
    assert names - inner <= set(FUNCTIONS), names - inner - set(FUNCTIONS)


@pytest.mark.parametrize("name", library())
def test_functions_have_one_exit(name: str) -> None:
    """SwiftShader takes exponential time for calls of others inside of nested loops."""
    assert library()[name].text.count("return ") == (0 if name == "PI" else 1)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_tint_accepts(name: str) -> None:
    assert tint.problems(raw.shader(name, FUNCTIONS[name][0], 8)) is None


@pytest.mark.device
@pytest.mark.parametrize("driver", DRIVERS, ids=lambda driver: driver.name)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_computes_what_python_does(driver: Driver, name: str) -> None:
    signature, meaning = FUNCTIONS[name]
    inputs = operands(signature)
    if name in SECOND:
        low, high = SECOND[name]
        inputs[1] = (low + inputs[1] % (high - low)).astype(np.uint32)
    got = worker(driver).call(raw.map_function, name, signature, *inputs)
    gives = signature.partition(">")[2]
    columns = [a.tolist() for a in inputs]
    results = [meaning(*row) for row in zip(*columns, strict=True)]
    if gives == "f":
        want = np.array(results, np.float32)
    else:
        mask = M64 if gives == "v" else M32
        want = np.array([int(r) & mask for r in results], np.uint64)
        got = got.astype(np.uint64) & np.uint64(mask)
    wrong = np.nonzero(got != want)[0]
    shown = [
        ([hex(c[i]) if gives != "f" else c[i] for c in columns], got[i], want[i]) for i in wrong[:4]
    ]
    assert not len(wrong), f"{len(wrong)} of {len(got)} differ: {shown}"
