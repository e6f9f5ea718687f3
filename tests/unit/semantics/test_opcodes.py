"""Every opcode, at every width, on pairs of edge values, against the second definition."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.unit.semantics import exact
from tests.unit.semantics.edges import between, edges
from vyre import semantics
from vyre.ir import BinOp, DataType, UnOp
from vyre.ir.opcodes import Result
from vyre.ir.types import ARITHMETIC_FLOATS, SCALAR_TYPES

BINARY = [
    (op, dtype)
    for op in BinOp
    for dtype in SCALAR_TYPES
    if dtype in op.row.operands and not op.row.approximate
]
UNARY = [
    (op, dtype)
    for op in UnOp
    for dtype in SCALAR_TYPES
    if dtype in op.row.operands and not op.row.approximate
]
CASTS = list(itertools.product(SCALAR_TYPES, SCALAR_TYPES))


def name(value: object) -> str:
    return str(getattr(value, "name", value)).lower()


def values(dtype: DataType, bits: list[int]) -> semantics.Array:
    return semantics.from_bits(dtype, np.array(bits, dtype=np.uint64))


def same(dtype: DataType, bits: int) -> int:
    """Bits as results are compared: one NaN for all."""
    form = exact.FORMATS.get(dtype)
    return form.nan if form and exact.is_nan(form, bits) else bits


def assert_bits(dtype: DataType, found: semantics.Array, expected: list[int], what: object) -> None:
    bits = semantics.to_bits(dtype, found).tolist()
    wanted = [same(dtype, int(value)) for value in expected]
    wrong = [at for at, pair in enumerate(zip(bits, wanted, strict=True)) if pair[0] != pair[1]]
    shown = [(what[at] if isinstance(what, list) else at, bits[at], wanted[at]) for at in wrong[:5]]
    assert not wrong, f"{len(wrong)} wrong, such as (operands, found, expected): {shown}"


@pytest.mark.parametrize(("op", "dtype"), BINARY, ids=name)
def test_binary(op: BinOp, dtype: DataType) -> None:
    pairs = list(itertools.product(edges(dtype), repeat=2))
    left, right = (values(dtype, [pair[side] for pair in pairs]) for side in range(2))
    found = semantics.binary(op, dtype, left, right)
    result = DataType.BOOL if op.row.result is Result.BOOL else dtype
    assert_bits(result, found, [binary_bits(op, dtype, a, b) for a, b in pairs], pairs)


def binary_bits(op: BinOp, dtype: DataType, a: int, b: int) -> int:
    compares = op.row.result is Result.BOOL
    if dtype.is_float:
        form = exact.FORMATS[dtype]
        return (exact.float_compare if compares else exact.float_binary)(op, form, a, b)
    if dtype.is_bool:
        return {BinOp.AND: a & b, BinOp.OR: a | b, BinOp.XOR: a ^ b}.get(
            op, int((a == b) == (op is BinOp.EQ))
        )
    found = exact.integer_binary(op, dtype, exact.wrap(dtype, a), exact.wrap(dtype, b))
    return int(found) if compares else found & ((1 << (dtype.bits or 0)) - 1)


@pytest.mark.parametrize(("op", "dtype"), UNARY, ids=name)
def test_unary(op: UnOp, dtype: DataType) -> None:
    bits = edges(dtype)
    found = semantics.unary(op, dtype, values(dtype, bits))
    result = DataType.BOOL if op.row.result is Result.BOOL else dtype
    assert_bits(result, found, [unary_bits(op, dtype, a) for a in bits], bits)


def unary_bits(op: UnOp, dtype: DataType, a: int) -> int:
    if dtype.is_float:
        return exact.float_unary(op, exact.FORMATS[dtype], a)
    if dtype.is_bool:
        return 1 - a
    found = exact.integer_unary(op, dtype, exact.wrap(dtype, a))
    return found & ((1 << (dtype.bits or 0)) - 1)


@pytest.mark.parametrize("dtype", ARITHMETIC_FLOATS, ids=name)
def test_fma(dtype: DataType) -> None:
    every = edges(dtype)
    triples = list(itertools.product(every[::4], every[1::5], every[::5]))
    form = exact.FORMATS[dtype]
    # Products that the third operand nearly cancels, where rounding twice shows.
    for a, b in itertools.product(every[::3], every[::5]):
        product = exact.float_binary(BinOp.MUL, form, a, b)
        triples += [(a, b, (product ^ form.sign_bit) + d & (2 * form.sign_bit - 1)) for d in (0, 1)]
    a, b, c = (values(dtype, [triple[side] for triple in triples]) for side in range(3))
    found = semantics.fma(a, b, c)
    assert_bits(dtype, found, [exact.float_fma(form, *triple) for triple in triples], triples)


@pytest.mark.parametrize(("source", "target"), CASTS, ids=name)
def test_cast(source: DataType, target: DataType) -> None:
    halfway = target.is_float and not source.is_bool
    bits = edges(source) + (between(source, target) if halfway else [])
    found = semantics.cast(values(source, bits), source, target)
    assert found.dtype == semantics.value_dtype(target)
    assert_bits(target, found, [exact.convert(source, target, a) for a in bits], bits)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        pair
        for pair in CASTS
        if pair[0].bits == pair[1].bits and DataType.BOOL not in pair and pair[0] is not pair[1]
    ],
    ids=name,
)
def test_bitcast_keeps_bits(source: DataType, target: DataType) -> None:
    form, into = exact.FORMATS.get(source), exact.FORMATS.get(target)
    bits = [b for b in edges(source) if not (form and exact.is_nan(form, b))]
    bits = [b for b in bits if not (into and exact.is_nan(into, b))]
    assert_bits(target, semantics.bitcast(values(source, bits), source, target), bits, bits)


def test_select_takes_whole_vectors() -> None:
    cond = np.array([True, False])
    left, right = np.array([[1, 2], [3, 4]]), np.array([[5, 6], [7, 8]])
    assert semantics.select(cond, left, right).tolist() == [[1, 2], [7, 8]]


@pytest.mark.parametrize("dtype", [DataType.U32, DataType.F32, DataType.F64], ids=name)
def test_no_warning_escapes(dtype: DataType) -> None:
    """The suite turns warnings into errors, so it is enough to provoke them."""
    zero, big = values(dtype, [0]), values(dtype, [edges(dtype)[-1]])
    for op in (BinOp.DIV, BinOp.MUL, BinOp.SUB):
        semantics.binary(op, dtype, zero, zero)
        semantics.binary(op, dtype, big, zero)
