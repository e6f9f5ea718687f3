"""Loads, stores and atomics as closures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from vyre.backends.reference import atomics
from vyre.backends.reference.memory import as_index
from vyre.ir import Atomic, MemoryOrdering
from vyre.semantics import Array
from vyre.semantics.atomics import is_atomic_load

if TYPE_CHECKING:
    from vyre.backends.reference.code import Evaluate, Leaf
    from vyre.backends.reference.compile import Compiler
    from vyre.backends.reference.lanes import Lanes
    from vyre.backends.reference.task import Task

_ACQUIRING = frozenset({MemoryOrdering.ACQUIRE, MemoryOrdering.ACQ_REL, MemoryOrdering.SEQ_CST})


def length(compiler: Compiler, name: str) -> Evaluate:
    """The number of elements of a buffer."""
    buffer, _ = compiler.buffer(name)
    return lambda task, lanes: np.array([task.cells[buffer].length], np.uint32)


def load(compiler: Compiler, name: str, index: Evaluate) -> Evaluate:
    """The element at an index."""
    buffer, decl = compiler.buffer(name)
    if compiler.sanitize:
        return _watched_load(buffer, decl.is_on_chip, index, compiler.place)
    if decl.is_on_chip:
        return lambda task, lanes: task.cells[buffer].load(
            as_index(index(task, lanes)), task.base(buffer, lanes)
        )
    return lambda task, lanes: task.cells[buffer].load(as_index(index(task, lanes)), None)


def _watched_load(buffer: int, on_chip: bool, index: Evaluate, place: int) -> Evaluate:
    def run(task: Task, lanes: Lanes) -> Array:
        at = as_index(index(task, lanes))
        if (watch := task.cohort.world.watch) is not None:
            watch.loaded(task, lanes, buffer, at, place)
        return task.cells[buffer].load(at, task.base(buffer, lanes) if on_chip else None)

    return run


def store(compiler: Compiler, name: str, index: Evaluate, value: Evaluate) -> Leaf:
    """Put a value at an index."""
    buffer, decl = compiler.buffer(name)
    on_chip, sanitize, place = decl.is_on_chip, compiler.sanitize, compiler.place

    def run(task: Task, lanes: Lanes) -> None:
        at, values = as_index(index(task, lanes)), value(task, lanes)
        if sanitize and (watch := task.cohort.world.watch) is not None:
            watch.stored(task, lanes, buffer, at, place)
        task.cells[buffer].store(at, task.base(buffer, lanes) if on_chip else None, values)

    return run


def atomic(
    compiler: Compiler, expr: Atomic, operands: Sequence[Evaluate], *, discard: bool
) -> Evaluate:
    """Change one element indivisibly; without old values if they are to be discarded."""
    buffer, decl = compiler.buffer(expr.buffer)
    op, dtype, on_chip, place = expr.op, decl.element, decl.is_on_chip, compiler.place
    index, value, expected = (*operands, None)[:3]
    assert index is not None
    assert value is not None
    acquires, sanitize = expr.ordering in _ACQUIRING, compiler.sanitize
    compiler.has_acquire |= acquires
    loads = is_atomic_load(expr)

    def run(task: Task, lanes: Lanes) -> Array:
        at, given = as_index(index(task, lanes)), value(task, lanes)
        wanted = None if expected is None else expected(task, lanes)
        cells = task.cells[buffer]
        if sanitize and (watch := task.cohort.world.watch) is not None:
            watch.exchanged(task, lanes, buffer, at, place, acquires=acquires, loads=loads)
        outside = cells.outside(at)
        at = np.broadcast_to(at, lanes.size)
        if on_chip:
            at = at + task.base(buffer, lanes)
        inside = None
        if outside is not None:
            inside = np.flatnonzero(~np.broadcast_to(outside, lanes.size))
            if not inside.size:
                return np.zeros(1, given.dtype)
            at, given = at[inside], np.broadcast_to(given, lanes.size)[inside]
            wanted = None if wanted is None else np.broadcast_to(wanted, lanes.size)[inside]
        if discard and atomics.update(op, dtype, cells.data, at, given):
            return given
        old = atomics.exchange(op, dtype, cells.data, at, given, wanted)
        if inside is None:
            return old
        result = np.zeros(lanes.size, old.dtype)
        result[inside] = old
        return result

    return run
