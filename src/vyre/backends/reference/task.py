"""A task: invocations that run in lock-step, with their variables.

Outside of a schedule, one task holds whole workgroups. Under a schedule it holds any invocations
of the workgroups that run together. It stops where it has to wait for others: at barriers.
"""

from __future__ import annotations

from collections.abc import Generator
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

from vyre import ir
from vyre.backends.reference.lanes import Lanes
from vyre.backends.reference.memory import Cells
from vyre.record import dataclass
from vyre.semantics import Array, value_dtype

if TYPE_CHECKING:
    from vyre.backends.reference.cohort import Cohort
    from vyre.backends.reference.copies import Copy

Collective = ir.AllReduce | ir.AllGather | ir.ReduceScatter | ir.Broadcast


class Sync(Enum):
    """Whom a task waits for."""

    WORKGROUP = "workgroup"
    GRID = "grid"


@dataclass(frozen=True, slots=True)
class Arrival:
    """A task that waits: for whom, and which of its invocations do."""

    sync: Sync
    lanes: Lanes
    place: int
    """The statement, as a number of the compiled program."""
    collective: Collective | None = None
    """What to do for the whole grid once all are here."""


Run = Generator[Arrival, None, Lanes | None]
"""A running body: it yields where it waits, and gives the invocations that reach its end."""


class LoopExits:
    """The invocations that left a round of a loop early."""

    __slots__ = ("broken", "continued")

    def __init__(self) -> None:
        self.broken: list[Lanes] = []
        self.continued: list[Lanes] = []


class Task:
    """Invocations in lock-step. `slot` and `local` say, per position, who they are."""

    __slots__ = (
        *("_ids", "_owners", "_private", "_values", "cells", "cohort", "local", "loops"),
        *("pending", "size", "slot"),
    )

    def __init__(self, cohort: Cohort, slot: Array, local: Array, cells: list[Cells]) -> None:
        self.cohort = cohort
        self.slot = slot
        """The number of the workgroup among those of the cohort."""
        self.local = local
        """The linear index in the workgroup, x fastest."""
        self.size = slot.size
        self.cells = cells
        self.loops: list[LoopExits] = []
        self.pending: dict[str, list[Copy]] = {}
        """Copies that happen when they are waited for."""
        self._ids: dict[tuple[ir.BuiltinKind, int], Array] = {}
        variables = cohort.world.code.variables
        self._values: list[Array | None] = [None] * variables
        self._owners: list[Lanes | None] = [None] * variables
        self._private = [False] * variables

    def let(self, variable: int, lanes: Lanes, value: Array) -> None:
        """A variable begins with a value, for these invocations."""
        self._values[variable] = value
        self._owners[variable] = lanes
        self._private[variable] = False

    def read(self, variable: int, lanes: Lanes) -> Array:
        """The value of a variable, for these invocations."""
        value, owner = self._values[variable], self._owners[variable]
        assert value is not None
        assert owner is not None
        if owner is lanes or len(value) == 1:
            # The reader may keep the array itself, so it must not change in place any more.
            self._private[variable] = False
            return value
        return value[lanes.within(owner)]

    def assign(self, variable: int, lanes: Lanes, value: Array) -> None:
        """A new value for some invocations; the others keep theirs."""
        owner, old = self._owners[variable], self._values[variable]
        assert owner is not None
        assert old is not None
        if owner is lanes:
            self.let(variable, lanes, value)
            return
        if not self._private[variable]:
            whole = np.empty((owner.size, *old.shape[1:]), old.dtype)
            whole[:] = old
            self._values[variable] = old = whole
            self._private[variable] = True
        old[lanes.within(owner)] = value

    def forget(self, variable: int) -> None:
        """No one needs the variable any more."""
        self._values[variable] = None
        self._owners[variable] = None

    def builtin(self, kind: ir.BuiltinKind, axis: int, lanes: Lanes) -> Array:
        """An id or a size, for these invocations."""
        value = self._ids.get((kind, axis))
        if value is None:
            made = np.asarray(self._make_builtin(kind, axis), dtype=value_dtype(ir.DataType.U32))
            value = self._ids[kind, axis] = made.reshape(-1)
        return value if len(value) == 1 or lanes.index is None else value[lanes.index]

    def _make_builtin(self, kind: ir.BuiltinKind, axis: int) -> Array | int:
        world = self.cohort.world
        match kind:
            case ir.BuiltinKind.SUBGROUP_SIZE:
                return world.subgroup_width
            case ir.BuiltinKind.SUBGROUP_LANE:
                return self.local % world.subgroup_width
            case ir.BuiltinKind.NUM_WORKGROUPS:
                return world.grid[axis]
            case ir.BuiltinKind.LOCAL_ID:
                return world.local_id(axis)[self.local]
            case ir.BuiltinKind.WORKGROUP_ID:
                return self.cohort.workgroup_id(axis)[self.slot]
            case ir.BuiltinKind.GLOBAL_ID:
                first = self.cohort.workgroup_id(axis) * world.code.program.workgroup_size[axis]
                return first[self.slot] + world.local_id(axis)[self.local]

    def base(self, buffer: int, lanes: Lanes) -> Array:
        """Where the instance of an on-chip buffer begins, for these invocations."""
        cells = self.cells[buffer]
        owner = lanes.positions if cells.decl.is_local else self.slots(lanes)
        return owner * cells.length

    def slots(self, lanes: Lanes) -> Array:
        """The workgroups of these invocations, as numbers in the cohort."""
        return self.slot if lanes.index is None else self.slot[lanes.index]

    def locals(self, lanes: Lanes) -> Array:
        """The linear local indices of these invocations."""
        return self.local if lanes.index is None else self.local[lanes.index]
