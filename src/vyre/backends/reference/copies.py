"""Asynchronous copies: the workgroup moves elements between device and workgroup memory.

A copy may happen when it is started or when it is waited for. Both are legal, because an
access in between is a race; the order of the run decides, so a schedule brings such races to light.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vyre.backends.reference.lanes import Lanes
from vyre.backends.reference.memory import as_index
from vyre.backends.reference.task import Arrival, Run, Sync, Task
from vyre.ir import AsyncLoad, AsyncStore, AsyncWait
from vyre.semantics import Array

if TYPE_CHECKING:
    from vyre.backends.reference.code import Evaluate, Flow, Leaf
    from vyre.backends.reference.compile import Compiler


class Copy:
    """A copy that is under way: which elements go where, for all workgroups together."""

    __slots__ = ("destination", "into", "origin", "place", "source", "workgroup")

    def __init__(self, source: int, destination: int, place: int, ranges: Ranges) -> None:
        self.source = source
        self.destination = destination
        self.place = place
        self.workgroup = ranges.slot
        self.origin = ranges.origin
        self.into = ranges.into

    def perform(self, task: Task) -> None:
        """Move the elements; those that are out of bounds at the source arrive as zeros."""
        found, into = task.cells[self.source], task.cells[self.destination]
        base = self.workgroup * found.length if found.decl.is_workgroup else None
        stored = found.stored(self.origin, base)
        into.data[self.into + self.workgroup * (into.length * into.decl.is_workgroup)] = stored


class Ranges:
    """The elements of a copy, one entry each: of which workgroup, from where, to where."""

    __slots__ = ("into", "origin", "slot")

    def __init__(self, slots: Array, starts: tuple[Array, Array], counts: Array, length: int):
        origin, into = starts
        # Elements that would fall outside of the destination are not copied at all.
        first = np.maximum(-into, 0)
        beyond = np.minimum(counts, np.maximum(length - into, 0))
        sizes = np.maximum(beyond - first, 0)
        self.slot = np.repeat(slots, sizes)
        ordinal = np.arange(self.slot.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        step = ordinal + np.repeat(first, sizes)
        self.origin = np.repeat(origin, sizes) + step
        self.into = np.repeat(into, sizes) + step


def _clamped(value: Array) -> Array:
    """Starts and counts of any integer type, held where sums of them cannot overflow."""
    limit = 1 << 61
    if value.dtype == np.uint64:
        value = np.minimum(value, np.uint64(limit))
    return as_index(value).clip(-limit, limit)


def start(compiler: Compiler, statement: AsyncLoad | AsyncStore) -> Leaf:
    """Begin to copy."""
    source, _ = compiler.buffer(statement.source)
    destination, _ = compiler.buffer(statement.destination)
    operands: list[Evaluate] = [
        compiler.expression(operand)[0]
        for operand in (statement.destination_start, statement.source_start, statement.count)
    ]
    place, tag = compiler.place, statement.tag

    def run(task: Task, lanes: Lanes) -> None:
        # The operands are the same in all of a workgroup: its first invocation speaks for it.
        slots, first = np.unique(task.slots(lanes), return_index=True)
        into, origin, count = (
            np.broadcast_to(_clamped(operand(task, lanes)), lanes.size)[first]
            for operand in operands
        )
        ranges = Ranges(slots, (origin, into), count, task.cells[destination].length)
        copy = Copy(source, destination, place, ranges)
        world = task.cohort.world
        if world.watch is not None:
            world.watch.copy_started(task, tag, copy)
        if world.order.copies_at_once():
            copy.perform(task)
        else:
            task.pending.setdefault(tag, []).append(copy)

    return run


def wait(compiler: Compiler, statement: AsyncWait) -> Flow:
    """Come together when all copies with a tag are complete."""
    place, tag = compiler.place, statement.tag

    def run(task: Task, lanes: Lanes) -> Run:
        world = task.cohort.world
        for copy in task.pending.pop(tag, ()):
            copy.perform(task)
        if world.watch is not None:
            world.watch.copy_awaited(task, tag)
        yield Arrival(Sync.WORKGROUP, lanes, place)
        return world.survivors(task, lanes)

    return run
