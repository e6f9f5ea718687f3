"""Arrays of each invocation: side by side in vectors, zero at first, and never out of bounds."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from tests.unit.backends.llvm.running import check, source
from vyre.backends.llvm import host as hosts
from vyre.backends.llvm.emit.module import generate
from vyre.ir import Program

KERNEL = """program workgroup(64, 1, 1)
buffer x: read_only u32[] @0
buffer n: read_only i32[] @1
buffer out: read_write u32[] @2
buffer mine: local u32[7]
region "private" {{
    if gid.x < len(out) {{
        let sum = 0
        {body}
        out[gid.x] = sum
    }}
}}
"""
BODIES = {
    "zero at first": "sum = mine[3] + mine[n[0]]",
    "literals": "mine[2] = x[gid.x]\n mine[3] = mine[2] + 1\n sum = mine[3] * mine[2]",
    "same index in all lanes": "for i in 0..7 { mine[i] = x[gid.x] + i }\n"
    "for i in 0..7 { sum = sum * 5 + mine[6 - i] }",
    "out of bounds, known": "mine[6] = 3\n mine[7] = x[gid.x]\n sum = mine[7] + mine[6]",
    "out of bounds, read": "mine[n[1]] = 9\n mine[n[2]] = 8\n"
    "for i in 0..9 { sum = sum * 3 + mine[i] }\n sum = sum + mine[n[1]] + mine[n[2]]",
    "other index in each lane": "mine[x[gid.x] % 9] = gid.x\n mine[4] = mine[x[gid.x] % 8]\n"
    "for i in 0..7 { sum = sum * 3 + mine[i] }",
    "in some lanes": "if x[gid.x] % 3 == 0 { mine[1] = 5\n mine[n[2]] = 6 } else { mine[2] = 7 }\n"
    "if x[gid.x] % 2 == 0 { mine[x[gid.x] % 11] = 9 }\n"
    "for i in 0..7 { sum = sum * 3 + mine[i] }",
    "loops of their own": "for i in 0..x[gid.x] % 12 { mine[i] = i + 1\n"
    "if mine[i - 3] == 2 { continue }\n mine[0] = mine[0] + 1 }\n"
    "for i in 0..7 { sum = sum * 3 + mine[i] }",
    "lanes that have left": "let i = 0\n while i < 9 { if x[gid.x] % 7 == i { break }\n"
    "mine[i] = gid.x\n i = i + 1 }\n for k in 0..7 { sum = sum * 3 + mine[k] }",
    "no lane is active": "for i in 0..9 { if i > 3 { continue }\n mine[i] = i + x[gid.x] }\n"
    "for k in 0..7 { sum = sum * 3 + mine[k] }",
    "a return before": "if x[gid.x] % 5 == 0 { return }\n mine[5] = x[gid.x]\n sum = mine[5]",
}
RANDOM = np.random.default_rng(3)


def given(lanes: int) -> dict[str, np.ndarray]:
    return {
        "x": RANDOM.integers(0, 1000, lanes).astype(np.uint32),
        "n": np.array([5, 7, -1], np.int32),
        "out": np.full(lanes, 99, np.uint32),
    }


@pytest.mark.parametrize("cpu", ["native", "generic"])
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_the_same_as_the_reference(body: str, cpu: str) -> None:
    check(KERNEL.format(body=body), given(150), (3, 1, 1), cpu)


@pytest.mark.parametrize("element", ["f32", "f64", "u8", "i16", "bool", "f16", "bf16", "f8e4m3"])
def test_elements_of_every_size(element: str) -> None:
    check(
        f"""program workgroup(32, 1, 1)
        buffer x: read_only {element}[] @0
        buffer out: read_write {element}[] @1
        buffer mine: local {element}[5]
        region "private" {{
            if gid.x < len(out) {{
                for i in 0..5 {{ mine[i] = x[gid.x + i] }}
                mine[gid.x % 6] = x[0]
                if gid.x % 3 == 1 {{ mine[3] = x[1] }}
                let v = mine[4]
                for i in 1..7 {{
                    if gid.x % 7 == i {{ v = mine[i - 1] }}
                }}
                out[gid.x] = v
            }}
        }}""",
        {"x": _numbers(element, 70), "out": _numbers(element, 64)},
        (2, 1, 1),
    )


def _numbers(element: str, count: int) -> np.ndarray:
    if element == "bool":
        return RANDOM.integers(0, 2, count).astype(bool)
    if element == "bf16":
        return RANDOM.integers(0x3F00, 0x4000, count).astype(np.uint16)
    if element == "f8e4m3":
        return RANDOM.integers(0, 100, count).astype(np.uint8)
    names = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "u8": np.uint8}
    return RANDOM.integers(0, 100, count).astype(names.get(element, np.int16))


def test_vectors_and_large_arrays() -> None:
    check(
        """program workgroup(16, 1, 1)
        buffer out: read_write u32[] @0
        buffer pairs: local vec2<u32>[3]
        buffer large: local u32[6000]
        region "private" {
            if gid.x < len(out) {
                pairs[1] = vec2<u32>(gid.x, 7)
                pairs[gid.x % 3] = vec2<u32>(3, gid.x)
                for i in 0..6000 { large[i] = i * gid.x }
                large[gid.x * 100] = 1
                out[gid.x] = lane(pairs[1], 0) * 1000 + lane(pairs[gid.x % 4], 1)
                out[gid.x] = out[gid.x] + large[1500] + large[5999]
            }
        }""",
        {"out": np.zeros(40, np.uint32)},
        (3, 1, 1),
    )


AROUND_BARRIERS = """program workgroup(16, 1, 1)
buffer out: read_write u32[] @0
buffer shared: workgroup u32[16]
buffer mine: local u32[4]
buffer after: local u32[4]
region "private" {
    mine[1] = gid.x
    shared[lid.x] = mine[1]
    barrier
    for round in 0..3 {
        mine[2] = mine[2] + shared[15 - lid.x]
        barrier
    }
    after[3] = mine[2]
    if gid.x < len(out) { out[gid.x] = mine[1] * 100 + mine[2] + after[3] + after[0] }
}
"""


def test_arrays_live_across_barriers() -> None:
    check(AROUND_BARRIERS, {"out": np.zeros(40, np.uint32)}, (3, 1, 1))


def test_only_what_one_stretch_uses_is_on_the_stack() -> None:
    text = source(Program.parse(AROUND_BARRIERS))
    assert "%after" in text
    assert "%mine" not in text


def test_a_shared_index_is_one_vector_access() -> None:
    text = source(Program.parse(KERNEL.format(body=BODIES["same index in all lanes"])))
    lanes = re.findall(r"alloca <(\d+) x i32>", text)
    assert lanes
    assert f"load <{lanes[0]} x i32>" in text
    assert f"alloca [{int(lanes[0]) * 7 * 4} x i8]" in text


STACKS = """
buffer x: read_only u32[] @0
buffer out: read_write u32[] @1
buffer mine: local u32[16]
"""
OWN_WAY = """
    let depth = 1
    mine[0] = x[gid.x] & 31
    let found = 0
    while depth > 0 {
        depth = depth - 1
        let node = mine[depth & 15]
        let a = (found ^ node << 7) * 31 + (node >> 3 ^ node * 5)
        let b = (a ^ a >> 15) * 0x85ebca6b + rotl(a, 7)
        let c = (b ^ b >> 13) * 0xc2b2ae35 + rotl(b, 9)
        found = (c ^ c >> 16) + (a & b | c & 0xffff)
        if node > 2 {
            mine[depth & 15] = node / 2
            mine[depth + 1 & 15] = node / 3
            depth = depth + 2
        }
    }
    out[gid.x] = found
