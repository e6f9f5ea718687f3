"""Every rule: proved, not in vain, and of use to the matcher; `make prove` tells more."""

from __future__ import annotations

import pytest

from tests.rules.prover import (
    Verdict,
    guard_can_hold,
    prove,
    representative,
    with_wrong_result,
    without_guard,
)
from tests.rules.sampling import counterexample
from vyre.ir import Expr, Lit
from vyre.opt.rules import TABLES
from vyre.rewrite import Rule, RuleSet, table
from vyre.rewrite.matcher import Bound, build, match

RULES = [rule for rules in TABLES.values() for rule in rules]
HARD = {
    *("rotl_rotl", "shr_shr", "rotl_rotr", "rotr_rotl", "shifts_to_rotl"),
    *("mul_to_shift", "div_to_shift", "rem_to_mask", "div_to_shift_signed", "rem_to_mask_signed"),
    *("rem_self", "zero_rem", "fma_one", "one_fma", "fma_minus_zero", "fma_negs"),
    *("fmul_neg_const", "fdiv_half", "fdiv_two", "fdiv_four", "neg_floor_neg"),
    *("cast_round_trip", "rem_lt_bound", "rem_ge_bound"),
    *("fdiv_negs", "fdiv_neg_const", "fmul_negs", "select_fmul_const", "select_fadd_const"),
}
"""Proved here at 8 and 16 bits (floats at 16), and at every width by `make prove`."""


def _named(rules: list[Rule]) -> list[object]:
    return [pytest.param(rule, id=rule.name) for rule in rules]


def test_there_are_enough_rules_and_each_has_a_name_of_its_own() -> None:
    assert len(table(RULES)) == len(RULES) >= 120


@pytest.mark.parametrize("rule", _named(RULES))
def test_it_holds(rule: Rule) -> None:
    for binding in representative(rule):
        widest = max(dtype.bits or 0 for dtype in binding.values())
        if rule.name in HARD and widest > 16:
            left, right, when = rule.terms(binding)
            assert counterexample(left, right, when) is None
            continue
        proof = prove(rule, binding, timeout_ms=500 if rule.name in HARD else 8_000)
        assert proof.good or (rule.name in HARD and proof.verdict is Verdict.UNKNOWN), proof


@pytest.mark.parametrize("rule", _named([rule for rule in RULES if rule.when is not None]))
def test_its_guard_is_needed_and_can_hold(rule: Rule) -> None:
    first = next(representative(rule))
    assert guard_can_hold(rule, first)
    assert without_guard(rule, first).verdict is Verdict.REFUTED


@pytest.mark.parametrize("rule", _named(RULES))
def test_a_spoilt_copy_is_refuted(rule: Rule) -> None:
    assert with_wrong_result(rule, next(representative(rule))).verdict is Verdict.REFUTED


def _typed_by(types):
    return lambda expr: expr.dtype if isinstance(expr, Lit) else types[expr.name]


@pytest.mark.parametrize("rule", _named(RULES))
def test_the_matcher_finds_it(rule: Rule) -> None:
    """An expression built from the left side is matched by the object that was proved."""
    rules = RuleSet([rule])
    for instance in rule.instances():
        types = {hole.name: hole.dtype for hole in instance.left.holes()}
        bound: Bound = {
            hole.name: Lit(hole.dtype, 1) if hole.constant else Expr.var(hole.name)
            for hole in instance.left.holes()
        }
        expr = build(instance.left, bound)
        if isinstance(expr, Lit):
            continue
        again: Bound = {}
        assert match(instance.left, expr, again, _typed_by(types))
        assert again == bound
    assert rules.rules == (rule,)
