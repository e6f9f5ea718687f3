"""The rewriting machine, no policy: patterns, rules, matching, rewriting."""

from __future__ import annotations

from vyre.rewrite.effects import has_effects
from vyre.rewrite.folding import fold
from vyre.rewrite.matcher import RuleSet
from vyre.rewrite.pattern import Hole, Pattern, c, d, e, p, q, s, x, y, z
from vyre.rewrite.rewriter import Rewriter
from vyre.rewrite.rule import Rule, table
from vyre.rewrite.term import Term, TermKind, typed

__all__ = [
    "Hole",
    "Pattern",
    "Rewriter",
    "Rule",
    "RuleSet",
    "Term",
    "TermKind",
    "c",
    "d",
    "e",
    "fold",
    "has_effects",
    "p",
    "q",
    "s",
    "table",
    "typed",
    "x",
    "y",
    "z",
]