"""
IN_STEP = """
    let found = 0
    for i in 0..16 { mine[i] = x[gid.x] + i }
    for i in 0..x[gid.x] & 15 { found = found * 3 + mine[i] }
    out[gid.x] = found
"""


def stacked(body: str) -> str:
    return f'program workgroup(64, 1, 1)\n{STACKS}\nregion "r" {{\n{body}\n}}'


@pytest.mark.parametrize("cpu", ["native", "generic"])
@pytest.mark.parametrize("body", [OWN_WAY, IN_STEP])
def test_what_lanes_with_stacks_find(body: str, cpu: str) -> None:
    given = {"x": RANDOM.integers(0, 2**32, 150).astype(np.uint32), "out": np.zeros(150, np.uint32)}
    check(stacked(body), given, (3, 1, 1), cpu)


ODD = """program workgroup(5, 1, 1)
buffer triples: write_only vec3<f32>[32] @0
buffer out: read_write i64[16] @1
buffer mine: local i64[8]
buffer small: local f8e5m2[3]
region "odd" {
    let place = gid.x + gid.y * (num_workgroups.x << 3)
    for k in 0i8..1i8 {
        if f16(lid.x) == f16(small[0]) { break }
        eval atomic_xor(out[place & 15], mine[5i64], acq_rel)
    }
    triples[31 - place] = vec3<f32>(0.0f32, select(small[0] != 0.0f32, 0.0f32, 1.0f32), 0.0f32)
}
"""


@pytest.mark.parametrize("cpu", ["native", "generic"])
def test_elements_of_odd_size_leave_no_gaps(cpu: str) -> None:
    """Three floats fit into a register of 512 bits five times."""
    given = {"out": np.zeros(16, np.int64), "triples": np.zeros((32, 3), np.float32)}
    check(ODD, given, (1, 1, 1), cpu)


def test_vectors_have_a_power_of_two_of_lanes() -> None:
    wide = replace(hosts.generic(), features="+avx2,+avx512f,+avx512vl")
    text = generate(Program.parse(ODD), wide).text
    assert {int(n) for n in re.findall(r"<(\d+) x i", text)} <= {2, 4, 8, 16, 32, 64}
