"""Epochs: the stretches of a program between barriers over the whole grid.

Everything in one epoch may run at the same time somewhere in the grid; an epoch begins only when
the one before has ended everywhere. A loop around a grid barrier runs its epochs again and again,
so what is used in it lives for all of them.
"""

from __future__ import annotations

from collections.abc import Iterable

from vyre import ir
from vyre.analysis import ProgramFacts
from vyre.analysis.facts import TOP
from vyre.record import dataclass


@dataclass(frozen=True, slots=True)
class Epochs:
    """The epoch of every statement, and how many there are."""

    of: tuple[int, ...]
    """By position in the order of the text."""
    count: int
    loops: tuple[tuple[int, int], ...]
    """The first and the last epoch of each loop around a grid barrier: it runs them in turn."""

    def life(self, used: Iterable[int]) -> tuple[int, int]:
        """The epochs from the first to the last use, and all of the loops that these are in."""
        epochs = list(used)
        first, last = min(epochs), max(epochs)
        # What an iteration stores may be what the next one loads.
        while around := [
            (low, high)
            for low, high in self.loops
            if low <= last and first <= high and not first <= low <= high <= last
        ]:
            first = min(first, *(low for low, _ in around))
            last = max(last, *(high for _, high in around))
        return first, last


def syncs(statement: ir.AnyStmt) -> int:
    """How many grid barriers a statement by itself stands for."""
    match statement:
        case ir.Barrier(ir.MemoryOrdering.GRID_SYNC) | ir.AllReduce() | ir.Broadcast():
            return 1
        case ir.AllGather() | ir.ReduceScatter():
            return 2
        case _:
            return 0


def epochs_of(program: ir.Program) -> Epochs:
    """The epochs of a program."""
    return program.memo("plan.epochs", _compute)


def _compute(program: ir.Program) -> Epochs:
    facts = ProgramFacts.of(program)
    current = 0
    of: list[int] = []
    loops: list[tuple[int, int]] = []
    for statement in facts.statements:
        of.append(current)
        current += syncs(statement)
    of_end = [*of, current]
    for position, kind in enumerate(facts.kinds):
        if kind is ir.Loop or kind is ir.While:
            first, last = of[position], of_end[facts.ends[position]]
            if first != last:
                loops.append((first, last))
    assert TOP < 0
    return Epochs(tuple(of), current + 1, tuple(loops))
