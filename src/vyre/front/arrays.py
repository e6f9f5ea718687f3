"""Elements of arrays: indices, axes, stores and atomics.

An array of several axes is one buffer in row-major order, and its extents are in a second, small
one named `x.shape`. A view with strides has a third one, `x.strides`: the position of the first
element, then the distance along each axis. An index outside of its axis counts as out of bounds,
also where the flat index would be inside: what nothing proves to be inside is checked.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from vyre import ir
from vyre.diagnostics.codes import front as codes
from vyre.front.advice import element_of
from vyre.front.context import Context
from vyre.front.index_values import natural
from vyre.front.type_unification import as_scalar, as_type
from vyre.front.values import (
    Array,
    Constant,
    Scalar,
    Several,
    Shape,
    Steps,
    Value,
    describe,
)
from vyre.ir.buffer import NO_ELEMENT
from vyre.semantics.atomics import load_of

ATOMICS = {op.row.spelling: op for op in ir.AtomicOp}
LOAD, STORE = "atomic_load", "atomic_store"
METHODS = (*ATOMICS, LOAD, STORE)
"""The methods of arrays."""


def index_nodes(node: ast.expr) -> list[ast.expr]:
    """The indices in `x[…]`, one per axis."""
    return list(node.elts) if isinstance(node, ast.Tuple) else [node]


def refuse_rows(ctx: Context, node: ast.AST, row: ast.Subscript) -> None:
    """Refuse a row of an array, `x[i]` in `x[i][0]` or `len(x[i])`, and say what to write."""
    if not isinstance(row.value, ast.Name):
        return
    array = ctx.expr(row.value)
    given = index_nodes(row.slice)
    if not isinstance(array, Array) or len(given) >= array.rank:
        return
    example = f"{array.name}.shape[{len(given)}]"
    if isinstance(node, ast.Subscript):
        indices = map(ast.unparse, (*given, *index_nodes(node.slice)))
        example = f"{array.name}[{', '.join(indices)}]"
    found, rank = len(given), array.rank
    raise ctx.error(node, codes.RANK, name=array.name, rank=rank, found=found, example=example)


def flat_index(
    ctx: Context, node: ast.AST, array: Array, nodes: Sequence[ast.expr], values: Sequence[Value]
) -> ir.AnyExpr:
    """The position of an element in its buffer."""
    return position(ctx, array, axis_indices(ctx, node, array, nodes, values))


def axis_indices(
    ctx: Context, node: ast.AST, array: Array, nodes: Sequence[ast.expr], values: Sequence[Value]
) -> list[Scalar]:
    """The index along each axis, checked to be integers, one per axis."""
    if len(values) != array.rank:
        raise ctx.error(
            node,
            codes.RANK,
            name=array.name,
            rank=array.rank,
            found=len(values),
            example=element_of(array),
        )
    along = enumerate(zip(nodes, values, strict=True))
    return [_one_index(ctx, n, array, axis, v) for axis, (n, v) in along]


def position(ctx: Context, array: Array, indices: Sequence[Scalar]) -> ir.AnyExpr:
    """The position of the element with these indices in its buffer."""
    if array.rank == 1 and array.steps is None:
        return indices[0].expr
    return _position(ctx, array, indices)


def _one_index(ctx: Context, node: ast.expr, array: Array, axis: int, value: Value) -> Scalar:
    if isinstance(value, Constant):
        found = value.value
        if isinstance(found, int) and not isinstance(found, bool) and found >= 0:
            return as_type(ctx, node, value, ir.DataType.U32, "an index")
        if isinstance(found, int) and not isinstance(found, bool):
            name, index = array.name, -found
            extent = f"len({name})" if axis == 0 else f"{name}.shape[{axis}]"
            where = ", ".join([":"] * axis + [str(found)])
            raise ctx.error(
                node, codes.NEGATIVE_INDEX, name=name, where=where, extent=extent, index=index
            )
    index = as_scalar(ctx, node, value)
    if not index.dtype.is_integer:
        raise ctx.error(
            node, codes.INDEX_TYPE, name=array.name, found=index.dtype, text=ast.unparse(node)
        )
    return index


def _position(ctx: Context, array: Array, indices: Sequence[Scalar]) -> ir.AnyExpr:
    inside: ir.AnyExpr | None = None
    along: list[ir.AnyExpr] = []
    for index, extent in zip(indices, array.shape, strict=True):
        here, check = _along_axis(ctx, ctx.hold(index, "i"), extent)
        along.append(here)
        if check is not None:
            inside = check if inside is None else ir.Binary(ir.BinOp.AND, inside, check)
    flat = _row_major(array, along) if array.steps is None else _stepped(array.steps, along)
    return flat if inside is None else ir.Select(inside, flat, ir.Expr.u32(NO_ELEMENT))


def _row_major(array: Array, along: Sequence[ir.AnyExpr]) -> ir.AnyExpr:
    flat = along[0]
    for index, extent in zip(along[1:], array.shape[1:], strict=True):
        flat = ir.Binary(ir.BinOp.ADD, ir.Binary(ir.BinOp.MUL, flat, extent), index)
    return flat


def _stepped(steps: Steps, along: Sequence[ir.AnyExpr]) -> ir.AnyExpr:
    # Arithmetic wraps, so that a step backwards is a large unsigned number.
    flat = steps.start
    for index, step in zip(along, steps.along, strict=True):
        moved = index if step is None else ir.Binary(ir.BinOp.MUL, index, step)
        flat = ir.Binary(ir.BinOp.ADD, flat, moved)
    return flat


def _along_axis(
    ctx: Context, index: Scalar, extent: ir.AnyExpr
) -> tuple[ir.AnyExpr, ir.AnyExpr | None]:
    """An index as `u32`, and what must be checked of it."""
    bits = index.dtype.bits or 0
    expr = index.expr if index.dtype is ir.DataType.U32 else ir.Cast(index.expr, ir.DataType.U32)
    if bits > 32:
        wide = ir.Cast(extent, ir.DataType.U64)
        whole = (
            index.expr if index.dtype is ir.DataType.U64 else ir.Cast(index.expr, ir.DataType.U64)
        )
        return expr, ir.Binary(ir.BinOp.LT, whole, wide)
    # A negative index is a large unsigned one, so this one comparison is enough.
    if ctx.facts.proves_less(expr, extent):
        return expr, None
    return expr, ir.Binary(ir.BinOp.LT, expr, extent)


def load(ctx: Context, node: ast.Subscript, array: Array) -> Scalar:
    """The value of `x[i]`."""
    nodes = index_nodes(node.slice)
    values = ctx.in_order(nodes)
    index = flat_index(ctx, node, array, nodes, values)
    return Scalar(ir.Load(array.name, index), array.dtype)


def store(ctx: Context, node: ast.AST, array: Array, index: ir.AnyExpr, value: Scalar) -> None:
    """`x[i] = value`."""
    if not array.writable:
        raise ctx.error(node, codes.READ_ONLY, name=array.name)
    ctx.emit(ir.Store(array.name, index, value.expr))


def atomic(ctx: Context, node: ast.Call, array: Array, name: str) -> Scalar:
    """`x.atomic_add(i, value)` and its kin; gives the old value.

    A store is an exchange whose result is unused, and a load adds what changes nothing.
    """
    op = {LOAD: ir.AtomicOp.ADD, STORE: ir.AtomicOp.EXCHANGE}.get(name) or ATOMICS[name]
    wanted = {LOAD: 1, "atomic_compare_exchange": 3}.get(name, 2)
    if len(node.args) != wanted or node.keywords:
        form = {1: "(i)", 2: "(i, value)", 3: "(i, expected, value)"}[wanted]
        problem, form = f"got {len(node.args)} arguments", f"{array.name}.{name}{form}"
        raise ctx.error(node, codes.CALL, name=name, problem=problem, form=form)
    if not array.writable:
        raise ctx.error(node, codes.READ_ONLY, name=array.name)
    if array.dtype not in op.row.operands:
        raise ctx.error(
            node,
            codes.ATOMIC_TYPE,
            op=name,
            found=array.dtype,
            known=", ".join(sorted(map(str, op.row.operands))),
        )
    nodes = index_nodes(node.args[0])
    values = ctx.in_order([*nodes, *node.args[1:]])
    index = flat_index(ctx, node, array, nodes, values[: len(nodes)])
    operands = [
        as_type(ctx, n, v, array.dtype, f"the operand of {name}").expr
        for n, v in zip(node.args[1:], values[len(nodes) :], strict=True)
    ]
    if name == LOAD:
        return Scalar(load_of(array.name, index, array.dtype), array.dtype)
    expected = operands[0] if wanted == 3 else None
    made = ir.Atomic(op, array.name, index, operands[-1], expected, ir.MemoryOrdering.RELAXED)
    return Scalar(made, array.dtype)


def size(array: Array) -> Scalar:
    """`x.size`: how many elements an array has."""
    if array.steps is None:
        return natural(ir.BufLen(array.name))
    total = array.shape[0]
    for one in array.shape[1:]:
        total = ir.Binary(ir.BinOp.MUL, total, one)
    return natural(total)


def extents(value: Value) -> Value:
    """`x.shape` as the tuple that it is, also inside of tuples; other values as they are."""
    if isinstance(value, Shape):
        return Several(tuple(natural(one) for one in value.array.shape))
    if isinstance(value, Several) and any(isinstance(one, (Shape, Several)) for one in value.items):
        return Several(tuple(map(extents, value.items)), value.is_table, value.of_bytes)
    return value


def extent(ctx: Context, node: ast.AST, array: Array, axis: Value) -> Scalar:
    """`x.shape[axis]`."""
    number = axis.value if isinstance(axis, Constant) else None
    if not isinstance(number, int) or isinstance(number, bool):
        raise ctx.error(node, codes.AXIS, name=array.name, found=describe(axis), rank=array.rank)
    if not -array.rank <= number < array.rank:
        raise ctx.error(node, codes.AXIS, name=array.name, found=number, rank=array.rank)
    return natural(array.shape[number])
