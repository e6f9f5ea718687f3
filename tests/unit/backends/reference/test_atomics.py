"""Atomics happen one after the other, in the order of the invocations."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.backends.reference.programs import difference, program, run, zeros
from tests.unit.semantics.edges import edges
from vyre.backends.reference import atomics
from vyre.ir import AtomicOp, DataType
from vyre.semantics import atomic as one_atomic
from vyre.semantics import from_bits, to_bits, value_dtype

CASES = [(op, dtype) for op in AtomicOp for dtype in sorted(op.row.operands, key=str)]


def in_order(
    op: AtomicOp, dtype: DataType, data: np.ndarray, at: np.ndarray, *operands: np.ndarray
) -> tuple[list[int], list[int]]:
    """Old values and final memory, one access after the other."""
    memory = data.copy()
    old = np.empty(at.size, data.dtype)
    for n, element in enumerate(at):
        old[n] = memory[element]
        given = [operand[n : n + 1] for operand in operands]
        memory[element] = one_atomic(op, dtype, memory[element : element + 1], *given)[0]
    return to_bits(dtype, old).tolist(), to_bits(dtype, memory).tolist()


@pytest.mark.parametrize(("op", "dtype"), CASES, ids=lambda v: str(getattr(v, "name", v)).lower())
@pytest.mark.parametrize("elements", [1, 3, 40, 2000], ids=lambda n: f"{n}_elements")
def test_many_at_once(op: AtomicOp, dtype: DataType, elements: int) -> None:
    random = np.random.default_rng(elements)
    values = from_bits(dtype, np.array(edges(dtype), np.uint64))
    if dtype.is_float:
        values = values[np.isfinite(values)]
    data = random.choice(values, elements)
    at = random.integers(elements, size=500)
    operands = [random.choice(values, at.size)]
    expected = None
    if op is AtomicOp.COMPARE_EXCHANGE:
        few = values[:3]
        data, operands = random.choice(few, elements), [random.choice(few, at.size)]
        expected = random.choice(few, at.size)
        operands.append(expected)
    with np.errstate(all="ignore"):
        wanted = in_order(op, dtype, data, at, *operands)
        changed = data.copy()
        old = atomics.exchange(op, dtype, changed, at, operands[0], expected)
        assert (to_bits(dtype, old).tolist(), to_bits(dtype, changed).tolist()) == wanted
        again = data.copy()
        if atomics.update(op, dtype, again, at, operands[0]):
            assert to_bits(dtype, again).tolist() == wanted[1]


@pytest.mark.parametrize("place", ["read_write {}[16] @1", "workgroup {}[16]", "scratch {}[16]"])
@pytest.mark.parametrize(("op", "dtype"), CASES, ids=lambda v: str(getattr(v, "name", v)).lower())
def test_in_programs(op: AtomicOp, dtype: DataType, place: str) -> None:
    value, extra = f"{dtype}(gid.x * 3u32 + 1u32)", ""
    if op is AtomicOp.COMPARE_EXCHANGE:
        extra = f", expected = {dtype}(gid.x % 3u32)"
    body = f"""
m[lid.x] = {dtype}(lid.x)
barrier seq_cst
let old = {op.row.spelling}(m[gid.x / 3u32 % 5u32], {value}{extra})
barrier seq_cst
eval {op.row.spelling}(m[gid.x % 2u32 + 14u32], {value}{extra})
barrier seq_cst
out[gid.x] = u32(old)
out[8u32 + gid.x] = u32(m[lid.x]) + u32(m[lid.x + 8u32])
"""
    memory = place.format(dtype)
    source = program(body, "out: read_write u32[] @0", f"m: {memory}")
    inputs = {"out": zeros(16)}
    if "@1" in memory:
        inputs["m"] = zeros(16, value_dtype(dtype))
    assert difference(source, inputs, (1, 1, 1)) is None


def test_lane_order_and_workgroup_order() -> None:
    source = program(
        "out[gid.x] = atomic_add(n[0], 1u32)", "out: read_write u32[] @0", "n: read_write u32[1] @1"
    )
    result = run(source, 10_000, out=zeros(80_000), n=zeros(1)).outputs
    assert (result["out"] == np.arange(80_000)).all()
    assert result["n"].tolist() == [80_000]


def test_float_sums_follow_lane_order() -> None:
    values = np.random.default_rng(5).normal(0, 1e4, 50_000).astype(np.float32)
    total = np.float32(0)
    for value in values:
        total += value
    body = "{} atomic_add(s[0], a[gid.x])"
    for form in ("eval", "let old ="):
        source = program(body.format(form), "a: read_only f32[] @0", "s: read_write f32[1] @1")
        result = run(source, 6250, a=values, s=zeros(1, np.float32))
        assert result.outputs["s"][0] == total


def test_operands_are_evaluated_in_order() -> None:
    body = """
out[4] = atomic_compare_exchange(
    out[atomic_add(out[0], 1u32)], atomic_add(out[0], 10u32), expected = atomic_add(out[0], 100u32))
"""
    source = program(body, "out: read_write u32[] @0", workgroup=(1, 1, 1))
    # The index is 0, the value 1, what is expected 11, and what is there by then 111.
    assert run(source, out=zeros(8)).outputs["out"].tolist() == [111, 0, 0, 0, 111, 0, 0, 0]
    assert difference(source, {"out": zeros(8)}, (1, 1, 1)) is None
