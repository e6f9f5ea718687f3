"""Constant folding of indices: one constant term at the top of a sum.

`(x + 1) * 4 + 2` becomes `x * 4 + 6`. All arithmetic is modulo 2^32, where addition is associative
and products distribute over sums, so folding is exact.
"""

from __future__ import annotations

from vyre import ir

_WORDS = (ir.DataType.U32, ir.DataType.I32)
_TRUE = ir.Lit(ir.DataType.BOOL, 1)
_MASK = (1 << 32) - 1
_COMPARED = {
    ir.BinOp.LT: int.__lt__,
    ir.BinOp.LE: int.__le__,
    ir.BinOp.GT: int.__gt__,
    ir.BinOp.GE: int.__ge__,
    ir.BinOp.EQ: int.__eq__,
    ir.BinOp.NE: int.__ne__,
}


def folded(node: ir.AnyExpr) -> ir.AnyExpr:
    """Fold the literals of a node whose operands are folded already."""
    match node:
        case ir.Cast(
            ir.Lit(ir.DataType.U32 | ir.DataType.I32, bits),
            ir.DataType.U32 | ir.DataType.I32 as dtype,
        ):
            return ir.Lit(dtype, bits)
        case ir.Binary(op, ir.Lit(dtype) as left, ir.Lit() as right) if (
            op in _COMPARED and dtype in _WORDS
        ):
            return ir.Lit(ir.DataType.BOOL, int(_COMPARED[op](int(left.value), int(right.value))))
        case ir.Binary(ir.BinOp.ADD | ir.BinOp.SUB | ir.BinOp.MUL | ir.BinOp.SHL, _, _):
            return _arithmetic(node)
        case ir.Binary(ir.BinOp.AND, lhs, rhs) if _TRUE in (lhs, rhs):
            return lhs if rhs == _TRUE else rhs
        case ir.Select(ir.Lit(ir.DataType.BOOL, 1), if_true, _):
            return if_true
        case _:
            return node


def _arithmetic(node: ir.Binary) -> ir.AnyExpr:
    left, right = node.left, node.right
    if isinstance(left, ir.Lit) and node.op in (ir.BinOp.ADD, ir.BinOp.MUL):
        left, right = right, left
    if not isinstance(right, ir.Lit) or right.dtype not in _WORDS:
        return node
    bits = right.bits
    if isinstance(left, ir.Lit):
        return ir.Lit(left.dtype, _computed(node.op, left.bits, bits))
    if node.op is ir.BinOp.ADD and not bits:
        return left
    match left:
        case ir.Binary(ir.BinOp.ADD, inner, ir.Lit(dtype, added)) if dtype in _WORDS:
            pass
        case _:
            return node if left is node.left else ir.Binary(node.op, left, right)
    if node.op is ir.BinOp.SHL:
        product = ir.Binary(ir.BinOp.SHL, inner, right)
        return ir.Binary(ir.BinOp.ADD, product, ir.Lit(dtype, _computed(ir.BinOp.SHL, added, bits)))
    if node.op is ir.BinOp.MUL:
        product = ir.Binary(ir.BinOp.MUL, inner, right)
        return ir.Binary(ir.BinOp.ADD, product, ir.Lit(dtype, _computed(ir.BinOp.MUL, added, bits)))
    if node.op is ir.BinOp.SUB and bits > added:
        return node
    total = _computed(node.op, added, bits)
    return ir.Binary(ir.BinOp.ADD, inner, ir.Lit(dtype, total)) if total else inner


def _computed(op: ir.BinOp, left: int, right: int) -> int:
    if op is ir.BinOp.ADD:
        return (left + right) & _MASK
    if op is ir.BinOp.SUB:
        return (left - right) & _MASK
    return (left * right if op is ir.BinOp.MUL else left << (right & 31)) & _MASK


__all__ = ["folded"]
