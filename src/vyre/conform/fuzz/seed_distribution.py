"""Maps seeds to random programs: mostly small ones, each profile with some probability."""

from __future__ import annotations

from vyre.conform.generate import GeneratedCase, generate
from vyre.conform.generate.idiom_programs import with_idioms
from vyre.conform.generate.kernels import kernel_case
from vyre.conform.generate.seams import seams_case
from vyre.conform.lists import list_case
from vyre.conform.python.case import python_case

_KINDS = (
    *("default", "integers", "floats_exact", "memory", "barriers", "atomics", "subgroups"),
    *("grid_sync", "hostile_indices"),
)
_SMALL = ("small", "small_barriers", "small_atomics", "small_memory", "small_grid_sync")

MIXTURES: dict[str, tuple[str, ...]] = {
    "quick": (*["tiny"] * 12, *_KINDS[1:]),
    "tiny": ("tiny",),
    "small": _SMALL,
    "passes": (*_SMALL, "with_idioms"),
    "hostile": (*["tiny_hostile"] * 63, "hostile_indices"),
    "kernels": ("kernels",),
    "seams": ("seams",),
    "lists": ("lists",),
    "python": ("python",),
    "thorough": (*["tiny"] * 60, *_KINDS),
    "webgpu": (*["webgpu_tiny"] * 9, "webgpu"),
}
"""Names of profiles, as often as their programs are wanted."""


def case_of(number: int, mixture: str = "thorough") -> GeneratedCase:
    """The program with this number."""
    if mixture == "passes":
        return with_idioms(number // 2) if number % 2 else case_of(number // 2, "small")
    if mixture == "kernels":
        return kernel_case(number)
    if mixture == "seams":
        return seams_case(number)
    if mixture == "lists":
        return list_case(number)
    if mixture == "python":
        return python_case(number)
    profiles = MIXTURES[mixture]
    # A large one takes as long as a hundred small ones.
    if mixture == "thorough" and number % 500 == 499:
        return generate(number, "large")
    return generate(number, profiles[number % len(profiles)])
