"""Printing from kernels: what each invocation shows, in lane order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from vyre.backends.reference.machine import Printed, Value
from vyre.ir import DataType
from vyre.semantics import Array

if TYPE_CHECKING:
    from vyre.backends.reference.code import Evaluate, Leaf
    from vyre.backends.reference.lanes import Lanes
    from vyre.backends.reference.task import Task


def print_(label: str, values: Sequence[tuple[Evaluate, DataType]]) -> Leaf:
    """Show values."""

    def run(task: Task, lanes: Lanes) -> None:
        columns = [_column(value(task, lanes), lanes.size) for value, _ in values]
        slots, local = task.slots(lanes), task.locals(lanes)
        printed = task.cohort.world.printed
        for at in range(lanes.size):
            who = task.cohort.invocation(int(slots[at]), int(local[at]))
            printed.append(Printed(label, who, tuple(column[at] for column in columns)))

    return run


def _column(values: Array, size: int) -> list[Value]:
    whole = np.broadcast_to(values, (size, *values.shape[1:]))
    return [tuple(row.tolist()) for row in whole] if whole.ndim > 1 else whole.tolist()
