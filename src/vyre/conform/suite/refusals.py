"""Programs and launches that must be refused, each with its code."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from vyre.conform.suite.case import Ending, Grid, Trial
from vyre.conform.suite.unwritable import atomics, beyond, declarations, too_large
from vyre.diagnostics import ArgumentError, CheckError, DispatchError, Severity
from vyre.diagnostics.codes import Code
from vyre.diagnostics.codes import all_codes as table_of_codes
from vyre.diagnostics.codes import check as check_codes
from vyre.diagnostics.codes import driver as codes
from vyre.ir import Program
from vyre.target import Target

_AREA = "refusals"
_OF_TARGETS = {
    check_codes.MISSING_FEATURE.code,
    check_codes.TARGET_LIMIT.code,
    check_codes.OPAQUE_ON_TARGET.code,
}
"""What depends on the device is made for it, not taken from the table."""

_LAUNCHED = """
program workgroup(4, 1, 1)

buffer a: read_only u32[8] @0
buffer out: read_write u32[8] @1 output live_out

out[gid.x] = a[gid.x]
"""


def trials(target: Target) -> Iterator[Trial]:
    """The whole area."""
    for row in table_of_codes().values():
        refused = row.code.startswith("V") and row.severity is Severity.ERROR
        if refused and row.code not in _OF_TARGETS and row.example.startswith("program"):
            yield _program(row, Program.parse(row.example, row.code))
    for made in (declarations(), atomics(), too_large(), beyond(target)):
        for row, program in made:
            yield _program(row, program)
    good = np.arange(8, dtype=np.uint32)
    yield _launch("a missing input", {}, codes.MISSING_INPUT)
    yield _launch("an input too many", {"a": good, "b": good}, codes.UNKNOWN_INPUT)
    yield _launch("an input of another type", {"a": good.astype(np.float32)}, codes.WRONG_DTYPE)
    yield _launch("an input that is too short", {"a": good[:5]}, codes.SHORT_BUFFER)
    yield _launch("an input that is no array", {"a": object()}, codes.NOT_AN_ARRAY)
    for grid in ((-1, 1, 1), (1 << 31, 1, 1), (1, 1, 1 << 33)):
        trial = _launch(f"a grid of {grid}", {"a": good}, codes.BAD_GRID, grid)
        yield replace(trial, ending=Ending(DispatchError, codes.BAD_GRID.code))


def _program(row: Code, program: Program) -> Trial:
    ending = Ending(CheckError, row.code)
    return Trial(_AREA, f"{row.code}: {row.title}", program, ending=ending)


def _launch(name: str, inputs: dict[str, object], code: Code, grid: Grid = (2, 1, 1)) -> Trial:
    ending = Ending(ArgumentError, code.code)
    return Trial(_AREA, name, Program.parse(_LAUNCHED), inputs, grid, ending=ending)
