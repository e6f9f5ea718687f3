"""Which backends there are: the ones that ship with vyre, and those of third parties."""

from __future__ import annotations

import importlib
import sys
from functools import cache, lru_cache

from vyre.driver.backend import Backend
from vyre.installed import may_extend

ENTRY_POINT_GROUP = "vyre.backends"

BUILTIN = {
    "wgpu": "vyre.backends.wgsl:backend",
    "cpu": "vyre.backends.llvm:backend",
    "reference": "vyre.backends.reference:backend",
}
"""Backend name to the function that gives it; modules are imported when first needed."""


@lru_cache(maxsize=1)
def third_party() -> dict[str, str]:
    """Backends that installed packages register, by name."""
    if not may_extend(ENTRY_POINT_GROUP, sys.path):
        return {}
    from importlib.metadata import entry_points

    found = entry_points(group=ENTRY_POINT_GROUP)
    return {point.name: point.value for point in found if point.name not in BUILTIN}


def backend_names() -> list[str]:
    """All backends, the shipped ones first."""
    return [*BUILTIN, *third_party()]


@cache
def backend(name: str) -> Backend:
    """The backend with this name; `KeyError` if there is none."""
    source = BUILTIN.get(name) or third_party()[name]
    module, _, attribute = source.partition(":")
    return getattr(importlib.import_module(module), attribute)()
