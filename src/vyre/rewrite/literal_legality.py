"""Keeps programs legal when constant propagation turns operands into literals.

The checker refuses division by a literal zero and accesses at a literal index that is out of
bounds. Both have a meaning, so where a rewrite would make one of them, the result that it would
have goes in its place.
"""

from __future__ import annotations

from collections.abc import Mapping

from vyre import ir
from vyre.rewrite.effects import has_effects

Buffers = Mapping[str, ir.BufferDecl]


def zero(dtype: ir.DataType) -> ir.AnyExpr:
    """The value that an access out of bounds gives."""
    if dtype.is_vector:
        assert dtype.element is not None
        return ir.MakeVec(dtype, (ir.Lit(dtype.element, 0),) * dtype.lanes)
    return ir.Lit(dtype, 0)


def is_outside(index: ir.AnyExpr, decl: ir.BufferDecl) -> bool:
    """Whether the index is a literal that no element has."""
    if type(index) is not ir.Lit:
        return False
    value = int(index.value)
    return value < 0 or (decl.count > 0 and value >= decl.count)


def is_zero_division(expr: ir.AnyExpr) -> bool:
    """Whether the expression divides integers by a literal zero."""
    if type(expr) is not ir.Binary or expr.op not in (ir.BinOp.DIV, ir.BinOp.REM):
        return False
    return type(expr.right) is ir.Lit and expr.right.bits == 0 and expr.right.dtype.is_integer


def lawful(new: ir.AnyExpr, old: ir.AnyExpr, buffers: Buffers) -> ir.AnyExpr:
    """`new`, which `old` became when literals were put in; its result where it is refused."""
    match new:
        case ir.Binary(op, left, ir.Lit(dtype)) if is_zero_division(new):
            if has_effects(left):
                assert type(old) is ir.Binary
                return ir.Binary(op, left, old.right)
            ones = (1 << (dtype.bits or 0)) - 1
            return ir.Lit(dtype, ones if op is ir.BinOp.DIV else 0)
        case ir.Load(buffer, index) if is_outside(index, buffers[buffer]):
            return zero(buffers[buffer].value_type)
        case ir.Atomic(_, buffer, index, value, expected) if is_outside(index, buffers[buffer]):
            if has_effects(value) or (expected is not None and has_effects(expected)):
                return old
            return zero(buffers[buffer].element)
        case _:
            return new


def lawful_statement(new: ir.AnyStmt, old: ir.AnyStmt, buffers: Buffers) -> ir.AnyStmt | None:
    """`new`, which `old` became when literals were put in; None when nothing is left of it."""
    if type(new) is ir.Store and is_outside(new.index, buffers[new.buffer]):
        return ir.Eval(new.value) if has_effects(new.value) else None
    if type(new) is ir.AsyncLoad or type(new) is ir.AsyncStore:
        ends = ((new.destination, new.destination_start), (new.source, new.source_start))
        return old if any(is_outside(start, buffers[name]) for name, start in ends) else new
    return new
