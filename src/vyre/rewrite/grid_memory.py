"""Workgroup memory in programs with grid syncs.

A grid sync loses workgroup memory, and the checker refuses to read what can not have been written
since. A write that never happens may be all that makes a program valid, so it must stay.
"""

from __future__ import annotations

from vyre.analysis import ProgramFacts, body_effects
from vyre.ir import (
    AllGather,
    AllReduce,
    Barrier,
    Body,
    Broadcast,
    MemoryOrdering,
    Program,
    ReduceScatter,
)

_COLLECTIVES = (AllGather, AllReduce, Broadcast, ReduceScatter)


def has_grid_sync(program: Program) -> bool:
    """Whether the program has grid syncs or collectives."""
    return any(
        (type(s) is Barrier and s.ordering is MemoryOrdering.GRID_SYNC)
        or isinstance(s, _COLLECTIVES)
        for s in ProgramFacts.of(program).statements
    )


def grid_memory(program: Program) -> frozenset[str]:
    """The workgroup buffers of a program that has grid syncs; none if it has not."""
    shared = frozenset(decl.name for decl in program.buffers if decl.is_workgroup)
    return shared if shared and has_grid_sync(program) else frozenset()


def writes_any(body: Body, buffers: frozenset[str]) -> bool:
    """Whether the body may write one of the buffers."""
    return bool(buffers) and not body_effects(body).writes.isdisjoint(buffers)
