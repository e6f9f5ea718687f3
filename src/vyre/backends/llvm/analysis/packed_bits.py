"""Flags of iterations that a loop packs into the bits of a word.

    for k in 0..32: m = m | (u32(text[i + k] == 10) << k)

A comparison of vectors gives such bits at once, as a bit mask.
"""

from __future__ import annotations

from vyre import ir
from vyre.record import dataclass

_PACKING = frozenset({ir.BinOp.OR, ir.BinOp.ADD, ir.BinOp.XOR})


@dataclass(frozen=True, slots=True)
class PackedBits:
    """A flag per iteration, put into a word at the position of the iteration."""

    op: ir.BinOp
    """How the bits are joined with the word."""
    flag: ir.AnyExpr
    amount: ir.AnyExpr
    """The shift of an iteration: one more than that of the iteration before."""


def packed_bits_of(statement: ir.Assign, loop: ir.Loop, env: ir.TypeEnv) -> PackedBits | None:
    """Match `m = m | (u32(flag) << k)`, or `if flag: m = m | (1 << k)`, in the loop over `k`.

    Shifts are modulo the bits of the word, so iterations of a vector that has no more lanes than
    the word has bits set different bits: none of the operators carries.
    """
    own = ir.Var(statement.name)
    bits = env.variables[statement.name].bits
    match statement.value:
        case ir.Select(
            flag, ir.Binary(op, left, ir.Binary(ir.BinOp.SHL, ir.Lit(_, 1), amount)), other
        ) if left == own and other == own:
            pass
        case ir.Binary(op, left, ir.Binary(ir.BinOp.SHL, ir.Cast(flag, _), amount)) if left == own:
            pass
        case ir.Binary(op, ir.Binary(ir.BinOp.SHL, ir.Cast(flag, _), amount), right) if (
            right == own
        ):
            pass
        case _:
            return None
    if op not in _PACKING or bits is None or not ir.type_of(flag, env).is_bool:
        return None
    return PackedBits(op, flag, amount) if _counts(amount, loop.var, bits) else None


def _counts(amount: ir.AnyExpr, counter: str, bits: int) -> bool:
    """True if a shift is the counter and a constant, modulo the bits of what is shifted."""
    match amount:
        case ir.Var(name):
            return name == counter
        case ir.Cast(value, dtype):
            return dtype.is_integer and _counts(value, counter, bits)
        case ir.Binary(ir.BinOp.ADD, value, ir.Lit()) | ir.Binary(ir.BinOp.ADD, ir.Lit(), value):
            return _counts(value, counter, bits)
        case ir.Binary(ir.BinOp.AND, value, ir.Lit(_, mask)):
            kept = mask + 1
            return kept & mask == 0 and kept % bits == 0 and _counts(value, counter, bits)
        case _:
            return False


__all__ = ["PackedBits", "packed_bits_of"]
