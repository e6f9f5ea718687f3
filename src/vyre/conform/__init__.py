"""Does a backend tell the truth: random programs, their shrinking, comparison with the reference."""

from __future__ import annotations

from vyre.conform.generate import PROFILES, GeneratedCase, Profile, generate

__all__ = ["PROFILES", "GeneratedCase", "Profile", "generate"]
