"""Arithmetic on literals in indices: what is added to an index ends up as one literal at its top.

All of it is arithmetic of 32 bits that wraps around, in which sums may be taken in any order and
products distributed over them.
"""

from __future__ import annotations

from vyre.ir import AnyExpr, Binary, BinOp, Cast, DataType, Lit, Select

_WORDS = (DataType.U32, DataType.I32)
_TRUE = Lit(DataType.BOOL, 1)
_MASK = (1 << 32) - 1
_COMPARED = {
    BinOp.LT: int.__lt__,
    BinOp.LE: int.__le__,
    BinOp.GT: int.__gt__,
    BinOp.GE: int.__ge__,
    BinOp.EQ: int.__eq__,
    BinOp.NE: int.__ne__,
}


def folded(node: AnyExpr) -> AnyExpr:
    """The node, whose operands are folded already, with its literals put together."""
    match node:
        case Cast(Lit(DataType.U32 | DataType.I32, bits), DataType.U32 | DataType.I32 as dtype):
            return Lit(dtype, bits)
        case Binary(op, Lit(dtype) as left, Lit() as right) if op in _COMPARED and dtype in _WORDS:
            return Lit(DataType.BOOL, int(_COMPARED[op](int(left.value), int(right.value))))
        case Binary(BinOp.ADD | BinOp.SUB | BinOp.MUL | BinOp.SHL, _, _):
            return _arithmetic(node)
        case Binary(BinOp.AND, one, other) if _TRUE in (one, other):
            return one if other == _TRUE else other
        case Select(Lit(DataType.BOOL, 1), one, _):
            return one
        case _:
            return node


def _arithmetic(node: Binary) -> AnyExpr:
    left, right = node.left, node.right
    if isinstance(left, Lit) and node.op in (BinOp.ADD, BinOp.MUL):
        left, right = right, left
    if not isinstance(right, Lit) or right.dtype not in _WORDS:
        return node
    bits = right.bits
    if isinstance(left, Lit):
        return Lit(left.dtype, _computed(node.op, left.bits, bits))
    if node.op is BinOp.ADD and not bits:
        return left
    match left:
        case Binary(BinOp.ADD, inner, Lit(dtype, added)) if dtype in _WORDS:
            pass
        case _:
            return node if left is node.left else Binary(node.op, left, right)
    if node.op is BinOp.SHL:
        product = Binary(BinOp.SHL, inner, right)
        return Binary(BinOp.ADD, product, Lit(dtype, _computed(BinOp.SHL, added, bits)))
    if node.op is BinOp.MUL:
        product = Binary(BinOp.MUL, inner, right)
        return Binary(BinOp.ADD, product, Lit(dtype, _computed(BinOp.MUL, added, bits)))
    if node.op is BinOp.SUB and bits > added:
        return node
    total = _computed(node.op, added, bits)
    return Binary(BinOp.ADD, inner, Lit(dtype, total)) if total else inner


def _computed(op: BinOp, left: int, right: int) -> int:
    if op is BinOp.ADD:
        return (left + right) & _MASK
    if op is BinOp.SUB:
        return (left - right) & _MASK
    return (left * right if op is BinOp.MUL else left << (right & 31)) & _MASK


__all__ = ["folded"]
