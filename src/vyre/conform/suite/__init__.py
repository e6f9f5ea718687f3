"""The conformance suite: for every area of the language, the trials that show it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from vyre.conform.suite import (
    atomics,
    combinations,
    control,
    conversions,
    copies,
    endings,
    grid_sync,
    grids,
    memory,
    opcodes,
    refusals,
    storage,
    subgroups,
    workgroups,
)
from vyre.conform.suite.case import Ending, Stretch, Trial
from vyre.target import Target

__all__ = ["AREAS", "Ending", "Stretch", "Trial"]

Area = Callable[[Target], Iterator[Trial]]

AREAS: dict[str, Area] = {
    "opcodes": lambda _target: opcodes.trials(),
    "combinations": lambda _target: combinations.trials(),
    "conversions": lambda _target: conversions.trials(),
    "storage": lambda _target: storage.trials(),
    "control flow": lambda _target: control.trials(),
    "memory": lambda _target: memory.trials(),
    "workgroups": lambda _target: workgroups.trials(),
    "atomics": lambda _target: atomics.trials(),
    "subgroups": subgroups.trials,
    "grids": lambda _target: grids.trials(),
    "async copies": lambda _target: copies.trials(),
    "grid sync": lambda _target: grid_sync.trials(),
    "endings": lambda _target: endings.trials(),
    "refusals": refusals.trials,
}
"""Area to what makes its trials for a target."""
