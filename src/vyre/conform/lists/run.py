"""A list of programs, run as one and one after the other."""

from __future__ import annotations

from collections.abc import Callable

from vyre.backends.reference import execute
from vyre.conform.lists.case import ListCase
from vyre.diagnostics.codes import execution as codes
from vyre.ir import Program
from vyre.plan import fuse
from vyre.semantics import Array

_UNSOUND = frozenset({codes.DATA_RACE.code, codes.BARRIER_MISSED.code})

Run = Callable[[Program, dict[str, Array], dict[str, int]], dict[str, Array]]
"""Runs a program on inputs, with sizes for its outputs."""


def on_reference(case: ListCase, schedule: int | None = None) -> Run:
    """What the reference makes of a program, on the grid of the case.

    With a schedule the sanitizer looks on: a race is an `AssertionError`.
    """

    def run(program: Program, inputs: dict[str, Array], sizes: dict[str, int]) -> dict[str, Array]:
        watched = schedule is not None
        done = execute(
            program, inputs, case.grid, output_sizes=sizes, schedule=schedule, sanitize=watched
        )
        races = [str(each) for each in done.findings if each.code in _UNSOUND]
        assert not races, races[0]
        return done.outputs

    return run


def fused(case: ListCase) -> Program:
    """All arms as one program; a `PlanError` if they cannot be."""
    return fuse(case.arms, case.names, case.scratch, flat_grid=case.flat_grid).program


def one_after_the_other(case: ListCase, run: Run) -> dict[str, Array]:
    """What all buffers hold after each arm has run on what the arms before left."""
    state = dict(case.inputs)
    for arm in case.arms:
        state |= run(arm, _given(arm, state), _sizes(arm, state))
    return state


def together(case: ListCase, program: Program, run: Run) -> dict[str, Array]:
    """What the fused program gives."""
    return run(program, _given(program, case.inputs), _sizes(program, case.inputs))


def _given(program: Program, state: dict[str, Array]) -> dict[str, Array]:
    return {decl.name: state[decl.name] for decl in program.buffers if decl.is_host_input}


def _sizes(program: Program, state: dict[str, Array]) -> dict[str, int]:
    outputs = (decl for decl in program.buffers if decl.is_device_allocated)
    return {decl.name: decl.count or len(state[decl.name]) for decl in outputs}
