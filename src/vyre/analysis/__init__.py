"""Facts about a program, computed once per program object and shared by everybody who asks.

Each analysis has a class with `of(program)`; answers are by position, the number of a statement in
the order of the text (see `ProgramFacts`), and hold for every execution of the program.
"""

from __future__ import annotations

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
from vyre.analysis.facts import TOP, BufferRef, BufferUse, Escape, Named, ProgramFacts, RegionFact
from vyre.analysis.interval import Interval
from vyre.analysis.liveness import Liveness
from vyre.analysis.ranges import Ranges
from vyre.analysis.types import VariableTypes
from vyre.analysis.uniformity import Cause, Level, Uniformity

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
