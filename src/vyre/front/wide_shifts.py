"""Shifts by a constant that is negative, or no less than the width: `text[i] << 8` of a byte.

Opcodes take shift amounts modulo the width, so `text[i] << 8` of a `u8` would be `text[i]`.
Python's integers have no width, and lose nothing. Such a shift is refused, with what to write.
"""

from __future__ import annotations

import ast

from vyre.diagnostics.codes import front as codes
from vyre.front import advice
from vyre.front.context import Context
from vyre.front.values import Constant, Scalar, Value
from vyre.ir import DataType

_WIDEST = 64


def refuse_negative_shift(
    ctx: Context, node: ast.AST, symbol: str, amount: Value, sides: tuple[ast.AST, ast.AST]
) -> None:
    """Refuse a constant amount below zero, as Python does."""
    by = amount.value if isinstance(amount, Constant) else 0
    if isinstance(by, int) and by < 0:
        other = ">>" if symbol == "<<" else "<<"
        fix = f"{advice.operand(sides[0])} {other} {-by}"
        raise ctx.error(node, codes.NEGATIVE_SHIFT, symbol=symbol, amount=by, fix=fix)


def refuse_wide_shift(
    ctx: Context, node: ast.AST, symbol: str, shifted: Scalar, amount: Value, left: ast.AST
) -> None:
    """Note a problem if a constant amount is no less than the width.

    It is noted, not raised: the type of a variable that a literal began may still become wider.
    """
    by = amount.value if isinstance(amount, Constant) else 0
    dtype = shifted.dtype
    if not isinstance(by, int) or not dtype.is_integer or by < (dtype.bits or 0):
        return
    problem = ctx.error(
        node,
        codes.WIDE_SHIFT,
        symbol=symbol,
        amount=by,
        dtype=shifted.shown,
        bits=dtype.bits,
        fix=_converted(symbol, dtype, by, left),
    )
    ctx.problems += problem.diagnostics


def _converted(symbol: str, dtype: DataType, by: int, left: ast.AST) -> str:
    if by >= _WIDEST:
        return f"shift by less than {_WIDEST}, which is the width of the widest type"
    wide = f"vy.{'i' if dtype.is_signed else 'u'}{32 if by < 32 else _WIDEST}"
    return f"convert it first: {wide}({ast.unparse(left)}) {symbol} {by}"
