"""Operations between the invocations of a subgroup.

The values of a subgroup are laid out in a row, one column per lane, together with a mark of which
lanes there are; results are read from there. That works in any order of invocations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from vyre.backends.reference.memory import as_index
from vyre.semantics import Array

if TYPE_CHECKING:
    from vyre.backends.reference.code import Evaluate
    from vyre.backends.reference.lanes import Lanes
    from vyre.backends.reference.task import Task

OneOperand = Callable[[Array], Array]
TwoOperands = Callable[[Array, Array], Array]


class Rows:
    """Where the active invocations stand in their subgroups."""

    __slots__ = ("lane", "present", "row", "width")

    def __init__(self, task: Task, lanes: Lanes) -> None:
        world = task.cohort.world
        self.width = world.subgroup_width
        local = task.locals(lanes)
        per_workgroup = -(-world.workgroup_invocations // self.width)
        self.row = task.slots(lanes) * per_workgroup + local // self.width
        self.lane = local % self.width
        rows = task.cohort.workgroups.size * per_workgroup
        self.present = np.zeros((rows, self.width), np.bool_)
        self.present[self.row, self.lane] = True

    def lay_out(self, values: Array) -> Array:
        """A row per subgroup; zero where there is no lane."""
        table = np.zeros(self.present.shape, values.dtype)
        table[self.row, self.lane] = values
        return table


def ballot(cond: Evaluate) -> Evaluate:
    """A bit per lane, as four words."""

    def run(task: Task, lanes: Lanes) -> Array:
        values = cond(task, lanes)
        rows = Rows(task, lanes)
        bits = np.zeros((rows.present.shape[0], 128), np.bool_)
        bits[:, : rows.width] = rows.lay_out(values)
        words = np.packbits(bits, axis=1, bitorder="little").view("<u4").astype(np.uint32)
        return words[rows.row]

    return run


def shuffle(value: Evaluate, lane: Evaluate) -> Evaluate:
    """The value of another lane; zero where there is no such lane."""

    def run(task: Task, lanes: Lanes) -> Array:
        values, wanted = value(task, lanes), as_index(lane(task, lanes))
        rows = Rows(task, lanes)
        exists = (wanted >= 0) & (wanted < rows.width)
        column = np.where(exists, wanted, 0)
        found = rows.lay_out(values)[rows.row, column]
        return np.where(exists & rows.present[rows.row, column], found, found.dtype.type(0))

    return run


def reduce(join: TwoOperands, value: Evaluate) -> Evaluate:
    """All values of the subgroup, joined in the order of the lanes."""

    def run(task: Task, lanes: Lanes) -> Array:
        values = value(task, lanes)
        rows = Rows(task, lanes)
        table = rows.lay_out(values)
        total, started = table[:, 0].copy(), rows.present[:, 0].copy()
        for lane in range(1, rows.width):
            here = rows.present[:, lane]
            joined = np.where(started, join(total, table[:, lane]), table[:, lane])
            total = np.where(here, joined, total)
            started |= here
        return total[rows.row]

    return run
