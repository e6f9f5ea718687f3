"""Floats are computed as written, whatever a driver finds out about the numbers.

Drivers reassociate sums, cancel terms, drop zeros that are added and fold what they know; they may
even look into uniform memory before they compile. Signs of zeros, infinities and NaN tell.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.unit.backends.wgsl.drivers import DRIVERS, LAVAPIPE, Driver
from tests.unit.backends.wgsl.running import check
from vyre.backends.wgsl.context import ZERO, needs_zero
from vyre.backends.wgsl.emit import emit_shader
from vyre.backends.wgsl.prelude import library
from vyre.backends.wgsl.targets import PORTABLE
from vyre.ir import Program

ALGEBRA = (
    *("a + (-a)", "(a + b) + (-a)", "(a - b) + b", "(b + a) - a", "-(a - b)", "0.0f32 - a"),
    *("a - 0.0f32", "0.0f32 + a", "-0.0f32 + a", "a * -1.0f32", "a / -1.0f32", "a / a", "a - a"),
    *("(a - 1.0f32) + 1.0f32", "(1.0f32 + a) - 1.0f32", "(a + 1.0e8f32) - 1.0e8f32"),
    *("((a + b) + 1.0e8f32) - 1.0e8f32", "(a - 1.0f32) - a", "a + 1.0f32 + 2.0e-8f32"),
    *("(a / 3.0f32) * 3.0f32", "(a * 3.0f32) / 3.0f32", "a * 3.0f32 * 5.0f32", "(a / b) * b"),
    *("a * b + a * c", "a * b - a * c", "(-a) * b + c", "a - b * c", "-(a * b) + a"),
    *("abs(a * b) + a", "a * (1.0f32 / b)", "a * (1.0f32 - b) + c * b", "a + b * (c - a)"),
    *("a * b - a * b", "(c + a * b) - a * b", "(a * b) / (a * b)", "(a + b) - (a + b)"),
    *("sqrt(a) * sqrt(a)", "sqrt(a) - sqrt(a)", "sqrt(a) / sqrt(a)", "1.0f32 / sqrt(a)"),
    *("min(a, b) - min(a, b)", "floor(a) - floor(a)", "-floor(-a)", "exp(a) - exp(a)"),
    *("f32(i32(a))", "f32(u32(abs(a)))", "a * (b - b)", "a + a - a", "round(a * b)"),
    *("select(a == a, 1.0f32, 2.0f32)", "select(a != a, 1.0f32, 2.0f32)"),
    *("select(a * b == a * b, 1.0f32, 2.0f32)", "select(sqrt(a) <= sqrt(a), 1.0f32, 2.0f32)"),
    *("select((a + b) < a, 1.0f32, 2.0f32)", "select(a - b >= 0.0f32, 1.0f32, 2.0f32)"),
    *("a * select(b < c, 0.0f32, 1.0f32)", "a + select(b < c, 0.0f32, 1.0f32)"),
    *("a * f32(b < c)", "a + f32(b < c)", "select(b < c, a * b, c) + a", "0.0f32 / (a - a)"),
    "(a - ((a + b) - ((a + b) - a))) + (b - ((a + b) - a))",
)
"""What is not what it would be among real numbers."""

STATEMENTS = """let p = a * b
let s = a + b
let changed = a - 1.0f32
if b < c { changed = changed * a } else { changed = changed + 1.0f32 }
y[gid.x] = changed
y[gid.x + 64u32] = (c + p) - p
y[gid.x + 128u32] = (c + s) - s
mine[0] = p
y[gid.x + 192u32] = mine[0] + c
y[gid.x + 256u32] = p
y[gid.x + 320u32] = y[gid.x + 256u32] + c
let old = atomic_add(total[0], 0.0f32)
"""

KNOWN = (
    *("f32(lid.y)", "f32(wid.y)", "f32(gid.x - gid.x)", "f32(gid.x & 0u32)", "f32(false)"),
    *("bitcast<f32>(lid.y)", "f32(f16(lid.y))", "f32(gid.x > 100u32)", "abs(f32(lid.y))"),
    *("f32(lid.y) * f32(lid.z)", "sqrt(f32(lid.y))", "fma(f32(lid.y), f32(lid.z), f32(lid.y))"),
    *("trunc(f32(lid.y) * 0.5f32)", "f32(lid.y) / 3.0f32", "min(f32(lid.y), 4.0f32)"),
    *("select(lid.y == 0u32, 0.0f32, 1.0f32)", "select(lid.y == 0u32, 0.0f32, x[0])"),
    *("named", "changed", "counted", "mine[0]", "mine[lid.y]", "unset[lid.x]", "shared[0]"),
    *("x[gid.x + 64u32]", "x[outside]", "u[0]", "f32(v[0])", "bitcast<f32>(v[0])", "f32(v[lid.y])"),
    *("f32(n[0])", "f32(len(n) - 4u32)", "lane(vec4<f32>(0.0f32, 1.0f32, 2.0f32, 3.0f32), 0)"),
)
"""Zeros that a driver may know."""

BUFFERS = """program workgroup(64, 1, 1)
buffer x: read_only f32[64] @0
buffer y: read_write f32[{count}] @1 output live_out
buffer u: uniform f32[4] @2
buffer v: uniform i32[4] @3
buffer n: read_only u8[] @4
buffer total: read_write f32[1] @5 output live_out
buffer mine: local f32[2]
buffer unset: local f32[64]
buffer shared: workgroup f32[2]
let a = x[gid.x]
let b = x[(gid.x * 7u32 + 3u32) & 63u32]
let c = x[(gid.x * 5u32 + 11u32) & 63u32]
"""

SETTINGS = """let named = 0.0f32
let changed = 0.0f32
if a > 5.0f32 { changed = 0.0f32 }
let counted = 0.0f32
for k in 0u32..1u32 { counted = counted + f32(k) }
let outside = 99u32
mine[0] = 0.0f32
"""

BRANCH = """let many = gid.x
if {condition} {{
{large}}}
let t = a
if many == 77777u32 {{ t = 1.0f32 }}
"""
LARGE = "    many = (many ^ (many >> 7u32)) * 1664525u32\n" * 600
"""Most of the shader, and never executed: llvmpipe compiles it anew for uniforms that say so."""


def values() -> NDArray[np.float32]:
    """No two of which are combined to something subnormal."""
    rng = np.random.default_rng(3)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, -0.5, 2.5, 1e30, -1e30, 0.1, 7.0]
    large = [16777217.0, 3.0e5]
    drawn = [rng.standard_normal(40), rng.standard_normal(8) * 1e8, special, large]
    return np.concatenate(drawn).astype(np.float32)


def run(driver: Driver, text: str, count: int) -> None:
    program = Program.parse(BUFFERS.format(count=64 * count) + text)
    inputs = {
        "x": values(),
        "u": np.zeros(4, np.float32),
        "v": np.zeros(4, np.int32),
        "n": np.zeros(4, np.uint8),
    }
    check(driver, program, inputs)


def stores(expressions: tuple[str, ...]) -> str:
    return "".join(f"y[gid.x + {64 * k}u32] = {text}\n" for k, text in enumerate(expressions))


@pytest.mark.device
@pytest.mark.parametrize("driver", DRIVERS, ids=lambda driver: driver.name)
def test_nothing_is_rearranged(driver: Driver) -> None:
    run(driver, stores(ALGEBRA), len(ALGEBRA))


@pytest.mark.device
@pytest.mark.parametrize("driver", DRIVERS, ids=lambda driver: driver.name)
def test_nothing_is_rearranged_over_variables_and_memory(driver: Driver) -> None:
    run(driver, STATEMENTS, 6)


USES = ("ceil({0}) + {1}", "{0} * {1}", "{0} / ({1} + 3.0f32)", "({1} - {0}) + {0}")


@pytest.mark.device
@pytest.mark.parametrize("driver", DRIVERS, ids=lambda driver: driver.name)
def test_numbers_that_a_driver_knows_are_numbers(driver: Driver) -> None:
    expressions = tuple(use.format("a", known) for use in USES for known in KNOWN)
    run(driver, SETTINGS + stores(expressions), len(expressions))


@pytest.mark.device
@pytest.mark.parametrize(
    ("condition", "known"),
    [
        ("v[0] > 1i32", ("f32(v[0])", "bitcast<f32>(v[0])", "f32(v[lid.y])")),
        ("u[0] > 1.0f32", ("u[0]", "-u[0]", "u[lid.y]")),
        ("len(n) > 77u32", ("f32(len(n) - 4u32)",)),
    ],
)
def test_so_are_numbers_in_uniform_memory(condition: str, known: tuple[str, ...]) -> None:
    expressions = tuple(use.format("t", each) for use in USES for each in known)
    branch = BRANCH.format(condition=condition, large=LARGE)
    run(LAVAPIPE, branch + stores(expressions), len(expressions))


def test_the_hidden_zero_is_passed_where_it_is_needed() -> None:
    for name, function in library().items():
        calls = [called for called in function.needs if needs_zero(called)]
        text = re.sub("//.*", "", function.text)
        head, _, body = text.partition("{\n")
        assert needs_zero(name) == bool(re.search(rf"\b{ZERO}\b", head)), name
        assert not calls or needs_zero(name), name
        assert not needs_zero(name) or f"{ZERO})" in body or f"{ZERO}." in body, name


def test_no_launch_record_for_the_zero() -> None:
    text = "buffer x: read_write f32[] @0\nx[gid.x] = x[gid.x] * 0.5f32 + 0.0f32\n"
    shader = emit_shader(Program.parse(f"program workgroup(64, 1, 1)\n{text}"), PORTABLE)
    assert shader.fields == ()
    assert "launch" not in shader.text
