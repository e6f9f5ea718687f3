"""By how much an expression rises when something in it does."""

from __future__ import annotations

from vyre.ir import AnyExpr, Binary, BinOp, Lit
from vyre.ir.walk import walk_expr

WORD = 1 << 32


def coefficient(expr: AnyExpr, of: AnyExpr) -> int | None:
    """The number that `of` is multiplied with in a `u32` sum, modulo 2^32; None if there is none.

    Where sums and products wrap, so does this: the expression is `coefficient * of + rest` modulo
    2^32, whatever the values are.
    """
    if expr == of:
        return 1
    if not any(node == of for node in walk_expr(expr)):
        return 0
    match expr:
        case Binary(BinOp.ADD | BinOp.SUB as op, left, right):
            a, b = coefficient(left, of), coefficient(right, of)
            if a is None or b is None:
                return None
            return (a + b if op is BinOp.ADD else a - b) % WORD
        case Binary(BinOp.MUL, left, Lit() as factor) | Binary(BinOp.MUL, Lit() as factor, left):
            inner = coefficient(left, of)
            return None if inner is None else inner * factor.bits % WORD
        case Binary(BinOp.SHL, left, Lit() as amount):
            inner = coefficient(left, of)
            return None if inner is None else (inner << (amount.bits & 31)) % WORD
        case _:
            return None
