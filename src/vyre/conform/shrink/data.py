"""Smaller cases by data: fewer buffers, a smaller grid and workgroup, plainer inputs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from vyre import ir
from vyre.conform.generate import GeneratedCase
from vyre.ir.walk import walk_all_exprs, walk_stmts


def data_steps(case: GeneratedCase, position: int) -> Iterator[GeneratedCase] | None:
    """Smaller cases that differ in one buffer, one extent or one input."""
    buffers, inputs = len(case.program.buffers), len(case.inputs)
    if position < buffers:
        return _without_buffer(case, position)
    position -= buffers
    if position < 3:
        return _smaller_extents(case, position)
    position -= 3
    if position < inputs:
        return _plainer_input(case, list(case.inputs)[position])
    return None


def _used(program: ir.Program) -> set[str]:
    names: set[str] = set()
    for statement in walk_stmts(program.entry):
        match statement:
            case ir.Store(buffer):
                names.add(buffer)
            case ir.AsyncLoad() | ir.AsyncStore():
                names |= {statement.source, statement.destination}
            case _:
                names |= {
                    value
                    for field in ("buffer", "source", "destination", "count_buffer")
                    if isinstance(value := getattr(statement, field, None), str)
                }
    for expr in walk_all_exprs(program.entry):
        if isinstance(expr, (ir.Load, ir.BufLen, ir.Atomic)):
            names.add(expr.buffer)
    return names


def _without_buffer(case: GeneratedCase, position: int) -> Iterator[GeneratedCase]:
    program = case.program
    decl = program.buffers[position]
    if decl.name in _used(program):
        return
    kept = [other for other in program.buffers if other is not decl]
    inputs = {name: contents for name, contents in case.inputs.items() if name != decl.name}
    yield replace(case, program=program.with_rewritten_buffers(kept), inputs=inputs)


def _smaller_extents(case: GeneratedCase, axis: int) -> Iterator[GeneratedCase]:
    program, grid = case.program, case.grid
    if grid[axis] > 1:
        for extent in dict.fromkeys((1, grid[axis] // 2, grid[axis] - 1)):
            smaller = (*grid[:axis], extent, *grid[axis + 1 :])
            yield replace(case, grid=smaller)
    size = program.workgroup_size
    if size[axis] > 1:
        for extent in dict.fromkeys((1, size[axis] // 2, size[axis] - 1)):
            smaller = (*size[:axis], extent, *size[axis + 1 :])
            yield replace(case, program=program.with_workgroup_size(smaller))


def _plainer_input(case: GeneratedCase, name: str) -> Iterator[GeneratedCase]:
    contents = case.inputs[name]
    decl = case.program.buffer(name)
    if decl is not None and not decl.count and len(contents) > 1:
        for length in dict.fromkeys((1, len(contents) // 2)):
            yield replace(case, inputs={**case.inputs, name: contents[:length].copy()})
    length = len(contents)
    chunk = length
    while chunk >= 1:
        for start in range(0, length, chunk):
            part = contents[start : start + chunk]
            if np.any(part.view(np.uint8)):
                plain = contents.copy()
                plain[start : start + chunk] = 0
                yield replace(case, inputs={**case.inputs, name: plain})
        if length > 64 and chunk < length // 16:
            # Long inputs are cleared in coarse parts only.
            return
        chunk //= 2
