"""What one atomic leaves behind, and what reductions start from."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.semantics import exact
from tests.unit.semantics.edges import edges
from vyre import semantics
from vyre.ir import AtomicOp, BinOp, DataType, ReduceOp
from vyre.ir.types import SCALAR_TYPES

AS_BINARY = {op: BinOp[op.name] for op in AtomicOp if op.name in BinOp.__members__}


@pytest.mark.parametrize(
    ("op", "dtype"),
    [(op, dtype) for op in AtomicOp for dtype in SCALAR_TYPES if dtype in op.row.operands],
    ids=lambda value: str(getattr(value, "name", value)).lower(),
)
def test_atomic(op: AtomicOp, dtype: DataType) -> None:
    bits = edges(dtype)
    pairs = [(a, b) for a in bits for b in bits]
    old, value = (
        semantics.from_bits(dtype, np.array(side, np.uint64)) for side in zip(*pairs, strict=True)
    )
    expected = semantics.from_bits(dtype, np.array([bits[3]], np.uint64))
    new = semantics.atomic(op, dtype, old, value, expected)
    found = semantics.to_bits(dtype, new).tolist()
    assert found == [one(op, dtype, a, b, bits[3]) for a, b in pairs]


def one(op: AtomicOp, dtype: DataType, old: int, value: int, expected: int) -> int:
    if op is AtomicOp.EXCHANGE:
        form = exact.FORMATS.get(dtype)
        return form.nan if form is not None and exact.is_nan(form, value) else value
    if op is AtomicOp.COMPARE_EXCHANGE:
        return value if old == expected else old
    binary = AS_BINARY[op]
    if dtype.is_float:
        form = exact.FORMATS[dtype]
        result = exact.float_binary(binary, form, old, value)
        return form.nan if exact.is_nan(form, result) else result
    mask = (1 << (dtype.bits or 0)) - 1
    result = exact.integer_binary(binary, dtype, exact.wrap(dtype, old), exact.wrap(dtype, value))
    return int(result) & mask


@pytest.mark.parametrize(
    ("op", "dtype"),
    [(op, dtype) for op in ReduceOp for dtype in SCALAR_TYPES if dtype in op.row.operands],
    ids=lambda value: str(getattr(value, "name", value)).lower(),
)
def test_identity_changes_nothing(op: ReduceOp, dtype: DataType) -> None:
    values = semantics.from_bits(dtype, np.array(edges(dtype), np.uint64))
    join = semantics.reduce_function(op, dtype)
    joined = join(semantics.reduce_identity(op, dtype), values)
    assert (semantics.to_bits(dtype, joined) == semantics.to_bits(dtype, values)).all()
