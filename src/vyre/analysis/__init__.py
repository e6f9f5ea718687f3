"""Analyses of programs; results are computed once per program object and shared.

Each analysis has a class with `of(program)`; results are by position, the number of a statement in
the order of the text (see `ProgramFacts`), and hold for every execution of the program.

A module is imported when one of its names is first used: the launch of a cached kernel evaluates
results of `default_grid` and `output_coverage`, and needs no analysis.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vyre.analysis.affine import Affine, AffineForms
    from vyre.analysis.alias import Alias, Aliases
    from vyre.analysis.cost import body_cost, expr_cost, is_slow, program_cost, statement_cost
    from vyre.analysis.def_use import DefUse
    from vyre.analysis.effects import (
        Effects,
        ProgramEffects,
        body_effects,
        expr_effects,
        is_movable,
        is_removable,
        reads_memory,
        statement_effects,
    )
    from vyre.analysis.facts import (
        TOP,
        BufferRef,
        BufferUse,
        Escape,
        Named,
        ProgramFacts,
        RegionFact,
    )
    from vyre.analysis.interval import Interval
    from vyre.analysis.liveness import Liveness
    from vyre.analysis.ranges import Ranges
    from vyre.analysis.types import VariableTypes
    from vyre.analysis.uniformity import Cause, Level, Uniformity

_HOMES = {
    "affine": "Affine AffineForms",
    "alias": "Alias Aliases",
    "cost": "body_cost expr_cost is_slow program_cost statement_cost",
    "def_use": "DefUse",
    "effects": (
        "Effects ProgramEffects body_effects expr_effects is_movable is_removable "
        "reads_memory statement_effects"
    ),
    "facts": "TOP BufferRef BufferUse Escape Named ProgramFacts RegionFact",
    "interval": "Interval",
    "liveness": "Liveness",
    "ranges": "Ranges",
    "types": "VariableTypes",
    "uniformity": "Cause Level Uniformity",
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    home = _HOME_OF.get(name, name)
    if home not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f"{__name__}.{home}")
    if home == name:
        return module
    value = globals()[name] = getattr(module, name)
    return value


__all__ = [
    "TOP",
    "Affine",
    "AffineForms",
    "Alias",
    "Aliases",
    "BufferRef",
    "BufferUse",
    "Cause",
    "DefUse",
    "Effects",
    "Escape",
    "Interval",
    "Level",
    "Liveness",
    "Named",
    "ProgramEffects",
    "ProgramFacts",
    "Ranges",
    "RegionFact",
    "Uniformity",
    "VariableTypes",
    "body_cost",
    "body_effects",
    "expr_cost",
    "expr_effects",
    "is_movable",
    "is_removable",
    "is_slow",
    "program_cost",
    "reads_memory",
    "statement_cost",
    "statement_effects",
]
