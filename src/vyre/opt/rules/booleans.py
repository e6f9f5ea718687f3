"""Truth values; the bitwise rules hold for them too."""

from __future__ import annotations

from vyre.ir.types import INTEGER_TYPES, DataType
from vyre.rewrite.pattern import FALSE, TRUE, cast, p, q
from vyre.rewrite.rule import Rule

_BOOL = (DataType.BOOL,)
_INTS = INTEGER_TYPES

RULES = (
    Rule("eq_true", p.eq(TRUE), p, _BOOL),
    Rule("eq_false", p.eq(FALSE), ~p, _BOOL),
    Rule("ne_true", p.ne(TRUE), ~p, _BOOL),
    Rule("ne_false", p.ne(FALSE), p, _BOOL),
    Rule("bool_eq_self", p.eq(p), TRUE, _BOOL),
    Rule("bool_ne_self", p.ne(p), FALSE, _BOOL),
    Rule("nots_eq", (~p).eq(~q), p.eq(q), _BOOL),
    Rule("nots_ne", (~p).ne(~q), p.ne(q), _BOOL),
    Rule("bool_not_eq", ~(p.eq(q)), p.ne(q), _BOOL),
    Rule("bool_not_ne", ~(p.ne(q)), p.eq(q), _BOOL),
    Rule("number_is_zero", cast(p, "T").eq(0), ~p, _INTS),
    Rule("number_is_not_zero", cast(p, "T").ne(0), p, _INTS),
    Rule("number_is_one", cast(p, "T").eq(1), p, _INTS),
    Rule("number_is_not_one", cast(p, "T").ne(1), ~p, _INTS),
    Rule("numbers_eq", cast(p, "T").eq(cast(q, "T")), p.eq(q), _INTS),
    Rule("numbers_ne", cast(p, "T").ne(cast(q, "T")), p.ne(q), _INTS),
    Rule("numbers_and", cast(p, "T") & cast(q, "T"), cast(p & q, "T"), _INTS),
    Rule("numbers_or", cast(p, "T") | cast(q, "T"), cast(p | q, "T"), _INTS),
    Rule("number_and_one", cast(p, "T") & 1, cast(p, "T"), _INTS),
    Rule("number_xor_one", cast(p, "T") ^ 1, cast(~p, "T"), _INTS),
)
