"""Copies between device and shared memory that a workgroup starts together and waits for later."""

from __future__ import annotations

import ast

from vyre import ir
from vyre.diagnostics.codes import front as codes
from vyre.front.context import Context
from vyre.front.type_unification import as_type
from vyre.front.values import NOTHING, Array, Constant, Scalar, Value, describe

TAG = "copy"
"""The tag of copies that name none."""


def start(ctx: Context, node: ast.Call, kind: type[ir.AsyncLoad] | type[ir.AsyncStore]) -> Value:
    """`vy.async_load(tile, 0, x, start, count, tag="tile")` and its opposite."""
    name = ast.unparse(node.func)
    if len(node.args) != 5:
        raise _wrong(ctx, node, f"got {len(node.args)} arguments by position")
    values = ctx.in_order(node.args)
    destination = _whole(ctx, node, node.args[0], values[0], written=True)
    source = _whole(ctx, node, node.args[2], values[2])
    if not destination.writable:
        raise ctx.error(node.args[0], codes.READ_ONLY, name=destination.name)
    if destination.dtype is not source.dtype:
        fix = "copy between arrays of one type"
        found = f"{destination.dtype} and {source.dtype}"
        raise ctx.error(node, codes.OPERAND, op=name, found=found, fix=fix)
    into, at, count = (_number(ctx, node.args[k], values[k]) for k in (1, 3, 4))
    ctx.emit(kind(_tag(ctx, node), destination.name, into, source.name, at, count))
    return NOTHING


def wait(ctx: Context, node: ast.Call) -> Value:
    """`vy.async_wait(tag="tile")`."""
    if node.args:
        raise _wrong(ctx, node, f"got {len(node.args)} arguments by position")
    ctx.emit(ir.AsyncWait(_tag(ctx, node)))
    return NOTHING


def _whole(
    ctx: Context, call: ast.Call, node: ast.expr, value: Value, *, written: bool = False
) -> Array:
    if not isinstance(value, Array):
        raise _wrong(ctx, call, f"cannot copy {describe(value)}")
    if value.steps is not None:
        name, problem = ast.unparse(call.func), f"cannot copy {value.name!r}, which is a view"
        form = f"where you call the kernel: whole = np.ascontiguousarray({value.name}), pass it"
        if written:
            form += f", and after the call {value.name}[...] = whole"
        raise ctx.error(node, codes.CALL, name=name, problem=problem, form=form)
    return value


def _number(ctx: Context, node: ast.expr, value: Value) -> ir.AnyExpr:
    if isinstance(value, Scalar) and value.dtype.is_integer and not value.soft:
        return value.expr
    return as_type(ctx, node, value, ir.DataType.U32, "a position of a copy").expr


def _tag(ctx: Context, node: ast.Call) -> str:
    tag = TAG
    for keyword in node.keywords:
        value = ctx.expr(keyword.value)
        found = value.value if isinstance(value, Constant) else None
        if keyword.arg != "tag" or not isinstance(found, str):
            raise _wrong(ctx, node, f"got {keyword.arg}={ast.unparse(keyword.value)}")
        tag = found
    return tag


def _wrong(ctx: Context, node: ast.Call, problem: str) -> Exception:
    name = ast.unparse(node.func)
    form = f'{name}(into, into_start, source, source_start, count, tag="tile")'
    if name.endswith("wait"):
        form = f'{name}(tag="tile")'
    return ctx.error(node, codes.CALL, name=name, problem=problem, form=form)
