"""Does a backend tell the truth: random programs, shrinking, comparison with the reference."""

from __future__ import annotations

from vyre.conform.generate import PROFILES, GeneratedCase, Profile, generate
from vyre.conform.shrink import shrink

__all__ = ["PROFILES", "GeneratedCase", "Profile", "generate", "shrink"]
