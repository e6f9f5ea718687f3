"""The passes that there are: a table, and what installed packages add by entry point."""

from __future__ import annotations

import inspect
import sys
from functools import cache
from typing import TYPE_CHECKING

from vyre.diagnostics import OptimizerError
from vyre.diagnostics.codes import optimizer as codes
from vyre.installed import may_extend
from vyre.opt.pass_ import Pass
from vyre.opt.passes import PASSES

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "vyre.passes"


def registered_passes() -> tuple[Pass, ...]:
    """Every pass: those of vyre in the order of its table, then installed ones by name."""
    return (*_own(), *_installed())


def pass_by_name(name: str) -> Pass:
    """The pass of this name."""
    passes = {each.metadata.name: each for each in registered_passes()}
    if name not in passes:
        raise OptimizerError(codes.UNKNOWN_PASS.at(name=name, known=", ".join(sorted(passes))))
    return passes[name]


def load_entry_point(point: EntryPoint) -> Pass:
    """The pass that an entry point names."""
    try:
        found = point.load()
    except (ImportError, AttributeError) as error:
        raise _unusable(point, str(error)) from error
    if not (inspect.isclass(found) and issubclass(found, Pass) and hasattr(found, "metadata")):
        raise _unusable(point, "it is not a class made by vyre_pass")
    return found()


@cache
def _own() -> tuple[Pass, ...]:
    return tuple(make() for make in PASSES)


@cache
def _installed() -> tuple[Pass, ...]:
    if not may_extend(GROUP, sys.path):
        return ()
    from importlib.metadata import entry_points

    points = sorted(entry_points(group=GROUP), key=lambda point: point.name)
    return tuple(load_entry_point(point) for point in points)


def _unusable(point: EntryPoint, problem: str) -> OptimizerError:
    return OptimizerError(codes.BAD_ENTRY_POINT.at(name=point.name, problem=problem))
