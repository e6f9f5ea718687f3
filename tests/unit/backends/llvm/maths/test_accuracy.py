from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.unit.backends.llvm.maths.measure import (
    BINARY,
    DTYPES,
    Functions,
    exact,
    ulps,
    wrong_zeros,
)
from vyre.backends.llvm import host
from vyre.backends.llvm.maths.bounds import HALF_BOUND, ULP_BOUNDS
from vyre.backends.llvm.vector_math import FUNCTIONS, FloatType

NAMES = sorted(FUNCTIONS)
POINTS = 1 << 15

# Intervals where each function does something; (low, high) evenly spaced, "log" by magnitude.
RANGES: dict[str, list[tuple[float, float, str]]] = {
    "exp": [(-105, 90, "even"), (-746, 711, "even"), (-1, 1, "even")],
    "exp2": [(-152, 130, "even"), (-1080, 1030, "even"), (-1, 1, "even")],
    "expm1": [(-20, 90, "even"), (-45, 711, "even"), (-1, 1, "even"), (1e-9, 1, "log")],
    "log": [(0.5, 2, "even"), (0, 100, "even")],
    "log2": [(0.5, 2, "even"), (0, 100, "even")],
    "log10": [(0.5, 2, "even"), (0, 100, "even")],
    "log1p": [(-1, 1, "even"), (-1, 100, "even"), (1e-12, 1, "log")],
    "sin": [(-10, 10, "even"), (-1e5, 1e5, "even"), (1e-5, 1e30, "log")],
    "cos": [(-10, 10, "even"), (-1e5, 1e5, "even"), (1e-5, 1e30, "log")],
    "tan": [(-10, 10, "even"), (-1e5, 1e5, "even"), (1e-5, 1e30, "log")],
    "asin": [(-1.01, 1.01, "even"), (1e-6, 1, "log")],
    "acos": [(-1.01, 1.01, "even"), (1e-6, 1, "log")],
    "atan": [(-10, 10, "even"), (1e-6, 1e6, "log")],
    "sinh": [(-5, 5, "even"), (-90, 90, "even"), (-712, 712, "even"), (1e-6, 1, "log")],
    "cosh": [(-5, 5, "even"), (-90, 90, "even"), (-712, 712, "even")],
    "tanh": [(-1, 1, "even"), (-25, 25, "even"), (1e-6, 1, "log")],
    "rsqrt": [(0, 10, "even")],
}

SPECIAL = [
    0.0,
    1.0,
    2.0,
    0.5,
    3.0,
    4.0,
    5.5,
    1.5,
    0.25,
    7.0,
    np.inf,
    np.pi,
    np.pi / 2,
    1e-5,
    88.72283,
]
EDGES: dict[FloatType, list[float]] = {
    "f32": [
        *SPECIAL,
        1e-45,
        1e-40,
        2.0**-126,
        3.4028235e38,
        0.99999994,
        1.0000001,
        2.0**24,
        2.0**23 + 1,
    ],
    "f64": [
        *SPECIAL,
        *(5e-324, 1e-310, 2.0**-1022, 1.7976931348623157e308, 1 - 2.0**-53, 1 + 2.0**-52),
        *(2.0**53, 2.0**53 - 1, 2.0**52 + 1, 2.0**51 + 0.5, 709.782712893384, 745.133),
    ],
}


def edges(dtype: FloatType) -> np.ndarray:
    positive = np.array(EDGES[dtype], DTYPES[dtype])
    return np.concatenate([positive, -positive, np.array([np.nan], DTYPES[dtype])])


