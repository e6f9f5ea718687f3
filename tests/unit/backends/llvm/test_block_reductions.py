"""Float atomics on one element: sums of blocks of workgroups, the same bits in every run."""
# pyright: reportGeneralTypeIssues=false

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

import vyre as vy
from tests.unit.backends.llvm.running import differences, launch, load
from vyre.backends.llvm import native_object
from vyre.backends.llvm.analysis.block_reductions import with_block_reductions
from vyre.backends.llvm.compile import compile_program
from vyre.backends.llvm.emit.memory.block_reductions import SLOTS
from vyre.backends.llvm.heuristics import MAX_BLOCKS, MIN_BLOCK_INVOCATIONS, MIN_BLOCKS
from vyre.backends.llvm.kernel_info import KernelInfo
from vyre.backends.llvm.launch import NativeKernel
from vyre.backends.llvm.pool import EXPORTS, Pool
from vyre.cache import default_cache
from vyre.driver.backend import EmitOptions
from vyre.ir import Program

Floats = NDArray[np.float32]

HEAD = """program workgroup({size}, 1, 1)
buffer x: read_only f32[] @0
buffer at: read_only u32[] @1
buffer out: read_write f32[] @2
buffer count: read_write u32[] @3
region "r" {{
    {body}
}}
"""


def _program(body: str, size: int = 64) -> Program:
    return Program.parse(HEAD.format(size=size, body=body))


SUM = "if gid.x < len(x) { eval atomic_add(out[0u32], x[gid.x]) }"
REDUCED = [
    SUM,
    "if gid.x < len(x) { eval atomic_min(out[1u32], x[gid.x]) }",
    "eval atomic_max(out[0u32], x[gid.x])",
    "eval atomic_add(out[at[0u32]], x[gid.x])",
    "let k = at[0u32] + len(at) - 1u32 eval atomic_add(out[k], x[gid.x])",
    "eval atomic_add(out[0u32], x[gid.x]) eval atomic_add(out[at[1u32]], 2.0f32 * x[gid.x])",
    "for i in 0..5 { eval atomic_add(out[1u32], x[gid.x + i]) }",
    "if x[gid.x] > 0f32 { eval atomic_add(out[0u32], 1.0f32) eval atomic_add(count[0u32], 1u32) }",
    "if lid.x == 0 { eval atomic_add(out[0u32], x[gid.x]) }",
    "if (gid.x > 4u32) & (gid.x < len(x)) { eval atomic_add(out[0u32], x[gid.x]) }",
]
DIRECT = [
    "eval atomic_add(out[gid.x & 1u32], x[gid.x])",
    "eval atomic_add(out[wid.x], x[gid.x])",
    "eval atomic_add(out[count[0u32]], x[gid.x])",
    "let old = atomic_add(out[0u32], 1.0f32) if old < 0.0f32 { count[0u32] = 1u32 }",
    "eval atomic_add(out[0u32], x[gid.x]) eval atomic_max(out[1u32], x[gid.x])",
    "eval atomic_add(out[0u32], x[gid.x]) if gid.x == 1000000u32 { out[1u32] = 2.0f32 }",
    "eval atomic_add(out[0u32], x[gid.x]) if out[1u32] > 1.0f32 { count[0u32] = 1u32 }",
    "eval atomic_add(out[0u32], x[gid.x], acq_rel)",
    "for i in 0..2 { eval atomic_add(out[i], x[gid.x]) }",
]


@pytest.mark.parametrize("body", REDUCED)
def test_elements_that_no_invocation_observes_are_reduced_in_blocks(body: str) -> None:
    found = with_block_reductions(_program(body))
    assert {name for name, _ in found.reductions} == {"out"}


@pytest.mark.parametrize("body", DIRECT)
def test_other_elements_are_not(body: str) -> None:
    program = _program(body)
    found = with_block_reductions(program)
    assert not found.reductions
    assert found.program is program


def _random(n: int) -> Floats:
    return np.random.default_rng(n).standard_normal(n).astype(np.float32)


def _inputs(x: Floats, out: Floats | None = None) -> dict[str, NDArray[np.generic]]:
    return {
        "x": x,
        "at": np.array([1, 0], np.uint32),
        "out": np.array([0.25, -1.5, 3.0], np.float32) if out is None else out,
        "count": np.zeros(1, np.uint32),
    }


