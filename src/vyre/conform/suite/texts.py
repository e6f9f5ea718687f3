"""Trials written as program text: what most behaviours are easiest to say in."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import dedent
from typing import Any

from vyre.conform.compare import EXACT, Tolerance
from vyre.conform.suite.case import Ending, Grid, Stretch, Trial
from vyre.ir import Program
from vyre.semantics import Array


def written(  # noqa: PLR0913
    area: str,
    name: str,
    text: str,
    inputs: Mapping[str, Any] | None = None,
    grid: Grid = (1, 1, 1),
    expected: Mapping[str, Array] | None = None,
    *,
    each: str | None = None,
    tolerance: Tolerance = EXACT,
    ending: Ending | None = None,
    in_place: bool = False,
    deadline: float | None = None,
) -> Trial:
    """A trial from text; every element of the output `each` is a case, if one is named."""
    program = Program.parse(dedent(text), f"{area}: {name}")
    stretches: tuple[Stretch, ...] = ()
    if each is not None:
        decl = program.buffer(each)
        assert decl is not None
        stretches = (Stretch(name, each, 0, decl.count, tolerance),)
    return Trial(
        area,
        name,
        program,
        inputs or {},
        grid,
        stretches,
        expected or {},
        tolerance=tolerance,
        ending=ending,
        in_place=in_place,
        deadline=deadline,
    )
