"""The float functions of the prelude against the host's libm and float64, on both drivers."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.unit.backends.wgsl import raw, tint
from tests.unit.backends.wgsl.drivers import DRIVERS, Driver, worker

TINY = 2.0**-126
F32 = NDArray[np.float32]

EDGES = np.array(
    [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.49999997, 8388609.0, 3.4e38, -3.4e38]
    + [1e-30, -1e-30, 3.1415927, 1.5707964, 88.7, 88.8, -87.0, -103.0, 65504.0, 65519.996, 65520.0]
    + [6.1e-05, 5.96e-08, 2.98e-08, 2.9802326e-08, 1.1754944e-38, -1.1754944e-38]
    + [float("inf"), float("-inf"), float("nan")],
    np.float32,
)


def numbers(seed: int, count: int = 4000) -> F32:
    """Edge values, random bits, and numbers of moderate size."""
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 1 << 32, count, np.uint32).view(np.float32)
    moderate = rng.standard_normal(count) * np.exp2(rng.uniform(-12, 7, count))
    near_one = 1 + rng.standard_normal(count) * np.exp2(rng.uniform(-24, -1, count))
    return np.concatenate([EDGES, bits, moderate.astype(np.float32), near_one.astype(np.float32)])


def pairs(seed: int) -> tuple[F32, F32]:
    a, b = numbers(seed), numbers(seed + 1)
    np.random.default_rng(seed).shuffle(b)
    grid = np.meshgrid(EDGES, EDGES)
    return np.concatenate([a, grid[0].ravel()]), np.concatenate([b, grid[1].ravel()])


def same(got: F32, want: F32) -> NDArray[np.bool_]:
    return (got.view(np.uint32) == want.view(np.uint32)) | (np.isnan(got) & np.isnan(want))


def host_fma(a: F32, b: F32, c: F32) -> F32:
    fmaf = ctypes.CDLL("libm.so.6").fmaf
    fmaf.restype, fmaf.argtypes = ctypes.c_float, [ctypes.c_float] * 3
    return np.array([fmaf(*row) for row in zip(a, b, c, strict=True)], np.float32)


def run(driver: Driver, name: str, signature: str, *inputs: NDArray[Any]) -> Any:
    assert tint.problems(raw.shader(name, signature, 8)) is None
    return worker(driver).call(raw.map_function, name, signature, *inputs)


drivers = pytest.mark.parametrize("driver", DRIVERS, ids=lambda driver: driver.name)


@pytest.mark.device
@drivers
def test_fma_rounds_once(driver: Driver) -> None:
    a, b = pairs(1)
    rng = np.random.default_rng(2)
    near = rng.integers(-3, 4, len(a)).astype(np.int32)
    with np.errstate(all="ignore"):
        c = -(a.astype(np.float64) * b).astype(np.float32)
        c = np.where(rng.random(len(a)) < 0.5, (c.view(np.int32) + near).view(np.float32), b)
    want = host_fma(a, b, c)
    got = run(driver, "f32_fma", "fff>f", a, b, c)
    wrong = np.nonzero(~same(got, want))[0]
    assert not len(wrong), [(a[i], b[i], c[i], got[i], want[i]) for i in wrong[:5]]


EXACT: dict[str, tuple[str, Callable[..., F32]]] = {
    "f32_div": ("ff>f", np.divide),
    "f32_sqrt": ("f>f", np.sqrt),
    "f32_round": ("f>f", lambda x: np.copysign(np.floor(np.abs(x.astype(np.float64)) + 0.5), x)),
    "f32_copysign": ("ff>f", np.copysign),
    "f16_round": ("f>f", lambda x: x.astype(np.float16).astype(np.float32)),
    "f32_min": ("ff>f", np.fmin),
    "f32_max": ("ff>f", np.fmax),
}


@pytest.mark.device
@drivers
@pytest.mark.parametrize("name", EXACT)
def test_exact(driver: Driver, name: str) -> None:
    signature, meaning = EXACT[name]
    inputs = pairs(3) if signature.startswith("ff") else (numbers(3),)
    # A driver may flush subnormal operands and results, and either zero is a fine minimum.
    normal = np.logical_and.reduce([(np.abs(x) >= TINY) | (x == 0) | np.isnan(x) for x in inputs])
    with np.errstate(all="ignore"):
        want = meaning(*inputs).astype(np.float32)
    got = run(driver, name, signature, *inputs)
    agree = same(got, want) | ((got == 0) & (np.abs(want) < TINY)) | ~normal
    wrong = np.nonzero(~agree)[0]
    assert not len(wrong), [([x[i] for x in inputs], got[i], want[i]) for i in wrong[:5]]


@pytest.mark.device
@drivers
def test_narrow_floats(driver: Driver) -> None:
    halves = np.arange(1 << 16, dtype=np.uint32)
    want = halves.astype(np.uint16).view(np.float16).astype(np.float32)
    assert same(run(driver, "f32_from_f16", "u>f", halves), want).all()
    x = numbers(5)
    with np.errstate(over="ignore"):
        bits = x.astype(np.float16).view(np.uint16).astype(np.uint32)
    got = run(driver, "f16_from_f32", "f>u", x)
    assert ((got == bits) | np.isnan(x)).all()
    top = x.view(np.uint32)
    nearest = (top.astype(np.uint64) + 0x7FFF + ((top >> 16) & 1)) >> 16
    got = run(driver, "bf16_from_f32", "f>u", x)
    assert (((got == nearest) | np.isnan(x)) & (~np.isnan(x) | (got & 0x7FFF > 0x7F80))).all()


@pytest.mark.device
@drivers
def test_half_fma_rounds_once(driver: Driver) -> None:
    rng = np.random.default_rng(9)
    a, b, c = rng.integers(0, 1 << 16, (3, 60_000)).astype(np.uint16).view(np.float16)
    with np.errstate(all="ignore"):
        c[:30_000] = (-a[:30_000].astype(np.float64) * b[:30_000]).astype(np.float16)
        # Exact in float64: 22 bits of product and the range of f16 leave room to spare.
        want = (a.astype(np.float64) * b.astype(np.float64) + c).astype(np.float16)
    inputs = [x.astype(np.float32) for x in (a, b, c)]
    assert same(run(driver, "f16_fma", "fff>f", *inputs), want.astype(np.float32)).all()


FUNCTIONS: dict[str, tuple[Callable[..., NDArray[np.float64]], float]] = {
    "exp": (np.exp, 1.5),
    "exp2": (np.exp2, 1.5),
    "expm1": (np.expm1, 2.0),
    "log": (np.log, 1.0),
    "log2": (np.log2, 1.0),
    "log10": (np.log10, 1.5),
    "log1p": (np.log1p, 1.0),
    "sin": (np.sin, 2.0),
    "cos": (np.cos, 2.0),
    "tan": (np.tan, 3.5),
    "asin": (np.arcsin, 3.0),
    "acos": (np.arccos, 2.0),
    "atan": (np.arctan, 3.0),
    "sinh": (np.sinh, 2.5),
    "cosh": (np.cosh, 2.5),
    "tanh": (np.tanh, 3.0),
    "rsqrt": (lambda x: 1 / np.sqrt(x), 2.0),
    "pow": (np.power, 2.0),
    "atan2": (np.arctan2, 3.0),
}


@pytest.mark.device
@drivers
@pytest.mark.parametrize("name", FUNCTIONS)
def test_within_its_bound(driver: Driver, name: str) -> None:
    meaning, bound = FUNCTIONS[name]
    inputs: tuple[F32, ...] = pairs(11) if name in ("pow", "atan2") else (numbers(11),)
    normal = np.logical_and.reduce([(np.abs(x) >= TINY) | (x == 0) | np.isnan(x) for x in inputs])
    with np.errstate(all="ignore"):
        want = meaning(*(x.astype(np.float64) for x in inputs))
        nearest = want.astype(np.float32)
    got = run(driver, f"f32_{name}", "f" * len(inputs) + ">f", *inputs)
    with np.errstate(all="ignore"):
        unit = np.exp2(np.floor(np.log2(np.maximum(np.abs(want), TINY))) - 23)
        error = np.abs(got.astype(np.float64) - want) / unit
    agree = (got == nearest) | (np.isnan(got) & np.isnan(nearest)) | (error <= bound)
    agree |= ((np.abs(want) < TINY) & (got == 0)) | ~normal
    wrong = np.nonzero(~agree)[0]
    assert not len(wrong), [([x[i] for x in inputs], got[i], want[i], error[i]) for i in wrong[:5]]
