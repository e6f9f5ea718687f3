"""What one atomic leaves in memory, and how reductions join two values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from vyre.ir import AtomicOp, BinOp, DataType, ReduceOp
from vyre.semantics.representation import Array, value_dtype
from vyre.semantics.table import binary_function

_ATOMIC_AS_BINARY = {
    AtomicOp.ADD: BinOp.ADD,
    AtomicOp.SUB: BinOp.SUB,
    AtomicOp.AND: BinOp.AND,
    AtomicOp.OR: BinOp.OR,
    AtomicOp.XOR: BinOp.XOR,
    AtomicOp.MIN: BinOp.MIN,
    AtomicOp.MAX: BinOp.MAX,
}
_REDUCE_AS_BINARY = {
    ReduceOp.ADD: BinOp.ADD,
    ReduceOp.MUL: BinOp.MUL,
    ReduceOp.MIN: BinOp.MIN,
    ReduceOp.MAX: BinOp.MAX,
    ReduceOp.AND: BinOp.AND,
    ReduceOp.OR: BinOp.OR,
    ReduceOp.XOR: BinOp.XOR,
}


def atomic(
    op: AtomicOp, dtype: DataType, old: Array, value: Array, expected: Array | None = None
) -> Array:
    """What memory holds after one atomic on each entry; the atomic itself gives `old`."""
    if op is AtomicOp.EXCHANGE:
        return np.broadcast_to(value, np.broadcast_shapes(old.shape, value.shape)).copy()
    if op is AtomicOp.COMPARE_EXCHANGE:
        if expected is None:
            raise ValueError("a compare-exchange needs the expected value")
        return np.where(old == expected, value, old)
    with np.errstate(all="ignore"):
        return atomic_function(op, dtype)(old, value)


def atomic_function(op: AtomicOp, dtype: DataType) -> Callable[[Array, Array], Array]:
    """What joins the old value and the operand, for all but the exchanges."""
    return binary_function(_ATOMIC_AS_BINARY[op], dtype)


def reduce_function(op: ReduceOp, dtype: DataType) -> Callable[[Array, Array], Array]:
    """What joins two values of a reduction."""
    return binary_function(_REDUCE_AS_BINARY[op], dtype)


def reduce_identity(op: ReduceOp, dtype: DataType) -> Array:
    """The value that changes nothing when joined, as one entry."""
    kind = value_dtype(dtype)
    if op in (ReduceOp.OR, ReduceOp.XOR):
        return np.zeros(1, kind)
    if op is ReduceOp.ADD:
        # -0 + +0 is +0, so only -0 leaves every float as it is.
        return np.full(1, -0.0 if dtype.is_float else 0, kind)
    if op is ReduceOp.MUL:
        return np.ones(1, kind)
    if op is ReduceOp.AND:
        return np.invert(np.zeros(1, kind))
    if dtype.is_float:
        # A NaN is ignored by min and max, whatever the other operand is.
        return np.full(1, np.nan, kind)
    low, high = dtype.integer_range
    return np.full(1, high if op is ReduceOp.MIN else low, kind)
