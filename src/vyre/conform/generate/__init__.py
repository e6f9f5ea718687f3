"""Random programs: valid, terminating, free of races, and the same for the same seed."""

from __future__ import annotations

from vyre.conform.generate.build import ProgramBuilder
from vyre.conform.generate.case import GeneratedCase
from vyre.conform.generate.dice import Dice
from vyre.conform.generate.profile import PROFILES, Profile

__all__ = ["PROFILES", "GeneratedCase", "Profile", "generate"]


def generate(seed: int, profile: Profile | str = "default") -> GeneratedCase:
    """The random program with this seed, of a profile or the name of one."""
    chosen = PROFILES[profile] if isinstance(profile, str) else profile
    label = f"{chosen.name} {seed}"
    return ProgramBuilder(Dice(label), chosen).case(label)
