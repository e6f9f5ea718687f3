"""Expressions as text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from vyre.ir.expr import (
    AnyExpr,
    Atomic,
    Ballot,
    Binary,
    Bitcast,
    BufLen,
    Builtin,
    Cast,
    Fma,
    Lane,
    Lit,
    Load,
    MakeVec,
    Select,
    Shuffle,
    SubgroupReduce,
    Unary,
    Var,
)
from vyre.ir.opcodes import MemoryOrdering, UnOp
from vyre.ir.types import DataType
from vyre.text.literals import literal_text
from vyre.text.operators import INFIX, LEFT_NEEDS_PARENS, RIGHT_NEEDS_PARENS
from vyre.text.words import BUILTINS, name_text

_BUILTIN_TEXT = {value: word for word, value in BUILTINS.items()}


def expr_text(expr: AnyExpr) -> str:
    """An expression as it is written in programs."""
    return _PRINTERS[type(expr)](expr)


def index_text(expr: AnyExpr) -> str:
    """An expression where an index stands: a `u32` literal needs no type there."""
    if type(expr) is Lit and expr.dtype is DataType.U32:
        return str(expr.bits)
    return _PRINTERS[type(expr)](expr)


def _lit(expr: Lit) -> str:
    return literal_text(expr.dtype, expr.bits)


def _var(expr: Var) -> str:
    return name_text(expr.name)


def _load(expr: Load) -> str:
    return f"{name_text(expr.buffer)}[{index_text(expr.index)}]"


def _buf_len(expr: BufLen) -> str:
    return f"len({name_text(expr.buffer)})"


def _builtin(expr: Builtin) -> str:
    return _BUILTIN_TEXT[expr.kind, expr.axis]


def _unary(expr: Unary) -> str:
    operand = expr.operand
    text = expr_text(operand)
    op = expr.op
    if op is UnOp.NEG:
        # A minus before a number belongs to the number.
        apart = type(operand) in (Lit, Binary) or (type(operand) is Unary and operand.op is op)
    elif op is UnOp.NOT:
        apart = type(operand) is Binary
    else:
        return f"{op.row.spelling}({text})"
    if apart and not (type(operand) is Binary and operand.op not in INFIX):
        return f"{op.row.spelling}({text})"
    return f"{op.row.spelling}{text}"


def _binary(expr: Binary) -> str:
    op, left, right = expr.op, expr.left, expr.right
    left_text = _PRINTERS[type(left)](left)
    right_text = _PRINTERS[type(right)](right)
    if op not in INFIX:
        return f"{op.row.spelling}({left_text}, {right_text})"
    if type(left) is Binary and (op, left.op) in LEFT_NEEDS_PARENS:
        left_text = f"({left_text})"
    if type(right) is Binary and (op, right.op) in RIGHT_NEEDS_PARENS:
        right_text = f"({right_text})"
    return f"{left_text} {op.row.spelling} {right_text}"


def _call(name: str, *operands: AnyExpr) -> str:
    return f"{name}({', '.join(map(expr_text, operands))})"


def _cast(expr: Cast) -> str:
    # A vector type before brackets makes a vector, so only scalars convert by their bare name.
    name = str(expr.dtype) if expr.dtype.is_scalar else f"cast<{expr.dtype}>"
    return f"{name}({expr_text(expr.value)})"


def _make_vec(expr: MakeVec) -> str:
    name = str(expr.dtype) if expr.dtype.is_vector else f"make<{expr.dtype}>"
    return _call(name, *expr.lanes)


def _atomic(expr: Atomic) -> str:
    place = f"{name_text(expr.buffer)}[{index_text(expr.index)}]"
    parts = [place, expr_text(expr.value)]
    if expr.expected is not None:
        parts.append(f"expected = {expr_text(expr.expected)}")
    if expr.ordering is not MemoryOrdering.RELAXED:
        parts.append(expr.ordering.value)
    return f"{expr.op.row.spelling}({', '.join(parts)})"


_PRINTERS: dict[type[AnyExpr], Callable[[Any], str]] = {
    Lit: _lit,
    Var: _var,
    Load: _load,
    BufLen: _buf_len,
    Builtin: _builtin,
    Unary: _unary,
    Binary: _binary,
    Fma: lambda expr: _call("fma", expr.a, expr.b, expr.c),
    Select: lambda expr: _call("select", expr.cond, expr.if_true, expr.if_false),
    Cast: _cast,
    Bitcast: lambda expr: f"bitcast<{expr.dtype}>({expr_text(expr.value)})",
    MakeVec: _make_vec,
    Lane: lambda expr: f"lane({expr_text(expr.value)}, {expr.index})",
    Atomic: _atomic,
    Ballot: lambda expr: _call("ballot", expr.cond),
    Shuffle: lambda expr: f"shuffle({expr_text(expr.value)}, {index_text(expr.source)})",
    SubgroupReduce: lambda expr: _call(f"subgroup_{expr.op.row.spelling}", expr.value),
}