@pytest.mark.parametrize("body", [*REDUCED, *DIRECT[:3]])
@pytest.mark.parametrize("groups", [1, 3, 70])
@pytest.mark.parametrize("cpu", ["native", "generic"])
def test_sums_are_those_of_the_reference(body: str, groups: int, cpu: str) -> None:
    # Small whole numbers: every order of additions gives the same.
    x = np.round(8 * _random(groups * 64 - 5))
    grid = (groups, 1, 1)
    assert differences(_program(body), _inputs(x), grid, cpu=cpu) == []


def _in_blocks(contributions: Floats, size: int, element: np.float32) -> np.float32:
    """The definition: a row for each atomic of an invocation in its order, -0 for none."""
    groups = contributions.shape[1] // size
    wanted = groups // max(MIN_BLOCK_INVOCATIONS // size, 1)
    wanted = min(max(wanted, MIN_BLOCKS), MAX_BLOCKS)
    length = -(-groups // wanted) * size
    for start in range(0, groups * size, length):
        slots = np.full(SLOTS, -0.0, np.float32)
        for x in range(start, min(start + length, groups * size)):
            for value in contributions[:, x]:
                slots[x % SLOTS] += value
        while len(slots) > 1:
            half = len(slots) // 2
            slots = slots[:half] + slots[half:]
        element = element + slots[0]
    return element


def _one(x: Floats, n: int) -> Floats:
    return np.where(np.arange(n) < len(x), np.resize(x, n), np.float32(-0.0))[None]


def _late(x: Floats, n: int) -> Floats:
    values = _one(x, n).copy()
    values[:, :5] = -0.0
    return values


def _five(x: Floats, n: int) -> Floats:
    padded = np.concatenate([x, np.zeros(n, np.float32)])
    return np.stack([padded[i : i + n] for i in range(5)])


@pytest.mark.parametrize(
    ("body", "contributions"),
    [
        (SUM, _one),
        (REDUCED[9], _late),
        ("for i in 0..5 { eval atomic_add(out[0u32], x[gid.x + i]) }", _five),
    ],
)
@pytest.mark.parametrize(("groups", "size"), [(33, 64), (40, 48), (7, 256), (130, 96)])
@pytest.mark.parametrize("cpu", ["native", "generic"])
def test_the_order_of_additions_is_as_defined(
    body: str, contributions: Callable[[Floats, int], Floats], groups: int, size: int, cpu: str
) -> None:
    program, n = _program(body, size), groups * size
    x = _random(n - 3)
    expected = _in_blocks(contributions(x, n), size, np.float32(0.25))
    for tier in ("quick", "auto", "full", "hot"):
        kernel = load(program, cpu, tier)
        found, _ = launch(kernel, program, _inputs(x), (groups, 1, 1), {})
        assert found["out"][0].tobytes() == expected.tobytes(), tier


@cache
def _pool(threads: int) -> Pool:
    return Pool(native_object.object_bytes(default_cache(), EXPORTS), threads)


@pytest.mark.parametrize("body", [SUM, REDUCED[5], REDUCED[6], REDUCED[7]])
def test_bits_are_the_same_for_any_number_of_threads(body: str) -> None:
    program = _program(body, 256)
    artifact = compile_program(program, "native", EmitOptions("full"))
    info = KernelInfo.from_json(artifact.metadata)
    inputs, seen = _inputs(_random(300_001)), set[bytes]()
    for threads in (1, 2, 3, 8):
        kernel = NativeKernel(artifact.payload, info, _pool(threads))
        for _ in range(10):
            found, _ = launch(kernel, program, inputs, (1173, 1, 1), {})
            seen.add(found["out"].tobytes())
    assert len(seen) == 1


WITHOUT = ["coalesce_workgroups", "overlap_remainder", "outline_cold_code", "grid_stride_loops"]


@pytest.mark.parametrize("without", WITHOUT)
def test_bits_do_not_depend_on_techniques(without: str) -> None:
    program = _program(REDUCED[9], 96)
    inputs = _inputs(_random(20_000))
    results: list[bytes] = []
    for names in (frozenset[str](), frozenset({without})):
        artifact = compile_program(program, "native", EmitOptions("full"), names)
        info = KernelInfo.from_json(artifact.metadata)
        kernel = NativeKernel(artifact.payload, info, _pool(2))
        found, _ = launch(kernel, program, inputs, (209, 1, 1), {})
        results.append(found["out"].tobytes())
    assert results[0] == results[1]


SPECIAL = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1.0], np.float32)
SIGNALLING = np.array([0x7FA00001], np.uint32).view(np.float32)


