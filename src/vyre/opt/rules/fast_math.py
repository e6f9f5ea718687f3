"""Rules of real arithmetic that floats do not obey: they fire only under the fast-math flag.

They may change rounding, and they assume that no operand is NaN or infinite and that the sign of
zero does not matter.
"""

from __future__ import annotations

from vyre.ir.types import ARITHMETIC_FLOATS
from vyre.rewrite.pattern import c, d, fma, sqrt, x, y, z
from vyre.rewrite.rule import Rule

_F = ARITHMETIC_FLOATS

RULES = (
    Rule("fast_add_zero", x + 0.0, x, _F, fast_math=True),
    Rule("fast_zero_sub", 0.0 - x, -x, _F, fast_math=True),
    Rule("fast_mul_zero", x * 0.0, 0.0, _F, fast_math=True),
    Rule("fast_sub_self", x - x, 0.0, _F, fast_math=True),
    Rule("fast_add_sub", (x + y) - y, x, _F, fast_math=True),
    Rule("fast_sub_add", (x - y) + y, x, _F, fast_math=True),
    Rule("fast_add_consts", (x + c) + d, x + (c + d), _F, fast_math=True),
    Rule("fast_mul_consts", (x * c) * d, x * (c * d), _F, fast_math=True),
    Rule("fast_div_const", x / c, x * (1.0 / c), _F, when=c.ne(0.0), fast_math=True),
    Rule("fast_factor", x * y + x * z, x * (y + z), _F, fast_math=True),
    Rule("fast_factor_consts", x * c + x * d, x * (c + d), _F, fast_math=True),
    Rule("fast_neg_sub", -(x - y), y - x, _F, fast_math=True),
    Rule("fast_contract_add", x * y + z, fma(x, y, z), _F, fast_math=True),
    Rule("fast_contract_sub", x * y - z, fma(x, y, -z), _F, fast_math=True),
    Rule("fast_sqrt_square", sqrt(x) * sqrt(x), x, _F, when=x >= 0.0, fast_math=True),
)
