"""What is collected of an iteration: windows, and decisions between them."""

from __future__ import annotations

from vyre.diagnostics import VyreError
from vyre.pipelines.execute import Window
from vyre.pipelines.steps import Buffer
from vyre.record import dataclass


@dataclass(frozen=True, slots=True)
class Side:
    """One branch of a decision."""

    items: list[Item]


@dataclass(frozen=True, slots=True)
class Branch:
    """A decision by a flag."""

    flag: Buffer
    then: Side
    otherwise: Side


Item = Window | Branch | VyreError
"""An error is raised when its turn comes."""