@pytest.mark.parametrize("op", ["add", "min", "max"])
@pytest.mark.parametrize("start", SPECIAL)
@pytest.mark.parametrize("value", SPECIAL)
def test_special_values(op: str, start: np.float32, value: np.float32) -> None:
    program = _program(f"if gid.x < len(x) {{ eval atomic_{op}(out[0u32], x[gid.x]) }}")
    x = np.full(150, value)
    assert differences(program, _inputs(x, np.array([start])), (3, 1, 1)) == []


def test_negative_zeros_add_up_to_negative_zero() -> None:
    program = _program(SUM)
    inputs = _inputs(np.full(100, np.float32(-0.0)), np.array([-0.0], np.float32))
    found, _ = launch(load(program), program, inputs, (3, 1, 1), {})
    assert np.signbit(found["out"][0])


@pytest.mark.parametrize("op", ["add", "min", "max"])
def test_an_element_without_contributions_keeps_its_bits(op: str) -> None:
    program = _program(f"if gid.x < len(x) {{ eval atomic_{op}(out[0u32], x[gid.x]) }}")
    inputs = _inputs(np.zeros(0, np.float32), SIGNALLING)
    found, _ = launch(load(program), program, inputs, (3, 1, 1), {})
    assert found["out"].tobytes() == SIGNALLING.tobytes()


@pytest.mark.parametrize("length", [0, 1])
def test_elements_out_of_bounds_are_left_alone(length: int) -> None:
    program = _program("eval atomic_add(out[at[0u32]], 1.0f32) eval atomic_add(out[0u32], 1.0f32)")
    inputs = _inputs(_random(64), np.zeros(length, np.float32))
    assert differences(program, inputs, (2, 1, 1)) == []


@vy.kernel(workgroup=(8, 4))
def total(x: vy.In[vy.f32, 2], out: vy.InOut[vy.f32]):
    j, i = vy.gid(0), vy.gid(1)
    if i < x.shape[0] and j < x.shape[1]:
        out.atomic_add(0, x[i, j])


def test_grids_of_two_axes_and_empty_ones() -> None:
    x = np.arange(33 * 41, dtype=np.float32).reshape(33, 41)
    out = np.array([1.0], np.float32)
    total(x, out, grid=(6, 9), device="cpu")
    assert out[0] == 1 + x.sum()
    total(x[:0], out, grid=(0, 0), device="cpu")
    assert out[0] == 1 + x.sum()


def test_a_trap_leaves_the_element_as_it_was() -> None:
    program = _program(f'{SUM} if gid.x == 3u32 {{ trap "enough" }}')
    found, outcome = launch(load(program), program, _inputs(_random(64)), (1, 1, 1), {})
    assert outcome is not None
    assert found["out"][0] == np.float32(0.25)


@vy.kernel(workgroup=64)
def normalise(x: vy.In[vy.f32], y: vy.Out[vy.f32], sums: vy.InOut[vy.f32]):
    i = vy.gid()
    if i < len(x):
        sums.atomic_add(0, x[i])
    vy.grid_sync()
    if i < len(x):
        y[i] = x[i] / sums[0]
        sums.atomic_add(1, y[i])


def test_parts_of_a_program_between_grid_syncs() -> None:
    for n in (50, 4_000, 300_000, 7_000):
        x = np.abs(_random(n)) + 1
        alone = np.zeros(1, np.float32)
        flat_total(x, alone, device="cpu")
        for _ in range(5):
            y, sums = np.zeros_like(x), np.zeros(2, np.float32)
            normalise(x, y, sums, device="cpu")
            assert sums[0] == alone[0]
            assert (y == x / sums[0]).all()
            # The program loads from this array too, so that these atomics come in any order.
            assert abs(sums[1] - 1) < n * 2.0**-24 + 1e-6


@vy.kernel(workgroup=64)
def flat_total(x: vy.In[vy.f32], out: vy.InOut[vy.f32]):
    i = vy.gid()
    if i < len(x):
        out.atomic_add(0, x[i])
