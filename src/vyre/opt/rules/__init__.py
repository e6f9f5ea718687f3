"""The rules, one table per kind of value. All of them are proved; see tests/rules."""

from __future__ import annotations

from functools import cache

from vyre.opt.rules import (
    bits,
    booleans,
    casts,
    comparisons,
    fast_math,
    floats,
    integers,
    selects,
    strength,
)
from vyre.rewrite.matcher import RuleSet
from vyre.rewrite.rule import Rule

TABLES: dict[str, tuple[Rule, ...]] = {
    "integers": integers.RULES,
    "bits": bits.RULES,
    "booleans": booleans.RULES,
    "comparisons": comparisons.RULES,
    "selects": selects.RULES,
    "casts": casts.RULES,
    "floats": floats.RULES,
    "strength": strength.RULES,
    "fast_math": fast_math.RULES,
}

_EXACT = ("integers", "bits", "booleans", "comparisons", "selects", "casts", "floats")


@cache
def exact_rules() -> RuleSet:
    """The rules that keep every result."""
    return RuleSet(rule for name in _EXACT for rule in TABLES[name])


@cache
def fast_rules() -> RuleSet:
    """The rules for programs with the fast-math flag."""
    return RuleSet(rule for name in (*_EXACT, "fast_math") for rule in TABLES[name])


@cache
def strength_rules() -> RuleSet:
    """The rules that trade dear operations for cheap ones."""
    return RuleSet(strength.RULES)
