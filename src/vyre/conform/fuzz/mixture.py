"""Which random program belongs to a number: small ones mostly, every profile now and then."""

from __future__ import annotations

from vyre.conform.generate import PROFILES, GeneratedCase, generate

_QUICK = (
    *["tiny"] * 12,
    *("integers", "floats_exact", "memory", "barriers", "atomics", "grid_sync", "subgroups"),
    "hostile_indices",
)
_THOROUGH = (
    *["tiny"] * 60,
    *(name for name in PROFILES if name not in ("tiny", "large") and not name.startswith("webgpu")),
)
_WEBGPU = (*["webgpu_tiny"] * 9, "webgpu")

MIXTURES: dict[str, tuple[str, ...]] = {
    "quick": _QUICK,
    "tiny": ("tiny",),
    "thorough": _THOROUGH,
    "webgpu": _WEBGPU,
}
"""Names of profiles, as often as their programs are wanted."""


def case_of(number: int, mixture: str = "thorough") -> GeneratedCase:
    """The program with this number."""
    profiles = MIXTURES[mixture]
    # A large one takes as long as a hundred small ones.
    if mixture == "thorough" and number % 500 == 499:
        return generate(number, "large")
    return generate(number, profiles[number % len(profiles)])
