"""Selects. Both arms are always evaluated, so which one is written first is free."""

from __future__ import annotations

from vyre.ir.types import INTEGER_TYPES, SCALAR_TYPES, SIGNED_TYPES, DataType
from vyre.rewrite.pattern import (
    FALSE,
    TRUE,
    abs_,
    c,
    cast,
    d,
    e,
    max_,
    min_,
    p,
    q,
    select,
    x,
    y,
    z,
)
from vyre.rewrite.rule import Rule

_ANY, _INTS, _SIGNED = SCALAR_TYPES, INTEGER_TYPES, SIGNED_TYPES
_BOOL = (DataType.BOOL,)

RULES = (
    Rule("select_same", select(p, x, x), x, _ANY),
    Rule("select_true", select(TRUE, x, y), x, _ANY),
    Rule("select_false", select(FALSE, x, y), y, _ANY),
    Rule("select_not", select(~p, x, y), select(p, y, x), _ANY),
    Rule("select_in_then", select(p, select(p, x, y), z), select(p, x, z), _ANY),
    Rule("select_in_else", select(p, x, select(p, y, z)), select(p, x, z), _ANY),
    Rule("select_nested_and", select(p, select(q, x, y), y), select(p & q, x, y), _ANY),
    Rule("select_nested_or", select(p, x, select(q, x, y)), select(p | q, x, y), _ANY),
    # Truth values
    Rule("select_true_false", select(p, TRUE, FALSE), p, _BOOL),
    Rule("select_false_true", select(p, FALSE, TRUE), ~p, _BOOL),
    Rule("select_and", select(p, q, FALSE), p & q, _BOOL),
    Rule("select_or", select(p, TRUE, q), p | q, _BOOL),
    Rule("select_and_not", select(p, FALSE, q), ~p & q, _BOOL),
    Rule("select_or_not", select(p, q, TRUE), ~p | q, _BOOL),
    # Integers
    Rule("select_one_zero", select(p, 1, 0), cast(p, "T"), _INTS),
    Rule("select_zero_one", select(p, 0, 1), cast(~p, "T"), _INTS),
    Rule("select_eq", select(x.eq(y), x, y), y, _INTS),
    Rule("select_ne", select(x.ne(y), x, y), x, _INTS),
    Rule("select_eq_const", select(x.eq(c), c, x), x, _INTS),
    Rule("select_lt_min", select(x < y, x, y), min_(x, y), _INTS),
    Rule("select_le_min", select(x <= y, x, y), min_(x, y), _INTS),
    Rule("select_gt_max", select(x > y, x, y), max_(x, y), _INTS),
    Rule("select_ge_max", select(x >= y, x, y), max_(x, y), _INTS),
    Rule("select_lt_max", select(x < y, y, x), max_(x, y), _INTS),
    Rule("select_gt_min", select(x > y, y, x), min_(x, y), _INTS),
    Rule("select_abs", select(x < 0, -x, x), abs_(x), _SIGNED),
    # Literal arms take part in what follows
    Rule("select_add_const", select(p, c, d) + e, select(p, c + e, d + e), _INTS),
    Rule("select_mul_const", select(p, c, d) * e, select(p, c * e, d * e), _INTS),
    Rule("select_and_const", select(p, c, d) & e, select(p, c & e, d & e), _INTS),
    Rule("select_eq_value", select(p, c, d).eq(e), select(p, c.eq(e), d.eq(e)), _INTS),
    Rule("select_ne_value", select(p, c, d).ne(e), select(p, c.ne(e), d.ne(e)), _INTS),
)
