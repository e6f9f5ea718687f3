"""Opcodes on literals: what constant folding may put in their place.

A fold gives the literal that the reference would compute, or None where the operands do not fit
the opcode. Results of approximate opcodes are nearly correctly rounded, so a folded one is within
the bound of every target.
"""

from __future__ import annotations

import numpy as np

from vyre import ir
from vyre.ir.opcodes import Result
from vyre.ir.types import ARITHMETIC_FLOATS
from vyre.semantics import casts, fused, table
from vyre.semantics.representation import Array, literal, to_bits, value_dtype


def _literal(dtype: ir.DataType, value: Array) -> ir.Lit:
    if dtype.is_float:
        return ir.Lit(dtype, int(to_bits(dtype, value)[0]))
    # The same bits as `to_bits` gives, without its detours: folding is on the optimiser's path.
    return ir.Lit(dtype, int.from_bytes(value.tobytes(), "little"))


def _array(value: ir.Lit) -> Array:
    dtype = value.dtype
    if dtype is ir.DataType.BF16:
        return literal(dtype, value.bits)
    return np.frombuffer(value.bits.to_bytes((dtype.bits or 0) // 8, "little"), value_dtype(dtype))


def fold_unary(op: ir.UnOp, operand: ir.Lit) -> ir.Lit | None:
    """An opcode of one operand on a literal."""
    dtype = operand.dtype
    if dtype not in op.row.operands:
        return None
    with np.errstate(all="ignore"):
        value = table.unary_function(op, dtype)(_array(operand))
    return _literal(ir.DataType.BOOL if op.row.result is Result.BOOL else dtype, value)


def fold_binary(op: ir.BinOp, left: ir.Lit, right: ir.Lit) -> ir.Lit | None:
    """An opcode of two operands on literals."""
    dtype = left.dtype
    if dtype is not right.dtype or dtype not in op.row.operands:
        return None
    with np.errstate(all="ignore"):
        value = table.binary_function(op, dtype)(_array(left), _array(right))
    return _literal(ir.DataType.BOOL if op.row.result is Result.BOOL else dtype, value)


def fold_fma(a: ir.Lit, b: ir.Lit, c: ir.Lit) -> ir.Lit | None:
    """a * b + c, rounded once."""
    dtype = a.dtype
    if dtype not in ARITHMETIC_FLOATS or b.dtype is not dtype or c.dtype is not dtype:
        return None
    with np.errstate(all="ignore"):
        return _literal(dtype, fused.fma(_array(a), _array(b), _array(c)))


def fold_select(cond: ir.Lit, if_true: ir.Lit, if_false: ir.Lit) -> ir.Lit | None:
    """One of two literals."""
    if not cond.dtype.is_bool or if_true.dtype is not if_false.dtype:
        return None
    return if_true if cond.bits else if_false


def fold_cast(value: ir.Lit, target: ir.DataType) -> ir.Lit | None:
    """A literal converted by value."""
    if not target.is_scalar:
        return None
    if value.dtype is target:
        return value
    with np.errstate(all="ignore"):
        return _literal(target, casts.cast_function(value.dtype, target)(_array(value)))


def fold_bitcast(value: ir.Lit, target: ir.DataType) -> ir.Lit | None:
    """The bits of a literal as another type."""
    source = value.dtype
    numeric = all(t.is_integer or t.is_float for t in (source, target))
    return ir.Lit(target, value.bits) if numeric and source.bits == target.bits else None
