"""Floats, exactly: every rule gives the same value, signed zeros, infinities and NaN included."""

from __future__ import annotations

from math import inf

from vyre.ir.types import ARITHMETIC_FLOATS, DataType
from vyre.rewrite.pattern import (
    FALSE,
    abs_,
    c,
    cast,
    ceil,
    copysign,
    d,
    e,
    floor,
    fma,
    is_finite,
    is_inf,
    is_nan,
    max_,
    min_,
    neg,
    p,
    round_,
    round_even,
    select,
    trunc,
    x,
    y,
    z,
)
from vyre.rewrite.rule import Rule

_F = ARITHMETIC_FLOATS
_HELD = (*ARITHMETIC_FLOATS, DataType.BF16)

RULES = (
    # Only -0.0 is neutral for addition: -0.0 + 0.0 is 0.0
    Rule("fadd_minus_zero", x + -0.0, x, _F),
    Rule("fsub_zero", x - 0.0, x, _F),
    Rule("fmul_one", x * 1.0, x, _F),
    Rule("fmul_minus_one", x * -1.0, -x, _F),
    Rule("fdiv_one", x / 1.0, x, _F),
    Rule("fdiv_minus_one", x / -1.0, -x, _F),
    Rule("minus_zero_fsub", -0.0 - x, -x, _F),
    Rule("fneg_neg", neg(neg(x)), x, _F),
    Rule("fadd_neg", x + -y, x - y, _F),
    Rule("fsub_neg", x - -y, x + y, _F),
    Rule("fmul_negs", -x * -y, x * y, _F),
    Rule("fdiv_negs", -x / -y, x / y, _F),
    Rule("fmul_neg_const", -x * c, x * -c, _F),
    Rule("fdiv_neg_const", -x / c, x / -c, _F),
    Rule("fdiv_half", x / 0.5, x * 2.0, _F),
    Rule("fdiv_two", x / 2.0, x * 0.5, _F),
    Rule("fdiv_four", x / 4.0, x * 0.25, _F),
    # Sign operations work on bits
    Rule("fabs_abs", abs_(abs_(x)), abs_(x), _F),
    Rule("fabs_neg", abs_(-x), abs_(x), _F),
    Rule("fabs_copysign", abs_(copysign(x, y)), abs_(x), _F),
    Rule("copysign_self", copysign(x, x), x, _F),
    Rule("copysign_abs", copysign(abs_(x), y), copysign(x, y), _F),
    Rule("copysign_neg", copysign(-x, y), copysign(x, y), _F),
    Rule("copysign_copysign", copysign(copysign(x, y), z), copysign(x, z), _F),
    Rule("copysign_of_abs", copysign(x, abs_(y)), abs_(x), _F),
    # Rounding what is whole already
    Rule("floor_floor", floor(floor(x)), floor(x), _F),
    Rule("ceil_ceil", ceil(ceil(x)), ceil(x), _F),
    Rule("trunc_trunc", trunc(trunc(x)), trunc(x), _F),
    Rule("trunc_floor", trunc(floor(x)), floor(x), _F),
    Rule("floor_trunc", floor(trunc(x)), trunc(x), _F),
    Rule("round_round", round_(round_(x)), round_(x), _F),
    Rule("round_even_floor", round_even(floor(x)), floor(x), _F),
    Rule("neg_floor_neg", -floor(-x), ceil(x), _F),
    # Least and greatest ignore NaN
    Rule("fmin_self", min_(x, x), x, _F),
    Rule("fmax_self", max_(x, x), x, _F),
    Rule("fmin_again", min_(min_(x, y), y), min_(x, y), _F),
    Rule("fmax_again", max_(max_(x, y), y), max_(x, y), _F),
    # fma
    Rule("fma_one", fma(x, 1.0, y), x + y, _F),
    Rule("one_fma", fma(1.0, x, y), x + y, _F),
    Rule("fma_minus_zero", fma(x, y, -0.0), x * y, _F),
    Rule("fma_negs", fma(-x, -y, z), fma(x, y, z), _F),
    # Comparisons: with NaN every one is false but !=
    Rule("feq_self", x.eq(x), ~is_nan(x), _F),
    Rule("fne_self", x.ne(x), is_nan(x), _F),
    Rule("flt_self", x < x, FALSE, _F),
    Rule("fgt_self", x > x, FALSE, _F),
    Rule("flt_minus_inf", x < -inf, FALSE, _F),
    Rule("fgt_inf", x > inf, FALSE, _F),
    Rule("fnot_eq", ~(x.eq(y)), x.ne(y), _HELD),
    Rule("fnot_ne", ~(x.ne(y)), x.eq(y), _HELD),
    Rule("fflip_lt", c < x, x > c, _F),
    Rule("fflip_le", c <= x, x >= c, _F),
    Rule("fflip_gt", c > x, x < c, _F),
    Rule("fflip_ge", c >= x, x <= c, _F),
    Rule("neg_lt_neg", -x < -y, x > y, _F),
    Rule("neg_eq_neg", (-x).eq(-y), x.eq(y), _F),
    Rule("neg_lt_const", -x < c, x > -c, _F),
    Rule("neg_gt_const", -x > c, x < -c, _F),
    Rule("abs_lt_zero", abs_(x) < 0.0, FALSE, _F),
    Rule("abs_eq_zero", abs_(x).eq(0.0), x.eq(0.0), _F),
    Rule("flt_or_gt_or_eq", (x < y) | x.eq(y), x <= y, _F),
    Rule("fgt_or_eq", (x > y) | x.eq(y), x >= y, _F),
    Rule("flt_and_gt", (x < y) & (x > y), FALSE, _F),
    Rule("flt_and_eq", (x < y) & x.eq(y), FALSE, _F),
    # Classes
    Rule("is_nan_neg", is_nan(-x), is_nan(x), _F),
    Rule("is_nan_abs", is_nan(abs_(x)), is_nan(x), _F),
    Rule("is_inf_neg", is_inf(-x), is_inf(x), _F),
    Rule("is_inf_abs", is_inf(abs_(x)), is_inf(x), _F),
    Rule("is_finite_neg", is_finite(-x), is_finite(x), _F),
    Rule("nan_and_inf", is_nan(x) & is_inf(x), FALSE, _F),
    Rule("nan_or_inf", is_nan(x) | is_inf(x), ~is_finite(x), _F),
    # Literal arms of a select
    Rule("select_fmul_const", select(p, c, d) * e, select(p, c * e, d * e), _F),
    Rule("select_fadd_const", select(p, c, d) + e, select(p, c + e, d + e), _F),
    Rule("number_fne_zero", cast(p, "T").ne(0.0), p, _F),
    Rule("number_feq_one", cast(p, "T").eq(1.0), p, _F),
)
