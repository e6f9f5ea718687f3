"""The workgroup that a kernel is translated for: its size, the places in it, its barrier."""

from __future__ import annotations

import math

from vyre import ir
from vyre.front.context import Context


def invocations(ctx: Context) -> int:
    """The number of invocations in a workgroup."""
    return math.prod(ctx.workgroup)


def lane(ctx: Context) -> ir.AnyExpr:
    """The linear local index, x fastest."""
    made: ir.AnyExpr = ir.Builtin(ir.BuiltinKind.LOCAL_ID, 0)
    width, height, depth = ctx.workgroup
    for axis, (extent, stride) in enumerate(((height, width), (depth, width * height)), 1):
        if extent > 1:
            along = ir.Builtin(ir.BuiltinKind.LOCAL_ID, axis)
            row = ir.Binary(ir.BinOp.MUL, along, ir.Expr.u32(stride))
            made = ir.Binary(ir.BinOp.ADD, made, row)
    return made


def barrier(ctx: Context) -> None:
    """Wait for the workgroup here."""
    ctx.emit(ir.Barrier(ir.MemoryOrdering.SEQ_CST))
