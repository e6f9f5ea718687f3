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


def grid_memory(program: Program) -> frozenset[str]:
    """The workgroup buffers of a program that has grid syncs; none if it has not."""
    shared = frozenset(decl.name for decl in program.buffers if decl.is_workgroup)
    if not shared:
        return shared
    for statement in ProgramFacts.of(program).statements:
        grid = type(statement) is Barrier and statement.ordering is MemoryOrdering.GRID_SYNC
        if grid or isinstance(statement, _COLLECTIVES):
            return shared
    return frozenset()


def writes_any(body: Body, buffers: frozenset[str]) -> bool:
    """Whether the body may write one of the buffers."""
    return bool(buffers) and not body_effects(body).writes.isdisjoint(buffers)
