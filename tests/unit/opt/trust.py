"""Programs before and after optimising, compared on the reference."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vyre.backends.reference import execute
from vyre.conform.generate import GeneratedCase
from vyre.diagnostics import ExecutionError
from vyre.diagnostics.codes import execution as codes
from vyre.ir import DataType, Program
from vyre.semantics import Array
from vyre.target import Feature

WIDTH = 8
"""The width of subgroups in all these tests."""
FEATURES = frozenset(Feature) - {Feature.HOST_MEMORY, Feature.SUBWORD}
"""What a device has for which every pass has something to do."""
FUEL = 3_000_000
_UNSOUND = {codes.DATA_RACE.code, codes.BARRIER_MISSED.code}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What running a program came to."""

    outputs: dict[str, Array]
    printed: tuple[object, ...]
    error: str = ""
    unsound: frozenset[str] = frozenset()
    """Codes of races and of barriers that not all arrive at."""


def outcome(program: Program, case: GeneratedCase, *, sanitize: bool = True) -> Outcome:
    """Run the program on the inputs of a case, with the sanitizer looking on."""
    try:
        done = execute(
            program, case.inputs, case.grid, subgroup_width=WIDTH, fuel=FUEL, sanitize=sanitize
        )
    except ExecutionError as error:
        return Outcome({}, (), error.code)
    found = {finding.code for finding in done.findings} & _UNSOUND
    return Outcome(done.outputs, done.printed, unsound=frozenset(found))


def difference(before: Outcome, after: Outcome, program: Program) -> str | None:
    """Where two outcomes differ; any NaN equals any other."""
    if after.unsound - before.unsound:
        return f"the sanitizer now finds {', '.join(sorted(after.unsound))}"
    if before.error or after.error:
        return None if before.error == after.error else f"{before.error!r} is now {after.error!r}"
    for decl in program.buffers:
        if decl.name not in before.outputs:
            continue
        old, new = before.outputs[decl.name], after.outputs[decl.name]
        if old.shape != new.shape:
            return f"{decl.name}: shape {old.shape} is now {new.shape}"
        wrong = ~_same(decl.element, old, new)
        if wrong.any():
            at = int(np.argmax(wrong.reshape(len(old), -1).any(axis=1)))
            return f"{decl.name}[{at}]: {old[at]!r} is now {new[at]!r}"
    return None if before.printed == after.printed else "other things are printed"


def _same(element: DataType, old: Array, new: Array) -> Array:
    same = old == new
    if old.dtype.kind == "f":
        # Equal numbers may be zeros of different signs.
        same = (old.view(f"u{old.itemsize}") == new.view(f"u{old.itemsize}")) | (old != old) & (
            new != new
        )
    elif element in _NAN_BITS:
        least = _NAN_BITS[element]
        same |= ((old & least) == least) & ((new & least) == least)
    return same


_NAN_BITS = {DataType.BF16: 0x7FC0, DataType.F8E4M3: 0x7F, DataType.F8E5M2: 0x7E}
"""Bits that a quiet NaN has, in floats that numpy does not know."""
