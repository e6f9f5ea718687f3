"""Remainders and quotients along a row: what takes a flat position apart, and how it is written.

In `x = i % w`, `y = i / w` the remainder rises with `i` and the quotient stays, until a line of `w`
elements ends. Masks and shifts are remainders and quotients by powers of two. And the `%` and `//`
of Python are those of the machine with a correction where the signs of the two numbers differ,
which positions in an array and widths never do.
"""

from __future__ import annotations

from enum import Enum

from vyre import ir
from vyre.record import dataclass

SHORTEST_PERIOD = 64
"""Of a remainder by a literal: with a shorter one, rows would fall into too many pieces."""
SHORTEST_LINE = 256
"""The same where lanes could do the division fast, or it does not keep them from running side by
side in memory."""
_WORD_BITS = 32


class PeriodSearch(Enum):
    """Where remainders and quotients are looked for."""

    NOWHERE = "nowhere"
    """Lines are known to be short: what every lane computes for itself is better."""
    IN_DECISIONS = "in indices and conditions"
    ANYWHERE = "anywhere"
    """There is other code for short lines, so that there is little to lose."""


@dataclass(frozen=True, slots=True)
class Period:
    """A remainder or a quotient that goes on for some lanes as it begins."""

    name: str
    """What the remainder is less than its number, or the quotient itself."""
    value: ir.AnyExpr
    number: ir.AnyExpr
    divisor: ir.AnyExpr
    step: int


def as_division(node: ir.Binary) -> ir.Binary | None:
    """A remainder or a quotient: as such, as a mask or as a shift."""
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
    """Whether bits are those below a power of two, which is a number of 32 bits, too."""
    return bits < (1 << _WORD_BITS) - 1 and not bits & (bits + 1)


def numbers_of_two_signs(cond: ir.AnyExpr) -> tuple[ir.AnyExpr, ir.AnyExpr] | None:
    """Two numbers that have different signs wherever a condition holds."""
    match cond:
        case ir.Binary(ir.BinOp.AND, left, right):
            return numbers_of_two_signs(left) or numbers_of_two_signs(right)
        case ir.Binary(
            ir.BinOp.LT, ir.Binary(ir.BinOp.XOR, one, other), ir.Lit(ir.DataType.I32, 0)
        ):
            return one, other
        case _:
            return None


__all__ = [
    "SHORTEST_LINE",
    "SHORTEST_PERIOD",
    "Period",
    "PeriodSearch",
    "as_division",
    "numbers_of_two_signs",
]