def sample(dtype: FloatType, low: float, high: float, spacing: str, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if spacing == "log":
        values = np.exp(rng.uniform(np.log(low), np.log(high), POINTS)) * rng.choice(
            [-1, 1], POINTS
        )
    else:
        values = rng.uniform(low, high, POINTS)
    return values.astype(DTYPES[dtype])


def any_bits(dtype: FloatType, seed: int) -> np.ndarray:
    kind = {"f32": np.uint32, "f64": np.uint64}[dtype]
    rng = np.random.default_rng(seed)
    return rng.integers(0, np.iinfo(kind).max, POINTS, kind, endpoint=True).view(DTYPES[dtype])


def padded(x: np.ndarray) -> np.ndarray:
    return np.concatenate([x, np.full(-x.size % 16, x[0])])


def arguments(name: str, dtype: FloatType) -> list[tuple[np.ndarray, ...]]:
    if name not in BINARY:
        chosen = [sample(dtype, *span, seed) for seed, span in enumerate(RANGES[name])]
        return [(x,) for x in [*chosen, any_bits(dtype, 9), padded(edges(dtype))]]
    pairs = np.array(list(itertools.product(edges(dtype), repeat=2)), DTYPES[dtype])
    near_one = (1 + sample("f64", 2.0**-20, 0.5, "log", 3)).astype(DTYPES[dtype])
    return [
        (padded(pairs[:, 0].copy()), padded(pairs[:, 1].copy())),
        (any_bits(dtype, 1), any_bits(dtype, 2)),
        (sample(dtype, 0.01, 20, "even", 1), sample(dtype, -20, 20, "even", 2)),
        (sample(dtype, -20, 20, "even", 1), np.round(sample(dtype, -30, 30, "even", 2))),
        (near_one, sample(dtype, 1, 2.0**20, "log", 4)),
        (sample(dtype, 1e-30, 1e30, "log", 5), sample(dtype, -9, 9, "even", 6)),
    ]


CONFIGURATIONS: list[tuple[str, FloatType, int, bool]] = [
    ("native", "f32", 8, True),
    ("native", "f64", 4, True),
    ("native", "f32", 8, False),
    ("native", "f64", 4, False),
    ("generic", "f32", 4, False),
    ("generic", "f64", 2, False),
    ("native", "f32", 1, True),
    ("native", "f64", 1, True),
    ("native", "f32", 16, True),
]


@pytest.fixture(scope="module", params=CONFIGURATIONS, ids=lambda c: f"{c[0]}-{c[1]}x{c[2]}-{c[3]}")
def functions(request: pytest.FixtureRequest) -> Functions:
    machine, dtype, width, fma = request.param
    target = host.native() if machine == "native" else host.generic()
    if fma and not target.has_fma:
        pytest.skip("this CPU has no fused multiply-add")
    return Functions(NAMES, dtype, width, target, fma)


@pytest.mark.parametrize("name", NAMES)
def test_within_the_bound_everywhere(functions: Functions, name: str) -> None:
    bound = ULP_BOUNDS[name][functions.dtype == "f64"]
    for given in arguments(name, functions.dtype):
        got, want = functions(name, *given), exact(name, functions.dtype, *given)
        error = ulps(got, want)
        worst = int(np.argmax(error))
        assert error[worst] <= bound, (*(a[worst] for a in given), got[worst], want[worst])
        flipped = wrong_zeros(got, want)
        assert not flipped.any(), (*(a[flipped][:3] for a in given), got[flipped][:3])


def test_half_precision_is_rounded_once() -> None:
    functions = Functions(NAMES, "f16", 8, host.native(), host.native().has_fma)
    every = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    for name in NAMES:
        given = (every, every[::-1].copy()) if name in BINARY else (every,)
        got, want = functions(name, *given), exact(name, "f16", *given)
        assert ulps(got, want).max() <= HALF_BOUND, name


def test_widths_agree_bit_for_bit() -> None:
    x = any_bits("f32", 5)
    target = host.native()
    results = [Functions(NAMES, "f32", width, target, target.has_fma) for width in (1, 4, 8, 16)]
    for name in NAMES:
        given = (x, x[::-1].copy()) if name in BINARY else (x,)
        first, *others = (functions(name, *given) for functions in results)
        for other in others:
            assert np.array_equal(first, other, equal_nan=True), name


def test_every_function_has_a_bound() -> None:
    assert set(ULP_BOUNDS) == FUNCTIONS
