"""Differential fuzzing: random programs run in two ways that must agree."""

from __future__ import annotations

from vyre.conform.fuzz.checks import CHECKS, Finding, check_case
from vyre.conform.fuzz.seed_distribution import case_of

__all__ = ["CHECKS", "Finding", "case_of", "check_case"]
