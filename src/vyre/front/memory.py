"""Arrays that a kernel or a function declares: of the workgroup, or of each invocation's own.

Each place that declares one has memory of its own, and so has each call of a function that does, as
its statements are put there. The array is zero wherever the statement comes to run. Memory begins
as zeros, so only where the statement runs again, in a loop, there is something to do:

    t = vy.local(vy.u32, 8)      for k in 0..8: t[k] = 0
    t = vy.shared(vy.u32, 100)   barrier; for r in 0..2: t[lane + 64 * r] = 0; barrier

where `lane` is the linear local index. The first barrier is for those that still use the array of
the iteration before, the second one for those that are first to use this one.
"""

from __future__ import annotations

import ast
import math

from vyre import ir
from vyre.diagnostics.codes import front as codes
from vyre.front.context import Context, LoopVariableLeft, Variable
from vyre.front.functions import reassigned_names
from vyre.front.intrinsic_calls import misplaced, type_argument
from vyre.front.parameters import MAX_RANK
from vyre.front.values import Array, Constant, describe
from vyre.front.workgroup import barrier, invocations, lane
from vyre.ir import BufferDecl, DataType, Expr


def declare_memory(ctx: Context, node: ast.Assign, call: ast.Call, *, is_shared: bool) -> None:
    """`t = vy.shared(vy.f32, 16, 16)`, or `(16, 16)` as numpy has it."""
    name = ast.unparse(call.func)
    target = node.targets[0]
    if len(node.targets) != 1 or not isinstance(target, ast.Name):
        raise misplaced(ctx, node, call)
    found = ctx.frame.names.get(target.id)
    if _is_open(found):
        raise _used_after(ctx, node, call, target.id)
    if found is not None or target.id in reassigned_names(ctx.frame.source.tree.body):
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
    if any(loop.repeats for frame in ctx.frames for loop in frame.loops):
        _clear(ctx, buffer, math.prod(shape), dtype, is_shared=is_shared)


def _is_open(found: object) -> bool:
    """Whether a name belongs to a block around, as it is used there."""
    if isinstance(found, LoopVariableLeft):
        found = found.before
    return isinstance(found, Variable) and found.is_open


def _used_after(ctx: Context, node: ast.Assign, call: ast.Call, name: str) -> Exception:
    shown = ast.unparse(call.func)
    problem = "is made under a condition or in a loop, and used outside of it"
    fix = f"write it before the condition or the loop: {name} = {ast.unparse(call)}"
    return ctx.error(node, codes.MEMORY_PLACE, name=shown, problem=problem, fix=fix)


def _clear(ctx: Context, buffer: str, count: int, dtype: DataType, *, is_shared: bool) -> None:
    """Make an array zero again."""
    zero = Expr.lit(False if dtype.is_bool else 0, dtype)
    if not is_shared:
        place = ctx.fresh("k")
        store = ir.Store(buffer, ir.Var(place), zero)
        ctx.emit(ir.Loop(place, Expr.u32(0), Expr.u32(count), (store.at(ctx.spans[-1]),)))
        return
    together = invocations(ctx)
    barrier(ctx)
    if count <= together:
        ctx.emit(ir.Store(buffer, lane(ctx), zero))
    else:
        turn = ctx.fresh("r")
        ahead = ir.Binary(ir.BinOp.MUL, ir.Var(turn), Expr.u32(together))
        place = ir.Binary(ir.BinOp.ADD, lane(ctx), ahead)
        store = ir.Store(buffer, place, zero).at(ctx.spans[-1])
        ctx.emit(ir.Loop(turn, Expr.u32(0), Expr.u32(-(-count // together)), (store,)))
    barrier(ctx)


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
