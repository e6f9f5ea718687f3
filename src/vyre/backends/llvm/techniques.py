"""Techniques of the CPU backend besides passes, with a switch each.

`explain()` lists those that were applied to a program. `VYRE_WITHOUT=prefetch,unroll` leaves some
out, passes of this backend by their names as well: the suite `ablation` measures what each gains.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum


class Technique(Enum):
    """A lowering or heuristic that can be left out; its value says what it does."""

    # Rewrites of one region
    UNROLL_STRUCT_LOOPS = "short loops over the members of structures are unrolled"
    NARROW_INTEGERS = "arithmetic on bytes stays in narrow integers"
    REBASE_LOOPS = "loops whose start differs between lanes count from zero"
    DELINEARISE = "rows are cut where a remainder or quotient starts over"
    # Decisions about one region
    SPECULATE_STRIDES = "array-of-structures strides are versioned for 2 to 4 members"
    TABLE_RANGES = "the largest element of a table proves indices made of it"
    TRIANGULAR_GUARDS = "triangular guards keep vectors at the start of the row"
    JAM_ROWS = "rows that share loads run four at a time"
    JAM_COLUMNS = "four vectors walk down columns together"
    INTERLEAVE_SCALARS = "scalar lanes in lock-step hide the latency of dependent loads"
    LANE_FILTER = "a vector test selects the lanes that run a rare scalar body"
    GATHER_CHAINS = "pointer chasing runs in vectors of gathers"
    SCALAR_SEARCH = "divergent loops that divide run one lane at a time"
    # Emission
    WORKGROUP_TEST = "one test per workgroup replaces bounds tests per row"
    SHORT_ROWS = "rows too short for vectors have a body of their own"
    OVERLAP_REMAINDER = "the last vector overlaps the one before it"
    PREFETCH = "loads are prefetched"
    OUTLINE_COLD_CODE = "the scalar remainder is a function of its own"
    COALESCE_WORKGROUPS = "workgroups along x run as one row"
    WORKGROUP_ROWS = "workgroups with a common loop run as one row"
    VECTORISE_INNER_LOOPS = "iterations of an inner loop run as vectors"
    PACK_BITS = "flags of iterations become bits of a word by one comparison"
    COMPRESS_STORES = "iterations that append what passes a test pack it in registers"
    VERSION_LOOPS = "one test before a loop replaces bounds tests in it"
    ALL_ACTIVE_PROLOGUE = "iterations that all lanes take run without masks"
    UNROLL_AND_JAM = "lanes in lock-step take several iterations per turn"
    PRIVATISE_REDUCTIONS = "threads accumulate atomics privately and combine at the end"
    BLOCK_REDUCTIONS = "float atomics on one element become sums of blocks, in a fixed order"
    CONSTANT_TABLES = "chains of selects over constants become table lookups"
    TABLE_LOOKUP = "small tables are looked up in registers"
    NONTEMPORAL_STORES = "outputs larger than the cache are stored past it"
    WIDE_LOADS = "bytes of a word are loaded at once"
    REALIGN = "neighbours of a loaded vector are shuffled from it"

    @property
    def label(self) -> str:
        """Its name in options and tables."""
        return self.name.lower()


class Techniques:
    """Which techniques may be used for one program, and which were."""

    __slots__ = ("_applied", "_disabled")

    def __init__(self, disabled: Iterable[str] = ()) -> None:
        self._disabled = frozenset(disabled)
        self._applied: set[Technique] = set()

    def allow(self, technique: Technique) -> bool:
        """True unless it is switched off."""
        return technique.label not in self._disabled

    def note(self, technique: Technique) -> None:
        """Record that it was applied."""
        self._applied.add(technique)

    @property
    def applied(self) -> tuple[Technique, ...]:
        """Those that were applied, in the order of their declaration."""
        return tuple(each for each in Technique if each in self._applied)


__all__ = ["Technique", "Techniques"]
