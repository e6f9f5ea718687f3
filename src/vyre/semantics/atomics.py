"""What one atomic leaves in memory, and how reductions join two values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from vyre import ir
from vyre.semantics.representation import Array, value_dtype
from vyre.semantics.table import binary_function

_ATOMIC_AS_BINARY = {
    ir.AtomicOp.ADD: ir.BinOp.ADD,
    ir.AtomicOp.SUB: ir.BinOp.SUB,
    ir.AtomicOp.AND: ir.BinOp.AND,
    ir.AtomicOp.OR: ir.BinOp.OR,
    ir.AtomicOp.XOR: ir.BinOp.XOR,
    ir.AtomicOp.MIN: ir.BinOp.MIN,
    ir.AtomicOp.MAX: ir.BinOp.MAX,
}
_REDUCE_AS_BINARY = {
    ir.ReduceOp.ADD: ir.BinOp.ADD,
    ir.ReduceOp.MUL: ir.BinOp.MUL,
    ir.ReduceOp.MIN: ir.BinOp.MIN,
    ir.ReduceOp.MAX: ir.BinOp.MAX,
    ir.ReduceOp.AND: ir.BinOp.AND,
    ir.ReduceOp.OR: ir.BinOp.OR,
    ir.ReduceOp.XOR: ir.BinOp.XOR,
}


def atomic(
    op: ir.AtomicOp, dtype: ir.DataType, old: Array, value: Array, expected: Array | None = None
) -> Array:
    """What memory holds after one atomic on each entry; the atomic itself gives `old`."""
    if op is ir.AtomicOp.EXCHANGE:
        return np.broadcast_to(value, np.broadcast_shapes(old.shape, value.shape)).copy()
    if op is ir.AtomicOp.COMPARE_EXCHANGE:
        if expected is None:
            raise ValueError("a compare-exchange needs the expected value")
        return np.where(old == expected, value, old)
    with np.errstate(all="ignore"):
        return atomic_function(op, dtype)(old, value)


def atomic_function(op: ir.AtomicOp, dtype: ir.DataType) -> Callable[[Array, Array], Array]:
    """What joins the old value and the operand, for all but the exchanges."""
    return binary_function(_ATOMIC_AS_BINARY[op], dtype)


def load_of(buffer: str, index: ir.AnyExpr, dtype: ir.DataType) -> ir.Atomic:
    """The atomic that only loads: it joins an element with what changes none."""
    if dtype.is_float:
        op, none = ir.AtomicOp.ADD, ir.Expr.lit(-0.0, dtype)
    else:
        op, none = ir.AtomicOp.OR, ir.Expr.lit(0, dtype)
    return ir.Atomic(op, buffer, index, none, None, ir.MemoryOrdering.RELAXED)


def is_atomic_load(expr: ir.AnyExpr) -> bool:
    """True if the expression is an atomic that only loads, as `load_of` makes it."""
    if not isinstance(expr, ir.Atomic) or not isinstance(expr.value, ir.Lit):
        return False
    return expr == load_of(expr.buffer, expr.index, expr.value.dtype)


def reduce_function(op: ir.ReduceOp, dtype: ir.DataType) -> Callable[[Array, Array], Array]:
    """What joins two values of a reduction."""
    return binary_function(_REDUCE_AS_BINARY[op], dtype)


def reduce_identity(op: ir.ReduceOp, dtype: ir.DataType) -> Array:
    """The value that changes nothing when joined, as one entry."""
    kind = value_dtype(dtype)
    if op in (ir.ReduceOp.OR, ir.ReduceOp.XOR):
        return np.zeros(1, kind)
    if op is ir.ReduceOp.ADD:
        # -0 + +0 is +0, so only -0 leaves every float as it is.
        return np.full(1, -0.0 if dtype.is_float else 0, kind)
    if op is ir.ReduceOp.MUL:
        return np.ones(1, kind)
    if op is ir.ReduceOp.AND:
        return np.invert(np.zeros(1, kind))
    if dtype.is_float:
        # A NaN is ignored by min and max, whatever the other operand is.
        return np.full(1, np.nan, kind)
    low, high = dtype.integer_range
    return np.full(1, high if op is ir.ReduceOp.MIN else low, kind)
