"""Loads and stores: bounds, zeroed memory, stored types, vectors, private arrays."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.backends.reference.programs import difference, program, run, u32, zeros
from vyre import semantics
from vyre.ir import DataType
from vyre.ir.types import SCALAR_TYPES

OUT = "out: read_write u32[] @0"

INDICES = {
    "one_past_the_end": "gid.x + 1u32",
    "far_outside": "gid.x * 0x20000000u32 + 0xfffffff0u32",
    "signed_negative": "i32(gid.x) - 4i32",
    "byte_negative": "i8(gid.x) - 4i8",
    "byte_unsigned": "u8(gid.x) - 4u8",
    "sixteen_bits": "i16(gid.x) * 0x2000i16",
    "sixty_four_bits": "u64(gid.x) << 32u64",
    "sixty_four_bits_top": "0u64 - u64(gid.x)",
    "signed_sixty_four": "i64(gid.x) - 3i64",
    "the_same_for_all": "9u32",
    "the_same_for_all_inside": "2u32",
}


@pytest.mark.parametrize("index", INDICES.values(), ids=INDICES)
@pytest.mark.parametrize(
    "memory", ["read_write u32[8] @1", "workgroup u32[8]", "scratch u32[8]", "local u32[8]"]
)
def test_out_of_bounds(index: str, memory: str) -> None:
    writers = "8u32" if memory.startswith("local") else "1u32"
    body = f"""
if wid.x == 0u32 & lid.x < {writers} {{
    for k in 0u32..8u32 {{ m[k] = k + 100u32 }}
}}
barrier seq_cst
if wid.x == 0u32 & lid.x == 3u32 {{ m[{index}] = 7u32 }}
barrier seq_cst
let old = 0u32
if wid.x == 0u32 & lid.x == 5u32 {{ old = m[{index}] * 1000u32 }}
if wid.x == 0u32 {{ out[gid.x] = old + m[lid.x] }}
"""
    source = program(body, OUT, f"m: {memory}")
    inputs = {"out": zeros(8)}
    if "@1" in memory:
        inputs["m"] = zeros(8)
    assert difference(source, inputs, (2, 1, 1)) is None


@pytest.mark.parametrize("op", ["add", "exchange", "compare_exchange"])
@pytest.mark.parametrize("index", INDICES.values(), ids=INDICES)
def test_atomics_out_of_bounds(index: str, op: str) -> None:
    extra = ", expected = 5u32" if op == "compare_exchange" else ""
    body = f"""
let index = {index}
if lid.x == 3u32 {{ out[8u32 + lid.x] = atomic_{op}(out[index], 9u32{extra}) }}
"""
    source = program(body, OUT)
    assert difference(source, {"out": np.full(16, 5, np.uint32)}, (1, 1, 1)) is None


def test_an_empty_buffer() -> None:
    body = "out[gid.x] = e[gid.x] + len(e) eval atomic_add(e[gid.x], 1u32) e[0] = 1u32"
    result = run(program(body, OUT, "e: read_write u32[] @1"), out=zeros(8), e=zeros(0))
    assert result.outputs["out"].tolist() == [0] * 8
    assert result.outputs["e"].size == 0


def test_the_last_of_two_writers_wins() -> None:
    assert run(program("out[0] = gid.x", OUT), 2, out=zeros(1)).outputs["out"].tolist() == [15]
    source = program("out[gid.x / 4u32] = gid.x", OUT)
    assert run(source, out=zeros(2)).outputs["out"].tolist() == [3, 7]


def test_workgroup_memory_is_zero_in_every_workgroup() -> None:
    body = """
out[gid.x] = tile[lid.x]
barrier seq_cst
tile[lid.x] = 77u32
"""
    source = program(body, OUT, "tile: workgroup u32[8]")
    assert run(source, 5000, out=zeros(40_000)).outputs["out"].sum() == 0


def test_scratch_outputs_and_private_arrays_begin_as_zeros() -> None:
    body = "out[gid.x] = s[gid.x] + p[lid.x] + 1u32 s[gid.x] = 9u32 p[lid.x] = 9u32"
    source = program(
        body, "out: read_write u32[16] @0 output live_out", "s: scratch u32[16]", "p: local u32[8]"
    )
    for _ in range(2):
        assert run(source, 2).outputs["out"].tolist() == [1] * 16


def test_private_arrays_are_private() -> None:
    body = """
