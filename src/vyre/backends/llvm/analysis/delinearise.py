"""Delinearisation: `%` and `/` of a linear index along a row.

In `x = i % w`, `y = i / w` the remainder rises with `i` and the quotient is constant until a line
of `w` elements ends: within one period, `i / w = q` and `i % w = i - q * w`. Masks and shifts are
remainders and quotients by powers of two. The `%` and `//` of Python are those of the machine plus
a correction where the operands have different signs, which array indices and widths never have.
Only these forms are recognised; others are left as they are.
"""

from __future__ import annotations

from enum import Enum

from vyre import ir
from vyre.record import dataclass

_WORD_BITS = 32


class PeriodSearch(Enum):
    """Where remainders and quotients are delinearised."""

    NOWHERE = "nowhere"
    """Lines are known to be short: dividing in every lane is faster."""
    IN_DECISIONS = "in indices and conditions"
    ANYWHERE = "anywhere"
    """Another version handles short lines, so little is lost."""


@dataclass(frozen=True, slots=True)
class Period:
    """A `%` or `/` that is affine within one period."""

    name: str
    """Variable for `number - remainder`, or for the quotient itself."""
    value: ir.AnyExpr
    number: ir.AnyExpr
    divisor: ir.AnyExpr
    step: int


def as_division(node: ir.Binary) -> ir.Binary | None:
    """Normalise `%`, `/`, masks and shifts to remainders and quotients."""
    match node:
        case ir.Binary(ir.BinOp.REM | ir.BinOp.DIV, _, _):
            return node
        case ir.Binary(ir.BinOp.AND, number, ir.Lit(ir.DataType.U32, bits)) if _is_mask(bits):
            return ir.Binary(ir.BinOp.REM, number, ir.Lit(ir.DataType.U32, bits + 1))
        case ir.Binary(ir.BinOp.SHR, number, ir.Lit(ir.DataType.U32, bits)) if bits < _WORD_BITS:
            return ir.Binary(ir.BinOp.DIV, number, ir.Lit(ir.DataType.U32, 1 << bits))
        case _:
            return None


def _is_mask(bits: int) -> bool:
    """True if bits are `2^n - 1`, and `2^n` fits into 32 bits."""
    return bits < (1 << _WORD_BITS) - 1 and not bits & (bits + 1)


def numbers_of_two_signs(cond: ir.AnyExpr) -> tuple[ir.AnyExpr, ir.AnyExpr] | None:
    """Two operands whose signs differ wherever a condition holds."""
    match cond:
        case ir.Binary(ir.BinOp.AND, left, right):
            return numbers_of_two_signs(left) or numbers_of_two_signs(right)
        case ir.Binary(ir.BinOp.LT, ir.Binary(ir.BinOp.XOR, lhs, rhs), ir.Lit(ir.DataType.I32, 0)):
            return lhs, rhs
        case _:
            return None


__all__ = [
    "Period",
    "PeriodSearch",
    "as_division",
    "numbers_of_two_signs",
]
