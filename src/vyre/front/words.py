"""Words of bytes: `text.u32(i)`, the four bytes that begin at any byte offset.

A word is translated to loads of its bytes, `u32(text[i]) | u32(text[i + 1]) << 8 | …`, so that
bounds, races and layouts are those of bytes, in every analysis and on every device. Backends load
the whole word at once where they can.
"""

from __future__ import annotations

import ast

from vyre import ir
from vyre.diagnostics.codes import front as codes
from vyre.front import arrays
from vyre.front.context import Context
from vyre.front.values import Array, Scalar

WORDS = {str(dtype): dtype for dtype in (ir.DataType.U16, ir.DataType.U32, ir.DataType.U64)}
_BYTES = (ir.DataType.U8, ir.DataType.BYTES)


def word(ctx: Context, node: ast.Call, array: Array, name: str) -> Scalar:
    """The value of `x.u32(i)`; of several axes, `x.u32((row, i))` lies along the last one."""
    if len(node.args) != 1 or node.keywords:
        problem, form = f"got {len(node.args)} arguments", f"{array.name}.{name}(i)"
        raise ctx.error(node, codes.CALL, name=name, problem=problem, form=form)
    if array.dtype not in _BYTES:
        raise ctx.error(node, codes.WORD_TYPE, array=array.name, op=name, found=array.dtype)
    nodes = arrays.index_nodes(node.args[0])
    *before, last = arrays.axis_indices(ctx, node, array, nodes, ctx.in_order(nodes))
    held = [ctx.hold(one, "i") for one in before]
    first = ctx.hold(_with_room(last), "i")
    dtype = WORDS[name]
    made: ir.AnyExpr | None = None
    for byte in range((dtype.bits or 0) // 8):
        at = arrays.position(ctx, array, [*held, _further(first, byte)])
        part: ir.AnyExpr = ir.Cast(ir.Load(array.name, at), dtype)
        if byte:
            part = ir.Binary(ir.BinOp.SHL, part, ir.Expr.lit(8 * byte, dtype))
        made = part if made is None else ir.Binary(ir.BinOp.OR, made, part)
    assert made is not None
    return Scalar(made, dtype)


def _with_room(index: Scalar) -> Scalar:
    """An offset in a type whose sums with a few bytes are offsets too."""
    if (index.dtype.bits or 0) >= 32:
        return index
    wide = ir.DataType.I32 if index.dtype.is_signed else ir.DataType.U32
    return Scalar(ir.Cast(index.expr, wide), wide)


def _further(first: Scalar, count: int) -> Scalar:
    """The offset of a later byte: out of bounds where the type of the offset cannot hold it."""
    if not count:
        return first
    # A sum of signed numbers that overflows is negative, so out of bounds; one of unsigned numbers
    # would begin again at the first byte, and is held at the greatest number, which is no element.
    wraps = first.form is not None or first.dtype.is_signed
    op = ir.BinOp.ADD if wraps else ir.BinOp.ADD_SAT
    more = ir.Expr.lit(count, first.dtype)
    return Scalar(ir.Binary(op, first.expr, more), first.dtype, form=first.form)
