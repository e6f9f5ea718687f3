"""Arrays that a kernel declares: shared by a workgroup, or of each invocation's own."""

from __future__ import annotations

import ast
import math

from vyre.diagnostics.codes import front as codes
from vyre.front.context import Context
from vyre.front.intrinsic_calls import misplaced, type_argument
from vyre.front.parameters import MAX_RANK
from vyre.front.values import Array, Constant, describe
from vyre.ir import BufferDecl, DataType, Expr


def declare_memory(ctx: Context, node: ast.Assign, call: ast.Call, *, is_shared: bool) -> None:
    """`t = vy.shared(vy.f32, 16, 16)` at the top of a kernel, or `(16, 16)` as numpy has it."""
    name = ast.unparse(call.func)
    target = node.targets[0]
    at_top = ctx.frame.is_kernel and len(ctx.bodies) == 1
    if not at_top or len(node.targets) != 1 or not isinstance(target, ast.Name):
        raise misplaced(ctx, node, call, target)
    if target.id in ctx.frame.reassigned or target.id in ctx.frame.names:
        raise ctx.error(node, codes.ASSIGN_ARRAY, name=target.id)
    extents = call.args[1:]
    if len(extents) == 1 and isinstance(extents[0], ast.Tuple):
        extents = extents[0].elts
    if call.keywords or not 1 <= len(extents) <= MAX_RANK:
        form = f"{name}(vy.f32, 256)"
        problem = f"got {len(call.args) + len(call.keywords)} arguments"
        raise ctx.error(call, codes.CALL, name=name, problem=problem, form=form)
    dtype = _element(ctx, call, name)
    shape = [_extent(ctx, one, name) for one in extents]
    buffer = ctx.fresh(target.id)
    make = BufferDecl.workgroup if is_shared else BufferDecl.local
    ctx.buffers.append(make(buffer, math.prod(shape), dtype))
    known = tuple(Expr.u32(extent) for extent in shape)
    ctx.frame.names[target.id] = Array(buffer, dtype, len(shape), known)


def _element(ctx: Context, call: ast.Call, name: str) -> DataType:
    """The type of the elements, which stands before the lengths."""
    first, last = call.args[0], call.args[-1]
    if isinstance(first, ast.Constant | ast.Tuple) and not isinstance(last, ast.Constant):
        problem = "got the length before the type"
        form = f"{name}({ast.unparse(last)}, {ast.unparse(first)})"
        raise ctx.error(call, codes.CALL, name=name, problem=problem, form=form)
    return type_argument(ctx, first)


def _extent(ctx: Context, node: ast.expr, name: str) -> int:
    value = ctx.expr(node)
    found = value.value if isinstance(value, Constant) else None
    if isinstance(found, int) and not isinstance(found, bool) and 0 < found < 1 << 32:
        return found
    raise ctx.error(node, codes.MEMORY_SIZE, name=name, found=describe(value))
