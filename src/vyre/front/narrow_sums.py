"""Sums over many small numbers, in a variable that a literal began: `total += text[j]` in a loop.

The variable takes the type of what it meets, and a sum of bytes does not fit into a byte. It is
refused with what to write, unless the type is one that a call decides.
"""

from __future__ import annotations

import ast

from vyre.diagnostics.codes import front as codes
from vyre.front.ast_nodes import parts
from vyre.front.context import Context, Variable
from vyre.front.scalars import scalar_name
from vyre.front.unsigned_signs import is_generic
from vyre.front.values import Scalar, Value

_SYMBOLS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}


def refuse_narrow_sum(
    ctx: Context, node: ast.stmt, name: ast.Name, op: ast.operator, added: Value, text: ast.expr
) -> None:
    """Refuse `name op= added` in a loop, if that made a name that a literal began so narrow."""
    variable = ctx.frame.names.get(name.id)
    if type(op) not in _SYMBOLS or not isinstance(added, Scalar) or not _is_in_loop(ctx):
        return
    dtype = added.dtype
    if not dtype.is_integer or (dtype.bits or 0) > 16 or is_generic(ctx, dtype):
        return
    if not isinstance(variable, Variable) or variable.dtype is not dtype:
        return
    first = _literal_that_began(ctx, name.id)
    summed = node.value if isinstance(node, ast.Assign) else node
    if first is None or ctx.reasons.get(variable.key) != ast.unparse(summed):
        return
    wide = "vy.i32" if dtype.is_signed else "vy.u32"
    low, high = dtype.integer_range
    statement = f"{name.id} {_SYMBOLS[type(op)]}= {wide}({ast.unparse(text)})"
    raise ctx.error(
        node,
        codes.NARROW_SUM,
        name=name.id,
        dtype=scalar_name(dtype),
        text=ast.unparse(text),
        low=low,
        high=high,
        wide=wide,
        first=first,
        statement=statement,
    )


def sum_onto(node: ast.Assign) -> tuple[ast.Name, ast.operator, ast.expr] | None:
    """The parts of `total = total + x`, which is a sum as `total += x` is."""
    match node:
        case ast.Assign([ast.Name(target) as name], ast.BinOp(ast.Name(left), op, right)):
            return (name, op, right) if left == target else None
        case ast.Assign([ast.Name(target) as name], ast.BinOp(left, op, ast.Name(right))):
            is_sum = right == target and not isinstance(op, ast.Sub)
            return (name, op, left) if is_sum else None
        case _:
            return None


def _is_in_loop(ctx: Context) -> bool:
    return any(frame.loops for frame in ctx.frames)


def _literal_that_began(ctx: Context, name: str) -> str | None:
    """The literal that a name is first assigned, as the code writes it."""
    for statement in ctx.frame.source.tree.body:
        for node in parts(statement):
            match node:
                case ast.Assign([ast.Name(target)], value) if target == name:
                    is_literal = isinstance(value, ast.Constant)
                    return ast.unparse(value) if is_literal else None
                case _:
                    pass
    return None
