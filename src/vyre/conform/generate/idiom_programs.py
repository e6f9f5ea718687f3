"""Random programs for passes: each contains one or two idioms within random statements."""

from __future__ import annotations

from dataclasses import replace

from vyre.conform.generate.case import GeneratedCase
from vyre.conform.generate.idiom_insertion import woven
from vyre.conform.generate.idioms import IDIOMS
from vyre.conform.generate.profile import PROFILES, Profile

_SMALL = PROFILES["small"]
_QUIET = replace(
    _SMALL,
    statements=(1, 4),
    expr_depth=2,
    atomics=0,
    barriers=0,
    async_copies=0,
    transcendental=1,
    workgroups=((8, 1, 1), (32, 1, 1), (32, 1, 1), (5, 1, 1)),
    grids=((2, 1, 1), (3, 1, 1)),
)
_COMPANY: tuple[Profile, ...] = (
    replace(_QUIET, name="quiet"),
    replace(_QUIET, name="bare", statements=(1, 1)),
    replace(_QUIET, name="quiet arrays", local_arrays=12, returns=8),
    replace(_SMALL, name="company", workgroups=((16, 2, 1), (32, 1, 1), (1, 1, 1)), subgroups=3),
)
"""What surrounds an idiom."""
_TURNS = (*IDIOMS, "stored and loaded", "handoffs", "tables", "bytes", "chains")
"""Idioms of which passes take little come twice."""


def with_idioms(seed: int) -> GeneratedCase:
    """The program with this seed, and the passes that wait for its idioms."""
    chosen = [_TURNS[seed % len(_TURNS)]]
    if seed % 5 == 0:
        chosen.append(_TURNS[seed // 5 % len(_TURNS)])
    company = _COMPANY[seed // len(_TURNS) % len(_COMPANY)]
    label = f"{company.name}, {' and '.join(chosen)} {seed}"
    case = woven(label, company, [IDIOMS[name][0] for name in chosen])
    waiting = dict.fromkeys(waits for name in chosen for waits in IDIOMS[name][1])
    return replace(case, waiting=tuple(waiting))
