"""Scratch reuse across the arms of a megakernel.

A region is an arm. Buffers whose contents do not matter outside are candidates; scratch buffers
among them whose lives are disjoint, in the order of the grid barriers, can share one allocation.
The plan changes no program: the runtime allocates by it, and clears memory when it changes hands.
"""

from __future__ import annotations

from collections.abc import Mapping

from vyre.analysis import ProgramFacts
from vyre.ir import Program
from vyre.plan.epochs import epochs_of
from vyre.plan.memory_sharing import share
from vyre.record import dataclass

_NONE: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Life:
    """The epochs from the first to the last use of a buffer, and those of the loops around them."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class ScratchPool:
    """Scratch buffers that share one allocation, in the order of their lives."""

    buffers: tuple[str, ...]
    nbytes: int


@dataclass(frozen=True, slots=True)
class ScratchReusePlan:
    """Which buffers each arm may recycle, and which scratch buffers share memory."""

    non_escaping: frozenset[str]
    """Buffers whose contents are not visible outside the dispatch: the candidates."""
    arms: Mapping[str, frozenset[str]]
    """By a region's generator: the candidates it uses; regions without any are left out."""
    pools: tuple[ScratchPool, ...]
    lives: Mapping[str, Life]
    """By pooled buffer."""
    bytes_before: int
    bytes_after: int

    @classmethod
    def build(cls, program: Program) -> ScratchReusePlan:
        """The plan of a program, made once per program object."""
        return program.memo(cls, _build)

    def recyclable_for(self, generator: str) -> frozenset[str]:
        """The buffers that an arm may recycle."""
        return self.arms.get(generator, _NONE)

    def is_recyclable(self, name: str) -> bool:
        """Whether some arm may recycle a buffer."""
        return name in self.non_escaping

    @property
    def pair_count(self) -> int:
        """How many pairs of an arm and a buffer it may recycle there are."""
        return sum(len(buffers) for buffers in self.arms.values())


def _build(program: Program) -> ScratchReusePlan:
    facts = ProgramFacts.of(program)
    names = frozenset(d.name for d in program.buffers if not facts.buffer_escapes(d.name))
    arms: dict[str, frozenset[str]] = {}
    for region in facts.regions:
        end = facts.ends[region.position]
        used = {
            ref.name
            for ref in facts.buffer_refs
            if region.position <= ref.position < end and ref.name in names
        }
        if used:
            arms[region.generator] = arms.get(region.generator, _NONE) | used
    scratch = {d.name: d.size_bytes or 0 for d in program.buffers if d.is_scratch}
    lives = _lives(program, names)
    spans = {name: (life.first, life.last) for name, life in lives.items()}
    pools = tuple(
        ScratchPool(tuple(each), max(scratch[name] for name in each))
        for each in share(scratch, spans)
    )
    alone = sum(size for name, size in scratch.items() if name not in lives)
    return ScratchReusePlan(
        non_escaping=names,
        arms=arms,
        pools=pools,
        lives=lives,
        bytes_before=sum(scratch.values()),
        bytes_after=alone + sum(pool.nbytes for pool in pools),
    )


def _lives(program: Program, candidates: frozenset[str]) -> dict[str, Life]:
    """The lives of scratch buffers that may share memory: those of known size."""
    facts = ProgramFacts.of(program)
    epochs = epochs_of(program)
    found: dict[str, Life] = {}
    for decl in program.buffers:
        used = [epochs.of[ref.position] for ref in facts.refs_by_buffer.get(decl.name, [])]
        fixed = decl.is_scratch and decl.name in candidates and bool(decl.size_bytes)
        if fixed and used:
            found[decl.name] = Life(*epochs.life(used))
    return found
