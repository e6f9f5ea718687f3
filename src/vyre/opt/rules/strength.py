"""Dear operations as cheap ones; signed division where the operand is known not to be negative."""

from __future__ import annotations

from vyre.ir.types import INTEGER_TYPES, SIGNED_TYPES, UNSIGNED_TYPES
from vyre.rewrite.pattern import c, ctz, x
from vyre.rewrite.rule import Rule

_ALL, _UNSIGNED, _SIGNED = INTEGER_TYPES, UNSIGNED_TYPES, SIGNED_TYPES
_POWER = c.ne(0) & (c & (c - 1)).eq(0)

RULES = (
    Rule("mul_to_shift", x * c, x << ctz(c), _ALL, when=_POWER),
    Rule("div_to_shift", x / c, x >> ctz(c), _UNSIGNED, when=_POWER),
    Rule("rem_to_mask", x % c, x & (c - 1), _UNSIGNED, when=_POWER),
    Rule("div_to_shift_signed", x / c, x >> ctz(c), _SIGNED, when=_POWER & (c > 0) & (x >= 0)),
    Rule("rem_to_mask_signed", x % c, x & (c - 1), _SIGNED, when=_POWER & (c > 0) & (x >= 0)),
)
