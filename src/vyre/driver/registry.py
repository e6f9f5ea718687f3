"""Which backends there are: the ones that ship with vyre, and those of third parties.

A backend of another package that cannot be had, for whatever reason, is missing and says why; all
others work.
"""

from __future__ import annotations

import importlib
from functools import cache, lru_cache
from typing import NamedTuple

from vyre.diagnostics import DeviceError
from vyre.diagnostics.codes import driver as codes
from vyre.driver.backend import Backend
from vyre.driver.loading import refuse_while_loading
from vyre.extensions import Extension, Missing, extensions, missing
from vyre.signals import is_from_handler

ENTRY_POINT_GROUP = "vyre.backends"

BUILTIN = {
    "wgpu": "vyre.backends.wgsl:backend",
    "cpu": "vyre.backends.llvm:backend",
    "reference": "vyre.backends.reference:backend",
}
"""Backend name to the function that gives it; modules are imported when first needed."""


class _Registered(NamedTuple):
    """What installed packages register."""

    by_name: dict[str, Extension]
    unusable: tuple[Missing, ...]
    """What cannot be used under the name that it has."""


def third_party() -> dict[str, Extension]:
    """Backends that installed packages register, by name."""
    return _registered(tuple(extensions(ENTRY_POINT_GROUP))).by_name


def unusable() -> tuple[Missing, ...]:
    """Backends that installed packages register under a name that they cannot have."""
    return _registered(tuple(extensions(ENTRY_POINT_GROUP))).unusable


def backend_names() -> list[str]:
    """All backends, the shipped ones first."""
    return [*BUILTIN, *third_party()]


def backend(name: str) -> Backend:
    """The backend with this name; `KeyError` if there is none."""
    found = find(name)
    if isinstance(found, Missing):
        raise DeviceError(
            codes.DEVICE_UNAVAILABLE.at(name=name, reason=found.reason, remedy=found.remedy)
        )
    return found


def find(name: str) -> Backend | Missing:
    """The backend with this name, or why it cannot be had; `KeyError` if there is none."""
    if name in BUILTIN:
        return _builtin(name)
    return _loaded(third_party()[name])


@lru_cache(maxsize=4)
def _registered(found: tuple[Extension, ...]) -> _Registered:
    by_name: dict[str, Extension] = {}
    refused: list[Missing] = []
    for each in found:
        if each.name in BUILTIN:
            refused.append(missing(each, "vyre itself has a backend of this name"))
        elif each.name in by_name:
            other = by_name[each.name].package
            refused.append(missing(each, f"the package {other} has a backend of this name too"))
        elif not each.name or ":" in each.name:
            refused.append(missing(each, f"a backend cannot have the name {each.name!r}"))
        else:
            by_name[each.name] = each
    return _Registered(by_name, tuple(refused))


@cache
def _builtin(name: str) -> Backend:
    refuse_while_loading()
    module, _, attribute = BUILTIN[name].partition(":")
    return getattr(importlib.import_module(module), attribute)()


@cache
def _loaded(extension: Extension) -> Backend | Missing:
    try:
        make = extension.load()
        if not callable(make):
            return missing(extension, f"{extension.value} is no function that gives a backend")
        found = make()
        if not isinstance(found, Backend):
            lacking = [name for name in _MEMBERS if not hasattr(found, name)]
            problem = f"{extension.value} gives an object without {', '.join(lacking)}"
            return missing(extension, problem)
        if found.name != extension.name:
            problem = f"it calls itself {found.name!r}, and its entry point {extension.name!r}"
            return missing(extension, problem)
    except (Exception, SystemExit) as problem:  # another's code may fail in any way
        if is_from_handler(problem):
            raise
        return missing(extension, problem)
    return found


_MEMBERS = ("name", "probe", "target", "emit", "load")
