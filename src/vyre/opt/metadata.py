"""What is said of a pass before it runs: its place, its needs, what it may touch, what it costs."""

from __future__ import annotations

from enum import Enum, StrEnum
from typing import NamedTuple

from vyre.target import Feature


class PassPhase(Enum):
    """The stages of optimising, in the order in which they run.

    Structure first, so that the rest sees straight code; then values, then control flow and loops
    that values made simple; fusion before memory, because a value that needs no memory is better
    than one in faster memory; then synchronisation, and what is left over last. Passes of one
    backend follow in the order of its list.
    """

    STRUCTURE = 0
    SCALAR_ALGEBRA = 1
    DATAFLOW = 2
    CONTROL_FLOW = 3
    LOOP = 4
    FUSION = 5
    MEMORY = 6
    SYNC = 7
    CLEANUP = 8
    LOWERING = 9


class PassBoundaryClass(StrEnum):
    """How far a pass reaches."""

    ABI_PRESERVING = "abi_preserving"
    """The launch of the program differs in speed only."""
    INTERNAL_LAYOUT = "internal_layout"
    """Memory that the host never sees is added, moved or removed."""
    ABI_CHANGING = "abi_changing"
    """Slots of the host are added, moved or removed."""


class CostModelFamily(StrEnum):
    """What decides whether a pass pays on a program."""

    SCALAR = "scalar"
    SYNC = "sync"
    LOOP = "loop"
    MEMORY = "memory"
    FUSION = "fusion"
    DATAFLOW = "dataflow"
    MEGAKERNEL = "megakernel"
    UNKNOWN = "unknown"


class PassRunDecision(StrEnum):
    """What became of a pass in one round."""

    CHANGED = "changed"
    RAN_UNCHANGED = "ran_unchanged"
    """It ran and found nothing to do, or claimed a change that was none."""
    SKIPPED_ANALYSIS = "skipped_analysis"
    """Its own quick look said that there is nothing for it here."""
    SKIPPED_CLEAN = "skipped_clean"
    """The program is the one on which it found nothing to do before."""
    REFUSED = "refused"
    """The target cannot have it; `refusal_kind` says why."""


class PassRefusalKind(StrEnum):
    """Why a pass may not run for a target."""

    MISSING_CAPABILITY = "missing_capability"
    """The target lacks a feature that the pass's result needs."""
    NO_TARGET = "no_target"
    """The result needs a feature, and no target is known."""


class PassMetadata(NamedTuple):
    """One row of the table of passes."""

    name: str
    requires: tuple[str, ...]
    """Passes that must be scheduled, before this one."""
    invalidates: tuple[str, ...]
    """Facts that no longer hold after a change by it."""
    phase: PassPhase
    boundary_class: PassBoundaryClass
    requires_caps: tuple[Feature, ...]
    """Features the target must have."""
    preserves_abi: bool
    cost_model_family: CostModelFamily