for k in 0u32..4u32 { p[k] = gid.x * 10u32 + k }
let sum = 0u32
for k in 0u32..9u32 { sum = sum + p[k] }
out[gid.x] = sum + p[gid.x % 4u32] * 1000u32
"""
    source = program(body, OUT, "p: local u32[4]")
    assert difference(source, {"out": zeros(24)}, (3, 1, 1)) is None


@pytest.mark.parametrize("dtype", SCALAR_TYPES, ids=str)
def test_every_scalar_type_is_copied_bit_for_bit(dtype: DataType) -> None:
    stored = semantics.storage_dtype(dtype)
    raw = np.random.default_rng(1).integers(0, 256, 64 * stored.itemsize, np.uint8)
    given = raw.view(stored)
    source = program(
        "b[gid.x] = a[gid.x]", f"a: read_only {dtype}[] @0", f"b: read_write {dtype}[] @1"
    )
    result = run(source, 8, a=given, b=np.zeros_like(given)).outputs["b"]
    expected = raw.view(f"u{stored.itemsize}")
    if dtype.is_bool:
        expected = (expected != 0).astype(np.uint8)
    assert (result.view(f"u{stored.itemsize}") == expected).all()


@pytest.mark.parametrize(
    "element", ["bytes", "f8e4m3", "f8e5m2", "i4", "fp4", "nf4", "bf16", "f16", "bool"]
)
def test_stored_types(element: str) -> None:
    kind = str(DataType.parse(element).value_type)
    value = {"u8": "+ 3u8", "f32": "* 1.3f32", "i32": "* 3i32"}.get(kind, "")
    if element == "f16":
        value = "* 1.3f16"
    body = f"b[gid.x] = a[select(gid.x < 250u32, gid.x, 9999u32)] {value}"
    source = program(body, f"a: read_only {element}[] @0", f"b: read_write {element}[] @1")
    dtype = semantics.storage_dtype(DataType.parse(element))
    every = np.arange(256).astype(np.uint16 if dtype.itemsize == 2 else np.uint8)
    every = (every * (257 if dtype.itemsize == 2 else 1)).astype(every.dtype).view(dtype)
    assert difference(source, {"a": every, "b": np.zeros_like(every)}, (33, 1, 1)) is None


@pytest.mark.parametrize(
    "element", ["vec2<u32>", "vec4<u32>", "vec3<f32>", "vec2<bool>", "vec2<bf16>"]
)
def test_vectors(element: str) -> None:
    dtype = DataType.parse(element)
    body = """
let v = a[gid.x + 1u32]
let w = select(gid.x > 2u32, v, a[0u32])
b[gid.x] = w
"""
    source = program(body, f"a: read_only {element}[] @0", f"b: read_write {element}[] @1")
    stored = semantics.storage_dtype(dtype)
    given = np.arange(8 * dtype.lanes).astype(stored).reshape(8, dtype.lanes)
    assert difference(source, {"a": given, "b": np.zeros_like(given)}, (1, 1, 1)) is None


def test_lanes_of_vectors() -> None:
    body = """
let v = vec4<u32>(gid.x, 7u32, gid.x * 2u32, 1u32)
out[gid.x] = lane(v, 0) + lane(v, 1) * 10u32 + lane(v, 2) * 100u32 + lane(v, 3) * 1000u32
"""
    assert difference(program(body, OUT), {"out": zeros(8)}, (1, 1, 1)) is None


def test_an_array_of_bytes_moves_as_one() -> None:
    source = program(
        "b[gid.x] = a[7u32 - gid.x]", "a: read_only array<5>[] @0", "b: read_write array<5>[] @1"
    )
    given = np.arange(40, dtype=np.uint8).reshape(8, 5)
    result = run(source, a=given, b=np.zeros_like(given)).outputs["b"]
    assert (result == given[::-1]).all()


def test_uniform_and_length() -> None:
    source = program(
        "out[gid.x] = u[0u32] + len(u) * 100u32 + len(out)", OUT, "u: uniform u32[] @1"
    )
    result = run(source, out=zeros(8), u=u32(5, 6))
    assert result.outputs["out"].tolist() == [213] * 8
