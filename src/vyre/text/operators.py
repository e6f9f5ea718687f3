"""Infix operators: how tightly they bind when read, and where brackets are written.

Reading follows C. Writing puts more brackets than C asks for: where people misread the precedence
(shifts and bitwise operators next to anything else) they are always there.
"""

from __future__ import annotations

from vyre.ir.opcodes import BinOp

_LEVELS = (
    (BinOp.OR,),
    (BinOp.XOR,),
    (BinOp.AND,),
    (BinOp.EQ, BinOp.NE),
    (BinOp.LT, BinOp.LE, BinOp.GT, BinOp.GE),
    (BinOp.SHL, BinOp.SHR),
    (BinOp.ADD, BinOp.SUB),
    (BinOp.MUL, BinOp.DIV, BinOp.REM),
)
INFIX: dict[BinOp, int] = {op: level for level, ops in enumerate(_LEVELS, 1) for op in ops}
"""How tightly an operator binds; all of them group from the left."""
INFIX_BY_SYMBOL = {op.row.spelling: (op, level) for op, level in INFIX.items()}

_ARITHMETIC = frozenset((*_LEVELS[6], *_LEVELS[7]))
_COMPARISONS = frozenset((*_LEVELS[3], *_LEVELS[4]))


def _reads_well(parent: BinOp, child: BinOp) -> bool:
    if child in _ARITHMETIC:
        return parent in _ARITHMETIC or parent in _COMPARISONS
    return parent is child and parent in (BinOp.AND, BinOp.OR, BinOp.XOR)


_PAIRS = [(parent, child) for parent in INFIX for child in INFIX]
LEFT_NEEDS_PARENS = frozenset(
    (parent, child)
    for parent, child in _PAIRS
    if INFIX[child] < INFIX[parent] or not _reads_well(parent, child)
)
RIGHT_NEEDS_PARENS = frozenset(
    (parent, child)
    for parent, child in _PAIRS
    if INFIX[child] <= INFIX[parent] or not _reads_well(parent, child)
)
