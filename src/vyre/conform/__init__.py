"""Does a backend tell the truth: the conformance suite, random programs, shrinking, comparison."""

from __future__ import annotations

from vyre.conform.conformance import run
from vyre.conform.generate import PROFILES, GeneratedCase, Profile, generate
from vyre.conform.report import AreaResult, ConformanceReport, Failure
from vyre.conform.shrink import shrink
from vyre.conform.suite import AREAS

__all__ = [
    "AREAS",
    "PROFILES",
    "AreaResult",
    "ConformanceReport",
    "Failure",
    "GeneratedCase",
    "Profile",
    "generate",
    "run",
    "shrink",
]
