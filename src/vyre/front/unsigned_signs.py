"""Questions about the sign of a number that has none: `u >= 0`, `u < 0`, `abs(u)`, `max(u, 0)`.

They are refused where the zero is written there. Most of them ask about a difference, which has
wrapped around by then. In functions, and for types that a call decides, they are right.
"""

from __future__ import annotations

import ast

from vyre.diagnostics.codes import front as codes
from vyre.front.advice import operand
from vyre.front.context import Context
from vyre.front.scalars import scalar_name
from vyre.front.values import Scalar, Thing, Value
from vyre.ir import DataType

_ANSWERS: dict[type[ast.cmpop], str] = {
    ast.GtE: "this is always true",
    ast.Lt: "this is always false",
}
_MIRRORED: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.LtE: ast.GtE, ast.Gt: ast.Lt}


def refuse_comparison(
    ctx: Context,
    node: ast.AST,
    op: ast.cmpop,
    operands: tuple[Value, Value],
    sides: tuple[ast.AST, ast.AST],
) -> None:
    """Refuse `u >= 0`, `u < 0`, `0 <= u` and `0 > u`."""
    kind: type[ast.cmpop] = type(op)
    value, text, other = operands[0], sides[0], sides[1]
    if _is_zero(text):
        kind, value, text, other = _MIRRORED.get(kind, ast.Eq), operands[1], sides[1], sides[0]
    answer = _ANSWERS.get(kind)
    if answer is None or not _is_zero(other):
        return
    symbol = ">=" if kind is ast.GtE else "<"
    match text:
        case ast.BinOp(left, ast.Sub(), right):
            fix = f"compare what is subtracted: {operand(left)} {symbol} {operand(right)}"
        case _:
            fix = (
                f"leave it out, or compare a signed number: vy.i32({ast.unparse(text)}) {symbol} 0"
            )
    _refuse(ctx, node, value, text, answer, fix)


def refuse_absolute(ctx: Context, node: ast.AST, value: Value, argument: ast.AST) -> None:
    """Refuse `abs(u)`."""
    fix = f"write {ast.unparse(argument)}"
    match argument:
        case ast.BinOp(left, ast.Sub(), right):
            both = f"{ast.unparse(left)}, {ast.unparse(right)}"
            fix = f"subtract the lesser: max({both}) - min({both})"
        case _:
            pass
    _refuse(ctx, node, value, argument, "abs changes nothing", fix)


def refuse_maximum(
    ctx: Context, node: ast.AST, values: tuple[Value, Value], sides: tuple[ast.AST, ast.AST]
) -> None:
    """Refuse `max(u, 0)`."""
    value, argument, other = values[0], sides[0], sides[1]
    if _is_zero(argument):
        value, argument, other = values[1], sides[1], sides[0]
    if not _is_zero(other):
        return
    fix = f"write {ast.unparse(argument)}"
    match argument:
        case ast.BinOp(left, ast.Sub(), right):
            fix = f"write vy.sub_sat({ast.unparse(left)}, {ast.unparse(right)})"
        case _:
            pass
    _refuse(ctx, node, value, argument, "max with 0 changes nothing", fix)


def _refuse(
    ctx: Context, node: ast.AST, value: Value, text: ast.AST, answer: str, fix: str
) -> None:
    if not isinstance(value, Scalar) or value.form is not None or value.soft:
        return
    dtype = value.dtype
    if not dtype.is_integer or dtype.is_signed or is_generic(ctx, dtype):
        return
    shown = ast.unparse(text)
    raise ctx.error(
        node, codes.NEVER_NEGATIVE, text=shown, dtype=scalar_name(dtype), answer=answer, fix=fix
    )


def is_generic(ctx: Context, dtype: DataType) -> bool:
    """Whether a type may be another one in the next call: in a function, or of a generic kernel."""
    types = [found for name, found in ctx.frames[0].names.items() if name.endswith(": generic")]
    return not ctx.frame.is_kernel or Thing(dtype) in types


def _is_zero(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value == 0
